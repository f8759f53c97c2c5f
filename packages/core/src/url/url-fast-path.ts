// Reads a URL that is written as a client sends it. Most are, and for them neither the platform's URL parser is needed nor a second string.
import { ALPHANUMERIC, byteSet, DOT, PERCENT, QUESTION_MARK, SLASH } from '../ascii.ts'
import { bytesOfLatin1, writeAscii } from '../bytes.ts'
import { writeNormalForm } from './normal-form.ts'
import { decodePercent, UNRESERVED } from './percent.ts'
import { BYTE_CLASS_BIT, MAX_SIMPLE_URL_BYTES, type RequestPath } from './request-path.ts'

// In the upper four bits, beside a byte's kind (request-path.ts):
/** A byte that a client may send in another way, or that ends the path. It makes a number negative. */
const NOT_SIMPLE = 1 << 31
/** A byte that a client sends as it is, and that the form for comparing may encode or decode. */
const CHANGED = 1 << 30
const IS_DOT = 1 << 29

const CLASSES: Int32Array = classes()

function classes(): Int32Array {
  const table = new Int32Array(256).fill(NOT_SIMPLE)
  for (const byte of bytesOfLatin1(`${ALPHANUMERIC}-._~!&()+,/:;=?@[]`)) table[byte] = BYTE_CLASS_BIT[byte] as number
  for (const byte of bytesOfLatin1("%'*$")) table[byte] = (BYTE_CLASS_BIT[byte] as number) | CHANGED
  table[DOT] = (BYTE_CLASS_BIT[DOT] as number) | IS_DOT
  return table
}

/** Bytes of hosts and ports that every client reads alike. */
const HOST_BYTES = byteSet(`${ALPHANUMERIC}-.:`)
const HTTP = bytesOfLatin1('http://')
const HTTPS = bytesOfLatin1('https://')

/** The origin of a file, in bytes: crawlers ask about one site many times in a row. */
export class OriginBytes {
  #origin: string | undefined
  readonly #bytes: Uint8Array = new Uint8Array(MAX_SIMPLE_URL_BYTES)
  readonly #words: Uint32Array = new Uint32Array(this.#bytes.buffer as ArrayBuffer)

  /** Does the URL that was written to the path begin with this origin? */
  isPrefixOf(path: RequestPath, origin: string): boolean {
    if (this.#origin !== origin) {
      if (!writeAscii(origin, this.#bytes)) return false
      this.#origin = origin
    }
    const wholeWords = origin.length >> 2
    for (let i = 0; i < wholeWords; i++) if (path.words[i] !== this.#words[i]) return false
    for (let i = wholeWords << 2; i < origin.length; i++) if (path.bytes[i] !== this.#bytes[i]) return false
    return true
  }
}

/**
 * Sets the path to that of a URL, or of a path of the file's own origin, in the form of RFC 9309, if this can be done byte by byte.
 *
 * @param origin What the URL must begin with; without it, any host is accepted.
 * @returns Whether it could. If not, the URL parser must read it; the content of the path is undefined.
 */
export function setSimpleUrl(path: RequestPath, url: string, origin: string | undefined, known: OriginBytes): boolean {
  path.reset()
  const { bytes } = path
  const end = url.length
  if (end > MAX_SIMPLE_URL_BYTES || !writeAscii(url, bytes)) return false
  let start = 0
  if (bytes[0] !== SLASH) {
    start = origin === undefined ? endOfHost(bytes, end) : known.isPrefixOf(path, origin) ? origin.length : end
    if (start >= end || bytes[start] !== SLASH) return false
  } else if (end === 0 || (end > 1 && bytes[1] === SLASH)) {
    return false // empty, or `//host`
  }
  let classes = 0
  for (let i = start; i < end; i++) classes |= CLASSES[bytes[i] as number] as number
  if (classes < 0) return false
  if ((classes & IS_DOT) !== 0 && hasDotSegment(bytes, start, end)) return false
  path.start = start
  path.end = end
  path.byteClasses = classes
  return (classes & CHANGED) === 0 || setForm(path)
}

/** Brings the path to the form for comparing, behind where it was if that is another one. @returns Whether it could. */
function setForm(path: RequestPath): boolean {
  const { bytes, start, end } = path
  let isForm = true
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (((CLASSES[byte] as number) & CHANGED) === 0) continue
    const encoded = byte === PERCENT ? decodePercent(bytes, i, end) : -1
    if (encoded === DOT) return false // it may make a dot segment
    if (encoded === -1)
      isForm &&= byte === PERCENT // a malformed % stays as it is
    else if (UNRESERVED[encoded] === 1 || isLowerCase(bytes[i + 1] as number) || isLowerCase(bytes[i + 2] as number))
      isForm = false
  }
  if (isForm) return true
  path.start = end
  path.end = writeNormalForm('rfc9309', 'url', bytes, start, end, bytes, end)
  path.byteClasses = path.kindsBetween(end, path.end)
  return true
}

function isLowerCase(hexDigit: number): boolean {
  return hexDigit >= 97
}

/** The end of a host that every client reads alike; `end` for any other beginning. */
function endOfHost(bytes: Uint8Array, end: number): number {
  const host = startsWith(bytes, HTTPS) ? HTTPS.length : startsWith(bytes, HTTP) ? HTTP.length : end
  let i = host
  while (i < end && HOST_BYTES[bytes[i] as number] === 1) i++
  return i > host ? i : end
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false
  return true
}

/** Can the path have a segment `.` or `..`? Also true for one in the query, which is not a segment; then the URL parser decides. */
function hasDotSegment(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) {
    if (bytes[i] !== DOT || bytes[i - 1] !== SLASH) continue
    const next = i + 1 < end && bytes[i + 1] === DOT ? i + 2 : i + 1
    if (next >= end || bytes[next] === SLASH || bytes[next] === QUESTION_MARK) return true
  }
  return false
}
