// A web of robots.txt files in a process of its own, so that no measurement includes the cost of serving them. Listens on every loopback address.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { siteFiles } from '../files/site-file.ts'

const files = Array.from(siteFiles(Number(process.argv[2])), ({ bytes }) => bytes)

/** The same host has the same file: the number in its name, or in its address. */
function fileOf(host: string): Buffer {
  const number = [...host.replace(/:.*/, '').matchAll(/\d+/g)].reduce((sum, [digits]) => sum * 256 + Number(digits), 0)
  return files[number % files.length] as Buffer
}

const server = createServer(({ url, headers: { host = '' } }, response) => {
  response.writeHead(url === '/robots.txt' ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(fileOf(host))
})
server.listen(0, '0.0.0.0', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
