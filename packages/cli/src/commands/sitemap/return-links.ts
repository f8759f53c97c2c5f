// --return-links: finds pages whose alternates do not name them too. Search engines ignore such links.
//
// Keeps the URL of each page, and one entry for two pages of which one names the other. When the
// memory is used up, later entries are not looked at.
import type { SitemapEntry } from '@politely/sitemaps'

/** A page, and an alternate that does not name it. */
interface UnreturnedLink {
  readonly from: string
  readonly to: string
  /** Whether a sitemap lists `to`. */
  readonly listed: boolean
}

export interface ReturnLinksResult {
  /** How many links from page to page were checked. */
  readonly links: number
  readonly missing: number
  /** How many hosts without a listed page links lead to. These links are left out. */
  readonly otherHosts: number
  /** The first missing links. */
  readonly examples: readonly UnreturnedLink[]
  /** Whether all pages were read, and fit into the memory. Otherwise, links to pages that were not read are left out. */
  readonly complete: boolean
}

interface Page {
  readonly url: string
  readonly number: number
  listed: boolean
}

/** What the pages and the links may take together, as an estimate. */
const MAX_BYTES = 256 * 2 ** 20
const PAGE_BYTES = 150
const LINK_BYTES = 50
const MAX_EXAMPLES = 20
/** More pages do not fit into the memory. Two numbers of a page fit into one safe integer. */
const MAX_PAGES = 2 ** 26
/** Bits of a link: from the page with the lower number to the other one, and back. */
const FORTH = 1
const BACK = 2

export class ReturnLinks {
  readonly #maxBytes: number
  readonly #pages: Page[] = []
  readonly #byUrl = new Map<string, Page>()
  /** For two pages, by both numbers, the directions of their links. */
  readonly #links = new Map<number, number>()
  /** The hosts of the pages that are listed. */
  readonly #hosts = new Set<string>()
  #bytes = 0

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  add({ loc, alternates = [] }: SitemapEntry): void {
    if (this.#isFull) return
    const from = this.#pageOf(loc)
    from.listed = true
    this.#hosts.add(hostOf(from))
    for (const { href, hreflang } of alternates) {
      const to = hreflang === undefined || !/^https?:/i.test(href) ? from : this.#pageOf(href)
      if (to === from) continue
      const key = Math.min(from.number, to.number) * MAX_PAGES + Math.max(from.number, to.number)
      const ways = this.#links.get(key)
      if (ways === undefined) this.#bytes += LINK_BYTES
      this.#links.set(key, (ways ?? 0) | (from.number < to.number ? FORTH : BACK))
    }
  }

  /** @param isWhole Whether every file was read. */
  result(isWhole: boolean): ReturnLinksResult {
    const complete = isWhole && !this.#isFull
    const examples: UnreturnedLink[] = []
    const otherHosts = new Set<string>()
    let links = 0
    let missing = 0
    for (const [key, ways] of this.#links) {
      if (ways === (FORTH | BACK)) {
        links += 2
        continue
      }
      const numbers = [Math.floor(key / MAX_PAGES), key % MAX_PAGES] as const
      const from = this.#pages[numbers[ways === FORTH ? 0 : 1]] as Page
      const to = this.#pages[numbers[ways === FORTH ? 1 : 0]] as Page
      if (!to.listed && !complete) continue
      if (!this.#hosts.has(hostOf(to))) {
        otherHosts.add(hostOf(to))
        continue
      }
      links++
      missing++
      if (examples.length < MAX_EXAMPLES) examples.push({ from: from.url, to: to.url, listed: to.listed })
    }
    return { links, missing, otherHosts: otherHosts.size, examples, complete }
  }

  get #isFull(): boolean {
    return this.#bytes >= this.#maxBytes
  }

  #pageOf(text: string): Page {
    const parsed = URL.parse(text)
    if (parsed !== null) parsed.hash = ''
    const url = parsed?.href ?? text
    const known = this.#byUrl.get(url)
    if (known !== undefined) return known
    const page = { url, number: this.#pages.length, listed: false }
    this.#bytes += PAGE_BYTES + url.length
    this.#byUrl.set(url, page)
    this.#pages.push(page)
    return page
  }
}

/** @param page With a URL that was parsed. */
function hostOf({ url }: Page): string {
  return url.split('/', 3)[2] ?? ''
}
