// What the headers of an HTTP/1.1 response say about its body, and whether the body ended completely.
// RFC 9112 §6.3, §8, §9.8.
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Headers } from '@politely/core/engine'
import { headerOf } from '@politely/core/internal'
import type { TlsCarrier } from './body-end.ts'

/** The codings that `readBody` decodes. */
export type Coding = 'gzip' | 'x-gzip' | 'deflate' | 'br' | 'zstd'

const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd'] satisfies Coding[])

/**
 * No server needs more. Each further coding multiplies the size to which a few bytes can
 * decompress.
 */
export const MAX_CODINGS = 2

/** Returns whether the framing shows where a body ends, even an empty one. */
export function hasOwnEnd(headers: Headers): boolean {
  if (headerOf(headers, 'content-length') === '0') return true
  return listed(headerOf(headers, 'transfer-encoding')).at(-1) === 'chunked'
}

/** Returns whether a body with these headers has to be decoded, or checked, by `readBody`. */
export function isCoded(headers: Headers): boolean {
  const { codings, unknown } = codingsOf(headers)
  return codings.length > 0 || unknown !== undefined
}

/** Returns whether fetch decodes a body with these headers. It leaves a body with an unknown coding as it is. */
export function isDecodedByFetch(headers: Headers): boolean {
  const { codings, unknown } = codingsOf(headers)
  return codings.length > 0 && unknown === undefined
}

/**
 * Returns the codings of the body that have to be decoded, in the order in which the server applied
 * them. undici has already removed the chunks.
 *
 * Some servers write something else in Content-Encoding, such as `utf-8`, `none` or `aws-chunked`.
 * `unknown` is the first of these. The body is read like one without it, as Node's fetch does, if
 * it turns out to be text.
 */
export function codingsOf(headers: Headers): {
  readonly codings: readonly string[]
  readonly unknown: string | undefined
} {
  if (headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined) return UNCODED
  const transferCodings = listed(headerOf(headers, 'transfer-encoding'))
  // `chunked` is removed only as the last coding. Elsewhere it stays in the list, as an unknown
  // coding. RFC 9112 §6.3.
  if (transferCodings.at(-1) === 'chunked') transferCodings.pop()
  const contentCodings = listed(headerOf(headers, 'content-encoding'))
  if (contentCodings.length + transferCodings.length > MAX_CODINGS)
    return { codings: [...contentCodings, ...transferCodings], unknown: undefined }
  const isUnknown = (coding: string) => coding !== 'identity' && !CODINGS.has(coding)
  const codings = [...contentCodings.filter((coding) => !isUnknown(coding)), ...transferCodings]
  return { codings: codings.filter((coding) => coding !== 'identity'), unknown: contentCodings.find(isUnknown) }
}

const UNCODED = { codings: [], unknown: undefined }

function listed(value = ''): string[] {
  const items = value.toLowerCase().split(',')
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

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

const FRAMING = ['content-length', 'transfer-encoding', 'content-encoding']
const FRAMING_LENGTHS: ReadonlySet<number> = new Set(FRAMING.map((name) => name.length))

/**
 * Picks the framing headers. undici reports headers as a list of Buffers, names and values by
 * turns; over HTTP/2 as an object.
 */
export function framingOf(headers: unknown): Headers {
  const found: Record<string, string> = {}
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {}).flat()
  for (let i = 0; i < pairs.length; i += 2) {
    if (!FRAMING_LENGTHS.has((pairs[i] as { readonly length: number }).length)) continue
    const name = String(pairs[i]).toLowerCase()
    const value = String(pairs[i + 1])
    if (FRAMING.includes(name)) found[name] = found[name] === undefined ? value : `${found[name]}, ${value}`
  }
  return found
}
