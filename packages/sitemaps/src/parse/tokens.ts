// Splits the text of an XML file into tags and text.
//
// The tokens come from htmlparser2's Tokenizer. Unlike its Parser and unlike sax, the Tokenizer keeps
// no stack of open elements, so the time is linear in the length of the file even if a file opens
// 200,000 elements and closes none. It expands no entities that a file declares.
import { Tokenizer } from 'htmlparser2'

export type Malformed = 'text' | 'value' | 'attribute' | 'declaration' | 'xml'

/** Receives the tokens of a file, in order. */
export interface TokenHandler {
  /** A start tag, or an empty tag, for which `close` follows. */
  /** @param declares Whether an attribute may declare a namespace. */
  open(name: string, attributes: ReadonlyMap<string, string>, declares: boolean): void
  /** A part of a text, decoded. A text may come in several parts. */
  text(part: string): void
  close(name: string): void
  /** A tag, an attribute or a section is longer than the limit. Its beginning was dropped. */
  tooLong(limit: 'maxTextLength' | 'maxAttributeLength'): void
  /** A declaration, such as `!DOCTYPE html`. */
  declaration(text: string): void
  /**
   * Something that no parser of XML accepts: a text or an attribute with a raw `&` or `<`, an
   * attribute without quotes or without a space before it, or `<?xml` after other text. It is
   * handled as usual too.
   * @param before The value before the text. By default, what the handler has of the text.
   */
  malformed?(what: Malformed, text: string, before?: string): void
}

/** The limits of `Tokens`. Characters. */
export interface TokenLimits {
  readonly maxTextLength: number
  readonly maxAttributeLength: number
}

/** More attributes of one tag are dropped. */
const MAX_ATTRIBUTES = 64
/** The types of htmlparser2 below this one have no quotes. */
const FIRST_QUOTE = 2
const LESS_THAN = 0x3c
const X = 0x78
const SPACE = 0x20
/** Longer declarations are not checked. */
const MAX_DECLARATION = 200
const QUOTED_ATTRIBUTES = /\s+[a-z]+\s*=\s*(?:"[^"]*"|'[^']*')/g
/** Smaller pieces are joined, since each call of `write` copies the token that is under way. */
const MIN_PIECE = 16 * 1024
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

/** Tokenizes a text that comes in pieces. Keeps at most one token, up to the limit. */
export class Tokens {
  readonly #handler: TokenHandler
  readonly #limits: TokenLimits
  readonly #tokenizer: Tokenizer
  /** Pieces that wait until they are long enough. */
  #waiting = ''
  #buffer = ''
  /** The position of `#buffer` in the text. */
  #offset = 0
  /** Everything before this position was handled. */
  #handled = 0
  #name = ''
  #attributes: Map<string, string> | undefined
  #attribute = ''
  #value = ''
  /** An attribute of the tag that is not well-formed. */
  #badAttribute: string | undefined
  #tagStart = 0
  #declares = false
  /** The position of an `&`, with none between it and the last token. So tokens need not be searched. */
  #ampersand = -1
  /** Whether the file ended. Its last token may be cut. */
  #isAtEnd = false

