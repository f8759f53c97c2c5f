// Robots.txt by undici: with our own connections, which the network guard watches, or with the caller's dispatcher.
import type { Socket } from 'node:net'
import type { Reply } from '@politely/core'
import { type buildConnector, Client, type Dispatcher, request } from 'undici'
import { ACCEPT_ENCODING, readBody } from './body.ts'
import { beforeDeadline } from './deadline.ts'
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
      // Undici heeds its signal only once it has a connection, and how long that takes is up to the site.
      const { statusCode: status, headers, body } = await beforeDeadline(request(url, init), deadline)
      phase = 'body'
      body.on('error', () => undefined) // a body destroyed before its end emits one, which nobody else may be there to hear
      try {
        if (!isBodyWanted(status, policy)) return { kind: 'response', status, headers }
        return { kind: 'response', status, headers, body: await readBody(body, headers, maxBodyBytes) }
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
  readonly #connectors: Readonly<Record<Reach, buildConnector.connector>>
  readonly #clients = new Set<Dispatcher>()
  /** Those that are being made: a client leaves them to their own time-out when it ends. */
  readonly #connecting = new Map<Dispatcher, Socket>()

  constructor(guard: NetworkGuard, timeoutMs: number) {
    // No TCP keep-alive: it would begin when the deadline has long passed.
    const options = { allowH2: false, timeout: timeoutMs, keepAlive: false }
    this.#connectors = {
      public: guard.connector({ reach: 'public', ...options }),
      any: guard.connector({ reach: 'any', ...options }),
    }
  }

  open(origin: string, reach: Reach): Dispatcher {
    const connect: buildConnector.connector = (target, callback) => {
      let isOver = false
      // Its type does not say so, but it returns the socket.
      const socket = this.#connectors[reach](target, (...result) => {
        isOver = true
        this.#connecting.delete(client)
        callback(...result)
      }) as unknown as Socket
      if (!isOver) this.#connecting.set(client, socket)
    }
    const client = new Client(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES })
    this.#clients.add(client)
    return client
  }

  end(client: Dispatcher): void {
    this.#clients.delete(client)
    void client.destroy(ENDED)
    this.#connecting.get(client)?.destroy(ENDED)
  }

  async destroy(): Promise<void> {
    const clients = [...this.#clients]
    for (const client of clients) this.end(client)
    await Promise.all(clients.map((client) => client.destroy()))
  }
}
