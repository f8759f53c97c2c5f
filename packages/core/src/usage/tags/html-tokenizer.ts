// Splits the start of an HTML document into tags and text, as the HTML standard does (§13.2.5).
//
// The caller writes the document in chunks of any size. The tokenizer calls its handler for each
// tag and each text. It keeps no text: of a tag it keeps the name, and the attributes that the
// handler asks for, up to a length. It looks at each character at most four times, and in `noscript`
// at most eight times, however the caller cuts the document.
//
//   <title>A</title>
//   │      ││
//   │      │└ an end tag: closes the raw text, and is not part of it
//   │      └ raw text: no tags in it, only `</title` ends it
//   └ a start tag
//
// Why not htmlparser2: its table of all character references takes 25 KB, compressed. It ends some
// comments, scripts and titles elsewhere than browsers do, and so misses robots tags. And its Parser
// takes quadratic time for a comment that arrives in small chunks.

import { robotsRules } from './robots-rules.ts'

/** Receives what the tokenizer finds. */
export interface TagHandler {
  /** Whether the tokenizer stops here. Then it ignores the rest. */
  readonly isOver: boolean
  /** Returns whether the attributes of this element are needed. `name` is in lower case. */
  wantsAttributes(name: string): boolean
  /**
   * A start tag. `attributes` has the attributes of `WANTED`, with their values as written; the
   * first of several equal names. It is undefined if they were not asked for.
   */
  onStartTag(name: string, attributes: Attributes | undefined, isSelfClosing: boolean): void
  onEndTag(name: string): void
  /** Text with other characters than blanks, outside of elements with raw text. */
  onText(): void
  /**
   * Receives what is in `noscript`, with its end tag: to a browser that runs scripts it is raw text,
   * and to another one it has elements. Undefined: it is not needed.
   */
  readonly noscript?: TagHandler | undefined
}

/** The value of an attribute, as written. */
export interface Attribute {
  readonly text: string
  /** Whether the value is longer than `MAX_ATTRIBUTE_LENGTH`. */
  readonly isCut: boolean
}

export type Attributes = Readonly<Partial<Record<string, Attribute>>>

/** The attributes that are kept. */
const WANTED: ReadonlySet<string> = new Set(
  'name content rel type href value robots property http-equiv itemprop'.split(' '),
)

/** Longer values are cut. */
const MAX_ATTRIBUTE_LENGTH = 8192

/** Longer names of elements and attributes are cut. No element or attribute that counts has one. */
const MAX_NAME_LENGTH = 16

/** Elements whose content is text up to their end tag. */
const RAW_TEXT: ReadonlySet<string> = new Set(
  'title textarea style xmp iframe noembed noframes script plaintext'.split(' '),
)

/** Elements of foreign content (`svg`) whose content is HTML. */
const HTML_IN_FOREIGN: ReadonlySet<string> = new Set(['title', 'desc', 'foreignobject'])

