// A server of robots.txt files in a child process, so that measurements do not include its cost.
// Listens on every loopback address.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { siteFiles } from '../files/site-file.ts'

const files = Array.from(siteFiles(Number(process.argv[2])), ({ bytes }) => bytes)

/**
 * Chooses the file by the numbers in the host name or address, so that a host always has the same
 * file.
 */
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
