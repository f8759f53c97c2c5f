// A public site that names private hosts, and a server on these hosts that counts what reaches it.
//
// All servers are on loopback. 127.0.0.3 stands for a public address: clients get it as
// `allowAddresses`. Every other address stays private.
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from 'node:net'
import { lookupIn } from './lookup.ts'
import type { Reply } from './sites.ts'

const PUBLIC_ADDRESS = '127.0.0.3'

/** The hosts that a site names, in every spelling that leads to a private address. */
export const PRIVATE_HOSTS: readonly string[] = [
  '127.0.0.2',
  '2130706434',
  '127.2',
  '0x7f.2',
  '0.0.0.0',
  '[::ffff:127.0.0.2]',
  '[::1]',
  '10.0.0.1',
  '169.254.169.254',
  'localhost',
  'printer',
  'wiki.corp',
  'db.internal',
  'inside.example.com', // a public name with a private address
]

/** Resolves names as a test needs it. No query leaves this machine. */
export const lookup: LookupFunction = lookupIn({
  'site.example.com': PUBLIC_ADDRESS,
  'other.example.com': PUBLIC_ADDRESS,
  'inside.example.com': '127.0.0.2',
  localhost: '127.0.0.2',
  printer: '127.0.0.2',
  'wiki.corp': '127.0.0.2',
  'db.internal': '127.0.0.2',
})

/** The options of a RobotsClient or an agent for which 127.0.0.3 is public. */
export const reach: { readonly lookup: LookupFunction; readonly allowAddresses: readonly string[] } = {
  lookup,
  allowAddresses: [PUBLIC_ADDRESS],
}

/** A public site with two names, and what it got. */
export interface PublicSite {
  /** `http://site.example.com:1234`, which `lookup` resolves. */
  readonly origin: string
  /** `http://other.example.com:1234`, on the same server. */
  readonly other: string
  /** `http://127.0.0.3:1234`, for programs that resolve names themselves. */
  readonly literal: string
  /** The responses, by path. Without one, a path is a 404. */
  respond(replies: Readonly<Record<string, Reply>>): void
  /** The requests: host and path. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

export async function startPublicSite(): Promise<PublicSite> {
  const replies = new Map<string, Reply>()
  const requests: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    requests.push(`${headers.host?.replace(/:\d+$/, '')}${url}`)
    const { status, headers: given = {}, body = '' } = replies.get(url) ?? { status: 404 }
    response.writeHead(status, given as Record<string, string>).end(body)
  })
  const port = await listen(server, PUBLIC_ADDRESS)
  return {
    origin: `http://site.example.com:${port}`,
    other: `http://other.example.com:${port}`,
    literal: `http://${PUBLIC_ADDRESS}:${port}`,
    respond: (more) => {
      for (const [path, reply] of Object.entries(more)) replies.set(path, reply)
    },
    requests,
    close: () => close(server),
  }
}

/** A server on all addresses of this machine. */
export interface PrivateServer {
  readonly port: number
  /** How many connections it has accepted, also such without a request. */
  readonly connections: number
  /** The paths of all requests. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

export async function startPrivateServer(): Promise<PrivateServer> {
  const requests: string[] = []
  const counts = { connections: 0 }
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' }).end('secret')
  })
  server.on('connection', () => void counts.connections++)
  const port = await listen(server, (await hasIPv6()) ? '::' : '0.0.0.0')
  return {
    port,
    get connections() {
      return counts.connections
    },
    requests,
    close: () => close(server),
  }
}

async function hasIPv6(): Promise<boolean> {
  const server = createTcpServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true))
  const isThere = await promise
  server.close()
  return isThere
}

async function listen(server: Server, address: string): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
  return (server.address() as AddressInfo).port
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
