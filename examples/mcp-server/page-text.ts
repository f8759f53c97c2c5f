// A page as text for a model: headings, lists, links and tables as plain marks, and nothing of what only browsers need. htmlparser2
// reads the HTML; what a page means by its layout is lost.
import { Parser } from 'htmlparser2'

/** What stands in these is for browsers, or for those without a script. */
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg', 'math'])
/** What stands in these begins and ends a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table title tr ul'
  ).split(' '),
)
/** What an element begins with. */
const MARKS: ReadonlyMap<string, string> = new Map([
  ...[1, 2, 3, 4, 5, 6].map((n) => [`h${n}`, `${'#'.repeat(n)} `] as const),
  ['li', '- '],
  ['td', '| '],
  ['th', '| '],
])

/** The parser goes through all open elements at each tag: a page of nothing but them would keep it busy for minutes. */
const DEEPEST = 1_000
/** After so many characters it is looked at how deep they lead. */
const PIECE = 4_096

/**
 * The text of an HTML page, its title first, and links as absolute URLs. What is nested deeper than about 1,000 elements ends it: no page
 * for people is.
 */
export function pageText(html: string, base: string): string {
  const text = new PageText(base)
  const parser = new Parser(text)
  for (let at = 0; at < html.length && text.depth < DEEPEST; at += PIECE) parser.write(html.slice(at, at + PIECE))
  parser.end()
  return text.toString()
}

/** Where a link leads, and where it began: the line, the piece of it, and how much had been said. */
interface Link {
  readonly href: string | undefined
  readonly line: number
  readonly piece: number
  readonly said: number
}

/** What the parser tells, as lines. A line is in pieces until its end: a site could make one of half a million. */
class PageText {
  depth = 0
  readonly #base: string
  readonly #lines: string[] = []
  readonly #links: Link[] = []
  #pieces: string[] = []
  /** Pieces so far that are more than blanks. */
  #said = 0
  #endsBlank = true
  #unseen = 0
  #preformatted = 0

  constructor(base: string) {
    this.#base = base
  }

  onopentag(name: string, { href, alt }: Readonly<Record<string, string>>): void {
    this.depth++
    if (UNSEEN.has(name)) this.#unseen++
    if (this.#unseen > 0) return
    if (BLOCKS.has(name)) this.#endLine()
    if (name === 'pre') this.#preformatted++
    if (name === 'a') this.#beginLink(this.#target(href))
    if (name === 'img' && alt) this.ontext(`[${alt}]`)
    const mark = MARKS.get(name)
    if (mark !== undefined) this.#add(mark)
  }

  onclosetag(name: string): void {
    this.depth--
    if (UNSEEN.has(name)) this.#unseen--
    else if (this.#unseen > 0) return
    if (name === 'pre') this.#preformatted--
    if (name === 'a') this.#endLink(this.#links.pop())
    if (name === 'td' || name === 'th') this.ontext(' ')
    if (BLOCKS.has(name)) this.#endLine()
  }

  ontext(text: string): void {
    if (this.#unseen > 0) return
    if (this.#preformatted > 0) {
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) this.#endLine()
        this.#say(line)
      }
      return
    }
    const words = text.replace(/\s+/g, ' ')
    this.#say(this.#endsBlank ? words.trimStart() : words)
  }

  toString(): string {
    this.#endLine()
    return this.#lines.join('\n')
  }

  #say(text: string): void {
    if (text.trim() !== '') this.#said++
    this.#add(text)
  }

  #add(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    this.#endsBlank = piece.endsWith(' ')
  }

  #endLine(): void {
    const line = this.#pieces.join('').trimEnd()
    if (line !== '') this.#lines.push(line)
    this.#pieces = []
    this.#endsBlank = true
  }

  #beginLink(href: string | undefined): void {
    this.#links.push({ href, line: this.#lines.length, piece: this.#pieces.length, said: this.#said })
    if (href !== undefined) this.#pieces.push('') // for its bracket
  }

  /** `[text](URL)`; where the link holds blocks, its URL stands behind them. */
  #endLink(link: Link | undefined): void {
    if (link?.href === undefined || link.said === this.#said) return
    if (link.line === this.#lines.length) {
      this.#pieces[link.piece] = '['
      this.#add(`](${link.href})`)
    } else this.ontext(` (${link.href})`)
  }

  /** Links within the page, and to what cannot be fetched, are left out. */
  #target(href: string | undefined): string | undefined {
    const url = href === undefined || href.startsWith('#') ? null : URL.parse(href, this.#base)
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined
  }
}
