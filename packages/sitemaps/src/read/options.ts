// The options of readSitemaps, and the forms of its source. Checked when it is called.
import { OptionError } from '@politely/core'
import { NetworkGuard, RobotsClient } from '@politely/fetcher'
import {
  abortSignal,
  assertOptions,
  callable,
  clientPort,
  describeValue,
  withMethods,
} from '@politely/fetcher/internal'
import type { SitemapFile } from '../file-result.ts'
import { LIMITS_ELSEWHERE, type Limits, limitsOf, type SitemapLimits } from '../limits.ts'
import type { ByteSource } from './body-source.ts'
import { withoutHash } from './foreign-hosts.ts'
import type { SitemapFetch } from './request.ts'
import { assertTask, checkedToken, type ResumeToken } from './resume-token.ts'

/**
 * - A text or a URL: a site, such as `https://example.com`. Its robots.txt names the sitemaps.
 * - A list of texts or URLs: sitemaps.
 * - Bytes: one file. Its URL is the option `base`.
 */
export type SitemapSource = string | URL | readonly (string | URL)[] | ByteSource

/** The options of `readSitemaps`. */
export interface ReadSitemapsOptions {
  /**
   * Requests the files, such as `politely(fetch, { userAgent })`. With it, each file and each
   * redirect is checked against robots.txt and waits for its slot. With another fetch, `robots`
   * checks each request, and no request waits. Required unless the source is bytes.
   */
  readonly fetch?: SitemapFetch | undefined
  /** The RobotsClient that knows robots.txt. Default: the client of a polite `fetch`. */
  readonly robots?: RobotsClient | undefined
  /** Aborting it ends the reading; the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The limits of the reading, each with a default. */
  readonly limits?: SitemapLimits | undefined
  /**
   * Leaves out entries and files with an older date. Milliseconds since 1970, or a Date. Dates
   * count only if the dates of their file can be trusted; entries without a date are never left
   * out.
   */
  readonly since?: number | Date | undefined
  /** Whether to read `/sitemap.xml` if robots.txt names no sitemap. Default false. */
  readonly guess?: boolean | undefined
  /** The URL of a source of bytes. */
  readonly base?: string | URL | undefined
  /**
   * The results of an earlier reading. Files that were complete then are requested with their
   * validators; the server may answer that they are unchanged.
   */
  readonly earlier?: Iterable<SitemapFile> | undefined
  /** Continues an earlier reading instead of beginning with the source. */
  readonly resume?: ResumeToken | undefined
}

/** The checked source. */
type Source =
  | { readonly kind: 'site'; readonly origin: string }
  | { readonly kind: 'files'; readonly urls: readonly string[] }
  | { readonly kind: 'bytes'; readonly bytes: ByteSource; readonly url: string }

export interface ReadingSettings {
  readonly source: Source
  readonly fetch: SitemapFetch | undefined
  readonly robots: RobotsClient | undefined
  /** Decides which hosts a site may name. The guard of the RobotsClient, if there is one. */
  readonly guard: NetworkGuard
  /** Whether `robots` checks each request, since the fetch does not. */
  readonly checksRequests: boolean
  readonly signal: AbortSignal | undefined
  readonly limits: Limits
  readonly since: number | undefined
  readonly guess: boolean
  readonly earlier: ReadonlyMap<string, SitemapFile>
  readonly resume: ResumeToken | undefined
}

const KNOWN: Readonly<Record<keyof ReadSitemapsOptions, true>> = {
  fetch: true,
  robots: true,
  signal: true,
  limits: true,
  since: true,
  guess: true,
  base: true,
  earlier: true,
  resume: true,
}
const EXAMPLE = '{ fetch: politely(fetch, { userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }) }'

