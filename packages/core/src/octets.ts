// Octets as text. robots.txt is read as octets, since that is what its rules, limits and priorities are measured in. A
// string with one character for each octet (0 to 255) can be sliced, compared and searched like any other, and JavaScript
// engines keep it at one byte a character.

/** The octets of a robots.txt, one character for each. Text is taken as UTF-8 (RFC 9309 §2.3). */
export function octetsOf(source: Uint8Array | string): string {
  const bytes = typeof source === 'string' ? asciiOrUtf8(source) : source
  if (typeof bytes === 'string') return bytes
  let octets = ''
  for (let i = 0; i < bytes.length; i += CHUNK) octets += String.fromCharCode(...bytes.subarray(i, i + CHUNK))
  return octets
}

/** The octets as people read them: UTF-8, with U+FFFD for what is not. */
export function textOf(octets: string): string {
  if (!NOT_ASCII.test(octets)) return octets
  // A byte order mark inside a file is a character like any other.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(octets, (c) => c.charCodeAt(0)))
}

/** How many arguments are spread at once; engines bound the number, the lowest bound known is 65,536. */
const CHUNK = 8192
const NOT_ASCII = /[\u0080-\uffff]/

function asciiOrUtf8(text: string): string | Uint8Array {
  return NOT_ASCII.test(text) ? new TextEncoder().encode(text) : text
}
