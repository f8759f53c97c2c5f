// What the playground shows. A link, a file and the gallery hold such a state.
import type { DialectName } from '@politely/core'
import { urlIn } from '@politely/core/review'

export interface PlaygroundState {
  /** The text of robots.txt. */
  readonly robots: string
  /** The earlier text of robots.txt, to compare with; undefined without a comparison. */
  readonly before: string | undefined
  /** URLs and paths, as the user wrote them. */
  readonly urls: readonly string[]
  /** The crawlers by their names in robots.txt, each a column of the matrix. */
  readonly crawlers: readonly string[]
  readonly dialect: DialectName
  /** What the page of the open cell says about its use; undefined if nothing was pasted. */
  readonly page: PageTexts | undefined
  /** The open cell: an index into `urls` and one into `crawlers`. */
  readonly open: OpenCell | undefined
}

/** The response of a page, as the user pasted it. */
export interface PageTexts {
  /** The headers, one on each line. */
  readonly headers: string
  /** The page, of which the head is read. */
  readonly html: string
}

export interface OpenCell {
  readonly url: number
  readonly crawler: number
}

/** Google reads no more of a robots.txt than this. RFC 9309 §2.5 asks for as much. Characters. */
export const MAX_ROBOTS_LENGTH: number = 500 * 1024
export const MAX_URLS = 5_000
export const MAX_URL_LENGTH = 2_000
export const MAX_CRAWLERS = 24
/** A head with all that is read is far shorter. Characters. */
export const MAX_PAGE_LENGTH = 200_000

/** Returns the state with as much as the playground accepts. What is small enough is the same object. */
export function bounded(state: PlaygroundState): PlaygroundState {
  const urls = boundedUrls(state.urls)
  const distinct = new Set(state.crawlers)
  const areFew = distinct.size === state.crawlers.length && distinct.size <= MAX_CRAWLERS
  const crawlers = areFew ? state.crawlers : [...distinct].slice(0, MAX_CRAWLERS)
  const { open, page } = state
  return {
    ...state,
    robots: state.robots.slice(0, MAX_ROBOTS_LENGTH),
    before: state.before?.slice(0, MAX_ROBOTS_LENGTH),
    urls,
    crawlers,
    page: page && { headers: page.headers.slice(0, MAX_PAGE_LENGTH), html: page.html.slice(0, MAX_PAGE_LENGTH) },
    open: open !== undefined && open.url < urls.length && open.crawler < crawlers.length ? open : undefined,
  }
}

/** Returns as much of the URLs as the playground accepts: the same array if that is all. */
export function boundedUrls(urls: readonly string[]): readonly string[] {
  const read = urls.slice(0, MAX_URLS).map((url) => (urlIn(url) ?? url).slice(0, MAX_URL_LENGTH))
  return read.length === urls.length && read.every((url, i) => url === urls[i]) ? urls : read
}

/** Says what `boundedUrls` cuts off; an empty text if it cuts off nothing. */
export function cutText(urls: readonly string[]): string {
  const long = urls.slice(0, MAX_URLS).filter((url) => url.length > MAX_URL_LENGTH).length
  const sentences = [
    ...(urls.length > MAX_URLS
      ? [`Only the first ${MAX_URLS.toLocaleString('en')} of ${urls.length.toLocaleString('en')} URLs are checked.`]
      : []),
    ...(long > 0
      ? [
          `Of ${long === 1 ? 'one URL' : `${long.toLocaleString('en')} URLs`}, only the first ${MAX_URL_LENGTH.toLocaleString('en')} characters are checked.`,
        ]
      : []),
  ]
  return sentences.join(' ')
}

/** Returns how many origins (scheme, host and port) the URLs have. Paths have none. */
export function originsIn(urls: readonly string[]): number {
  const origins = urls.map((url) => (/^https?:/i.test(url) && URL.canParse(url) ? new URL(url).origin : undefined))
  return new Set(origins.filter((origin) => origin !== undefined)).size
}

/** Returns the URLs in a text with one on each line. */
export function urlsIn(text: string): readonly string[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** What the page shows at first. */
export const startState: PlaygroundState = {
  robots: `# A small shop
User-agent: *
Disallow: /cart
Disallow: /account/
Disallow: /*?sort=
Allow: /account/help

User-agent: GPTBot
Disallow: /
Allow: /press/

User-agent: Bingbot
Crawl-delay: 5
Disallow /search

Sitemap: https://shop.example/sitemap.xml
`,
  before: undefined,
  urls: [
    'https://shop.example/',
    'https://shop.example/shoes?sort=price',
    'https://shop.example/account/help',
    'https://shop.example/cart',
    'https://shop.example/press/2026',
  ],
  crawlers: ['Googlebot', 'Bingbot', 'GPTBot', '*'],
  dialect: 'rfc9309',
  page: undefined,
  open: { url: 2, crawler: 0 },
}
