// Reads the head of an HTML page, as far as it says what may be done with the page.
//
// A head ends where the HTML standard ends it (§13.2.6.4.4 and §13.2.6.4.6): at the first text, or
// at the first element that is not allowed in a head. A closed head ends there too, since browsers
// move a meta element between `</head>` and `<body>` into the head.
//
//   <html><head><title>A</title><meta name="robots" content="noindex"></head>  the head
//   <body><meta name="robots" content="nofollow">                              not the head
//
// Our choice: `noscript` ends the head only if it contains `<body>`. Its meta elements count, since
// a crawler without scripts sees them. Its other elements are ignored, since a browser does so.
import { decodeText, encodeText } from '../../bytes.ts'
import { describeValue } from '../../describe-value.ts'
import { OptionError } from '../../errors.ts'
import { assertKnownOptions } from '../../known-options.ts'
import { isProductToken } from '../../parse/user-agent-name.ts'
import { type Attribute, type Attributes, HtmlTokenizer, type TagHandler } from './html-tokenizer.ts'

/** A meta element whose name may be `robots`, the name of a crawler, or a name of TDMRep. JSON-safe. */
export interface HeadMeta {
  /** As written, without blanks around it. */
  readonly name: string
  /** As written, with character references decoded. At most 8,192 characters. */
  readonly content: string
  /** Whether the content is longer. */
  readonly isCut: boolean
}

/** A licence in RSL (`application/rsl+xml`) that the head has or links to. JSON-safe. */
export interface HeadLicense {
  readonly element: 'link' | 'script'
  /** As written; undefined for a script, whose text is the licence. */
  readonly href: string | undefined
}

/** What the head of a page says about its use. JSON-safe. */
export interface PageHead {
  /**
   * The meta elements with a `name` of letters, digits, `_` and `-`, in order; at most 500. So it
   * also has `description` and `viewport`, which could be crawlers.
   */
  readonly metas: readonly HeadMeta[]
  /** `<link rel="license" type="application/rsl+xml">` and such scripts; at most 500. */
  readonly licenses: readonly HeadLicense[]
  /** False if the head did not end before the bound, or has too many elements. */
  readonly isComplete: boolean
}

/** Options of `headReader` and `pageHeadOf`. */
export interface HeadReaderOptions {
  /**
   * How much of a page is read: a number of bytes from 1, or of characters of a string.
   *
   * @default 1048576 (`MAX_HEAD_BYTES`)
   */
  readonly maxBytes?: number | undefined
  /**
   * The character encoding, such as the `charset` of Content-Type. A byte order mark counts more.
   * An encoding that the runtime does not know is ignored, since the site names it.
   *
   * @default 'utf-8'
   */
  readonly charset?: string | undefined
}

/**
 * The bytes of a page that are read by default: 1 MiB. Heads are far shorter, even those with large
 * styles and scripts. A page without an end of its head must not cost more than that. Our choice.
 */
export const MAX_HEAD_BYTES: number = 2 ** 20

/** A head with more elements that count is not complete. Our choice. */
const MAX_KEPT = 500

/** The elements that do not end a head. HTML §13.2.6.4.4, "in head". */
const HEAD_ELEMENTS: ReadonlySet<string> = new Set(
  'html head title meta link base basefont bgsound script style noscript noframes template'.split(' '),
)

/**
 * Creates a reader of the head of a page. Write the page to it in chunks of any size, until `write`
 * returns true.
 *
 * @throws {OptionError} if an option is unknown or invalid.
 */
export function headReader(options: HeadReaderOptions = {}): HeadReader {
  assertKnownOptions(options, KNOWN, '{ maxBytes: 100_000 }')
  const { maxBytes = MAX_HEAD_BYTES, charset = 'utf-8' } = options
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new OptionError('maxBytes', `${describeValue(maxBytes)} is out of range; expected a number of bytes from 1`)
  }
  if (typeof charset !== 'string') {
    throw new OptionError('charset', `${describeValue(charset)} is not an encoding; expected one such as "utf-8"`)
  }
  return new Reader(maxBytes, charset)
}

