// Bytes with a meaning in robots.txt and in URLs.

export const NUL = 0
export const TAB = 9
export const LF = 10
export const CR = 13
export const SPACE = 32
export const HASH = 35
export const DOLLAR = 36
export const PERCENT = 37
export const STAR = 42
export const DOT = 46
export const SLASH = 47
export const COLON = 58

/** Each byte, with the upper-case letters of ASCII in lower case. */
export const LOWER_CASE: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte,
)

/** Returns a table with 1 for each byte of `ascii`, and 0 for all others. */
export function byteSet(ascii: string): Uint8Array {
  const table = new Uint8Array(256)
  for (let i = 0; i < ascii.length; i++) table[ascii.charCodeAt(i)] = 1
  return table
}

/** Returns a copy of a table with 0 for these bytes. */
export function without(table: Uint8Array, ...bytes: readonly number[]): Uint8Array {
  return table.map((value, byte) => (bytes.includes(byte) ? 0 : value))
}

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
