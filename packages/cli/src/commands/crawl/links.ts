// Finds the links of an HTML page.
import { robotsDirectives } from '@politely/core/usage'
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
  readonly #hrefs: string[] = []
  readonly #nofollowHrefs: string[] = []
  readonly #tokens: readonly string[]
  #base: string | undefined
  #isNofollow: boolean

  /**
   * @param productTokens The names by which a meta tag may address the crawler.
   * @param isNofollow Whether the X-Robots-Tag of the page says nofollow.
   */
  constructor(productTokens: readonly string[], isNofollow = false) {
    this.#isNofollow = isNofollow
    this.#tokens = ['robots', ...productTokens.map((token) => token.toLowerCase())]
    this.#parser = new Parser({ onopentag: (name, attributes) => this.#opened(name, attributes) })
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  /** @param url The URL of the page. */
  end(url: string): Links {
    this.#parser.end()
    const base = (this.#base !== undefined && URL.parse(this.#base, url)?.href) || url
    const urls = (hrefs: readonly string[]) => [...new Set(hrefs.flatMap((href) => linkOf(href, base) ?? []))]
    if (this.#isNofollow) return { follow: [], nofollow: urls([...this.#hrefs, ...this.#nofollowHrefs]) }
    const follow = urls(this.#hrefs)
    const unmarked = new Set(follow)
    return { follow, nofollow: urls(this.#nofollowHrefs).filter((link) => !unmarked.has(link)) }
  }

  #opened(name: string, attributes: Readonly<Record<string, string>>): void {
    const { href, rel = '', content = '' } = attributes
    if (name === 'base') this.#base ??= href
    if (name === 'meta' && this.#tokens.includes(attributes.name?.trim().toLowerCase() ?? ''))
      this.#isNofollow ||= isNofollow(content)
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

/** Returns whether a meta tag, such as `noindex, nofollow`, closes the links. */
function isNofollow(value: string): boolean {
  return value.split(',').some((word) => /^\s*(nofollow|none)\s*$/i.test(word))
}

/**
 * Returns whether the value of X-Robots-Tag closes the links to this crawler. `OtherBot: nofollow` is
 * for the crawler that it names. In `OtherBot: noindex, nofollow`, fetch may have joined two lines.
 */
export function isNofollowHeader(value: string | null, productTokens: readonly string[]): boolean {
  return robotsDirectives({ headers: { 'x-robots-tag': value } }, productTokens).nofollow
}