/** @throws {OptionError} for an invalid source or option. */
export function readingSettingsOf(given: SitemapSource, options: ReadSitemapsOptions): ReadingSettings {
  assertOptions(options, EXAMPLE, KNOWN, LIMITS_ELSEWHERE)
  const source = sourceOf(given, options.base)
  const fetch = callable('fetch', options.fetch, 'politely(fetch, { userAgent })')
  const { gate } = (fetch ?? {}) as { readonly gate?: { readonly robots?: RobotsClient } }
  const robots = withMethods('robots', options.robots, ['check', 'sitemaps'], 'a RobotsClient') ?? gate?.robots
  if (source.kind !== 'bytes' && fetch === undefined) throw new OptionError('fetch', `is missing; write ${EXAMPLE}`)
  if (source.kind === 'site' && robots === undefined)
    throw new OptionError(
      'robots',
      'is missing; the sitemaps of a site are in its robots.txt. Write robots: new RobotsClient({ userAgent }), or a fetch of politely',
    )
  const limits = limitsOf(options.limits)
  return {
    source,
    fetch,
    robots,
    guard: robots instanceof RobotsClient ? clientPort(robots).settings().guard : new NetworkGuard(),
    checksRequests: robots !== undefined && gate === undefined,
    signal: abortSignal(options.signal),
    limits,
    since: sinceOf(options.since),
    guess: options.guess === true,
    earlier: earlierOf(options.earlier),
    resume: options.resume === undefined ? undefined : checkedToken(options.resume, limits.maxFiles),
  }
}

function sourceOf(source: SitemapSource, base: string | URL | undefined): Source {
  if (typeof source === 'string' || source instanceof URL) {
    const { href, origin, pathname } = httpUrl('source', source)
    if (pathname === '/') return { kind: 'site', origin }
    throw new OptionError(
      'source',
      `${describeValue(href)} has a path; write [${JSON.stringify(href)}] for a sitemap, or ${JSON.stringify(origin)} for a site`,
    )
  }
  if (Array.isArray(source))
    return { kind: 'files', urls: source.map((url, index) => withoutHash(httpUrl(`source[${index}]`, url).href)) }
  const isBytes = source instanceof Uint8Array || (typeof source === 'object' && source !== null && isStream(source))
  if (!isBytes)
    throw new OptionError(
      'source',
      `${describeValue(source)} is not a source; the first argument is a site such as "https://example.com", a list of URLs of sitemaps, or bytes`,
    )
  if (base === undefined)
    throw new OptionError('base', 'is missing; write the URL of the bytes, such as "https://example.com/sitemap.xml"')
  return { kind: 'bytes', bytes: source as ByteSource, url: withoutHash(httpUrl('base', base).href) }
}

function isStream(source: object): boolean {
  return Symbol.asyncIterator in source || 'getReader' in source
}

function httpUrl(option: string, url: unknown): URL {
  const parsed = typeof url === 'string' || url instanceof URL ? URL.parse(String(url)) : null
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return parsed
  throw new OptionError(
    option,
    `${describeValue(url)} is not an http or https URL; expected one such as "https://example.com"`,
  )
}

function sinceOf(since: number | Date | undefined): number | undefined {
  if (since === undefined) return undefined
  const ms = since instanceof Date ? since.getTime() : since
  if (typeof ms === 'number' && Number.isFinite(ms)) return ms
  throw new OptionError('since', `${describeValue(since)} is not a time; expected a Date, or milliseconds since 1970`)
}

function earlierOf(earlier: Iterable<SitemapFile> | undefined): ReadonlyMap<string, SitemapFile> {
  if (earlier === undefined) return new Map()
  if (typeof earlier === 'object' && earlier !== null && Symbol.iterator in earlier) {
    const files = [...earlier]
    files.forEach((file, index) => {
      assertTask(`earlier[${index}]`, file)
    })
    return new Map(files.map((file) => [file.url, file]))
  }
  throw new OptionError(
    'earlier',
    `${describeValue(earlier)} is not a list; write the files.list of an earlier reading`,
  )
}
