// The value of a key in Redis: a CRC-32 of the rest, a format byte, the expiry time as a double of 8 bytes, and the text, compressed if that
// saves space.
import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Longer texts are not stored, and no value inflates to more. The client's longest texts have about 4 million characters. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
const HEADER_BYTES = 13
const FORMAT_AT = 4
const EXPIRY_AT = 5
/** A longer value is not one of ours. */
export const MAX_VALUE_BYTES: number = HEADER_BYTES + MAX_TEXT_BYTES
/** Deflate does not shorten such short texts. */
const MIN_DEFLATED_BYTES = 100

const PLAIN = 1
const DEFLATED = 2

/** Returns undefined for a text of more than `MAX_TEXT_BYTES`. @param keepUntil Milliseconds since 1970. */
export async function encodeValue(text: string, keepUntil: number): Promise<Buffer | undefined> {
  const plain = Buffer.from(text)
  if (plain.length > MAX_TEXT_BYTES) return undefined
  const deflated = plain.length < MIN_DEFLATED_BYTES ? plain : await deflate(plain)
  const [format, content] = deflated.length < plain.length ? [DEFLATED, deflated] : [PLAIN, plain]
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(format, FORMAT_AT)
  header.writeDoubleBE(keepUntil, EXPIRY_AT)
  const value = Buffer.concat([header, content])
  value.writeUInt32BE(crc32(value.subarray(FORMAT_AT)))
  return value
}

/** Returns undefined for an expired, damaged or foreign value. @param at Milliseconds since 1970. */
export async function decodeValue(value: unknown, at: number): Promise<string | undefined> {
  if (!Buffer.isBuffer(value) || value.length < HEADER_BYTES || value.length > MAX_VALUE_BYTES) return undefined
  if (crc32(value.subarray(FORMAT_AT)) !== value.readUInt32BE()) return undefined
  const keepUntil = value.readDoubleBE(EXPIRY_AT)
  if (!(keepUntil > at)) return undefined
  const content = value.subarray(HEADER_BYTES)
  const format = value[FORMAT_AT]
  if (format === PLAIN) return content.toString()
  if (format !== DEFLATED) return undefined
  const plain = await inflate(content, { maxOutputLength: MAX_TEXT_BYTES }).catch(() => undefined)
  return plain?.toString()
}
