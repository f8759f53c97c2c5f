// Detects whether a TLS connection ended completely. RFC 9112 §9.8.
import type { Socket } from 'node:net'
import { Duplex, type Readable } from 'node:stream'

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
