// A robots.txt, read.
import { type Dialect, dialects } from '../dialect.ts'
import { type HasOctets, type Source, sourceOf, textOf } from '../octets.ts'
import { OptionError } from '../option-error.ts'
import { AskedPath } from '../url/asked-path.ts'
import { type Askable, originOf } from '../url/origin.ts'
import { bindRules, type Keep, type Said, saidTo } from './binding.ts'
import { CrawlerRules } from './crawler-rules.ts'
import { decidingRule } from './deciding-rule.ts'
import type { Explanation } from './explanation.ts'
import { groupsOf } from './groups.ts'
import { type OtherRecord, readableRecords, readingsOf, type WrittenRecord } from './other-records.ts'
import { askPlainly, questionOf } from './question.ts'
import { pathOf } from './rule-forms.ts'
import { groupOf, type RulesVerdict, verdictByRule, verdictWithoutRule } from './verdict.ts'

/** A crawler's name in robots.txt, or several, of which the first that has a group is followed. RFC 9309 §2.2.1. */
export type ProductTokens = string | readonly string[]

export interface BindOptions {
  /**
   * `rules`: what the crawler needs, and nothing of the file stays in memory because of it; for who keeps many. `file`: also the file, so
   * that explanations show its lines. Default `rules`.
   */
  readonly keep?: Keep
}

const asked = new AskedPath()

/** A file that has of everything that a question looks at. */
const SMALL_FILE = 'User-agent: *\nAllow: /\nAllow: /*\nCrawl-delay: 1'

/** A robots.txt, to be asked about any crawler. It is read when it is asked, for the crawler that it is asked about. */
export class Robots {
  /** @internal One that was asked, and what was made for that, are always there: see `Fields.always`. */
  static readonly always: readonly unknown[] = onceAsked(new Robots(SMALL_FILE, dialects.rfc9309, undefined))

  /** How it was read. */
  readonly dialect: Dialect
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  readonly #source: Source
  #others: readonly WrittenRecord[] | undefined
  /** Whom it was asked about last, and their rules, once it was asked so twice. */
  #lastAsked: { readonly productTokens: readonly string[]; rules: CrawlerRules | undefined } | undefined

  /** @internal Made by `parseRobots`. */
  constructor(source: Uint8Array | string | HasOctets, dialect: Dialect, origin: string | undefined) {
    this.dialect = dialect
    this.origin = origin
    this.#source = sourceOf(source)
  }

  /** The sitemaps that the file lists for everyone: absolute URLs, on any host, as written and in its order. */
  get sitemaps(): readonly string[] {
    return readingsOf(this.#records, 'sitemap', absoluteUrlOf)
  }

  /** Every field of the file that is neither a user-agent line nor a rule, in its order. RFC 9309 §2.2.4. */
  get records(): readonly OtherRecord[] {
    return readableRecords(this.#records)
  }

  /** The rules for one crawler: bind once, ask often. */
  forCrawler(productTokens: ProductTokens, { keep = 'rules' }: BindOptions = {}): CrawlerRules {
    const tokens = listOf(productTokens)
    const said = saidTo(tokens, this.#source, this.dialect.reading)
    return new CrawlerRules(bindRules(said, tokens, this.dialect, this.origin, keep), this.dialect)
  }

  /** May this crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: Askable, productTokens: ProductTokens): boolean {
    const rules = this.#boundTo(productTokens)
    if (rules !== undefined) return rules.isAllowed(url)
    if (!askPlainly(url, this.dialect.reading, this.origin, asked)) return this.#answer(url).allowed
    const { rule } = this.#deciding(this.#saidAbout(asked)) ?? {}
    return rule === undefined || rule.directive === 'allow' || rule.start === rule.end
  }

  /** May it, and why? */
  check(url: Askable, productTokens: ProductTokens): RulesVerdict {
    return this.#boundTo(productTokens)?.check(url) ?? this.#answer(url)
  }

  /** What of the file bears on this URL, rule by rule, and why the verdict is what it is. */
  explain(url: Askable, productTokens: ProductTokens): Explanation {
    return this.forCrawler(productTokens, { keep: 'file' }).explain(url)
  }

  get #records(): readonly WrittenRecord[] {
    this.#others ??= groupsOf(this.#source, this.dialect.reading).others
    return this.#others
  }

  /** Whoever asks once gets the plain answer; for whoever asks again, as most callers do for one crawler, the rules are bound. */
  #boundTo(productTokens: ProductTokens): CrawlerRules | undefined {
    if (productTokens === undefined)
      throw new OptionError('productTokens', 'is missing; write a name such as ExampleBot')
    const last = this.#lastAsked
    if (last !== undefined && isSame(last.productTokens, productTokens)) {
      last.rules ??= this.forCrawler(last.productTokens)
      return last.rules
    }
    this.#lastAsked = { productTokens: listOf(productTokens), rules: undefined }
    return undefined
  }

  /** What is said to whom it was asked about last. */
  #saidAbout(path: AskedPath): Said {
    return saidTo(this.#lastAsked?.productTokens ?? [], this.#source, this.dialect.reading, path)
  }

  #answer(url: Askable): RulesVerdict {
    const { path = '', settled } = questionOf(url, this.dialect.reading, this.origin)
    if (settled !== undefined) return settled
    const said = this.#saidAbout(asked.put(path))
    const deciding = this.#deciding(said)
    if (deciding === undefined) {
      const [group] = said.selection.groups
      return verdictWithoutRule(group && groupOf(group))
    }
    const { rule, group } = deciding
    const { directive, line, octets } = rule
    return verdictByRule({ directive, text: textOf(pathOf(said.file.source, rule)), line, octets }, groupOf(group))
  }

  #deciding({ file, selection }: Said): ReturnType<typeof decidingRule> {
    return decidingRule(file, selection.groups, asked, this.dialect.reading)
  }
}

function onceAsked(robots: Robots): readonly unknown[] {
  const { reading } = robots.dialect
  robots.isAllowed('/', '*')
  const said = saidTo(['*'], sourceOf(SMALL_FILE), reading, asked)
  return [robots, said, decidingRule(said.file, said.selection.groups, asked, reading)]
}

/** A list of one's own: what becomes of the caller's is the caller's business. */
function listOf(productTokens: ProductTokens): readonly string[] {
  return typeof productTokens === 'string' ? [productTokens] : [...productTokens]
}

function isSame(list: readonly string[], productTokens: ProductTokens): boolean {
  if (typeof productTokens === 'string') return list.length === 1 && list[0] === productTokens
  return list.length === productTokens.length && list.every((token, i) => token === productTokens[i])
}

function absoluteUrlOf(value: string): string | undefined {
  const url = textOf(value)
  return originOf(url) === undefined ? undefined : url
}
