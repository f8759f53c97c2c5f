// Decodes bytes to text: byte order marks first, then the shape of the first characters, the XML
// declaration, and the charset of the content type.

/** Decodes a file that comes in pieces. */
export class FileDecoder {
  /** The name of the encoding, such as `utf-8`. Undefined before the first bytes. */
  encoding: string | undefined
  /** A declared encoding that is not known. */
  unknown: string | undefined
  readonly #charset: string | undefined
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #head: Uint8Array = new Uint8Array(0)

  /** @param charset The charset of the content type. */
  constructor(charset: string | undefined) {
    this.#charset = charset
  }

  /** Returns the text of the bytes. The first bytes may be kept until the encoding is known. */
  decode(bytes: Uint8Array): string {
    if (this.#decoder !== undefined) return this.#decoder.decode(bytes, { stream: true })
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    if (this.#head.length < HEAD_BYTES) return ''
    return this.#begin().decode(this.#head, { stream: true })
  }

  /** Returns the rest of the text. */
  end(): string {
    return this.#decoder === undefined ? this.#begin().decode(this.#head) : this.#decoder.decode()
  }

  #begin(): InstanceType<typeof TextDecoder> {
    const found = encodingByBytes(this.#head)
    const declared = found === undefined ? (declaredEncoding(this.#head) ?? this.#charset) : undefined
    this.#decoder = new TextDecoder(found ?? this.#known(declared))
    this.encoding = this.#decoder.encoding
    return this.#decoder
  }

  #known(label: string | undefined): string {
    // Bytes that show no UTF-16 are not UTF-16, whatever the declaration says.
    if (label === undefined || /^(?:utf-?16|ucs-?2|iso-10646)/i.test(label)) return 'utf-8'
    try {
      return new TextDecoder(label).encoding
    } catch {
      this.unknown = label
      return 'utf-8'
    }
  }
}

/** The bytes that may contain the XML declaration. Blank lines may precede it. */
const HEAD_BYTES = 1_024
/** `<` and the byte after it, in both orders of UTF-16. */
const LESS_THAN = 0x3c

function encodingByBytes(head: Uint8Array): string | undefined {
  const [a, b, c] = head
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === LESS_THAN && b === 0) return 'utf-16le'
  if (a === 0 && b === LESS_THAN) return 'utf-16be'
  return undefined
}

function declaredEncoding(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1')
  return /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']\s*([\w.:-]{1,40})/i.exec(text)?.[1]
}

/** Returns the charset of a content type, such as `iso-8859-1`. */
export function charsetOf(contentType: string | null | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1]
}
