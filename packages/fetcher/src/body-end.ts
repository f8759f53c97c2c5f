// How an HTTP/1.1 body ends. RFC 9112 §6.3, §8, §9.8.
import type { Socket } from 'node:net'
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
 * Why a body that ends with the connection is incomplete, judged at the moment of its end. Over TLS it always is: it is complete
 * only if a closure alert was received (RFC 9112 §9.8), and Node reports the same end with and without one.
 */
export function problemOfConnection(socket: Socket): string | undefined {
  if ((socket as Partial<TLSSocket>).encrypted === true) {
    return 'over TLS, a body without Content-Length and without chunks may have been cut: Node does not report the closure alert'
  }
  if (socket.errored) return `${BROKEN}: ${socket.errored.message}`
  if (!socket.readableEnded) return `${BROKEN}: it was closed before the server ended it`
  // Node 22 reports a reset that arrives together with octets as an orderly end. The peer's address is lost all the same, and
  // only the handle tells: `remoteAddress` is remembered.
  const { _handle: handle } = socket as { readonly _handle?: { getpeername?(address: object): number } | null }
  return (handle?.getpeername?.({}) ?? 0) === 0 ? undefined : `${BROKEN}: it was reset`
}

const BROKEN = 'the connection broke in a body without Content-Length and without chunks'
