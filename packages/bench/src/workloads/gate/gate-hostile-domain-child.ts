// The server of the workload gate-hostile-domain, in a child process. The host `h1-.evil.test` is
// of the hostile domain. `h1.evil2.test` is of a hostile site, and `h1.evil2.netlify.app` of a
// hostile tenant. All others are honest.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The crawl-delay of every honest site, in milliseconds. */
const crawlDelayMs = Number(process.argv[2])
/**
 * Of 20 pages of an honest site, one responds with 429 and one with 503, both with this
 * Retry-After.
 */
const PUSHBACK = { 'retry-after': '1' }
/** How long a page of a hostile site or tenant takes, in milliseconds. */
const drippingMs = Number(process.argv[3])
const DRIP_MS = 100

/** Hosts of the hostile domain whose robots.txt was served once. */
const served = new Set<string>()

const server = createServer((request, response) => {
  const host = request.headers.host ?? ''
  const path = request.url ?? ''
  if (/\bevil\.test(:\d+)?$/.test(host)) respondHostile(host, path, response)
  else if (/\bevil\d/.test(host) && path !== '/robots.txt') drip(response, drippingMs)
  else if (path === '/robots.txt') response.end(`User-agent: *\nCrawl-delay: ${crawlDelayMs / 1_000}\n`)
  else respondHonest(Number(path.slice('/page/'.length)), response)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())

function respondHonest(page: number, response: ServerResponse): void {
  const status = page % 20 === 7 ? 429 : page % 20 === 13 ? 503 : 200
  response.writeHead(status, status === 200 ? {} : PUSHBACK).end('page')
}

/**
 * Serves the first robots.txt immediately, already expired. Later ones, and all pages, never end.
 */
function respondHostile(host: string, path: string, response: ServerResponse): void {
  const isFirst = path === '/robots.txt' && !served.has(host)
  served.add(host)
  if (isFirst) return void response.writeHead(200, { 'cache-control': 'max-age=0' }).end('User-agent: *\nDisallow:\n')
  drip(response)
}

/** Sends a byte now and then. Ends the response after `ms`, if given. */
function drip(response: ServerResponse, ms?: number): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write('#'), DRIP_MS)
  const end = ms === undefined ? undefined : setTimeout(() => response.end(), ms)
  response.once('close', () => {
    clearInterval(timer)
    clearTimeout(end)
  })
}
