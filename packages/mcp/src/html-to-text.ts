// Converts HTML to text for a model. Headings, lists, links and tables become Markdown-like marks.
// Scripts, styles and the visual layout are dropped. htmlparser2 parses the HTML.
import { Parser } from 'htmlparser2'

/** Elements whose content a reader does not see, or sees only without scripts. */
const HIDDEN_ELEMENTS: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg', 'math'])
/** Elements that start and end a line. */
const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table title tr ul'
  ).split(' '),
)
/** Text that is written before the content of an element. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...[1, 2, 3, 4, 5, 6].map((n) => [`h${n}`, `${'#'.repeat(n)} `] as const),
  ['li', '- '],
  ['td', '| '],
  ['th', '| '],
])

/**
 * At each tag the parser may search all open elements. A page with a million open elements would
 * take minutes.
 */
const MAX_DEPTH = 1_000
/**
 * Every link is written with its absolute URL, so a page with many links and a long URL would
 * become a thousand times as long.
 */
const MAX_TEXT_LENGTH = 4 * 2 ** 20
/**
 * Each link is resolved against the URL of the page, which may have 64,000 characters. When this
 * many characters have been parsed for links, the further links are written without their URLs. A
 * page with a URL of 100 characters may have 160,000 links.
 */
const MAX_LINK_CHARACTERS = 2 ** 24
/**
 * The parser gets this many characters at a time. Depth and length are checked after each chunk.
 */
const CHUNK_LENGTH = 4_096

/** The text of a page, and what is missing from it. */
export interface PageText {
  readonly text: string
  /** Whether the end of the page is missing. */
  readonly isCut: boolean
  /** Whether some links are written without their URLs, because the page has too many. */
  readonly lacksUrls: boolean
}

/**
 * Returns the text of an HTML page, with its title first and links as absolute URLs. Stops where
 * elements are nested deeper than about 1,000 levels, and when the text is longer than about 4
 * million characters; normal pages are not.
 */
export function htmlToText(html: string, base: string): PageText {
  const text = new TextBuilder(base)
  const parser = new Parser(text)
  const isWithinLimits = () => text.depth < MAX_DEPTH && text.length < MAX_TEXT_LENGTH
  let offset = 0
  for (; offset < html.length && isWithinLimits(); offset += CHUNK_LENGTH)
    parser.write(html.slice(offset, offset + CHUNK_LENGTH))
  parser.end()
  return { text: text.toString(), isCut: offset < html.length, lacksUrls: text.lacksUrls }
}

/** A link's `href` attribute, and the position in the output where the link starts. */
interface Link {
  readonly href: string | undefined
  readonly line: number
  readonly piece: number
  readonly textCount: number
}

/**
 * Builds lines from the parser's events. Joins the pieces of a line only at its end, since a page
 * may have a line of half a million pieces.
 */
class TextBuilder {
  depth = 0
  /** The number of characters so far. */
  length = 0
  /** Whether a link was written without its URL, because the page has too many. */
  lacksUrls = false
  readonly #base: string
  readonly #lines: string[] = []
  /** How many lines have ended, also blank ones, which are not in `#lines`. */
  #endedLines = 0
  #linkCharacters = 0
  readonly #links: Link[] = []
  #pieces: string[] = []
  /** The number of pieces so far that are not blank. */
  #textCount = 0
  #endsWithSpace = true
  #hiddenDepth = 0
  #preDepth = 0

  constructor(base: string) {
    this.#base = base
  }

  onopentag(name: string, { href, alt }: Readonly<Record<string, string>>): void {
    this.depth++
    if (HIDDEN_ELEMENTS.has(name)) this.#hiddenDepth++
    if (this.#hiddenDepth > 0) return
    if (BLOCK_ELEMENTS.has(name)) this.#endLine()
    if (name === 'pre') this.#preDepth++
    if (name === 'a') this.#beginLink(href)
    if (name === 'img' && alt) this.ontext(`[${alt}]`)
    const mark = PREFIXES.get(name)
    if (mark !== undefined) this.#add(mark)
  }

  onclosetag(name: string): void {
    this.depth--
    if (HIDDEN_ELEMENTS.has(name)) this.#hiddenDepth--
    else if (this.#hiddenDepth > 0) return
    if (name === 'pre') this.#preDepth--
    if (name === 'a') this.#endLink(this.#links.pop())
    if (name === 'td' || name === 'th') this.ontext(' ')
    if (BLOCK_ELEMENTS.has(name)) this.#endLine()
  }

  ontext(text: string): void {
    if (this.#hiddenDepth > 0) return
    if (this.#preDepth > 0) {
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) this.#endLine()
        this.#addText(line)
      }
      return
    }
    const words = text.replace(/\s+/g, ' ')
    this.#addText(this.#endsWithSpace ? words.trimStart() : words)
  }

  toString(): string {
    this.#endLine()
    return this.#lines.join('\n')
  }

  #addText(text: string): void {
    if (text.trim() !== '') this.#textCount++
    this.#add(text)
  }

  #add(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    this.length += piece.length
    this.#endsWithSpace = piece.endsWith(' ')
  }

  #endLine(): void {
    const line = this.#pieces.join('').trimEnd()
    if (line !== '') this.#lines.push(line)
    this.#endedLines++
    this.#pieces = []
    this.#endsWithSpace = true
  }

  #beginLink(href: string | undefined): void {
    this.#links.push({ href, line: this.#endedLines, piece: this.#pieces.length, textCount: this.#textCount })
    this.#pieces.push('') // a slot for the opening bracket
  }

  /**
   * Writes `[text](URL)`. If the link contains block elements, writes `(URL)` after them. Resolves
   * the URL only if the link has text: with a long base URL that is slow, and a page may have many
   * empty links.
   */
  #endLink(link: Link | undefined): void {
    if (link === undefined || link.textCount === this.#textCount) return
    const target = this.#linkTarget(link.href)
    if (target === undefined) return
    if (link.line === this.#endedLines) {
      this.#pieces[link.piece] = '['
      this.#add(`](${target})`)
    } else this.ontext(` (${target})`)
  }

  /**
   * Returns an absolute URL; undefined for links within the page, for other schemes than http and
   * https, and after too many links.
   */
  #linkTarget(href: string | undefined): string | undefined {
    if (href === undefined || href.startsWith('#')) return undefined
    if (this.#linkCharacters > MAX_LINK_CHARACTERS || this.length >= MAX_TEXT_LENGTH) {
      this.lacksUrls = true
      return undefined
    }
    this.#linkCharacters += this.#base.length + href.length
    const url = URL.parse(href, this.#base)
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined
  }
}
