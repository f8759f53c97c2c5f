// Reads from the head of an HTML page what may be done with the page.
//
// A head ends where the HTML standard ends it (§13.2.6.4.4 and §13.2.6.4.6): at the first text, or
// at the first element that is not allowed in a head. A closed head ends there too, since browsers
// move a meta element between `</head>` and `<body>` into the head.
//
//   <html><head><title>A</title><meta name="robots" content="noindex"></head>  the head
//   <body><meta name="robots" content="nofollow">                              not the head
//
// A browser that runs scripts reads the content of `noscript` as text. Another browser reads its
// elements. A meta element counts if either browser has it in the head. So an image in `noscript`
// ends the head only for the meta elements in `noscript`. Our choice: `<body>` in `noscript` ends the
// head for all elements.
import { describeValue } from '../../describe-value.ts'
import { OptionError } from '../../errors.ts'
import { assertKnownOptions } from '../../known-options.ts'
import { isProductToken } from '../../parse/user-agent-name.ts'
import { type Attributes, HtmlTokenizer, type TagHandler } from './html-tokenizer.ts'
import { slipOf, strayRules, type UncountedMeta } from './meta-slips.ts'
import { decodedValue } from './references.ts'

/**
 * A meta element whose name may be `robots`, the name of a crawler, or a name of TDMRep. JSON-safe.
 * @inline
 */
export interface HeadMeta {
  /** As written, without blanks around it. */
  readonly name: string
  /** As written, with character references decoded. At most 8,192 characters. */
  readonly content: string
  /** Whether the content is longer. */
  readonly isCut: boolean
}

/**
 * A licence in RSL (`application/rsl+xml`) that the head has or links to. JSON-safe.
 * @inline
 */
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
  /** The `href` of the first `<base>`, as written: links are relative to it. Undefined without one. */
  readonly base?: string | undefined
  /**
   * The meta elements that do not count, and look as if their author meant them to; at most 20. After
   * the head, the reader searches the chunk in which the head ends, up to 65,536 characters.
   * Undefined if there is no such element.
   */
  readonly uncounted?: readonly UncountedMeta[]
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

/** More elements that do not count are not kept. Our choice. */
const MAX_UNCOUNTED = 20

/** How many characters after a head are searched for elements that were meant for it. Our choice. */
const MAX_AFTER_HEAD = 2 ** 16

/** The elements that do not end a head. HTML §13.2.6.4.4, "in head". */
const HEAD_ELEMENTS: ReadonlySet<string> = new Set(
  'html head title meta link base basefont bgsound script style noscript noframes template'.split(' '),
)

