// Percent-encoding: bytes as `%XX`. RFC 3986 §2.1.
import { ALPHANUMERIC, byteSet, PERCENT } from '../ascii.ts'

/** A table with 1 for each unreserved byte, which needs no encoding. RFC 3986 §2.3. */
export const UNRESERVED: Uint8Array = byteSet(`${ALPHANUMERIC}-._~`)

/** Writes a byte as `%XX`, with upper-case hex digits. @returns The end of what was written. */
export function writeEncoded(out: Uint8Array, at: number, byte: number): number {
  out[at] = PERCENT
  out[at + 1] = hexDigit(byte >> 4)
  out[at + 2] = hexDigit(byte & 15)
  return at + 3
}

/** Returns the character of a hex digit, in upper case. */
function hexDigit(value: number): number {
  return value < 10 ? 48 + value : 55 + value
}

/** Returns the byte that `%XX` at an offset encodes; -1 unless two hex digits follow the `%`. */
export function decodePercent(bytes: Uint8Array, at: number, end: number): number {
  if (at + 2 >= end) return -1
  const value = (HEX_VALUES[bytes[at + 1] as number] as number) * 16 + (HEX_VALUES[bytes[at + 2] as number] as number)
  return value < 256 ? value : -1
}

/** The value of each hex digit, by its character; 256 for all other bytes. */
const HEX_VALUES: Uint16Array = Uint16Array.from({ length: 256 }, (_, c) => {
  const value = Number.parseInt(String.fromCharCode(c), 16)
  return Number.isNaN(value) ? 256 : value
})
