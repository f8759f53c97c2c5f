// Robots.txt by undici: with our own connections, which the network guard watches, or with the caller's dispatcher.
import { headerOf, type Reply } from '@politely/core'
import { Client, type Dispatcher, request } from 'undici'
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

/** Whose connections are used. A request says when it has no more use for what it was given. */
export interface Connections {
  open(origin: string, reach: Reach): Dispatcher
  end(dispatcher: Dispatcher): void
}

export class UndiciTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #connections: Connections

  constructor(settings: TransportSettings, connections: Connections) {
    this.#settings = settings
    this.#connections = connections
  }

  async send({ url, conditions, reach }: RobotsRequest, deadline: AbortSignal): Promise<Reply> {
    const { userAgent, policy, maxBodyBytes } = this.#settings
    const { origin } = new URL(url)
    const dispatcher = this.#connections.open(origin, reach)
    const init = {
      dispatcher,
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
    } finally {
      this.#connections.end(dispatcher)
    }
  }
}

/** Without it, undici would make errors for the end of each connection, and their stacks cost more than reading the file. */
const ENDED = new Error('robots.txt has been read')

/**
 * Our own: one for each request, ended with it. The next request to an origin comes tomorrow, and few redirects lead to the host
 * that they come from; an undici Agent would keep a pool for each of a million origins, and look through all of them at the end of
 * each.
 */
export class OwnConnections implements Connections {
  readonly #options: Readonly<Record<Reach, Client.Options>>
  readonly #clients = new Set<Dispatcher>()

  constructor(guard: NetworkGuard, timeoutMs: number) {
    const optionsFor = (reach: Reach): Client.Options => ({
      // No TCP keep-alive: it would begin when the deadline has long passed.
      connect: guard.connector({ reach, allowH2: false, timeout: timeoutMs, keepAlive: false }),
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    this.#options = { public: optionsFor('public'), any: optionsFor('any') }
  }

  open(origin: string, reach: Reach): Dispatcher {
    const client = new Client(origin, this.#options[reach])
    this.#clients.add(client)
    return client
  }

  end(client: Dispatcher): void {
    this.#clients.delete(client)
    void client.destroy(ENDED)
  }

  async destroy(): Promise<void> {
    await Promise.all(Array.from(this.#clients, (client) => client.destroy()))
  }
}
