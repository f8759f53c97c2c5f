// One request for robots.txt: a URL in, a reply out. Redirects and retries are decided elsewhere.
import type { LookupFunction, Socket } from 'node:net'
import type { AccessPolicy, Asking, Reply } from '@politely/core'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { ACCEPT_ENCODING, readBody } from './body.ts'
import { failureOf } from './failure.ts'
import { leavable } from './flights.ts'
import { type NetworkPolicy, publicOnlyConnector, reachOf, refuseLiteral } from './network-guard.ts'

export interface TransportOptions {
  readonly userAgent: string
  readonly policy: AccessPolicy
  readonly maxBodyBytes: number
  /** The whole attempt's; a connection that is not made by then is given up too. Milliseconds. */
  readonly timeoutMs: number
  readonly network: NetworkPolicy
  readonly lookup: LookupFunction | undefined
  /** The caller's own; then connections are its business, and the guard sees literal addresses only. */
  readonly dispatcher: Dispatcher | undefined
}

/** The most header octets that are read of an answer. */
const MAX_HEADER_BYTES = 16_384
/** Connections are kept for a redirect to the same host only: the next request to an origin comes tomorrow. Milliseconds. */
const KEEP_ALIVE_MS = 1_000

export class Transport {
  readonly #options: TransportOptions
  /** Ours, by what they may reach. */
  readonly #agents: Readonly<Record<'public' | 'any', Agent>>
  /** Connections that are being made: an agent does not end them. */
  readonly #connecting = new Set<Socket>()

  constructor(options: TransportOptions) {
    this.#options = options
    const { lookup, timeoutMs: timeout } = options
    const connect = this.#noting(buildConnector({ allowH2: false, timeout, ...(lookup && { lookup }) }))
    this.#agents = {
      public: agentWith(publicOnlyConnector(connect)),
      any: agentWith(connect),
    }
  }

  /** Makes the request. Never throws: what goes wrong is a reply, and so is the end of the deadline. */
  async send({ url, conditions, hops }: Asking, deadline: AbortSignal): Promise<Reply> {
    const { userAgent, policy, maxBodyBytes, network, dispatcher } = this.#options
    if (new URL(url).protocol === 'ftp:') {
      return { kind: 'failure', reason: 'no-transport', detail: 'there is no client for ftp: here' }
    }
    const reach = reachOf(network, [...hops.map((hop) => hop.url), url])
    const refusal = reach === 'public' ? refuseLiteral(url) : undefined
    if (refusal !== undefined) return failureOf(refusal, 'request')
    const init = {
      dispatcher: dispatcher ?? this.#agents[reach],
      // No cookies, no credentials, no Referer.
      headers: {
        'user-agent': userAgent,
        accept: 'text/plain, */*;q=0.5',
        'accept-encoding': ACCEPT_ENCODING,
        ...conditions,
      },
      signal: deadline,
      headersTimeout: 0, // the deadline is the only clock
      bodyTimeout: 0,
    }
    let phase: 'request' | 'body' = 'request'
    try {
      // Undici heeds its signal only once it has a connection, and how long that takes is up to the site.
      const { statusCode: status, headers, body } = await leavable(request(url, init), deadline)
      phase = 'body'
      body.on('error', () => undefined) // a body destroyed before its end emits one, which nobody else may be there to hear
      try {
        if ((status >= 200 && status <= 299) || (status >= 500 && policy.notFoundPages === 'unavailable')) {
          return { kind: 'response', status, headers, body: await readBody(body, headers, maxBodyBytes) }
        }
        return { kind: 'response', status, headers }
      } finally {
        body.destroy() // what was not read is not wanted, and a site may take for ever to send it
      }
    } catch (error) {
      if (deadline.aborted) return { kind: 'failure', reason: 'timeout', detail: 'the deadline passed' }
      return failureOf(error, phase)
    }
  }

  /** Ends our own connections; the caller's dispatcher is the caller's. */
  async destroy(): Promise<void> {
    const agents = Object.values(this.#agents).map((agent) => agent.destroy())
    for (const socket of this.#connecting) socket.destroy(new Error('the client is closed'))
    await Promise.all(agents)
  }

  #noting(connect: buildConnector.connector): buildConnector.connector {
    return (target, callback) => {
      // Its type does not say so, but it returns the socket.
      const socket = connect(target, (...result) => {
        this.#connecting.delete(socket)
        callback(...result)
      }) as unknown as Socket
      this.#connecting.add(socket)
    }
  }
}

function agentWith(connect: NonNullable<Agent.Options['connect']>): Agent {
  return new Agent({
    connect,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
}
