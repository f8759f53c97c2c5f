// Percent-encoding: octets as `%XX`. RFC 3986 §2.1.

/** The octets (1) that need none. RFC 3986 §2.3. */
export const unreserved: Uint8Array = Uint8Array.from({ length: 256 }, (_, octet) =>
  Number(/[A-Za-z0-9._~-]/.test(String.fromCharCode(octet))),
)

/** An octet encoded, as a text. */
export function percent(octet: number): string {
  return `%${String.fromCharCode(digitOf(octet >> 4), digitOf(octet & 15))}`
}

/** The character of a hex digit, in upper case. */
export function digitOf(value: number): number {
  return value < 10 ? 48 + value : 55 + value
}

/** What the characters of two hex digits stand for, or -1. */
export function octetOf(high: number, low: number): number {
  const value = (VALUES[high] as number) * 16 + (VALUES[low] as number)
  return value < 256 ? value : -1
}

/** Of a hex digit, by its character; 256 for what is none. */
const VALUES: Uint16Array = Uint16Array.from({ length: 256 }, (_, c) => {
  const value = Number.parseInt(String.fromCharCode(c), 16)
  return Number.isNaN(value) ? 256 : value
})
