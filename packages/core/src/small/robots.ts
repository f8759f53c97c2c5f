// A robots.txt file that is parsed once, for all crawlers. Each group keeps its rules as written.
// `forCrawler` brings the rules of one crawler to their normal form, strongest first, and a check
// tries one after another. It has no packed rules, no index and no automaton: match/ and
// url/request-path.ts have those, and the same verdicts.
import { DOLLAR, NUL } from '../ascii.ts'
import { bytesOfLatin1, decodeText, encodeText, type HasBytes, rangeOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import type { CrawlerRules as FullRules } from '../match/crawler-rules.ts'
import { matchesWildcards, type Searchable } from '../match/pattern.ts'
import type { Group, RulesVerdict } from '../match/verdict.ts'
import { GroupSelection, OTHER_CRAWLERS_RANK } from '../parse/group-selection.ts'
import { endOfIndexFolder } from '../parse/index-page.ts'
import { LineReader } from '../parse/line-reader.ts'
import { type FieldHandler, parse } from '../parse/parser.ts'
import { isSame, type ProductTokens, tokensOf } from '../parse/product-tokens.ts'
import type { Robots as FullRobots } from '../robots.ts'
import { type ByteForms, normalForms, writeNormalForm } from '../url/normal-form.ts'
import { type UrlInput, urlText } from '../url/origin.ts'
import { sentUrlOf } from '../url/sent-path.ts'

/** The part of `Robots` of `@politely/core` that `@politely/core/match` has. */
export interface Robots extends Pick<FullRobots, 'origin' | 'isAllowed' | 'check'> {
  /**
   * Binds the file to one crawler: returns its rules. Use it to check many URLs for one crawler.
   *
   * @throws {OptionError} if a product token is missing or not a string.
   */
  forCrawler(productTokens: ProductTokens): CrawlerRules
}

/** The part of `CrawlerRules` of `@politely/core` that `@politely/core/match` has. */
export interface CrawlerRules extends Pick<FullRules, 'productTokens' | 'isAllowed' | 'check'> {}

/** A rule in the file. */
interface WrittenRule {
  readonly allows: boolean
  readonly pattern: Uint8Array
  readonly line: number
}

/** A group in the file. */
interface WrittenGroup {
  readonly agents: Uint8Array[]
  readonly rules: WrittenRule[]
  readonly line: number
}

class Groups implements FieldHandler {
  readonly wantsRules = true
  readonly wantsUnknownFields = false
  readonly all: WrittenGroup[] = []

  onUserAgent({ bytes, valueStart, contentEnd, line }: LineReader, startsGroup: boolean): void {
    if (startsGroup) this.all.push({ agents: [], rules: [], line })
    this.all.at(-1)?.agents.push(bytes.subarray(valueStart, contentEnd))
  }

  onRule(allows: boolean, { bytes, valueStart, contentEnd, line }: LineReader, isInGroup: boolean): void {
    if (isInGroup) this.all.at(-1)?.rules.push({ allows, pattern: bytes.subarray(valueStart, contentEnd), line })
  }

  onRecord(): void {}
}

export class SmallRobots implements Robots {
  readonly origin: string | undefined
  readonly #parsing: ParsingRules
  readonly #groups: readonly WrittenGroup[]
  /** The rules for the crawler of the last check. */
  #bound: SmallRules | undefined

  constructor(source: Uint8Array | string | HasBytes, parsing: ParsingRules, origin: string | undefined) {
    const text = typeof source === 'string' ? encodeText(source) : source
    const bytes = text instanceof Uint8Array ? text : bytesOfLatin1(text.bytes)
    const groups = new Groups()
    parse(new LineReader().open(rangeOf(bytes), parsing.keys), parsing, groups)
    this.origin = origin
    this.#parsing = parsing
    this.#groups = groups.all
  }

  forCrawler(productTokens: ProductTokens): SmallRules {
    return new SmallRules(this.#groups, tokensOf(productTokens), this.#parsing, this.origin)
  }

  isAllowed(url: UrlInput, productTokens: ProductTokens): boolean {
    return this.check(url, productTokens).allowed
  }

  check(url: UrlInput, productTokens: ProductTokens): RulesVerdict {
    if (this.#bound === undefined || !isSame(this.#bound.productTokens, productTokens)) {
      this.#bound = this.forCrawler(productTokens)
    }
    return this.#bound.check(url)
  }
}

/** A rule in normal form. */
interface BoundRule {
  readonly rule: WrittenRule
  readonly group: WrittenGroup
  readonly form: Uint8Array
}

class SmallRules implements CrawlerRules {
  readonly productTokens: readonly string[]
  readonly #parsing: ParsingRules
  readonly #origin: string | undefined
  readonly #groups: readonly WrittenGroup[]
  /** The strongest first; of equally strong ones, the first in the file. */
  readonly #rules: readonly BoundRule[]

  constructor(
    groups: readonly WrittenGroup[],
    productTokens: readonly string[],
    parsing: ParsingRules,
    origin: string | undefined,
  ) {
    this.productTokens = productTokens
    this.#parsing = parsing
    this.#origin = origin
    this.#groups = groupsFor(new GroupSelection(productTokens, parsing), groups)
    this.#rules = this.#groups
      .flatMap((group) => group.rules.flatMap((rule) => boundRules(rule, group, parsing)))
      .sort((one, other) => strengthOf(other) - strengthOf(one))
  }

  isAllowed(url: UrlInput): boolean {
    return this.check(url).allowed
  }

  check(url: UrlInput): RulesVerdict {
    const { compare, robotsTxtItself } = this.#parsing
    const fileOrigin = this.#origin
    const sent = sentUrlOf(url, compare, fileOrigin !== undefined)
    if (typeof sent === 'string') return { allowed: false, because: 'invalid-url', url: urlText(url), problem: sent }
    const { origin } = sent
    if (origin !== undefined && fileOrigin !== undefined && origin !== fileOrigin) {
      return { allowed: false, because: 'other-origin', origin, fileOrigin } // RFC 9309 §2.3
    }
    const path = new Path(normalBytes(normalForms[compare].url, encodeText(sent.path)))
    if (robotsTxtItself === 'allowed' && decodeText(path.bytes) === '/robots.txt') {
      return { allowed: true, because: 'robots-txt-itself' } // RFC 9309 §2.2.2
    }
    const [first] = this.#groups
    if (first === undefined) return { allowed: true, because: 'no-group', productTokens: this.productTokens }
    const deciding = this.#rules.find(({ form }) => matchesWildcards(path, form, 0, form.length))
    if (deciding === undefined) return { allowed: true, because: 'no-rule-matched', group: shown(first) }
    const { rule, group, form } = deciding
    const { allows, pattern, line } = rule
    return {
      allowed: allows || form.length === 0,
      because: 'rule',
      rule: { directive: allows ? 'allow' : 'disallow', text: decodeText(pattern), line, bytes: form.length },
      group: shown(group),
    }
  }
}

/** Returns the groups that apply to a crawler. RFC 9309 §2.2.1. */
function groupsFor(selection: GroupSelection, groups: readonly WrittenGroup[]): readonly WrittenGroup[] {
  let bestRank = OTHER_CRAWLERS_RANK
  let kept: WrittenGroup[] = []
  for (const group of groups) {
    let rank = OTHER_CRAWLERS_RANK
    for (const agent of group.agents) rank = Math.min(rank, selection.rankOf(agent, 0, agent.length))
    if (rank < bestRank) {
      bestRank = rank
      kept = [group]
    } else if (kept.length > 0 && rank === bestRank && selection.isMerged(rank)) {
      kept.push(group)
    }
  }
  return kept
}

/** Returns the forms of a rule: none for an ignored rule, two for the `Allow` of an index page. */
function boundRules(rule: WrittenRule, group: WrittenGroup, parsing: ParsingRules): readonly BoundRule[] {
  const { allows, pattern } = rule
  if (pattern.length === 0 && parsing.emptyRules === 'nothing') return []
  const form = normalBytes(normalForms[parsing.compare].rule, pattern)
  const folder = allows && parsing.indexPages === 'folder' ? endOfIndexFolder(form, 0, form.length) : -1
  const own = { rule, group, form }
  if (folder === -1) return [own]
  const ofFolder = form.slice(0, folder + 1)
  ofFolder[folder] = DOLLAR
  return [own, { rule, group, form: ofFolder }]
}

/** The longer pattern is stronger, then the rule that allows. RFC 9309 §2.2.2. */
function strengthOf({ rule, form }: BoundRule): number {
  return 2 * form.length + Number(rule.allows)
}

function shown({ agents, line }: WrittenGroup): Group {
  return { agents: agents.map(decodeText), line }
}

function normalBytes(form: ByteForms, bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(3 * bytes.length)
  return out.subarray(0, writeNormalForm(form, bytes, 0, bytes.length, out, 0))
}

/** The path to check, in normal form. The platform's `indexOf` searches it, which is fast for every piece. */
class Path implements Searchable {
  readonly bytes: Uint8Array
  readonly start = 0
  readonly end: number
  /** The bytes as a string, with a NUL for each that is not ASCII: patterns in normal form have neither. */
  readonly #text: string

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.end = bytes.length
    this.#text = decodeText(bytes.map((byte) => (byte < 0x80 ? byte : NUL)))
  }

  findPieceEnd(pattern: Uint8Array, start: number, end: number, from: number, to: number): number {
    const at = this.#text.indexOf(decodeText(pattern.subarray(start, end)), from)
    const pieceEnd = at + end - start
    return at === -1 || pieceEnd > to ? -1 : pieceEnd
  }
}
