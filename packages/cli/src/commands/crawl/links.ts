// Finds the links of an HTML page.
import { headReader, robotsDirectives } from '@politely/core/usage'
import { Parser } from 'htmlparser2'

/** The links of a page: absolute URLs, each once and without its fragment. */
export interface Links {
  readonly follow: readonly string[]
  /** The page has them only with `rel="nofollow"`, or says nofollow for all its links. */
  readonly nofollow: readonly string[]
}

/** Collects links from the text of a page, which may come in pieces. */
export class LinkReader {
  readonly #parser: Parser
  readonly #head = headReader()
  readonly #hrefs: string[] = []
  readonly #nofollowHrefs: string[] = []
  readonly #productTokens: readonly string[]
  readonly #isNofollow: boolean
  #base: string | undefined

  /**
   * @param productTokens The names by which a meta tag may address the crawler.
   * @param isNofollow Whether the X-Robots-Tag of the page says nofollow.
   */
  constructor(productTokens: readonly string[], isNofollow = false) {
    this.#isNofollow = isNofollow
    this.#productTokens = productTokens
    this.#parser = new Parser({ onopentag: (name, attributes) => this.#opened(name, attributes) })
  }

  write(text: string): void {
    this.#head.write(text)
    this.#parser.write(text)
  }

  /** @param url The URL of the page. */
  end(url: string): Links {
    this.#parser.end()
    const base = (this.#base !== undefined && URL.parse(this.#base, url)?.href) || url
    const urls = (hrefs: readonly string[]) => [...new Set(hrefs.flatMap((href) => linkOf(href, base) ?? []))]
    const isNofollow = this.#isNofollow || robotsDirectives({ html: this.#head.end() }, this.#productTokens).nofollow
    if (isNofollow) return { follow: [], nofollow: urls([...this.#hrefs, ...this.#nofollowHrefs]) }
    const follow = urls(this.#hrefs)
    const unmarked = new Set(follow)
    return { follow, nofollow: urls(this.#nofollowHrefs).filter((link) => !unmarked.has(link)) }
  }

  #opened(name: string, attributes: Readonly<Record<string, string>>): void {
    const { href, rel = '' } = attributes
    if (name === 'base') this.#base ??= href
    if ((name !== 'a' && name !== 'area') || href === undefined) return
    const isMarked = /(^|\s)nofollow(\s|$)/i.test(rel)
    ;(isMarked ? this.#nofollowHrefs : this.#hrefs).push(href)
  }
}

/**
 * Returns the URL of a link without its fragment, and without credentials, which a site must not
 * choose. Returns undefined for a scheme other than HTTP.
 */
export function linkOf(href: string, base: string): string | undefined {
  const url = URL.parse(href, base)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  url.hash = ''
  url.username = ''
  url.password = ''
  return url.href
}

/**
 * Returns whether the value of X-Robots-Tag closes the links to this crawler. `OtherBot: nofollow` is
 * for the crawler that it names. In `OtherBot: noindex, nofollow`, fetch may have joined two lines.
 */
export function isNofollowHeader(value: string | null, productTokens: readonly string[]): boolean {
  return robotsDirectives({ headers: { 'x-robots-tag': value } }, productTokens).nofollow
}
