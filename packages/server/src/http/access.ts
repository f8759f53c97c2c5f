// Who may call the server.
//
// A web page can make a browser of the same machine send requests to loopback. So a request that a
// page could send is refused: one with an Origin, one for a host name that the server does not have
// (DNS rebinding), and a POST whose body is a form.
import type { FastifyRequest } from 'fastify'
import { Fault } from './problem.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const BODY_TYPES = /^application\/(?:json|x-ndjson)\b/i

/** @param hosts The host names of the server, in lower case, without a port. */
export function assertProgram(request: FastifyRequest, hosts: ReadonlySet<string>): void {
  const { host = '', origin, 'content-type': type, 'sec-fetch-site': site = 'none' } = request.headers
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const { localAddress = '' } = request.socket
  const ownAddress = localAddress.replace(/^::ffff:/, '')
  if (!LOOPBACK.has(name) && !hosts.has(name) && name !== ownAddress && name !== `[${ownAddress}]`)
    throw new Fault(
      'forbidden',
      `the Host header names ${JSON.stringify(name)}, which is not a name of this server; start it with --host-name ${name || 'NAME'}`,
    )
  if (origin !== undefined) throw new Fault('forbidden', 'the request has an Origin header, so a web page has sent it')
  if (site !== 'none')
    throw new Fault('forbidden', 'the request has a Sec-Fetch-Site header, so a web page has sent it')
  if (request.method === 'POST' && !BODY_TYPES.test(type ?? ''))
    throw new Fault('forbidden', 'the body is not JSON; send content-type: application/json')
}
