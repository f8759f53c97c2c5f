// Sets the path to check from a simple URL, byte by byte. Most URLs are written as a client sends them; they need neither the platform's URL
// parser nor a second string.
//
// A URL is simple if it is at most 4,096 bytes of ASCII, begins with the file's origin or with one `/`, and has no byte that a client would change
// and no dot segment. For all others resolve-url.ts calls the platform's URL parser.
import { DOT, PERCENT, SLASH } from '../ascii.ts'
import { bytesOfLatin1, writeAscii } from '../bytes.ts'
import { PATH_BYTES, writeNormalForm } from './normal-form.ts'
import { startsWithOrigin } from './origin.ts'
import { decodePercent, UNRESERVED } from './percent.ts'
import { BYTE_CLASS_BIT, byteClassesOf, MAX_SIMPLE_URL_BYTES, type RequestPath } from './request-path.ts'

// The flags of a byte, in the highest bits, above its class (request-path.ts):
/** A byte that a client may change, or that ends the path. It is the sign bit, so flags with it are negative. */
const NOT_SIMPLE = 1 << 31
/** A byte that a client keeps, and that the normal form may encode or decode. */
const MAY_CHANGE = 1 << 30
const IS_DOT = 1 << 29

const BYTE_FLAGS: Int32Array = byteFlags()

function byteFlags(): Int32Array {
  const table = new Int32Array(256).fill(NOT_SIMPLE)
  for (const byte of bytesOfLatin1(PATH_BYTES)) table[byte] = BYTE_CLASS_BIT[byte] as number
  for (const byte of bytesOfLatin1("%'*$")) table[byte] = (BYTE_CLASS_BIT[byte] as number) | MAY_CHANGE
  table[DOT] = (BYTE_CLASS_BIT[DOT] as number) | IS_DOT
  return table
}

/** A scheme, and a host and port that every client reads in the same way. */
const ORIGIN = /^https?:\/\/[A-Za-z0-9.:-]+/

/** A dot segment: `/./` or `/../`, also at the end of the path. Hosts and queries may match too; the URL parser then decides. */
const DOT_SEGMENT = /\/\.\.?([/?]|$)/

/**
 * Sets `path` to the path and query of a simple URL, in the normal form of RFC 9309. The URL may be a path of the file's own origin.
 *
 * @param origin The origin that the URL must begin with; if undefined, the URL may have any host.
 * @returns Whether the URL is simple. If not, the content of `path` is undefined.
 */
export function setSimpleUrl(path: RequestPath, url: string, origin: string | undefined): boolean {
  path.reset()
  const { bytes } = path
  const end = url.length
  if (end > MAX_SIMPLE_URL_BYTES || !writeAscii(url, bytes)) return false
  let start = 0
  if (bytes[0] !== SLASH) {
    if (origin === undefined) start = ORIGIN.exec(url)?.[0].length ?? end
    else start = startsWithOrigin(url, origin) ? origin.length : end
  } else if (end > 1 && bytes[1] === SLASH) {
    return false // `//host`
  }
  if (start >= end || bytes[start] !== SLASH) return false
  let flags = 0
  for (let i = start; i < end; i++) flags |= BYTE_FLAGS[bytes[i] as number] as number
  if (flags < 0) return false
  if ((flags & IS_DOT) !== 0 && url.includes('/.', start) && DOT_SEGMENT.test(url)) return false
  path.start = start
  path.end = end
  path.byteClasses = flags
  return (flags & MAY_CHANGE) === 0 || normalize(path)
}

/** Replaces the path by its normal form, written after the URL in the buffer. @returns Whether the path is simple. */
function normalize(path: RequestPath): boolean {
  const { bytes, start, end } = path
  let isNormal = true
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (((BYTE_FLAGS[byte] as number) & MAY_CHANGE) === 0) continue
    const value = byte === PERCENT ? decodePercent(bytes, i, end) : -1
    if (value === DOT) return false // `%2E` may be part of a dot segment
    if (value === -1)
      isNormal &&= byte === PERCENT // a malformed % stays as it is
    else if (UNRESERVED[value] === 1 || isLowerCase(bytes[i + 1] as number) || isLowerCase(bytes[i + 2] as number))
      isNormal = false
  }
  if (isNormal) return true
  path.start = end
  path.end = writeNormalForm('rfc9309', 'url', bytes, start, end, bytes, end)
  path.byteClasses = byteClassesOf(bytes, end, path.end)
  return true
}

function isLowerCase(hexDigit: number): boolean {
  return hexDigit >= 97
}
