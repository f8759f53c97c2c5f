// The transports that need sockets or undici. Runtimes without them get edge/socket-transports.ts.

import type { Dispatcher } from 'undici'
import type { NetworkGuard } from '../../network/network-guard.ts'
import type { ClientSettings } from '../../options/options.ts'
import type { RobotsTransport } from '../robots-transport.ts'
import { callersConnections } from './callers-connections.ts'
import { FtpTransport } from './ftp-transport.ts'
import { OwnConnections } from './own-connections.ts'
import { UndiciTransport } from './undici-transport.ts'

export class SocketTransports {
  readonly own: RobotsTransport
  readonly ftp: RobotsTransport
  readonly #settings: ClientSettings
  readonly #ownConnections: OwnConnections

  constructor(settings: ClientSettings, guard: NetworkGuard) {
    this.#settings = settings
    this.#ownConnections = new OwnConnections(guard, settings.timeoutMs)
    this.own = new UndiciTransport(settings, this.#ownConnections)
    this.ftp = new FtpTransport(settings, guard)
  }

  /** Returns the transport through the caller's dispatcher. */
  through(dispatcher: Dispatcher): RobotsTransport {
    return new UndiciTransport(this.#settings, callersConnections(dispatcher, this.#settings))
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    await this.#ownConnections.close()
  }
}
