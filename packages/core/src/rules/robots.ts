// A robots.txt, read.
import type { Dialect } from '../dialect.ts'
import { octetsOf, textOf } from '../octets.ts'
import { OptionError } from '../option-error.ts'
import { type HasHref, originOf } from '../url/origin.ts'
import { CrawlerRules } from './crawler-rules.ts'
import type { Explanation } from './explanation.ts'
import { groupsOf, type WrittenFile } from './groups.ts'
import { type OtherRecord, readableRecords, readingsOf } from './other-records.ts'
import type { RulesVerdict } from './verdict.ts'

/** A crawler's name in robots.txt, or several, of which the first that has a group is followed. RFC 9309 §2.2.1. */
export type ProductTokens = string | readonly string[]

/** A robots.txt, read once, to be asked about any crawler. */
export class Robots {
  /** How it was read. */
  readonly dialect: Dialect
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  readonly #file: WrittenFile
  #lastBound: { readonly key: string; readonly rules: CrawlerRules } | undefined

  /** @internal Made by `parseRobots`. */
  constructor(source: Uint8Array | string, dialect: Dialect, origin: string | undefined) {
    this.dialect = dialect
    this.origin = origin
    this.#file = groupsOf(octetsOf(source), dialect.reading)
  }

  /** The sitemaps that the file lists for everyone: absolute URLs, on any host, as written and in its order. */
  get sitemaps(): readonly string[] {
    return readingsOf(this.#file.others, 'sitemap', absoluteUrlOf)
  }

  /** Every field of the file that is neither a user-agent line nor a rule, in its order. RFC 9309 §2.2.4. */
  get records(): readonly OtherRecord[] {
    return readableRecords(this.#file.others)
  }

  /** The rules for one crawler: bind once, ask often. */
  forCrawler(productTokens: ProductTokens): CrawlerRules {
    const tokens = typeof productTokens === 'string' ? [productTokens] : productTokens
    return new CrawlerRules(this.#file, tokens, this.dialect.reading, this.origin)
  }

  /** May this crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: string | HasHref, productTokens: ProductTokens): boolean {
    return this.#bound(productTokens).isAllowed(url)
  }

  /** May it, and why? */
  check(url: string | HasHref, productTokens: ProductTokens): RulesVerdict {
    return this.#bound(productTokens).check(url)
  }

  /** What of the file bears on this URL, rule by rule, and why the verdict is what it is. */
  explain(url: string | HasHref, productTokens: ProductTokens): Explanation {
    return this.#bound(productTokens).explain(url)
  }

  /** Most callers ask for one crawler, again and again: keep its rules. */
  #bound(productTokens: ProductTokens): CrawlerRules {
    if (productTokens === undefined)
      throw new OptionError('productTokens', 'is missing; write a name such as ExampleBot')
    const key = JSON.stringify(productTokens)
    if (this.#lastBound?.key !== key) this.#lastBound = { key, rules: this.forCrawler(productTokens) }
    return this.#lastBound.rules
  }
}

function absoluteUrlOf(value: string): string | undefined {
  const url = textOf(value)
  return originOf(url) === undefined ? undefined : url
}
