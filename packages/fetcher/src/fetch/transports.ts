// What requests for robots.txt use, and what decodes bodies. Loaded by the first that needs them.
// Runtimes without sockets get edge/transports.ts.
import type { CallersWay } from '../network/robots-way.ts'
import type { ClientSettings } from '../options/options.ts'
import { FetchTransport } from './fetch-transport.ts'
import type { RobotsTransport } from './robots-transport.ts'
import { CallersConnection } from './sockets/callers-connections.ts'
import { FtpTransport } from './sockets/ftp-transport.ts'
import { OwnConnections } from './sockets/own-connections.ts'
import { UndiciTransport } from './sockets/undici-transport.ts'

export { decodersOf } from './body.ts'
export { whyOther } from './decoded-again.ts'

/** The transports of a client. */
export class Transports {
  readonly own: RobotsTransport
  readonly ftp: RobotsTransport
  readonly #settings: ClientSettings
  readonly #ownConnections: OwnConnections

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#ownConnections = new OwnConnections(settings)
    this.own = new UndiciTransport(settings, this.#ownConnections.open)
    this.ftp = new FtpTransport(settings)
  }

  /** Returns the transport through the caller's dispatcher or a fetch. */
  through(way: CallersWay): RobotsTransport {
    if (way.via !== 'dispatcher') return new FetchTransport(this.#settings, way.fetch)
    const { maxBodyBytes } = this.#settings
    const { dispatcher } = way
    return new UndiciTransport(this.#settings, ({ href }) => new CallersConnection(dispatcher, href, maxBodyBytes))
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    await this.#ownConnections.close()
  }
}
