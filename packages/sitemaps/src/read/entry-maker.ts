// Makes entries of what a parser found: checks URLs, reads dates, marks other hosts.
import type { ForeignHost, SitemapEntry } from '../entry.ts'
import type { DateCounter } from '../parse/date-trust.ts'
import type { FoundEntry, Problems } from '../parse/found.ts'
import { parseLastmod } from '../parse/lastmod.ts'
import { Alternates } from './alternates.ts'

/** The longest URL that sitemaps.org allows, in characters as written. */
const MAX_URL_LENGTH = 2_048

/** Answers about URLs whose host is not the host of the file. */
export interface OtherHosts {
  /** Returns whether the host is private, so that a public site may not name it. */
  isPrivate(url: string): Promise<boolean>
  /** Looks for the proof that the file may list pages of another host. */
  proofOf(origin: string): Promise<ForeignHost>
}

export class EntryMaker {
  foreignEntries = 0
  readonly #file: string
  readonly #base: URL
  readonly #ownPrefix: string
  readonly #problems: Problems
  readonly #dates: DateCounter
  readonly #others: OtherHosts
  readonly #alternates: Alternates

  /** @param file The URL of the file, after redirects. */
  constructor(file: string, problems: Problems, dates: DateCounter, others: OtherHosts) {
    this.#file = file
    this.#base = new URL(file)
    this.#ownPrefix = `${this.#base.origin}/`
    this.#problems = problems
    this.#dates = dates
    this.#others = others
    this.#alternates = new Alternates(this.#ownPrefix, problems)
  }

  /** Returns the absolute URL of an entry; undefined if it has none. */
  urlOf({ loc }: FoundEntry): string | undefined {
    if (loc.length > MAX_URL_LENGTH) {
      this.#problems.add('long-url', loc)
      return undefined
    }
    if (/^https?:/i.test(loc) && URL.canParse(loc)) return loc
    const isRelative = !/^(?:[a-z][a-z0-9+.-]*:|www\.)/i.test(loc)
    const resolved = isRelative ? URL.parse(loc, this.#file) : null
    if (resolved === null || !/^https?:$/.test(resolved.protocol)) {
      this.#problems.add('invalid-url', loc)
      return undefined
    }
    this.#problems.add('relative-url', loc)
    return resolved.href
  }

  /** Returns the time of the last change, and counts it. */
  dateOf({ lastmodText }: FoundEntry): number | undefined {
    if (lastmodText === undefined) return undefined
    const ms = parseLastmod(lastmodText)
    if (ms === undefined) this.#problems.add('bad-date', lastmodText)
    else this.#dates.add(ms)
    return ms
  }

  /**
   * Returns undefined for an entry without a valid URL, or on a private host. Returns a promise only
   * if another host is to be checked, since a promise for each entry takes time.
   */
  entryOf(found: FoundEntry): SitemapEntry | Promise<SitemapEntry | undefined> | undefined {
    const loc = this.urlOf(found)
    if (loc === undefined) return undefined
    const { kind: _kind, priority: priorityText, lastmodText, loc: _loc, alternates: links, ...rest } = found
    const alternates = links === undefined ? [] : this.#alternates.of(links, loc)
    const lastmod = this.dateOf(found)
    const priority = this.#priorityOf(priorityText)
    const entry = (foreign: false | ForeignHost): SitemapEntry => ({
      loc,
      ...(lastmod !== undefined && { lastmod }),
      ...(lastmodText !== undefined && { lastmodText }),
      ...(priority !== undefined && { priority }),
      ...(alternates.length > 0 && { alternates }),
      ...rest,
      file: this.#file,
      foreign,
    })
    if (loc.startsWith(this.#ownPrefix)) return entry(false)
    return this.#entryElsewhere(loc, entry)
  }

  /** Returns whether the URL is on a private host, and counts it then. */
  async isPrivate(url: string): Promise<boolean> {
    if (new URL(url).hostname === this.#base.hostname || !(await this.#others.isPrivate(url))) return false
    this.#problems.add('private-host', url)
    return true
  }

  /** Another scheme of the same host is not another host. */
  async #entryElsewhere(
    loc: string,
    entry: (foreign: false | ForeignHost) => SitemapEntry,
  ): Promise<SitemapEntry | undefined> {
    if (await this.isPrivate(loc)) return undefined
    const { host, origin } = new URL(loc)
    if (host === this.#base.host) return entry(false)
    const foreign = await this.#others.proofOf(origin)
    this.foreignEntries++
    return entry(foreign)
  }

  #priorityOf(text: string | undefined): number | undefined {
    if (text === undefined) return undefined
    const priority = Number(text.replace(',', '.'))
    if (priority >= 0 && priority <= 1) return priority
    this.#problems.add('bad-priority', text)
    return undefined
  }
}
