// URLs that are as a client sends them already. Most are, and for them neither a URL parser is needed nor another form of their path.
import type { AskedPath } from './asked-path.ts'
import { digitOf, octetOf, unreserved } from './percent.ts'

/**
 * Takes the path of a URL that is as a client sends it, in the form for comparing of RFC 9309. It is what `targetOf` and `targetForm`
 * give, for most URLs in a third of the time.
 *
 * @param origin What the URL has to begin with; without it, any host will do.
 * @returns Whether it is such a URL.
 */
export function takePlain(url: string, origin: string | undefined, path: AskedPath): boolean {
  if (!path.lay(url)) return false
  const { bytes, end } = path
  const start = bytes[0] === SLASH ? 0 : pathStart(bytes, end, origin)
  if (start >= end || bytes[start] !== SLASH) return false
  if (start === 0 && end > 1 && bytes[1] === SLASH) return false // which starts a host
  path.start = start
  const kind = kindOf(path)
  return kind === PLAIN || (kind === CHANGED && bringToForm(path))
}

/** Puts the path in the form for comparing, behind where it was; as `targetForm` does. @returns Whether that was possible. */
function bringToForm(path: AskedPath): boolean {
  const { bytes, start, end } = path
  let at = end
  const encode = (octet: number) => {
    bytes[at++] = PERCENT
    bytes[at++] = digitOf(octet >> 4)
    bytes[at++] = digitOf(octet & 15)
  }
  for (let i = start; i < end; i++) {
    const octet = bytes[i] as number
    const value = octet === PERCENT && i + 2 < end ? octetOf(bytes[i + 1] as number, bytes[i + 2] as number) : -1
    if (value === DOT) return false // which may make a dot segment
    if (value !== -1) {
      i += 2
      if (unreserved[value] === 1) bytes[at++] = value
      else encode(value)
    } else if (octet === PERCENT || kindOfOctet(octet) === PLAIN) bytes[at++] = octet
    else encode(octet)
  }
  path.start = end
  path.end = at
  return true
}

const SLASH = 47
const DOT = 46

/** The octets that stay as they are. */
const PLAIN_OCTETS = bytesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!&()+,/:;=?@[]')
const CHANGED_OCTETS = bytesOf("%'*$")
/** Octets of hosts and ports that need no thought. */
const HOST: Uint8Array = tableOf(bytesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:'))

const PERCENT = 37

function bytesOf(ascii: string): Uint8Array {
  return Uint8Array.from(ascii, (c) => c.charCodeAt(0))
}

function tableOf(octets: Uint8Array): Uint8Array {
  const table = new Uint8Array(256)
  for (const octet of octets) table[octet] = 1
  return table
}

/** Where the path begins, if all before it can be told at a glance: that it is the origin, or, where none is asked for, a host. */
function pathStart(bytes: Uint8Array, end: number, origin: string | undefined): number {
  if (origin !== undefined) {
    const octets = originBytes(origin)
    return beginsWith(bytes, end, octets) ? octets.length : end
  }
  const host = beginsWith(bytes, end, HTTPS) ? HTTPS.length : beginsWith(bytes, end, HTTP) ? HTTP.length : end
  let i = host
  while (i < end && HOST[bytes[i] as number] === 1) i++
  return i > host ? i : end
}

const HTTPS = bytesOf('https://')
const HTTP = bytesOf('http://')

function beginsWith(bytes: Uint8Array, end: number, beginning: Uint8Array): boolean {
  if (beginning.length > end) return false
  for (let i = 0; i < beginning.length; i++) if (bytes[i] !== beginning[i]) return false
  return true
}

/** The origin that was asked for last: crawlers ask about one site many times in a row. */
const lastOrigin = { text: '', bytes: new Uint8Array(0) as Uint8Array }

function originBytes(origin: string): Uint8Array {
  if (lastOrigin.text !== origin) {
    const bytes = new Uint8Array(origin.length)
    for (let i = 0; i < origin.length; i++) bytes[i] = origin.charCodeAt(i)
    lastOrigin.bytes = bytes
    lastOrigin.text = origin
  }
  return lastOrigin.bytes
}

const PLAIN = 0
/** An octet that is sent as it is, and is another in the form for comparing. */
const CHANGED = 1
/** An octet that is not sent as it is, or a segment that begins with a dot. */
const OTHER = 3
const STARTS_WITH_DOT = 4
const ENDS_WITH_SLASH = 8

const OCTET_KINDS: Uint8Array = new Uint8Array(256).fill(OTHER)
for (const octet of PLAIN_OCTETS) OCTET_KINDS[octet] = PLAIN
for (const octet of CHANGED_OCTETS) OCTET_KINDS[octet] = CHANGED

function kindOfOctet(octet: number): number {
  return OCTET_KINDS[octet] as number
}

function kindOfPair(first: number, second: number): number {
  if (first === SLASH && second === DOT) return OTHER
  return (
    kindOfOctet(first) |
    kindOfOctet(second) |
    (first === DOT ? STARTS_WITH_DOT : 0) |
    (second === SLASH ? ENDS_WITH_SLASH : 0)
  )
}

/** Of every two octets, looked up at once. */
const KINDS: Uint8Array = kindsOfPairs()

function kindsOfPairs(): Uint8Array {
  const kinds = new Uint8Array(2 ** 16).fill(OTHER)
  const octets = new Uint8Array(2)
  const pair = new Uint16Array(octets.buffer) // in the order of the machine
  const known = [...PLAIN_OCTETS, ...CHANGED_OCTETS]
  for (const first of known) {
    for (const second of known) {
      octets.set([first, second])
      kinds[pair[0] as number] = kindOfPair(first, second)
    }
  }
  return kinds
}

/** The most that has to be done for any octet of the path. */
function kindOf({ bytes, pairs, start, end }: AskedPath): number {
  let kinds = 0
  let before = 0
  // A pair that begins before the path has an octet of the host in it, which is plain.
  const last = end >> 1
  for (let i = start >> 1; i < last; i++) {
    const kind = KINDS[pairs[i] as number] as number
    kinds |= kind | (before & ENDS_WITH_SLASH & (kind << 1) ? OTHER : 0)
    before = kind
  }
  if ((end & 1) === 1) {
    const octet = bytes[end - 1] as number
    kinds |= kindOfOctet(octet) | (octet === DOT && (before & ENDS_WITH_SLASH) !== 0 ? OTHER : 0)
  }
  return kinds & OTHER
}