const KNOWN: Readonly<Record<keyof HeadReaderOptions, true>> = { maxBytes: true, charset: true }

/**
 * Returns the head of a page that the caller has in full, or as far as it goes.
 *
 * @throws {OptionError} if `html` is neither a string nor a Uint8Array, or an option is unknown or
 * invalid.
 */
export function pageHeadOf(html: string | Uint8Array, options?: HeadReaderOptions): PageHead {
  const reader = headReader(options)
  reader.write(html)
  return reader.end()
}

/** Reads the head of a page that arrives in chunks. */
export interface HeadReader {
  /**
   * Reads a chunk of the page. Returns true as soon as the head or the bound has ended. Then later
   * chunks are ignored, and the caller can stop to read the page.
   *
   * @throws {OptionError} if `chunk` is neither a string nor a Uint8Array.
   */
  write(chunk: string | Uint8Array): boolean
  /** Returns what the head said so far. Call it when `write` returned true, or the page ended. */
  end(): PageHead
}

class Reader implements HeadReader {
  readonly #head = new HeadCollector()
  readonly #tokenizer = new HtmlTokenizer(this.#head)
  readonly #charset: string
  #left: number
  /** The first bytes, until there are enough for a byte order mark. */
  #start: Uint8Array = new Uint8Array(0)
  #decoder: Decoder | undefined
  #isOverBound = false

  constructor(maxBytes: number, charset: string) {
    this.#left = maxBytes
    this.#charset = charset
  }

  /** @internal For tests. */
  get steps(): number {
    return this.#tokenizer.steps
  }

  write(chunk: string | Uint8Array): boolean {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      throw new OptionError(
        'html',
        `${describeValue(chunk)} is not a part of a page; expected a string or a Uint8Array`,
      )
    }
    if (!this.#isOver && chunk.length > 0) {
      const isAtBound = chunk.length > this.#left
      const length = isAtBound ? this.#left : chunk.length
      this.#left -= length
      if (typeof chunk === 'string') this.#tokenizer.write(chunk.slice(0, length))
      else this.#writeBytes(chunk.subarray(0, length))
      this.#isOverBound = isAtBound && !this.#head.isOver
    }
    return this.#isOver
  }

  end(): PageHead {
    if (this.#decoder === undefined) this.#decode(this.#start)
    return this.#head.result(!this.#isOverBound)
  }

  get #isOver(): boolean {
    return this.#head.isOver || this.#isOverBound
  }

  #writeBytes(chunk: Uint8Array): void {
    const bytes = this.#decoder === undefined ? joined(this.#start, chunk) : chunk
    if (this.#decoder !== undefined || bytes.length >= 3) this.#decode(bytes)
    else this.#start = bytes
  }

  #decode(bytes: Uint8Array): void {
    this.#decoder ??= decoderFor(encodingOf(bytes) ?? this.#charset)
    this.#tokenizer.write(this.#decoder.decode(bytes, { stream: true }))
  }
}

function joined(start: Uint8Array, end: Uint8Array): Uint8Array {
  if (start.length === 0) return end
  const bytes = new Uint8Array(start.length + end.length)
  bytes.set(start)
  bytes.set(end, start.length)
  return bytes
}

/** Returns the encoding of a byte order mark. WHATWG Encoding §6, "BOM sniff". */
function encodingOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return undefined
}

interface Decoder {
  decode(bytes: Uint8Array, options: { readonly stream: true }): string
}

function decoderFor(encoding: string): Decoder {
  try {
    return new TextDecoder(encoding)
  } catch {
    return new TextDecoder()
  }
}

