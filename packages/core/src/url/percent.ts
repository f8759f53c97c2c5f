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
  const value = valueOfDigit(high) * 16 + valueOfDigit(low)
  return value < 256 ? value : -1
}

/** 256 for what is no hex digit. */
function valueOfDigit(c: number): number {
  if (c >= 48 && c <= 57) return c - 48
  const letter = c | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : 256
}
