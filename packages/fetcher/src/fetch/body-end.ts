// Detects whether an HTTP/1.1 body ended completely. RFC 9112 §6.3, §8, §9.8.
import type { Socket } from 'node:net'
import { Duplex, type Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Headers } from '@politely/core/engine'
import { headerOf } from '@politely/core/internal'

/**
 * Returns whether only the end of the connection ends the body: it has neither a length nor a last
 * chunk. RFC 9112 §6.3.
 */
export function endsWithConnection(status: number, headers: Headers): boolean {
  if (status === 204 || status === 304) return false
  const coding = headerOf(headers, 'transfer-encoding')
  if (coding === undefined) return headerOf(headers, 'content-length') === undefined
  return !isChunked(coding)
}

/** Returns whether `chunked` is the last transfer coding, so that a last chunk ends the body. */
export function isChunked(transferEncoding: string): boolean {
  return transferEncoding.split(',').at(-1)?.trim().toLowerCase() === 'chunked'
}

/**
 * Returns why a body that ends with its connection is incomplete, if so. To be called at the moment
 * of the end. Over TLS the body is complete only if a closure alert was received. RFC 9112 §9.8.
 * @param carrier The TCP connection under TLS, if it is known.
 */
export function problemOfConnection(socket: Socket, carrier?: TlsCarrier): string | undefined {
  if (carrier?.endedBefore(socket)) {
    return 'the TLS connection ended without a closure alert in a body without Content-Length and without chunks'
  }
  if (socket.errored) return `${BROKEN}: ${socket.errored.message}`
  if (!socket.readableEnded) return `${BROKEN}: it was closed before the server ended it`
  if ((socket as Partial<TLSSocket>).encrypted === true && carrier === undefined) return UNSEEN_END
  // Node 22 reports a reset that arrives together with bytes as an orderly end. After a reset, the
  // handle has no peer address any more. `remoteAddress` does not show this, since Node caches it.
  const { _handle: handle } = socket as { readonly _handle?: { getpeername?(address: object): number } | null }
  return (handle?.getpeername?.({}) ?? 0) === 0 ? undefined : `${BROKEN}: it was reset`
}

/**
 * The problem of a body that may be complete: it ended with its TLS connection, whose closure alert
 * Node does not report.
 */
export const UNSEEN_END =
  'over TLS, a body without Content-Length and without chunks may be truncated: Node does not report the closure alert'

const BROKEN = 'the connection broke in a body without Content-Length and without chunks'

/**
 * A TCP connection under TLS that records whether it ended before TLS did. A TLS socket that Node
 * creates itself reports a closure alert and the end of its TCP socket in the same way.
 */
export class TlsCarrier extends Duplex {
  readonly #tcp: Socket
  #tls: Readable | undefined
  #endedFirst = false

  constructor(tcp: Socket) {
    super()
    this.#tcp = tcp
    // This listener runs before Node's own, which ends TLS and is added later.
    this.once('end', () => {
      this.#endedFirst = this.#tls === undefined || !isEndReceived(this.#tls)
    })
    tcp.on('data', (bytes) => {
      if (!this.push(bytes)) tcp.pause()
    })
    tcp.once('end', () => this.push(null))
    tcp.once('error', (error) => this.destroy(error))
    tcp.once('close', () => this.destroy())
  }

  carry(tls: Readable): void {
    this.#tls = tls
  }

  endedBefore(tls: Readable): boolean {
    return this.#tls !== tls || this.#endedFirst
  }

  override _read(): void {
    this.#tcp.resume()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#tcp.write(bytes, done)
  }

  override _final(done: () => void): void {
    this.#tcp.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#tcp.destroy()
    done(error)
  }
}

/**
 * Returns whether a stream's source has ended, even if bytes are still to be read. No public
 * property of streams shows this.
 */
export function isEndReceived(stream: Readable): boolean {
  const { _readableState: state } = stream as unknown as { readonly _readableState?: { readonly ended?: boolean } }
  return state?.ended === true
}
