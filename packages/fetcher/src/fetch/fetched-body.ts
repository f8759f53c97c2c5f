// Reads the body that a fetch has decoded, and checks that it is whole and decoded, by what undici
// received. Runtimes without undici get edge/fetched-body.ts.
import { Readable } from 'node:stream'
import {
  brotliDecompressSync,
  constants,
  type InputType,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import type { Body, Headers as ReplyHeaders } from '@politely/core/engine'
import { type Failure, isText } from '@politely/core/internal'
import { readBody } from './body.ts'
import { failure, shortBody } from './failure.ts'
import { isCoded } from './framing.ts'
import { type ObservedRequest, RequestObserver, truncationOf } from './request-observer.ts'

/** Reads up to `maxBytes` of a decoded body. The abort of the signal cancels the rest. */
export function readStream(stream: ReadableStream, maxBytes: number, signal: AbortSignal): Promise<Body> {
  // The signal is passed again, since a fetch may ignore it once the response has begun.
  return readBody(Readable.fromWeb(stream, { signal }), {}, maxBytes)
}

/** Observes a request of the caller's fetch. */
export class FetchObserver extends RequestObserver {
  /** The failure if a body of this URL was cut off. */
  get truncation(): Failure | undefined {
    return truncationOf(this.exchanges)
  }

  /**
   * Returns why a body that was read to its end or to the limit cannot be used, if so.
   * @param codings The members of Content-Encoding.
   */
  async problemOfBody(
    body: Body,
    status: number,
    headers: ReplyHeaders,
    codings: readonly string[],
  ): Promise<Failure | undefined> {
    const { bytes, truncated: isAtLimit } = body
    const exchanges = this.withStatus(status)
    if (!isAtLimit) {
      const truncation = truncationOf(exchanges)
      if (truncation !== undefined) return truncation
      const short = codings.length === 0 ? shortBody(body, headers) : undefined
      if (short !== undefined) return short
      if (bytes.length === 0 && exchanges.some(hasText)) return DROPPED_BODY
      const coded = exchanges.find((exchange) => isEnded(exchange) && isCoded(exchange.headers))
      const problem = coded && (await this.problemOfCoding(coded))
      if (problem !== undefined) return problem
    }
    const [coding] = codings // `problemOfCodings` accepts one
    if (coding === undefined) return undefined
    const isStillCoded = Object.hasOwn(DECODED_CODINGS, coding)
      ? DECODED_CODINGS[coding]?.(Buffer.from(bytes, 'latin1'), isAtLimit)
      : !isText(bytes) // no fetch decodes an unknown coding, such as `utf-8`
    return isStillCoded
      ? failure(
          'undecodable',
          `the given fetch returned Content-Encoding ${JSON.stringify(coding)} and a body that is still coded`,
        )
      : undefined
  }
}

/**
 * Returns whether bytes are still coded. They are a whole stream, or the beginning of one that is
 * longer than the limit.
 */
type IsCoded = (bytes: Buffer, isBeginning: boolean) => boolean

/**
 * The codings that every fetch of undici and of Node 22 and later decodes, each with a check for
 * bytes that were not decoded.
 */
const DECODED_CODINGS: Readonly<Record<string, IsCoded>> = {
  gzip: isGzip,
  'x-gzip': isGzip,
  deflate: (bytes, isBeginning) =>
    decodes(inflateSync, bytes, isBeginning && constants.Z_SYNC_FLUSH) ||
    decodes(inflateRawSync, bytes, isBeginning && constants.Z_SYNC_FLUSH),
  br: (bytes, isBeginning) => decodes(brotliDecompressSync, bytes, isBeginning && constants.BROTLI_OPERATION_FLUSH),
}

/** Returns whether the site sent a body that is longer than a byte order mark. */
function hasText(exchange: ObservedRequest): boolean {
  return isEnded(exchange) && !isCoded(exchange.headers) && exchange.size > 3
}

/**
 * Returns whether the site ended the body. A body whose end was not seen counts as ended: the fetch
 * took it for complete, and the pages that it fetches are taken as they are too.
 */
function isEnded({ end }: ObservedRequest): boolean {
  return end === 'complete' || end === 'unseen'
}

const DROPPED_BODY = failure(
  'unusable-transport',
  'the given fetch did not return the body that was received; remove interceptors that drop it, such as `interceptors.dump()`',
)

/** Detects gzip by its magic number, which no text begins with. RFC 1952 §2.3.1. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** How many bytes are decoded to detect a coding. */
const MAX_OUTPUT_BYTES = 2 ** 22

/**
 * Returns whether all the bytes are one stream of a coding. Only a very short text could be one by
 * chance.
 * @param finishFlush The flush value that makes the decoder accept the beginning of a stream;
 * `false` for a whole stream.
 */
function decodes(
  decode: (bytes: InputType, options: ZlibOptions) => unknown,
  bytes: Buffer,
  finishFlush: number | false,
): boolean {
  const options = { info: true, maxOutputLength: MAX_OUTPUT_BYTES, ...(finishFlush !== false && { finishFlush }) }
  try {
    const { engine } = decode(bytes, options) as { readonly engine: { readonly bytesWritten: number } }
    return engine.bytesWritten === bytes.length
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
  }
}
