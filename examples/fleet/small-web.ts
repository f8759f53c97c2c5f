// A small web on loopback: what each site asks for, and which page links to which. Computed from a
// seed, so that all processes agree.
import { createHash } from 'node:crypto'
import type { LookupFunction } from 'node:net'

export interface WebShape {
  readonly origins: number
  /** Pages of all origins together. */
  readonly pages: number
  /** The `Crawl-delay` of three out of four origins. Milliseconds. */
  readonly crawlDelayMs: number
  /**
   * The delay that the fleet keeps by itself, also at origins without a `Crawl-delay`.
   * Milliseconds.
   */
  readonly minDelayMs: number
  /**
   * The delay that the fleet keeps between requests to the two origins of a registrable domain.
   * Milliseconds; 0: none.
   */
  readonly domainDelayMs: number
  readonly seed: number
}

/** Resolves all host names of the small web. No DNS query leaves this machine. */
export const lookup: LookupFunction = (_host, options, callback) => {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

/** Two origins share a registrable domain: `a.site0.test` and `b.site0.test`. */
export function domainOf(origin: number): number {
  return Math.floor(origin / 2)
}

export function hostOf(origin: number): string {
  return `${origin % 2 === 0 ? 'a' : 'b'}.site${domainOf(origin)}.test`
}

/** The number of an origin, or undefined for a host that is not part of this web. */
export function originOf(host: string, { origins }: WebShape): number | undefined {
  const [, letter, site] = /^([ab])\.site(\d+)\.test$/.exec(host) ?? []
  const origin = Number(site) * 2 + (letter === 'a' ? 0 : 1)
  return origin < origins ? origin : undefined
}

export function pagesOf(origin: number, { origins, pages }: WebShape): number {
  return Math.floor(pages / origins) + (origin < pages % origins ? 1 : 0)
}

/**
 * One page in so many answers with a 503 first, and one in so many has another address, which
 * redirects to it.
 */
const RARE = 40

/** Whether a page answers its first request with a 503. */
export function isBusyAtFirst(origin: number, page: number, { seed }: WebShape): boolean {
  return random(seed, origin, page, 2) % RARE === 0
}

/** Whether links name another address of this page. The first page of an origin has none. */
function isMoved(origin: number, page: number, { seed }: WebShape): boolean {
  return page > 0 && random(seed, origin, page, 3) % RARE === 0
}

/** How many pages of an origin have another address, which is a URL of its own. */
export function movedPagesOf(origin: number, shape: WebShape): number {
  return count(pagesOf(origin, shape), (page) => isMoved(origin, page, shape))
}

/**
 * How many requests all pages of an origin take: one for each, one for each redirect, and one for
 * each 503.
 */
function requestsOf(origin: number, shape: WebShape): number {
  const pages = pagesOf(origin, shape)
  return pages + movedPagesOf(origin, shape) + count(pages, (page) => isBusyAtFirst(origin, page, shape))
}

function count(numbers: number, matches: (number: number) => boolean): number {
  return Array.from({ length: numbers }, (_, n) => n).filter(matches).length
}

function hasCrawlDelay(origin: number): boolean {
  return origin % 4 !== 3
}

/**
 * The delay between two requests to an origin: the longer one of what the site and the fleet ask
 * for. Milliseconds.
 */
export function delayOf(origin: number, { crawlDelayMs, minDelayMs }: WebShape): number {
  return hasCrawlDelay(origin) ? Math.max(crawlDelayMs, minDelayMs) : minDelayMs
}

/**
 * The time that a crawl takes if no request waits longer than asked: the longest time of any origin
 * or domain. Milliseconds.
 */
export function idealMs(shape: WebShape): number {
  const times = Array.from({ length: shape.origins }, (_, origin) => {
    const requests = requestsOf(origin, shape)
    const neighbour = origin % 2 === 0 && origin + 1 < shape.origins ? requestsOf(origin + 1, shape) : 0
    return Math.max((requests - 1) * delayOf(origin, shape), (requests + neighbour - 1) * shape.domainDelayMs)
  })
  return Math.max(...times)
}

export function robotsTxtOf(origin: number, { crawlDelayMs }: WebShape): string {
  const crawlDelay = hasCrawlDelay(origin) ? `Crawl-delay: ${crawlDelayMs / 1000}\n` : ''
  return `User-agent: *\n${crawlDelay}Disallow: /private/\n`
}

export function urlOf(origin: number, page: number, port: number): string {
  return `http://${hostOf(origin)}:${port}/page/${page}`
}

/** The URL by which other pages link to a page. */
function linkTo(origin: number, page: number, shape: WebShape, port: number): string {
  const url = urlOf(origin, page, port)
  return isMoved(origin, page, shape) ? url.replace('/page/', '/moved/') : url
}

/**
 * The links of a page: three further pages of its origin, and two random pages anywhere. The first
 * page of an origin also links to the first pages of four other origins, and to a page that
 * robots.txt disallows. So page 0 of origin 0 leads to all pages.
 */
export function linksOf(origin: number, page: number, shape: WebShape, port: number): string[] {
  const links: string[] = []
  for (let child = 3 * page + 1; child <= 3 * page + 3; child++) {
    if (child < pagesOf(origin, shape)) links.push(linkTo(origin, child, shape, port))
  }
  for (const n of [0, 1]) {
    const other = random(shape.seed, origin, page, n) % shape.origins
    links.push(linkTo(other, random(shape.seed, page, origin, n) % pagesOf(other, shape), shape, port))
  }
  if (page > 0) return links
  for (let other = 4 * origin + 1; other <= 4 * origin + 4; other++) {
    if (other < shape.origins) links.push(urlOf(other, 0, port))
  }
  links.push(`http://${hostOf(origin)}:${port}/private/`)
  return links
}

/** A number from 0 to 2^32 - 1 that depends on all of the arguments. */
export function random(...numbers: readonly number[]): number {
  return createHash('md5').update(numbers.join()).digest().readUInt32BE()
}
