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
  ...(['li'] as const).map((name) => [name, '- '] as const),
  ...(['td', 'th'] as const).map((name) => [name, '| '] as const),
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

/** Where a link began, and where it leads. */
interface Link {
  readonly href: string | undefined
  readonly lines: number
  readonly at: number
}

/** What the parser tells, as lines. */
class PageText {
  depth = 0
  readonly #base: string
  readonly #lines: string[] = []
  readonly #links: Link[] = []
  #line = ''
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
    if (name === 'a') this.#links.push({ href: this.#target(href), lines: this.#lines.length, at: this.#line.length })
    if (name === 'img' && alt) this.ontext(`[${alt}]`)
    this.#line += MARKS.get(name) ?? ''
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
      const [first = '', ...others] = text.split('\n')
      this.#line += first
      for (const line of others) {
        this.#endLine()
        this.#line = line
      }
      return
    }
    const words = text.replace(/\s+/g, ' ')
    this.#line += this.#line === '' || this.#line.endsWith(' ') ? words.trimStart() : words
  }

  toString(): string {
    this.#endLine()
    return this.#lines.join('\n')
  }

  #endLine(): void {
    const line = this.#line.trimEnd()
    if (line !== '') this.#lines.push(line)
    this.#line = ''
  }

  /** `[text](URL)`; where the link holds blocks, its URL stands behind them. */
  #endLink(link: Link | undefined): void {
    if (link?.href === undefined) return
    const isOneLine = link.lines === this.#lines.length
    const text = isOneLine ? this.#line.slice(link.at) : this.#line
    if (!isOneLine) this.ontext(`(${link.href})`)
    else if (text.trim() !== '') this.#line = `${this.#line.slice(0, link.at)}[${text.trim()}](${link.href})`
  }

  /** Links within the page, and to what cannot be fetched, are left out. */
  #target(href: string | undefined): string | undefined {
    const url = href === undefined || href.startsWith('#') ? null : URL.parse(href, this.#base)
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined
  }
}
