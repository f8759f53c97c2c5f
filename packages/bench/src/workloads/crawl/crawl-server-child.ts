// The server of the workload `crawl`, in a process of its own, so that measurements do not include
// its cost. Every host has the same robots.txt and the same small page.
//   node crawl-server-child.ts RULES
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sections } from '../../files/words.ts'

const rules = sections.slice(0, Number(process.argv[2])).map((name) => `Disallow: /${name}/`)
const robotsTxt = ['User-agent: *', ...rules, ''].join('\n')
const page = `<!doctype html><title>Page</title><p>${'A small page. '.repeat(20)}</p>\n`

const server = createServer(({ url }, response) => {
  const [type, body] = url === '/robots.txt' ? ['text/plain', robotsTxt] : ['text/html', page]
  const headers = { 'content-type': `${type}; charset=utf-8`, 'content-length': body.length }
  response.writeHead(200, url?.includes('/fresh') ? { ...headers, 'cache-control': 'max-age=3600' } : headers)
  response.end(body)
})
server.keepAliveTimeout = 600_000 // no connection closes while the process of a client waits for its turn
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