/** A reference to a blank. Blanks do not count as text. */
const BLANK_REFERENCE = /^(?:#(?:0*(?:9|10|12|13|32)|[xX]0*(?:9|[aA]|[cC]|[dD]|20));?|Tab;|NewLine;)$/

interface OpenElement {
  readonly name: string
  /** `svg`, `math`, or an element in them. */
  readonly isForeign: boolean
}

/** The list of open elements is full: a hostile page may nest any number. */
const MAX_OPEN = 32

// States, in the order of the standard.
const DATA = 0
const TAG_OPEN = 1
const END_TAG_OPEN = 2
const TAG_NAME = 3
const RAW = 4
const RAW_LESS_THAN = 5
const RAW_NAME = 6
const SCRIPT_BANG = 7
const SCRIPT_BANG_DASH = 8
const BEFORE_ATTRIBUTE = 9
const ATTRIBUTE_NAME = 10
const AFTER_ATTRIBUTE_NAME = 11
const BEFORE_VALUE = 12
const QUOTED_VALUE = 13
const UNQUOTED_VALUE = 14
const SELF_CLOSING = 15
const BOGUS_COMMENT = 16
const MARKUP_DECLARATION = 17
const MARKUP_DASH = 18
const COMMENT_START = 19
const COMMENT_START_DASH = 20
const COMMENT = 21
const COMMENT_END_DASH = 22
const COMMENT_END = 23
const COMMENT_END_BANG = 24
const REFERENCE = 25

export class HtmlTokenizer {
  /** The number of characters and state changes so far, for tests. */
  steps = 0
  readonly #handler: TagHandler
  #state = DATA
  /** Whether text with other characters than blanks was found since the last tag. */
  #hasText = false
  #name = ''
  #isEndTag = false
  #isSelfClosing = false
  #attributes: Record<string, Attribute> | undefined
  #attributeName = ''
  #value = ''
  #isValueCut = false
  #quote = ''
  /** The element whose raw text this is. */
  #rawElement = ''
  /**
   * In a script: 1 after `<!--`, and 2 after a further `<script`, until `</script` or `-->`. There,
   * `</script>` does not end the script.
   */
  #escape = 0
  /** In an escaped script: the number of dashes before this character, at most 2. */
  #dashes = 0
  /** In raw text: what may become `</script`, or `<script` in an escaped script. */
  #isRawEnd = false
  #rawMatched = 0
  /**
   * The open `template` elements, and the open elements of foreign content in them that matter:
   * `svg` and `math`, which have no raw text inside; and elements in which there is HTML again.
   */
  readonly #open: OpenElement[] = []
  /** The number of open `template` elements that are not in that list, which is full. */
  #deepTemplates = 0
  /** Splits the content of the `noscript` that is open. */
  #noscript: HtmlTokenizer | undefined
  /** Where that content begins in this chunk. */
  #noscriptStart = 0
  /** After `&`: the characters of the reference so far. */
  #reference = ''

  constructor(handler: TagHandler) {
    this.#handler = handler
  }

  /** Returns where it stopped: at the end of the chunk, unless the handler is over. */
  write(chunk: string): number {
    let i = 0
    this.#noscriptStart = 0
    while (i < chunk.length && !this.#handler.isOver) i = this.#step(chunk, i)
    this.#writeNoscript(chunk, i)
    return i
  }

  #writeNoscript(chunk: string, end: number): void {
    if (this.#noscript === undefined) return
    this.steps -= this.#noscript.steps
    this.#noscript.write(chunk.slice(this.#noscriptStart, end))
    this.steps += this.#noscript.steps
  }

  /** Handles the character at `i`, and returns where to go on: at `i` if the state changed. */
  #step(chunk: string, i: number): number {
    this.steps++
    const c = chunk[i] as string
    switch (this.#state) {
      case DATA: {
        if (!this.#hasText) {
          if (c === '<') return this.#go(TAG_OPEN, i + 1)
          if (c === '&') {
            this.#reference = ''
            return this.#go(REFERENCE, i + 1)
          }
          if (!isBlank(c)) this.#foundText()
          return i + 1
        }
        const end = this.#find(chunk, '<', i)
        return end === chunk.length ? end : this.#go(TAG_OPEN, end + 1)
      }
      case REFERENCE: {
        if (/[#a-z\d]/i.test(c) && this.#reference.length < 8) {
          if (c !== '0' || !/^#x?0$/i.test(this.#reference)) this.#reference += c
          return i + 1
        }
        const isBlankReference = BLANK_REFERENCE.test(this.#reference + (c === ';' ? c : ''))
        if (!isBlankReference) this.#foundText()
        return this.#go(DATA, isBlankReference && c === ';' ? i + 1 : i)
      }
      case TAG_OPEN:
        if (c === '!') return this.#go(MARKUP_DECLARATION, i + 1)
        if (c === '/') return this.#go(END_TAG_OPEN, i + 1)
        if (isLetter(c)) return this.#beginTag(false, i)
        if (c === '?') return this.#go(BOGUS_COMMENT, i)
        this.#foundText()
        return this.#go(DATA, i)
      case END_TAG_OPEN:
        if (isLetter(c)) return this.#beginTag(true, i)
        return this.#go(c === '>' ? DATA : BOGUS_COMMENT, c === '>' ? i + 1 : i)
      case TAG_NAME:
        if (isBlank(c) || c === '/' || c === '>') return this.#beginAttributes(i)
        if (this.#name.length < MAX_NAME_LENGTH) this.#name += c.toLowerCase()
        return i + 1
      case BEFORE_ATTRIBUTE:
        if (isBlank(c)) return i + 1
        if (c === '/') return this.#go(SELF_CLOSING, i + 1)
        if (c === '>') return this.#endTag(chunk, i + 1)
        this.#attributeName = c.toLowerCase() // also `=`
        return this.#go(ATTRIBUTE_NAME, i + 1)
      case SELF_CLOSING:
        this.#isSelfClosing = c === '>'
        return this.#go(BEFORE_ATTRIBUTE, i)
      case ATTRIBUTE_NAME:
        if (isBlank(c) || c === '/' || c === '>' || c === '=') return this.#go(AFTER_ATTRIBUTE_NAME, i)
        if (this.#attributeName.length < MAX_NAME_LENGTH) this.#attributeName += c.toLowerCase()
        return i + 1
      case AFTER_ATTRIBUTE_NAME:
        if (isBlank(c)) return i + 1
        if (c === '=') return this.#go(BEFORE_VALUE, i + 1)
        return this.#endAttribute(i)
      case BEFORE_VALUE:
        if (isBlank(c)) return i + 1
        if (c === '>') return this.#endAttribute(i)
        this.#quote = c
        return c === '"' || c === "'" ? this.#go(QUOTED_VALUE, i + 1) : this.#go(UNQUOTED_VALUE, i)
      case QUOTED_VALUE: {
        const end = this.#find(chunk, this.#quote, i)
        this.#append(chunk, i, end)
        return end === chunk.length ? end : this.#endAttribute(end + 1)
      }
      case UNQUOTED_VALUE:
        if (isBlank(c) || c === '>') return this.#endAttribute(i)
        this.#append(chunk, i, i + 1)
        return i + 1
      case MARKUP_DECLARATION:
        // A DOCTYPE ends at the first `>`, also inside quotes, as a bogus comment does.
        return c === '-' ? this.#go(MARKUP_DASH, i + 1) : this.#go(BOGUS_COMMENT, i)
      case MARKUP_DASH:
        return c === '-' ? this.#go(COMMENT_START, i + 1) : this.#go(BOGUS_COMMENT, i)
      case BOGUS_COMMENT: {
        const end = this.#find(chunk, '>', i)
        return end === chunk.length ? end : this.#go(DATA, end + 1)
      }
      case COMMENT_START:
        if (c === '-') return this.#go(COMMENT_START_DASH, i + 1)
        return c === '>' ? this.#go(DATA, i + 1) : this.#go(COMMENT, i)
      case COMMENT_START_DASH:
        if (c === '-') return this.#go(COMMENT_END, i + 1)
        return c === '>' ? this.#go(DATA, i + 1) : this.#go(COMMENT, i)
      case COMMENT: {
        const end = this.#find(chunk, '-', i)
        return end === chunk.length ? end : this.#go(COMMENT_END_DASH, end + 1)
      }
      case COMMENT_END_DASH:
        return c === '-' ? this.#go(COMMENT_END, i + 1) : this.#go(COMMENT, i)
      case COMMENT_END:
        if (c === '-') return i + 1
        if (c === '>') return this.#go(DATA, i + 1)
        return c === '!' ? this.#go(COMMENT_END_BANG, i + 1) : this.#go(COMMENT, i)
      case COMMENT_END_BANG:
        if (c === '>') return this.#go(DATA, i + 1)
        return c === '-' ? this.#go(COMMENT_END_DASH, i + 1) : this.#go(COMMENT, i)
      default:
        return this.#stepInRawText(chunk, i, c)
    }
  }

  #stepInRawText(chunk: string, i: number, c: string): number {
    switch (this.#state) {
      case RAW: {
        if (this.#escape === 0) {
          const end = this.#find(chunk, '<', i)
          return end === chunk.length ? end : this.#go(RAW_LESS_THAN, end + 1)
        }
        if (c === '>' && this.#dashes === 2) this.#escape = 0
        this.#dashes = c === '-' ? Math.min(this.#dashes + 1, 2) : 0
        return c === '<' ? this.#go(RAW_LESS_THAN, i + 1) : i + 1
      }
      case RAW_LESS_THAN:
        this.#rawMatched = 0
        this.#isRawEnd = c === '/'
        if (c === '/') return this.#go(RAW_NAME, i + 1)
        if (this.#escape === 1) return this.#go(RAW_NAME, i)
        return c === '!' && this.#escape === 0 && this.#rawElement === 'script'
          ? this.#go(SCRIPT_BANG, i + 1)
          : this.#go(RAW, i)
      case RAW_NAME: {
        const name = this.#rawElement
        if (this.#rawMatched < name.length) {
          if (c.toLowerCase() !== name[this.#rawMatched]) return this.#go(RAW, i)
          this.#rawMatched++
          return i + 1
        }
        if (!isBlank(c) && c !== '/' && c !== '>') return this.#go(RAW, i)
        if (this.#isRawEnd && this.#escape < 2) {
          this.#name = name
          this.#isEndTag = true
          return this.#beginAttributes(i)
        }
        this.#escape = this.#isRawEnd ? 1 : 2
        return this.#go(RAW, i + 1)
      }
      case SCRIPT_BANG:
        return c === '-' ? this.#go(SCRIPT_BANG_DASH, i + 1) : this.#go(RAW, i)
      default: // SCRIPT_BANG_DASH
        if (c !== '-') return this.#go(RAW, i)
        this.#escape = 1
        this.#dashes = 2
        return this.#go(RAW, i + 1)
    }
  }

  #go(state: number, i: number): number {
    this.#state = state
    return i
  }

  /** Returns where a character is, or the end of the chunk. */
  #find(chunk: string, character: string, i: number): number {
    const at = chunk.indexOf(character, i)
    const end = at === -1 ? chunk.length : at
    this.steps += end - i
    return end
  }

  #beginTag(isEndTag: boolean, i: number): number {
    this.#name = ''
    this.#isEndTag = isEndTag
    return this.#go(TAG_NAME, i)
  }

  #beginAttributes(i: number): number {
    this.#isSelfClosing = false
    this.#attributes = !this.#isEndTag && this.#handler.wantsAttributes(this.#name) ? {} : undefined
    return this.#go(BEFORE_ATTRIBUTE, i)
  }

  #append(chunk: string, start: number, end: number): void {
    if (this.#attributes === undefined) return
    const free = MAX_ATTRIBUTE_LENGTH - this.#value.length
    this.#isValueCut ||= end - start > free
    if (free > 0) this.#value += chunk.slice(start, Math.min(end, start + free))
  }

  #endAttribute(i: number): number {
    const name = this.#attributeName
    if (this.#attributes !== undefined && (WANTED.has(name) || isRuleName(name))) {
      this.#attributes[name] ??= { text: this.#value, isCut: this.#isValueCut }
    }
    this.#value = ''
    this.#isValueCut = false
    return this.#go(BEFORE_ATTRIBUTE, i)
  }

  #foundText(): void {
    this.#hasText = true
    this.#handler.onText()
  }

  #endTag(chunk: string, i: number): number {
    const name = this.#name
    this.#state = DATA
    this.#hasText = false
    if (this.#isEndTag) {
      if (name === 'noscript') {
        this.#writeNoscript(chunk, i)
        this.#noscript = undefined
      }
      if (!this.#closes(name)) this.#handler.onEndTag(name)
      return i
    }
    const isInTemplate = this.#open.length > 0
    const isForeign = this.#opens(name)
    const isRaw = name === 'noscript' ? this.#handler.noscript !== undefined && !isInTemplate : RAW_TEXT.has(name)
    if (!isForeign && isRaw) this.#beginRawText(name, i)
    if (!isForeign) this.#handler.onStartTag(name, this.#attributes, this.#isSelfClosing)
    return i
  }

  /** Keeps an element open that matters. Returns whether it is inside of foreign content. */
  #opens(name: string): boolean {
    const parent = this.#open.at(-1)
    const isInForeign = parent?.isForeign === true && !HTML_IN_FOREIGN.has(parent.name)
    const isRoot = name === 'svg' || name === 'math'
    const isForeign = isInForeign || isRoot
    const matters = isRoot || name === 'template' || (isInForeign && HTML_IN_FOREIGN.has(name))
    if (matters && !(isForeign && this.#isSelfClosing)) {
      if (this.#open.length < MAX_OPEN) this.#open.push({ name, isForeign })
      else if (!isForeign) this.#deepTemplates++
    }
    return isInForeign
  }

  /** Closes an element that matters, and those in it. Returns whether it was in foreign content. */
  #closes(name: string): boolean {
    if (name === 'template' && this.#deepTemplates > 0) {
      this.#deepTemplates--
      return false
    }
    for (let at = this.#open.length - 1; at >= 0; at--) {
      const { name: open, isForeign } = this.#open[at] as OpenElement
      if (open === name) {
        this.#open.length = at
        return isForeign
      }
      if (open === 'template' && !isForeign) return false // only its own end tag closes a template
    }
    return false
  }

  #beginRawText(name: string, i: number): void {
    this.#state = RAW
    this.#rawElement = name
    this.#escape = 0
    if (name !== 'noscript' || this.#handler.noscript === undefined) return
    this.#noscript ??= new HtmlTokenizer(this.#handler.noscript)
    this.#noscriptStart = i
  }
}

/** Returns whether an attribute is a rule, as in `content=noindex, nofollow` without quotes. */
export function isRuleName(attribute: string): boolean {
  return robotsRules.has(attribute.replace(/[,;]+$/, ''))
}

function isBlank(c: string): boolean {
  return c === ' ' || c === '\n' || c === '\t' || c === '\r' || c === '\f'
}

function isLetter(c: string): boolean {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