  constructor(handler: TokenHandler, limits: TokenLimits) {
    this.#handler = handler
    this.#limits = limits
    this.#tokenizer = new Tokenizer(
      { xmlMode: true, decodeEntities: true },
      {
        onopentagname: (start, end) => {
          this.#name = this.#slice(start, end)
          this.#attributes = undefined
          this.#badAttribute = undefined
          this.#tagStart = start
          this.#declares = false
        },
        onattribname: (start, end) => {
          this.#attribute = this.#slice(start, end)
          this.#value = ''
          if (this.#buffer.charCodeAt(start - this.#offset - 1) > SPACE) this.#badAttribute ??= this.#attribute
          if (this.#attribute.charCodeAt(0) === X && this.#attribute.startsWith('xmlns')) this.#declares = true
        },
        onattribdata: (start, end) => {
          const part = this.#slice(start, end)
          if (this.#hasAmpersand(start, end)) this.#handler.malformed?.('value', part, this.#value)
          this.#addToValue(part)
        },
        onattribentity: (codePoint) => this.#addToValue(String.fromCodePoint(codePoint)),
        onattribend: (quote, end) => {
          this.#handled = end
          this.#attributes ??= new Map()
          const { size } = this.#attributes
          if (size < MAX_ATTRIBUTES) this.#attributes.set(this.#attribute, this.#value)
          const isRepeated = size < MAX_ATTRIBUTES && this.#attributes.size === size
          if (isRepeated || quote < FIRST_QUOTE) this.#badAttribute ??= this.#attribute
        },
        onopentagend: (end) => {
          this.#handled = end
          this.#open()
        },
        onselfclosingtag: (end) => {
          this.#handled = end
          this.#open()
          this.#handler.close(this.#name)
        },
        onclosetag: (start, end) => this.#handler.close(this.#slice(start, end)),
        ontext: (start, end) => {
          const part = this.#slice(start, end)
          const isRaw = this.#hasAmpersand(start, end) || part.charCodeAt(0) === LESS_THAN
          if (isRaw && !this.#isAtEnd) this.#handler.malformed?.('text', part)
          this.#handler.text(part)
        },
        ontextentity: (codePoint, end) => {
          this.#handled = end
          this.#handler.text(String.fromCodePoint(codePoint))
        },
        oncdata: (start, end, endOffset) => {
          this.#handler.text(this.#slice(start, end - endOffset))
          this.#handled = end
        },
        oncomment: (_start, end) => {
          this.#handled = end
        },
        onprocessinginstruction: (start, end) => {
          const isLate = start > '<?'.length
          const text = start < this.#offset ? '' : this.#slice(start, end)
          const isXml = /^xml[\s?]/.test(text)
          if (isLate && isXml) this.#handler.malformed?.('xml', '')
          if (isXml && text.length <= MAX_DECLARATION && !/^xml\s*\??$/.test(text.replaceAll(QUOTED_ATTRIBUTES, '')))
            this.#handler.malformed?.('declaration', `<?${text}>`)
          this.#handled = end
        },
        ondeclaration: (start, end) => {
          if (start >= this.#offset) this.#handler.declaration(this.#slice(start, end))
          this.#handled = end
        },
        onend: () => undefined,
      },
    )
  }

  write(piece: string): void {
    this.#waiting += piece
    if (this.#waiting.length >= MIN_PIECE) this.#flush()
  }

  /** Handles the last piece. A text at the end of the file counts; an unfinished tag does not. */
  end(): void {
    this.#flush()
    this.#isAtEnd = true
    this.#tokenizer.end()
  }

  #flush(): void {
    const piece = this.#waiting
    this.#waiting = ''
    let kept = this.#buffer.slice(Math.max(0, this.#handled - this.#offset))
    if (kept.length > this.#limits.maxTextLength) kept = ''
    this.#offset += this.#buffer.length - kept.length
    this.#buffer = kept + piece
    this.#ampersand = -1
    this.#tokenizer.write(piece)
  }

  /** Returns a part of the text. Its beginning is missing if it was too long to keep. */
  #slice(start: number, end: number): string {
    this.#handled = end
    if (start >= this.#offset) return this.#buffer.slice(start - this.#offset, end - this.#offset)
    this.#handler.tooLong('maxTextLength')
    return ''
  }

  #hasAmpersand(start: number, end: number): boolean {
    if (this.#ampersand < start) {
      const at = this.#buffer.indexOf('&', start - this.#offset)
      this.#ampersand = at === -1 ? Number.POSITIVE_INFINITY : at + this.#offset
    }
    return this.#ampersand < end
  }

  #addToValue(part: string): void {
    const room = this.#limits.maxAttributeLength - this.#value.length
    if (part.length > room) this.#handler.tooLong('maxAttributeLength')
    if (room > 0) this.#value += part.length > room ? part.slice(0, room) : part
  }

  /**
   * Handles a start tag. `?a<b</loc>` is read as a tag with the name `b<` and the attribute `loc`:
   * here it becomes the text `<b` and the end tag `loc`, so that the end of the element is not lost.
   */
  #open(): void {
    const attributes = this.#attributes ?? NO_ATTRIBUTES
    const start = Math.max(0, this.#tagStart - this.#offset)
    const lessThan = attributes === NO_ATTRIBUTES ? start + this.#name.indexOf('<') : this.#buffer.indexOf('<', start)
    const hasLessThan = lessThan >= start && lessThan < this.#handled - this.#offset
    const parts = hasLessThan ? [this.#name, ...attributes.keys()] : []
    const broken = parts.findIndex((part) => part.endsWith('<'))
    if (broken === -1) {
      if (hasLessThan) this.#handler.malformed?.('value', this.#buffer.slice(start, this.#handled - this.#offset), '')
      this.#handler.open(this.#name, attributes, this.#declares)
      if (this.#badAttribute !== undefined) this.#handler.malformed?.('attribute', this.#badAttribute)
      return
    }
    const text = `<${parts
      .slice(0, broken + 1)
      .join(' ')
      .slice(0, -1)}`
    this.#handler.malformed?.('text', text)
    this.#handler.text(text)
    const closed = parts[broken + 1]
    if (closed !== undefined) this.#handler.close(closed)
  }
}
