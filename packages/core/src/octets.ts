// Octets. robots.txt is read as octets, since that is what its rules, limits and priorities are measured in.
//
// As bytes they are fastest to go through. As text, with one character (0 to 255) for each, they can be sliced, compared and
// searched like any other, are kept in the least memory, and survive JSON.

const encoder = new TextEncoder()
/** A byte order mark inside a file is a character like any other. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * A file as it is read: a string in which a character stands for an `octet`, or for the `character` that its octets are in UTF-8. Nothing
 * but ASCII means anything in robots.txt, so both can be read alike; a platform makes the second kind much faster, and that is all it is for.
 */
export interface Source {
  readonly text: string
  readonly unit: 'octet' | 'character'
}

/** What has octets as text, one character for each (latin1), as `Body` and `Copy` do. A character above U+00FF is no octet: it is taken for 0xFF. */
export interface HasOctets {
  readonly octets: string
}

/** A file's octets, or its text, which is taken as UTF-8 (RFC 9309 §2.3). Later changes of the bytes do not change it. */
export function sourceOf(file: Uint8Array | string | HasOctets): Source {
  if (typeof file === 'string') return { text: file, unit: 'character' }
  if (!(file instanceof Uint8Array)) return { text: file.octets.replace(NO_OCTETS, '\xff'), unit: 'octet' }
  const text = decoder.decode(file)
  // U+FFFD may stand for octets that are no UTF-8.
  if (text.includes('\ufffd')) return { text: characters(file), unit: 'octet' }
  return { text, unit: text.length === file.length ? 'octet' : 'character' }
}

/** The octets of a robots.txt, one character for each. */
export function octetsOf(file: Uint8Array | string | Source): string {
  if (typeof file === 'string') return scratch.isAscii(file) ? file : characters(encoder.encode(file))
  if (file instanceof Uint8Array) return octetsOf(sourceOf(file))
  return file.unit === 'octet' ? file.text : octetsOf(file.text)
}

/** Those of a part of it. */
export function octetsBetween({ text, unit }: Source, start: number, end: number): string {
  const part = text.slice(start, end)
  return unit === 'octet' ? part : octetsOf(part)
}

/** How many of a text's UTF-16 units, of whole characters, fit into so many octets, and how many octets those are. */
export function fitting(text: string, octets: number): { readonly read: number; readonly written: number } {
  return encoder.encodeInto(text, scratch.room(octets).subarray(0, octets))
}

/** The octets as people read them: UTF-8, with U+FFFD for what is not. */
export function textOf(octets: string): string {
  return NOT_ASCII.test(octets) ? decoded(octets) : octets
}

function decoded(octets: string): string {
  return decoder.decode(scratch.put(octets).subarray(0, octets.length))
}

/** Bytes as text, one character for each. */
export function characters(bytes: Uint8Array): string {
  let octets = ''
  for (let i = 0; i < bytes.length; i += CHUNK) {
    // `apply` takes bytes for its arguments; to spread them would take eight times as long.
    octets += String.fromCharCode.apply(null, bytes.subarray(i, i + CHUNK) as unknown as number[])
  }
  return octets
}

/** How many arguments are given at once; engines bound the number, the lowest bound known is 65,536. */
const CHUNK = 8192
const NO_OCTETS = /[\u0100-\uffff]/g
const NOT_ASCII = /[\u0080-\uffff]/

/** So few are asked one by one. */
const FEW = 32

/**
 * A copy of ASCII that is one run of characters. What is cut out of a text keeps all of it in memory, and what is put together keeps its parts
 * apart: an origin that came from a URL takes a third of the memory so.
 */
export function compact(ascii: string): string {
  return decoded(ascii)
}

/** Puts a text into bytes that have room for it, if it is ASCII. @returns Whether it is. */
export function putAscii(text: string, into: Uint8Array): boolean {
  const { read, written } = encoder.encodeInto(text, into)
  return read === text.length && written === text.length
}

/** Room for more is not kept. */
const MOST_KEPT = 2 ** 20

/**
 * Bytes to be looked at and then forgotten: to fill them anew costs a tenth of what a new array does. Whoever fills a scratch is
 * done with it before anyone fills it again.
 */
export class Scratch {
  #bytes: Uint8Array = new Uint8Array(4096)

  /** Puts octets here, from the first byte on; what lies behind them is anything. */
  put(octets: string): Uint8Array {
    const bytes = this.room(octets.length)
    if (putAscii(octets, bytes)) return bytes
    for (let i = 0; i < octets.length; i++) bytes[i] = octets.charCodeAt(i)
    return bytes
  }

  isAscii(text: string): boolean {
    if (text.length < FEW) {
      for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
      return true
    }
    return putAscii(text, this.room(text.length))
  }

  /** At least so many bytes, with anything in them. */
  room(length: number): Uint8Array {
    if (length <= this.#bytes.length) return this.#bytes
    const bytes = new Uint8Array(length <= MOST_KEPT ? 2 * length : length)
    if (length <= MOST_KEPT) this.#bytes = bytes
    return bytes
  }
}

const scratch = new Scratch()