/** The elements whose attributes are read. */
const KEPT_ELEMENTS: ReadonlySet<string> = new Set(['meta', 'link', 'script', 'base'])

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
  /** Whether no text was written yet. */
  #isAtStart = true

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
      if (typeof chunk === 'string') this.#writeText(chunk.slice(0, length))
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

  #writeText(chunk: string): void {
    const hasMark = this.#isAtStart && chunk.startsWith('\ufeff') // as in a file that was read as text
    this.#isAtStart = false
    this.#tokenize(hasMark ? chunk.slice(1) : chunk)
  }

  #writeBytes(chunk: Uint8Array): void {
    const bytes = this.#decoder === undefined ? joined(this.#start, chunk) : chunk
    if (this.#decoder !== undefined || bytes.length >= 3) this.#decode(bytes)
    else this.#start = bytes
  }

  #decode(bytes: Uint8Array): void {
    this.#decoder ??= decoderFor(encodingOf(bytes) ?? this.#charset)
    this.#tokenize(this.#decoder.decode(bytes, { stream: true }))
  }

  #tokenize(text: string): void {
    const end = this.#tokenizer.write(text)
    if (!this.#head.isOver) return
    const rest = text.slice(end, end + MAX_AFTER_HEAD)
    if (/<meta[\s/]/i.test(rest)) this.#head.readAfter(() => this.#tokenizer.write(rest))
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
  readonly noscript = new NoscriptReader(this)
  readonly #metas: HeadMeta[] = []
  readonly #licenses: HeadLicense[] = []
  readonly #uncounted: UncountedMeta[] = []
  #base: string | undefined
  /** The number of open `template` elements. Their content is not a part of the page. */
  #templates = 0
  #isAfterHead = false
  #isHeadOver = false

  wantsAttributes(name: string): boolean {
    return name === 'meta' || (this.#templates === 0 && KEPT_ELEMENTS.has(name))
  }

  onStartTag(name: string, attributes: Attributes | undefined): void {
    if (name === 'template') this.#templates++
    if (attributes !== undefined) this.keep(name, attributes, this.#templates === 0)
    if (this.#templates > 0) return
    if (!HEAD_ELEMENTS.has(name)) this.end()
    else if (name === 'noscript') {
      if (this.#isAfterHead) this.end()
      else this.noscript.begin()
    }
  }

  onEndTag(name: string): void {
    if (this.#templates > 0) {
      if (name === 'template') this.#templates--
    } else if (name === 'noscript') this.noscript.end()
    else if (name === 'head') this.#isAfterHead = true
    else if (OPENS_BODY.has(name)) this.end()
  }

  onText(): void {
    if (this.#templates === 0) this.end()
  }

  /** The head ends here, if it has not ended before. */
  end(): void {
    this.isOver ||= !this.#isHeadOver
    this.#isHeadOver = true
  }

  /** Calls `read`, which reads what follows the head. */
  readAfter(read: () => void): void {
    this.isOver = false
    read()
    this.isOver = true
  }

  result(isComplete: boolean): PageHead {
    const isFull = this.#metas.length > MAX_KEPT || this.#licenses.length > MAX_KEPT
    return {
      metas: this.#metas.slice(0, MAX_KEPT),
      licenses: this.#licenses.slice(0, MAX_KEPT),
      base: this.#base,
      ...(this.#uncounted.length > 0 && { uncounted: this.#uncounted }),
      isComplete: isComplete && !isFull,
    }
  }

  /**
   * Keeps an element that counts, or a meta element whose author meant it to.
   * @param isInHead Whether it can count.
   */
  keep(element: string, attributes: Attributes, isInHead: boolean): void {
    const counts = isInHead && !this.#isHeadOver
    if (element === 'meta') this.#keepMeta(attributes, counts)
    else if (counts) this.#keepOther(element, attributes)
    if (this.#metas.length > MAX_KEPT || this.#licenses.length > MAX_KEPT) this.end()
  }

  #keepMeta(attributes: Attributes, counts: boolean): void {
    const { content } = attributes
    const name = decodedValue(attributes.name).trim()
    const said = decodedValue(content ?? attributes.value)
    const isKept = counts && content !== undefined && isProductToken(name)
    if (isKept) this.#metas.push({ name, content: said, isCut: content.isCut })
    if (this.#uncounted.length === MAX_UNCOUNTED) return
    const slip = isKept ? strayRules(attributes, said) : slipOf(attributes, said)
    if (slip !== undefined) this.#uncounted.push({ name, content: said, ...slip })
  }

  #keepOther(element: string, { rel, type, href }: Attributes): void {
    if (element === 'base') {
      if (href !== undefined) this.#base ??= decodedValue(href).trim()
    } else if (isRsl(decodedValue(type))) {
      if (element === 'script') this.#licenses.push({ element, href: undefined })
      else if (hasWord(decodedValue(rel), 'license') && href !== undefined) {
        this.#licenses.push({ element: 'link', href: decodedValue(href).trim() })
      }
    }
  }
}

/** The end tags that open a body. */
const OPENS_BODY: ReadonlySet<string> = new Set(['body', 'html', 'br'])

/**
 * Reads the content of `noscript` as a browser does that runs no scripts. HTML §13.2.6.4.5, "in head
 * noscript". There, an element that is not allowed in a head ends the head of that browser.
 */
class NoscriptReader implements TagHandler {
  readonly #head: HeadCollector
  /** Whether that browser has ended its head. */
  #isOver = false
  /** Whether `noscript` is in the head. */
  #isOpen = false
  #templates = 0
  /** Whether an element has closed `noscript`, and the rest is in the head itself. */
  #isInHead = false

  constructor(head: HeadCollector) {
    this.#head = head
  }

  get isOver(): boolean {
    return this.#head.isOver
  }

  begin(): void {
    this.#isOpen = true
    this.#isInHead = false
  }

  end(): void {
    this.#isOpen = false
    if (this.#templates > 0) this.#isOver = true // its end tag may come later
  }

  wantsAttributes(name: string): boolean {
    return this.#head.wantsAttributes(name)
  }

  onStartTag(name: string, attributes: Attributes | undefined): void {
    if (name === 'template') this.#templates++
    const counts = this.#isOpen && !this.#isOver && this.#templates === 0
    if (attributes !== undefined) this.#head.keep(name, attributes, counts)
    if (CLOSES_NOSCRIPT.has(name)) this.#isInHead = true
    if (this.#templates > 0 || !this.#isOpen) return
    if (name === 'body') this.#head.end()
    if (!HEAD_ELEMENTS.has(name)) this.#isOver = true
    if (name === 'noscript') this.#isInHead = false
  }

  onEndTag(name: string): void {
    if (name === 'template') this.#templates = Math.max(0, this.#templates - 1)
    else if (this.#templates === 0 && (name === 'br' || (this.#isInHead && OPENS_BODY.has(name)))) this.#isOver = true
  }

  onText(): void {
    if (this.#templates === 0) this.#isOver = true
  }
}

/** The elements of a head that are not allowed in `noscript`, and close it. */
const CLOSES_NOSCRIPT: ReadonlySet<string> = new Set(['title', 'base', 'script', 'template'])

/** Returns whether a media type is the one of RSL documents. */
export function isRsl(type: string): boolean {
  return /^\s*application\/rsl\+xml\s*(?:;|$)/i.test(type)
}

/** Returns whether a list of words, such as the value of `rel`, has a word, in any case. */
export function hasWord(words: string, word: string): boolean {
  return words.toLowerCase().split(/\s+/).includes(word)
}
