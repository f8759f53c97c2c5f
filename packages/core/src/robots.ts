// A robots.txt file.
import { type ByteRange, decodeText, type HasBytes, latin1OfSource, type Source, textOf } from './bytes.ts'
import { dialectFor } from './choose-dialect.ts'
import { describeValue } from './describe-value.ts'
import { type Dialect, type DialectName, dialects } from './dialect.ts'
import { markClass, OptionError } from './errors.ts'
import { assertKnownOptions } from './known-options.ts'
import { BOUND_VERSION, type BoundRules } from './match/bound-rules.ts'
import { CrawlerRules } from './match/crawler-rules.ts'
import type { Explanation } from './match/explanation.ts'
import { MAX_TRIED_RULES } from './match/rule-index.ts'
import type { RulesVerdict } from './match/verdict.ts'
import { workspace } from './match/workspace.ts'
import { isSame, type ProductTokens, tokensOf } from './parse/product-tokens.ts'
import {
  decodeRecords,
  type OtherRecord,
  type ParsedFile,
  type ParsedRecord,
  parseFields,
  parseRecords,
} from './parse/records.ts'
import { sitemapsIn } from './parse/sitemaps.ts'
import type { UrlInput } from './url/origin.ts'

/** What bound rules keep: the `rules` only, or the whole `file` too. */
export type Keep = 'rules' | 'file'

/**
 * Options of `Robots.forCrawler`.
 * @inline
 */
export interface BindOptions {
  /**
   * What stays in memory. `rules`: the crawler's rules only, and no part of the file; for callers
   * with many files. `file`: also the file, so that `explain` can show its lines.
   *
   * @default 'rules'
   */
  readonly keep?: Keep | undefined
}

const BIND_OPTIONS: Readonly<Record<keyof BindOptions, true>> = { keep: true }

/** A file with enough rules for an index. */
const MANY_RULES = `User-agent: *\n${'Disallow: /a\n'.repeat(MAX_TRIED_RULES + 1)}`

/**
 * A robots.txt file. It is parsed for one crawler at a time, when rules for that crawler are first
 * needed.
 */
export class Robots {
  /**
   * @internal One instance of each internal class, which is never collected. When V8 collects the
   * last instance of a class, it discards the code that it compiled for the class, and the next
   * files are slower. Created with the tenth file: a program that reads few files starts without it.
   */
  static neverCollected: Robots | undefined
  /** How many files were created. */
  static #count = 0

  static {
    markClass('Robots', Robots)
  }

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
    if (++Robots.#count === 10) Robots.neverCollected = checkOften(new Robots(MANY_RULES, dialects.rfc9309, undefined))
  }

  /**
   * The text of the file, decoded from UTF-8. Invalid bytes become U+FFFD; a byte order mark is
   * kept. Decoded anew by each call.
   */
  get text(): string {
    const source = this.#source
    return typeof source === 'string' ? source : decodeText(source.bytes.subarray(source.start, source.end))
  }

  /**
   * The URLs of all `Sitemap` lines, on any host, each once and in the order of the file. Absolute
   * URLs are as written. Relative ones are resolved against `origin`, or left out without it.
   * Several URLs on one line count as several.
   */
  get sitemaps(): readonly string[] {
    const records = this.#otherRecords().filter(({ field }) => field === 'sitemap')
    return sitemapsIn(
      records.map(({ value }) => textOf(value)),
      this.origin,
    )
  }

