// A response's body, decoded and bounded. RFC 9309 §2.5.
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type Body, type Headers, headerOf } from '@politely/core'
import { createZstdDecoders } from './zstd.ts'

/** A coding that this client does not decode. `failure.ts` maps its code to `undecodable`. */
class UnknownCodingError extends Error {
  override readonly name = 'UnknownCodingError'
  readonly code = 'Z_UNKNOWN_CODING'
}

/** The codings that are offered to servers. Deflate and zstd are understood too: some caches send to all what one client asked for. */
export const ACCEPT_ENCODING = 'gzip, br'

const DECODERS: Readonly<Record<string, () => Transform[]>> = {
  gzip: () => [createGunzip()],
  'x-gzip': () => [createGunzip()],
  deflate: () => [createInflate()],
  br: () => [createBrotliDecompress()],
  zstd: createZstdDecoders,
}

/** Nobody needs more; each one multiplies what a few bytes can unpack to. */
const MAX_CODINGS = 2

/**
 * Reads up to `maxBytes` of decoded body; what a bomb would unpack to beyond that is never unpacked. A body that is cut keeps
 * its last whole line only: half a rule could forbid, or allow, far more than the whole one.
 */
export async function readBody(body: Readable, headers: Headers, maxBytes: number): Promise<Body> {
  const decoded = decode(body, decodersFor(codingsOf(headers)))
  const chunks: Buffer[] = []
  let size = 0
  let received = 0
  if (decoded !== body) body.on('data', (chunk: Buffer) => (received += chunk.length))
  try {
    for await (const chunk of decoded as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break // which ends the streams behind it, and the connection
    }
  } catch (error) {
    // Servers that compress whatever they have send an empty body for an empty file. It must say that it is empty: without a length or a
    // last chunk it may have been cut before its first byte.
    if (decoded === body || received > 0 || !body.readableEnded || !hasOwnEnd(headers)) throw error
  }
  return bodyOf(chunks, maxBytes)
}

function hasOwnEnd(headers: Headers): boolean {
  if (headerOf(headers, 'content-length') === '0') return true
  return listed(headerOf(headers, 'transfer-encoding')).at(-1) === 'chunked'
}

/** The same of a body that is at hand as it is, or as much of it as passes the limit. */
export function bodyOf(chunks: readonly Buffer[], maxBytes: number): Body {
  const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  const bytes = all.toString('latin1', 0, Math.min(all.length, maxBytes))
  return all.length > maxBytes ? { bytes: wholeLines(bytes), truncated: true } : { bytes: bytes, truncated: false }
}

/** Does a body with these headers have to be decoded? */
export function isCoded(headers: Headers): boolean {
  if (headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined) return false
  return codingsOf(headers).length > 0
}

function decode(body: Readable, decoders: readonly Transform[]): Readable {
  if (decoders.length === 0) return body
  // An error anywhere, and an early end, reach every stream of the line; who reads the last one meets the error there.
  pipeline([body, ...decoders], () => undefined)
  return decoders.at(-1) as Transform
}

/** All that the body is coded with, in the order in which it was put on. Only chunks have been taken off so far. */
function codingsOf(headers: Headers): string[] {
  const transferCodings = listed(headerOf(headers, 'transfer-encoding'))
  // Chunks that are not the last coding are not looked for, and so no more understood than any other name. RFC 9112 §6.3.
  if (transferCodings.at(-1) === 'chunked') transferCodings.pop()
  const codings = [...listed(headerOf(headers, 'content-encoding')), ...transferCodings]
  return codings.filter((coding) => coding !== 'identity')
}

function listed(value = ''): string[] {
  const items = value.toLowerCase().split(',')
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

function decodersFor(codings: readonly string[]): Transform[] {
  if (codings.length > MAX_CODINGS) throw new UnknownCodingError(`${codings.length} codings on one another`)
  // The last one was put on last, so it comes off first. RFC 9110 §8.4.
  return codings.toReversed().flatMap((coding) => {
    const decoders = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (decoders === undefined) throw new UnknownCodingError(`coding ${JSON.stringify(coding)}`)
    return decoders()
  })
}

/** Up to the last line end; all of it where there is none, since a line has a bound of its own. */
function wholeLines(bytes: string): string {
  const end = Math.max(bytes.lastIndexOf('\n'), bytes.lastIndexOf('\r'))
  return end === -1 ? bytes : bytes.slice(0, end + 1)
}
