// A robots.txt file.
import { type HasBytes, latin1Of, latin1OfSource, type Source, textOf } from './bytes.ts'
import { type Dialect, dialects } from './dialect.ts'
import { BOUND_VERSION } from './match/bound-rules.ts'
import { CrawlerRules } from './match/crawler-rules.ts'
import type { Explanation } from './match/explanation.ts'
import type { RulesVerdict } from './match/verdict.ts'
import { workspace } from './match/workspace.ts'
import { OptionError } from './option-error.ts'
import { decodeRecords, type OtherRecord, type ParsedRecord, parseRecords } from './parse/records.ts'
import { originOf, type UrlInput } from './url/origin.ts'

/** A crawler's name in robots.txt; or several, in order of preference: the first one that has a group is used. RFC 9309 §2.2.1. */
export type ProductTokens = string | readonly string[]

/** What bound rules keep: the `rules` only, or the whole `file` too. */
export type Keep = 'rules' | 'file'

export interface BindOptions {
  /**
   * `rules`: keep the crawler's rules only, and no part of the file in memory; for callers with many files. `file`: also keep the file, so that
   * `explain` can show its lines.
   *
   * @default 'rules'
   */
  readonly keep?: Keep
}

/** A file with enough rules for an index. */
const MANY_RULES = `User-agent: *\n${'Disallow: /a\n'.repeat(30)}`

/** A robots.txt file. It is parsed for one crawler at a time, when rules for that crawler are first needed. */
export class Robots {
  /**
   * @internal One instance of each internal class, which is never collected. When V8 collects the last instance of a class, it discards the code
   * that it compiled for the class, and the next files are slower.
   */
  static readonly neverCollected: Robots = checkOften(new Robots(MANY_RULES, dialects.rfc9309, undefined))

  /** The dialect that the file is parsed in. */
  readonly dialect: Dialect
  /** The origin that the file applies to; undefined if the caller did not give one. */
  readonly origin: string | undefined
  readonly #source: Source
  #records: readonly ParsedRecord[] | undefined
  /** The rules for the crawler of the last check. */
  #bound: CrawlerRules | undefined

  /** @internal `parseRobots` creates instances. */
  constructor(source: Uint8Array | string | HasBytes, dialect: Dialect, origin: string | undefined) {
    this.dialect = dialect
    this.origin = origin
    this.#source = workspace.files.sourceOf(source)
  }

  /** The text of the file. Bytes that are not UTF-8 become U+FFFD. */
  get text(): string {
    return textOf(latin1OfSource(this.#source))
  }

  /** The absolute URLs of all `Sitemap` lines, on any host, as written and in the order of the file. Relative ones are left out. */
  get sitemaps(): readonly string[] {
    const values = this.#otherRecords()
      .filter(({ field }) => field === 'sitemap')
      .map(({ value }) => textOf(value))
    return values.filter((url) => originOf(url) !== undefined)
  }

  /** Every field that is neither a user-agent line nor a rule, in the order of the file. RFC 9309 §2.2.4. */
  get records(): readonly OtherRecord[] {
    return decodeRecords(this.#otherRecords())
  }

  /** Binds the file to one crawler: returns its rules. Use it to check many URLs for one crawler, or to store the rules. */
  forCrawler(productTokens: ProductTokens, { keep = 'rules' }: BindOptions = {}): CrawlerRules {
    const tokens = typeof productTokens === 'string' ? [productTokens] : [...productTokens]
    const { dialect, origin } = this
    const compiled = workspace.compile(this.#source, tokens, dialect.parsing)
    const { bytes, groupsAt, end, ruleCount: count, crawlDelayMs, requestRates, visitTimes } = compiled
    const rules = new CrawlerRules(
      {
        version: BOUND_VERSION,
        dialect,
        productTokens: tokens,
        origin,
        packed: latin1Of(bytes.subarray(0, end)),
        groupsAt,
        crawlDelayMs,
        requestRates,
        visitTimes,
        file: keep === 'file' ? latin1OfSource(this.#source) : undefined,
      },
      dialect,
      count,
    )
    workspace.load(rules, compiled, dialect.parsing.winner === 'first')
    return rules
  }

  /**
   * Returns whether this crawler may fetch this URL, or this path of the file's own origin.
   *
   * @throws {OptionError} if `productTokens` is missing.
   */
  isAllowed(url: UrlInput, productTokens: ProductTokens): boolean {
    return this.#boundTo(productTokens).isAllowed(url)
  }

  /**
   * Returns whether this crawler may fetch this URL, and why.
   *
   * @throws {OptionError} if `productTokens` is missing.
   */
  check(url: UrlInput, productTokens: ProductTokens): RulesVerdict {
    return this.#boundTo(productTokens).check(url)
  }

  /** Returns the verdict, every rule that matches this URL, and why one of them decides. */
  explain(url: UrlInput, productTokens: ProductTokens): Explanation {
    return this.forCrawler(productTokens, { keep: 'file' }).explain(url)
  }

  #otherRecords(): readonly ParsedRecord[] {
    if (this.#records === undefined) {
      this.#records = parseRecords(workspace.rangeOf(this.#source), this.dialect.parsing).records
    }
    return this.#records
  }

  #boundTo(productTokens: ProductTokens): CrawlerRules {
    if (productTokens === undefined) {
      throw new OptionError('productTokens', 'is missing; write a name such as ExampleBot')
    }
    if (this.#bound === undefined || !isSame(this.#bound.productTokens, productTokens)) {
      this.#bound = this.forCrawler(productTokens)
    }
    return this.#bound
  }
}

function isSame(list: readonly string[], productTokens: ProductTokens): boolean {
  if (typeof productTokens === 'string') return list.length === 1 && list[0] === productTokens
  return list.length === productTokens.length && list.every((token, i) => token === productTokens[i])
}

/** Checks so many URLs that the rules get an index. */
function checkOften(robots: Robots): Robots {
  for (let i = 0; i < 100; i++) robots.isAllowed('/b', '*')
  return robots
}
