// A robots.txt, read.
import { OptionError } from '../option-error.ts'
import { type HasHref, originOf } from '../url/origin.ts'
import { CrawlerRules } from './crawler-rules.ts'
import { type Dialect, type DialectName, dialects } from './dialect.ts'
import { groupsOf, type WrittenFile } from './groups.ts'
import { octetsOf, textOf } from './octets.ts'
import type { RulesVerdict } from './verdict.ts'

export interface ParseOptions {
  /** The reading to use. Default `rfc9309`. */
  readonly dialect?: DialectName
  /**
   * The origin that the file was fetched for, as a URL. With it, a URL of another origin is answered `other-origin` (RFC 9309
   * §2.3); without it, the path of any URL is checked.
   */
  readonly origin?: string
}

/** A crawler's name in robots.txt, or several, of which the first that has a group is followed. RFC 9309 §2.2.1. */
export type ProductTokens = string | readonly string[]

/**
 * Reads a robots.txt. Never throws for what stands in it: RFC 9309 §2.2 asks to use every line that can be read, and to
 * pass over the rest.
 *
 * @param source Its octets, or its text.
 * @throws {OptionError} for an unknown dialect, or an origin that is no http, https or ftp URL.
 */
export function parseRobots(source: Uint8Array | string, options: ParseOptions = {}): Robots {
  return new Robots(source, options)
}

/** A robots.txt, read once, to be asked about any crawler. */
export class Robots {
  readonly dialect: DialectName
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  readonly #file: WrittenFile
  readonly #reading: Dialect
  #lastBound: { readonly key: string; readonly rules: CrawlerRules } | undefined

  /** @internal Made by `parseRobots`. */
  constructor(source: Uint8Array | string, { dialect = 'rfc9309', origin }: ParseOptions) {
    if (!Object.hasOwn(dialects, dialect)) {
      throw new OptionError(
        'dialect',
        `${JSON.stringify(dialect)} is not known; write one of ${Object.keys(dialects).join(', ')}`,
      )
    }
    this.dialect = dialect
    this.#reading = dialects[dialect]
    this.origin = origin === undefined ? undefined : originOf(origin)
    if (origin !== undefined && this.origin === undefined) {
      throw new OptionError(
        'origin',
        `${JSON.stringify(origin)} is not an origin; write one such as https://example.com`,
      )
    }
    this.#file = groupsOf(octetsOf(source))
  }

  /** The sitemaps that the file lists for everyone: absolute URLs, on any host, as written and in its order. */
  get sitemaps(): readonly string[] {
    return this.#file.sitemaps.map(textOf).filter((url) => originOf(url) !== undefined)
  }

  /** The rules for one crawler: bind once, ask often. */
  forCrawler(productTokens: ProductTokens): CrawlerRules {
    const tokens = typeof productTokens === 'string' ? [productTokens] : productTokens
    return new CrawlerRules(this.#file, tokens, this.#reading, this.origin)
  }

  /** May this crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: string | HasHref, productTokens: ProductTokens): boolean {
    return this.#bound(productTokens).isAllowed(url)
  }

  /** May it, and why? */
  check(url: string | HasHref, productTokens: ProductTokens): RulesVerdict {
    return this.#bound(productTokens).check(url)
  }

  /** Most callers ask for one crawler, again and again: keep its rules. */
  #bound(productTokens: ProductTokens): CrawlerRules {
    const key = JSON.stringify(productTokens)
    if (this.#lastBound?.key !== key) this.#lastBound = { key, rules: this.forCrawler(productTokens) }
    return this.#lastBound.rules
  }
}
