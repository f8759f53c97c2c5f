// A web for the workload about a hostile domain, in a process of its own. Hosts under `evil.test` are hostile, all others are honest.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The crawl-delay of every honest site. Milliseconds. */
const crawlDelayMs = Number(process.argv[2])
/** Of 20 pages of an honest site, one is answered 429 and one 503, each with this Retry-After. */
const PUSHBACK = { 'retry-after': '1' }
const DRIP_MS = 100

/** Hostile hosts whose robots.txt was served once. */
const served = new Set<string>()

const server = createServer((request, response) => {
  const host = request.headers.host ?? ''
  const path = request.url ?? ''
  if (/\bevil\.test(:\d+)?$/.test(host)) answerHostile(host, path, response)
  else if (path === '/robots.txt') response.end(`User-agent: *\nCrawl-delay: ${crawlDelayMs / 1_000}\n`)
  else answerHonest(Number(path.slice('/page/'.length)), response)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())

function answerHonest(page: number, response: ServerResponse): void {
  const status = page % 20 === 7 ? 429 : page % 20 === 13 ? 503 : 200
  response.writeHead(status, status === 200 ? {} : PUSHBACK).end('page')
}

/** The first robots.txt is served at once and expires at once; every later one, and every page, never ends. */
function answerHostile(host: string, path: string, response: ServerResponse): void {
  const isFirst = path === '/robots.txt' && !served.has(host)
  served.add(host)
  if (isFirst) return void response.writeHead(200, { 'cache-control': 'max-age=0' }).end('User-agent: *\nDisallow:\n')
  response.writeHead(200)
  const timer = setInterval(() => response.write('#'), DRIP_MS)
  response.once('close', () => clearInterval(timer))
}
