// The client's own connections for robots.txt, which the network guard checks.
//
// An `OwnConnection` is an undici Client for one request. Its connector opens a TCP connection with
// a connector of the guard. For https, the connector then runs TLS over a `TlsCarrier`, which wraps
// the TCP connection. The carrier shows whether TLS ended with a closure alert or was truncated.
//
//   http:    guarded TCP socket ──> undici
//   https:   guarded TCP socket ──> TlsCarrier ──> TLS socket ──> undici
import type { Socket } from 'node:net'
import type { Failure } from '@politely/core/internal'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { connectorsOf, type GuardedConnectors } from '../../network/network-guard.ts'
import { loadUndici } from '../../network/undici.ts'
import type { ClientSettings } from '../../options/options.ts'
import { TlsCarrier } from '../body-end.ts'
import { failure } from '../failure.ts'
import { endsWithConnection, problemOfConnection } from '../framing.ts'
import { MAX_HEADER_BYTES } from '../robots-transport.ts'
import { type Connection, NOT_NEEDED, type OpenConnection, type ReceivedBody } from './undici-connection.ts'

/**
 * The client's own connections: one for each request, closed when the request ends. Keeping them
 * open would not help: the next request to an origin comes a day later, and few redirects stay on
 * one host. An undici Agent would keep a pool for each of a million origins, and scan all of them
 * whenever a connection ends.
 */
export class OwnConnections {
  readonly #settings: ClientSettings
  /** What all connections use. The first connection creates it, since loading undici takes long. */
  #shared: Promise<SharedParts> | undefined
  readonly #open = new Set<OwnConnection>()

  constructor(settings: ClientSettings) {
    this.#settings = settings
  }

  readonly open: OpenConnection = async ({ origin }, reach) => {
    this.#shared ??= this.#load()
    const { Client, tcp, tls } = await this.#shared
    const connection = new OwnConnection(Client, origin, { tcp: tcp[reach], tls }, () => this.#open.delete(connection))
    this.#open.add(connection)
    return connection
  }

  async #load(): Promise<SharedParts> {
    const { guard, timeoutMs: timeout } = this.#settings
    const { buildConnector, Client } = await loadUndici()
    // No TCP keep-alive: its first probe would come long after the deadline.
    const options = { allowH2: false, timeout, keepAlive: false }
    return { Client, tcp: connectorsOf(guard, buildConnector, options), tls: buildConnector(options) }
  }

  async close(): Promise<void> {
    const open = [...this.#open]
    for (const connection of open) connection.close()
    await Promise.all(open.map(({ dispatcher }) => dispatcher.destroy()))
  }
}

interface SharedParts {
  /** The class of undici. */
  readonly Client: typeof Client
  readonly tcp: GuardedConnectors
  readonly tls: buildConnector.connector
}

interface Connectors {
  readonly tcp: buildConnector.connector
  readonly tls: buildConnector.connector
}

class OwnConnection implements Connection {
  readonly dispatcher: Dispatcher
  readonly #onClose: () => void
  /**
   * Sockets that are connecting. A destroyed undici Client leaves them open until they time out.
   */
  readonly #connecting = new Set<Socket>()
  #carrier: TlsCarrier | undefined
  #socket: Socket | undefined
  /** Called when the TCP socket has received bytes. */
  #onReceived: (tcp: Socket) => void = () => undefined

  constructor(ClientOfUndici: typeof Client, origin: string, { tcp, tls }: Connectors, onClose: () => void) {
    this.#onClose = onClose
    const connect: buildConnector.connector = (target, callback) => {
      const done: buildConnector.Callback = (...result) => {
        this.#socket = result[1] ?? undefined
        callback(...result)
      }
      if (target.protocol !== 'https:') {
        return void this.#connect(tcp, target, (...result) => {
          const [, socket] = result
          socket?.on('readable', () => this.#onReceived(socket)) // like undici; `data` would start the flow before undici reads
          done(...result)
        })
      }
      this.#connect(tcp, { ...target, protocol: 'http:', port: target.port || '443' }, (error, socket) => {
        if (error !== null) return done(error, null)
        socket.on('data', () => this.#onReceived(socket))
        const carrier = new TlsCarrier(socket)
        this.#carrier = carrier
        // The type requires a Socket, but Node runs TLS over any stream.
        const overTls = this.#connect(tls, { ...target, httpSocket: carrier as unknown as Socket }, done)
        if (overTls !== undefined) carrier.carry(overTls)
      })
    }
    this.dispatcher = new ClientOfUndici(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES })
  }

  onReceivedOver(bytes: number, listener: () => void): void {
    this.#onReceived = ({ bytesRead }) => {
      if (bytesRead > bytes) listener()
    }
  }

  problemOfBody({ status, headers }: ReceivedBody): Failure | undefined {
    if (!endsWithConnection(status, headers) || this.#socket === undefined) return undefined
    const problem = problemOfConnection(this.#socket, this.#carrier)
    return problem === undefined ? undefined : failure('truncated', problem)
  }

  close(): void {
    this.#onClose()
    void this.dispatcher.destroy(NOT_NEEDED)
    for (const socket of this.#connecting) socket.destroy(NOT_NEEDED)
  }

  #connect(
    connector: buildConnector.connector,
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Socket | undefined {
    let isOver = false // may become true before the connector returns
    let socket: Socket | undefined
    const returned: unknown = connector(target, (...result) => {
      isOver = true
      if (socket !== undefined) this.#connecting.delete(socket)
      callback(...result)
    })
    socket = returned as Socket | undefined // undici's connector returns the socket, although its type does not say so
    if (!isOver && socket !== undefined) this.#connecting.add(socket)
    return socket
  }
}
