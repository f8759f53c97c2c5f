// Replaces socket-transports.ts in runtimes without sockets: only the platform's fetch is left.
import { UnsupportedRuntimeError } from '../base/errors.ts'
import { failure } from '../fetch/failure.ts'
import type { RobotsTransport } from '../fetch/robots-transport.ts'

const NO_FTP = failure('no-transport', 'ftp: needs TCP connections, which this runtime does not have')

export class SocketTransports {
  readonly own: RobotsTransport = { send: async () => NO_FTP } // never used, since undici.ts says HAS_OWN_CONNECTIONS is false
  readonly ftp: RobotsTransport = { send: async () => NO_FTP }

  through(): RobotsTransport {
    throw new UnsupportedRuntimeError('dispatcher', 'write fetch: your fetch instead')
  }

  async close(): Promise<void> {}
}