  /**
   * Every field that is neither a user-agent line nor a rule, in the order of the file. RFC 9309
   * §2.2.4.
   */
  get records(): readonly OtherRecord[] {
    return decodeRecords(this.#otherRecords())
  }

  /**
   * Returns the same file, parsed in another dialect.
   *
   * @throws {OptionError} if the dialect is unknown.
   */
  inDialect(dialect: DialectName | Dialect): Robots {
    return new Robots({ bytes: latin1OfSource(this.#source) }, dialectFor(dialect), this.origin)
  }

  /**
   * Binds the file to one crawler: returns its rules. Use it to check many URLs for one crawler, or
   * to store the rules.
   *
   * @throws {OptionError} if a product token is missing or not a string, or an option is unknown.
   */
  forCrawler(productTokens: ProductTokens, options?: BindOptions): CrawlerRules {
    const tokens = typeof productTokens === 'string' ? [productTokens] : tokensOf(productTokens)
    const keep = options === undefined ? 'rules' : keepOf(options)
    const { dialect, origin } = this
    const compiled = workspace.compile(this.#source, tokens, dialect.parsing)
    const file = keep === 'file' ? latin1OfSource(this.#source) : undefined
    const bound: BoundRules = { version: BOUND_VERSION, dialect, productTokens: tokens, origin, ...compiled, file }
    return new CrawlerRules(bound, dialect, compiled.ruleCount)
  }

  /**
   * Returns whether this crawler may fetch this URL, or this path of the file's own origin. Returns
   * false for a string that is not a URL, such as `example.com/page`; `check` says why.
   *
   * @throws {OptionError} if `url` is neither a string nor an object with `href`, or a product
   * token is missing or not a string.
   */
  isAllowed(url: UrlInput, productTokens: ProductTokens): boolean {
    return this.#boundTo(productTokens, url).isAllowed(url)
  }

  /**
   * Returns whether this crawler may fetch this URL, and why. A string that is not a URL gets the
   * verdict `invalid-url`.
   *
   * @throws {OptionError} if `url` is neither a string nor an object with `href`, or a product
   * token is missing or not a string.
   */
  check(url: UrlInput, productTokens: ProductTokens): RulesVerdict {
    return this.#boundTo(productTokens, url).check(url)
  }

  /**
   * Returns the verdict, every rule that matches this URL, and why one of them decides.
   *
   * @throws {OptionError} as `check` does.
   */
  explain(url: UrlInput, productTokens: ProductTokens): Explanation {
    assertOrder(url, productTokens)
    return this.forCrawler(productTokens, { keep: 'file' }).explain(url)
  }

  /** @internal Returns the bytes of the file, until the next file is read: files share a buffer. */
  range(): ByteRange {
    return workspace.rangeOf(this.#source)
  }

  /** @internal Parses the file for all crawlers: every field and group. Parsed anew by each call. */
  fields(): ParsedFile {
    return parseFields(this.range(), this.dialect.parsing)
  }

  #otherRecords(): readonly ParsedRecord[] {
    this.#records ??= parseRecords(this.range(), this.dialect.parsing)
    return this.#records
  }

  #boundTo(productTokens: ProductTokens, url: UrlInput): CrawlerRules {
    if (this.#bound === undefined || !isSame(this.#bound.productTokens, productTokens)) {
      assertOrder(url, productTokens)
      this.#bound = this.forCrawler(productTokens)
    }
    return this.#bound
  }
}

/** @throws {OptionError} if a name was given as the URL, and a URL as the name. */
function assertOrder(url: UrlInput, productTokens: ProductTokens): void {
  if (/^https?:/i.test(String(productTokens)) && /^[\w-]+(?:\/\d.*)?$/s.test(String(url)))
    throw new OptionError('url', `${describeValue(url)} is the name of a crawler; write the URL first, then the name`)
}

/** @throws {OptionError} for an unknown option or value. */
function keepOf(options: BindOptions): Keep {
  assertKnownOptions(options, BIND_OPTIONS, '{ keep: "file" }')
  const { keep = 'rules' } = options
  if (keep === 'rules' || keep === 'file') return keep
  throw new OptionError('keep', `${describeValue(keep)} is not known; expected one of rules, file`)
}

/** Checks so many URLs that the rules get an index. */
function checkOften(robots: Robots): Robots {
  for (let i = 0; i < 100; i++) robots.isAllowed('/b', '*')
  return robots
}