/** Decides which elements count. */
class HeadCollector implements TagHandler {
  isOver = false
  readonly #metas: HeadMeta[] = []
  readonly #licenses: HeadLicense[] = []
  /** The number of open `template` elements. Their content is not a part of the page. */
  #templates = 0
  #isInNoscript = false

  wantsAttributes(name: string): boolean {
    return this.#templates === 0 && (name === 'meta' || name === 'link' || name === 'script')
  }

  onStartTag(name: string, attributes: Attributes | undefined): void {
    if (name === 'template') this.#templates++
    if (this.#templates > 0) return
    if (name === 'noscript') this.#isInNoscript = true
    if (attributes !== undefined) this.#keep(name, attributes)
    if (this.#isInNoscript ? name === 'body' : !HEAD_ELEMENTS.has(name)) this.isOver = true
  }

  onEndTag(name: string): void {
    if (this.#templates > 0) {
      if (name === 'template') this.#templates--
    } else if (name === 'noscript') {
      this.#isInNoscript = false
    } else if (name === 'body' || name === 'html' || (name === 'br' && !this.#isInNoscript)) {
      this.isOver = true // each of them opens a body
    }
  }

  onText(): void {
    if (this.#templates === 0 && !this.#isInNoscript) this.isOver = true
  }

  result(isComplete: boolean): PageHead {
    const isFull = this.#metas.length > MAX_KEPT || this.#licenses.length > MAX_KEPT
    return {
      metas: this.#metas.slice(0, MAX_KEPT),
      licenses: this.#licenses.slice(0, MAX_KEPT),
      isComplete: isComplete && !isFull,
    }
  }

  #keep(element: string, { name, content, rel, type, href }: Attributes): void {
    if (element === 'meta') {
      const text = decoded(name).trim()
      if (isProductToken(text) && content !== undefined) {
        this.#metas.push({ name: text, content: decoded(content), isCut: content.isCut })
      }
    } else if (/^application\/rsl\+xml\s*(?:;|$)/i.test(decoded(type).trim())) {
      if (element === 'script') this.#licenses.push({ element, href: undefined })
      else if (hasWord(decoded(rel), 'license') && href !== undefined) {
        this.#licenses.push({ element: 'link', href: decoded(href).trim() })
      }
    }
    if (this.#metas.length > MAX_KEPT || this.#licenses.length > MAX_KEPT) this.isOver = true
  }
}

function hasWord(words: string, word: string): boolean {
  return words.toLowerCase().split(/\s+/).includes(word)
}

/**
 * The character references that may stand in a name, a rule or a URL. There are 2,231 in all, of
 * letters and symbols that these values do not contain.
 */
const REFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    AMP: '&',
    lt: '<',
    LT: '<',
    gt: '>',
    GT: '>',
    quot: '"',
    QUOT: '"',
    nbsp: '\u00a0',
    apos: "'",
    comma: ',',
    colon: ':',
    semi: ';',
    period: '.',
    sol: '/',
    equals: '=',
    lowbar: '_',
    num: '#',
    percnt: '%',
    quest: '?',
    plus: '+',
    ast: '*',
    Tab: '\t',
    NewLine: '\n',
  }),
)

/** These references need no semicolon, unless `=` or a letter or digit follows. */
const REFERENCE = /&(?:#x([0-9a-f]+);?|#(\d+);?|([a-z]+);|(amp|lt|gt|quot|nbsp)(?![=a-z0-9]))/gi

/**
 * Returns the value of an attribute with its character references decoded, as a string that shares
 * no memory with the page.
 */
function decoded(value: Attribute | undefined): string {
  if (value === undefined) return ''
  const text = value.text.replace(REFERENCE, (whole, hex, decimal, name, shortName) => {
    if (hex !== undefined) return characterOf(Number.parseInt(hex, 16))
    if (decimal !== undefined) return characterOf(Number(decimal))
    return REFERENCES.get(name ?? shortName) ?? whole
  })
  return decodeText(encodeText(text))
}

function characterOf(code: number): string {
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code)
}
