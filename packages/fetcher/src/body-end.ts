// How an HTTP/1.1 body ends. RFC 9112 §6.3, §8, §9.8.
import type { Socket } from 'node:net'
import { Duplex, type Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { type Headers, headerOf } from '@politely/core'

/** Whether nothing but the end of the connection ends the body: neither a length nor a last chunk. RFC 9112 §6.3. */
export function endsWithConnection(status: number, headers: Headers): boolean {
  if (status === 204 || status === 304) return false
  const coding = headerOf(headers, 'transfer-encoding')
  if (coding === undefined) return headerOf(headers, 'content-length') === undefined
  return !isChunked(coding)
}

/** Whether chunks are the last transfer coding, so that the body has an end of its own. */
export function isChunked(transferEncoding: string): boolean {
  return transferEncoding.split(',').at(-1)?.trim().toLowerCase() === 'chunked'
}

/**
 * Why a body that ends with the connection is incomplete, judged at the moment of its end. Over TLS it is complete only if a closure
 * alert was received. RFC 9112 §9.8.
 * @param carrier The connection below TLS, where it is known.
 */
export function problemOfConnection(socket: Socket, carrier?: TlsCarrier): string | undefined {
  if ((socket as Partial<TLSSocket>).encrypted === true && carrier === undefined) {
    return 'over TLS, a body without Content-Length and without chunks may have been cut: Node does not report the closure alert'
  }
  if (carrier?.endedBefore(socket)) {
    return 'the TLS connection ended without a closure alert in a body without Content-Length and without chunks'
  }
  if (socket.errored) return `${BROKEN}: ${socket.errored.message}`
  if (!socket.readableEnded) return `${BROKEN}: it was closed before the server ended it`
  // Node 22 reports a reset that arrives together with bytes as an orderly end. The peer's address is lost all the same, and
  // only the handle tells: `remoteAddress` is remembered.
  const { _handle: handle } = socket as { readonly _handle?: { getpeername?(address: object): number } | null }
  return (handle?.getpeername?.({}) ?? 0) === 0 ? undefined : `${BROKEN}: it was reset`
}

const BROKEN = 'the connection broke in a body without Content-Length and without chunks'

/**
 * A TCP connection for TLS to run on, which shows whether it ended before TLS did. TLS that Node runs on a socket itself reports
 * the end of that socket and a closure alert alike.
 */
export class TlsCarrier extends Duplex {
  readonly #tcp: Socket
  #tls: Readable | undefined
  #endedFirst = false

  constructor(tcp: Socket) {
    super()
    this.#tcp = tcp
    // Node's own listener, which ends TLS, is added later.
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

/** Whether a stream's source has ended, be there bytes left to read or not. No public property of streams tells it. */
export function isEndReceived(stream: Readable): boolean {
  const { _readableState: state } = stream as unknown as { readonly _readableState?: { readonly ended?: boolean } }
  return state?.ended === true
}
