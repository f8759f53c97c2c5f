// Replaces transports.ts in runtimes without sockets: only a fetch is left.
import { UnsupportedRuntimeError } from '../base/errors.ts'
import { failure } from '../fetch/failure.ts'
import { FetchTransport } from '../fetch/fetch-transport.ts'
import type { RobotsTransport } from '../fetch/robots-transport.ts'
import type { CallersWay } from '../network/robots-way.ts'
import type { ClientSettings } from '../options/options.ts'

const NO_FTP = failure('no-transport', 'ftp: needs TCP connections, which this runtime does not have')

export function decodersOf(): undefined {}

export class Transports {
  readonly own: RobotsTransport = { send: async () => NO_FTP } // never used, since undici.ts says HAS_OWN_CONNECTIONS is false
  readonly ftp: RobotsTransport = { send: async () => NO_FTP }
  readonly #settings: ClientSettings

  constructor(settings: ClientSettings) {
    this.#settings = settings
  }

  through(way: CallersWay): RobotsTransport {
    if (way.via !== 'dispatcher') return new FetchTransport(this.#settings, way.fetch)
    throw new UnsupportedRuntimeError('dispatcher', 'write fetch: your fetch instead')
  }

  async close(): Promise<void> {}
}
