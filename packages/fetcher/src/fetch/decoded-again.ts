// Decodes a coded body a second time, to see whether it is whole.
import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib' // crc32 is missing in an old Node, which could not load this module then
import type { Headers } from '@politely/core/engine'
import { messageOf } from '../base/message-of.ts'
import { decodersOf } from './body.ts'

/** What is known of a body that fetch has decoded. */
export interface DecodedBody {
  readonly bytes: number
  /** As `crc32` of node:zlib computes it. */
  readonly crc32: number
}

/** Returns why coded bytes do not decode to a body. */
export async function whyOther(
  coded: Buffer,
  headers: Headers,
  { bytes, crc32 }: DecodedBody,
): Promise<string | undefined> {
  const decoders = decodersOf(headers)
  if (decoders === undefined) return 'it has too many codings to check'
  let size = 0
  let checksum = 0
  try {
    pipeline([Readable.from([coded]), ...decoders], () => undefined) // the last one gets the errors of all
    for await (const chunk of decoders.at(-1) as Transform) {
      size += chunk.length
      if (size > bytes) break
      checksum = zlib.crc32(chunk, checksum)
    }
  } catch (error) {
    return messageOf(error)
  }
  return size === bytes && checksum === crc32 ? undefined : 'its coding decodes to something else'
}
