// The value of a key in Redis: a format byte, the expiry time as a double of 8 bytes, and the text,
// compressed if that saves space. A damaged value may decode to another text. The client detects
// this by the checksum in its entries.
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/**
 * Longer texts are not stored, and no value inflates to more. The client's longest texts have about
 * 4 million characters.
 */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
const HEADER_BYTES = 9
const EXPIRY_AT = 1
/** A longer value is not one of ours. */
export const MAX_VALUE_BYTES: number = HEADER_BYTES + MAX_TEXT_BYTES
/** Deflate does not shorten such short texts. */
const MIN_DEFLATED_BYTES = 100

const PLAIN = 1
const DEFLATED = 2

/**
 * Returns undefined for a text of more than `MAX_TEXT_BYTES`.
 * @param keepUntil Milliseconds since 1970.
 */
export async function encodeValue(text: string, keepUntil: number): Promise<Buffer | undefined> {
  const plain = Buffer.from(text)
  if (plain.length > MAX_TEXT_BYTES) return undefined
  const deflated = plain.length < MIN_DEFLATED_BYTES ? plain : await deflate(plain)
  const [format, content] = deflated.length < plain.length ? [DEFLATED, deflated] : [PLAIN, plain]
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(format)
  header.writeDoubleBE(keepUntil, EXPIRY_AT)
  return Buffer.concat([header, content])
}

/**
 * Returns undefined for an expired value, and for a value that cannot be decoded.
 * @param at Milliseconds since 1970.
 */
export async function decodeValue(value: unknown, at: number): Promise<string | undefined> {
  if (!Buffer.isBuffer(value) || value.length < HEADER_BYTES || value.length > MAX_VALUE_BYTES) return undefined
  const keepUntil = value.readDoubleBE(EXPIRY_AT)
  if (!(keepUntil > at)) return undefined
  const content = value.subarray(HEADER_BYTES)
  const [format] = value
  if (format === PLAIN) return content.toString()
  if (format !== DEFLATED) return undefined
  const plain = await inflate(content, { maxOutputLength: MAX_TEXT_BYTES }).catch(() => undefined)
  return plain?.toString()
}
