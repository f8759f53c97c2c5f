// Robots.txt by undici: with our own connections, which the network guard watches, or with the caller's dispatcher.
import { headerOf, type Reply } from '@politely/core'
import { Agent, type Dispatcher, request } from 'undici'
import { ACCEPT_ENCODING, readBody } from './body.ts'
import { failureOf } from './failure.ts'
import type { NetworkGuard, Reach } from './network-guard.ts'
import {
  ACCEPT,
  isBodyWanted,
  MAX_HEADER_BYTES,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

/** Connections are kept for a redirect to the same host only: the next request to an origin comes tomorrow. Milliseconds. */
const KEEP_ALIVE_MS = 1_000

export class UndiciTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #dispatchers: Readonly<Record<Reach, Dispatcher>>

  constructor(settings: TransportSettings, dispatchers: Readonly<Record<Reach, Dispatcher>>) {
    this.#settings = settings
    this.#dispatchers = dispatchers
  }

  async send({ url, conditions, reach }: RobotsRequest, deadline: AbortSignal): Promise<Reply> {
    const { userAgent, policy, maxBodyBytes } = this.#settings
    const init = {
      dispatcher: this.#dispatchers[reach],
      // No cookies, no credentials, no Referer.
      headers: { 'user-agent': userAgent, accept: ACCEPT, 'accept-encoding': ACCEPT_ENCODING, ...conditions },
      signal: deadline,
      headersTimeout: 0, // the deadline is the only clock
      bodyTimeout: 0,
    }
    let phase: 'request' | 'body' = 'request'
    try {
      const { statusCode: status, headers, body } = await request(url, init)
      phase = 'body'
      body.on('error', () => undefined) // a body destroyed before its end emits one, which nobody else may be there to hear
      try {
        if (!isBodyWanted(status, policy)) return { kind: 'response', status, headers }
        const coding = headerOf(headers, 'content-encoding')
        return { kind: 'response', status, headers, body: await readBody(body, coding, maxBodyBytes) }
      } finally {
        body.destroy() // what was not read is not wanted, and a site may take for ever to send it
      }
    } catch (error) {
      return failureOf(error, phase, deadline)
    }
  }
}

/** Our own connections, by what they may reach. */
export function guardedAgents(guard: NetworkGuard, timeoutMs: number): Readonly<Record<Reach, Agent>> {
  const agentFor = (reach: Reach) =>
    new Agent({
      connect: guard.connector({ reach, allowH2: false, timeout: timeoutMs }),
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    })
  return { public: agentFor('public'), any: agentFor('any') }
}
