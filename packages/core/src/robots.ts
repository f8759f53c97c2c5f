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

/** A crawler's name in robots.txt, or several, of which the first that has a group is followed. RFC 9309 §2.2.1. */
export type ProductTokens = string | readonly string[]

/** Whether bound rules keep the `rules` only, or the whole `file` too. */
export type Keep = 'rules' | 'file'

export interface BindOptions {
  /**
   * `rules`: what the crawler needs, and no part of the file stays in memory because of it; for callers that keep many. `file`: also the
   * file, so that explanations show its lines.
   *
   * @default 'rules'
   */
  readonly keep?: Keep
}

const MANY_RULES = `User-agent: *\n${'Disallow: /a\n'.repeat(30)}`

/** A robots.txt file. It is parsed for the crawler that asks, when it asks. */
export class Robots {
  /**
   * @internal One instance of each class, with an index. When the last instance of a class is collected, V8 discards the code that it compiled
   * for the class, and the next files are slower.
   */
  static readonly kept: Robots = askedOften(new Robots(MANY_RULES, dialects.rfc9309, undefined))

  /** How the file is read. */
  readonly dialect: Dialect
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  readonly #source: Source
  #records: readonly ParsedRecord[] | undefined
  /** The rules for the crawler that asked last. */
  #bound: CrawlerRules | undefined

  /** @internal Made by `parseRobots`. */
  constructor(source: Uint8Array | string | HasBytes, dialect: Dialect, origin: string | undefined) {
    this.dialect = dialect
    this.origin = origin
    this.#source = workspace.files.sourceOf(source)
  }

  /** The sitemaps that the file lists for all crawlers: absolute URLs, on any host, as written and in the order of the file. */
  get sitemaps(): readonly string[] {
    const values = this.#otherRecords()
      .filter(({ field }) => field === 'sitemap')
      .map(({ value }) => textOf(value))
    return values.filter((url) => originOf(url) !== undefined)
  }

  /** Every field of the file that is neither a user-agent line nor a rule, in its order. RFC 9309 §2.2.4. */
  get records(): readonly OtherRecord[] {
    return decodeRecords(this.#otherRecords())
  }

  /** The rules for one crawler: bind once, ask often. */
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

  /** May this crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: UrlInput, productTokens: ProductTokens): boolean {
    return this.#boundTo(productTokens).isAllowed(url)
  }

  /** May it, and why? */
  check(url: UrlInput, productTokens: ProductTokens): RulesVerdict {
    return this.#boundTo(productTokens).check(url)
  }

  /** What of the file is relevant to this URL, rule by rule, and why the verdict is what it is. */
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

function askedOften(robots: Robots): Robots {
  for (let i = 0; i < 100; i++) robots.isAllowed('/b', '*')
  return robots
}
