// Decides once more: makes the inputs of a decision from its record, and passes them to `decide`.
import {
  type CrawlerRules,
  type Dialect,
  type DialectName,
  describeReason,
  parseRobots,
  type Rule,
} from '@politely/core'
import { type AccessPolicy, accessPolicyOf, decide, ENTRY_VERSION, type Entry } from '@politely/core/engine'
import { type Describable, dialectFor, parseUrl, textWithoutCredentials } from '@politely/core/internal'
import { LRUCache } from '@politely/fetcher/internal'
import type { DecisionRecord } from '../record.ts'
import type { EvidenceFolder } from './read.ts'

/** Why a decision can't be made once more. */
export type NotReplayable =
  /** The record has the hash of the URL. */
  | 'hashed-url'
  /** The URL was invalid, and credentials were removed from it. */
  | 'removed-credentials'
  | 'robots-txt-missing'
  | 'robots-txt-damaged'
  /** The record lacks something, or its options are not known. */
  | 'unreadable'
  /** A later version of Politely has written the record. */
  | 'newer-version'

/** Another crawler, or another reading of robots.txt: "what if?". */
export interface WhatIf {
  /** Default: the dialect of the record. */
  readonly dialect?: DialectName | Dialect | undefined
  /** The names to look for in robots.txt. Default: the names in the record. */
  readonly productTokens?: readonly string[] | undefined
}

/** The options of a client on which its verdicts depend. */
interface Options {
  /** Names the options in the cache of rules. */
  readonly number: number
  readonly tokens: readonly string[]
  readonly dialect: Dialect
  readonly policy: AccessPolicy
}

const MAX_OPTIONS = 1000
/** The files whose rules stay in memory, by the sum of their sizes. */
const MAX_RULES_BYTES = 64 * 2 ** 20

/** Decides once more. */
export class Replayer {
  readonly #folder: EvidenceFolder
  readonly #dialect: Dialect | undefined
  readonly #productTokens: WhatIf['productTokens']
  #count = 0
  readonly #options = new LRUCache<string, Options>({ max: MAX_OPTIONS })
  readonly #rules = new LRUCache<string, Bound>({ maxSize: MAX_RULES_BYTES, sizeCalculation: sizeOf })

  /** @throws {OptionError} for an unknown dialect. */
  constructor(folder: EvidenceFolder, whatIf: WhatIf = {}) {
    this.#folder = folder
    this.#dialect = whatIf.dialect && dialectFor(whatIf.dialect)
    this.#productTokens = whatIf.productTokens
  }

  /**
   * Returns the verdict of this version on a decision. @param url Another URL of the same origin.
   * Default: the URL of the record.
   */
  async decide(record: DecisionRecord, url: string = record.url): Promise<Describable | NotReplayable> {
    const isOwnUrl = url === record.url
    if (isOwnUrl && record.hashed !== undefined) return 'hashed-url'
    if (isOwnUrl && record.hadCredentials && record.verdict.because === 'invalid-url') return 'removed-credentials'
    const parsed = parseUrl(url)
    if (typeof parsed === 'string') return { allowed: false, because: 'invalid-url', problem: parsed, url }
    const { origin, robotsTxt, state } = record
    const at = Date.parse(record.time)
    const options = this.#optionsOf(record)
    if (origin === undefined || state === undefined || options === undefined || Number.isNaN(at)) return 'unreadable'
    const bound = await this.#boundTo(robotsTxt?.sha256, origin, options)
    if (typeof bound === 'string') return bound
    const { name: _, held, latest, ...rest } = state
    const { sha256: __, ...copy } = robotsTxt ?? { sha256: '' }
    try {
      const entry = {
        ...rest,
        latest: this.#attempt(latest, options),
        held: held && { ...held, attempt: this.#attempt(held.attempt, options) },
        version: ENTRY_VERSION,
        origin,
        earlier: [],
        copy: robotsTxt && { ...copy, bytes: bound.bytes },
      } as Entry
      const { verdict, access } = decide(entry, bound.rules, parsed, at, options.policy)
      const recorded = recordedVerdict(record)
      if (!isSameVerdict(recorded, verdict)) describeReason(recorded) // throws if it's not a verdict
      return { ...verdict, access, url }
    } catch {
      return 'unreadable' // the record was changed: a part of its state or verdict is missing
    }
  }

  /** Another dialect may read 401 and 403 in another way. */
  #attempt(attempt: Entry['latest'], { policy }: Options): Entry['latest'] {
    const isRefusal = attempt.reason === 'status' && (attempt.status === 401 || attempt.status === 403)
    return isRefusal && this.#dialect !== undefined ? { ...attempt, kind: policy.forbidden } : attempt
  }

  #optionsOf({ by }: DecisionRecord): Options | undefined {
    const key = JSON.stringify(by)
    const known = this.#options.get(key)
    if (known !== undefined) return known
    const { dialect: given, productTokens, policy } = by
    if (!Array.isArray(productTokens) || typeof policy?.minTtlMs !== 'number') return undefined
    try {
      const recorded = dialectFor(given as DialectName | Dialect)
      const dialect = this.#dialect ?? recorded
      const tokens = this.#productTokens ?? productTokens
      const options = { number: this.#count++, tokens, dialect, policy: policyIn(policy, recorded, dialect) }
      this.#options.set(key, options)
      return options
    } catch {
      return undefined // `dialectFor` throws for an unknown dialect
    }
  }

  /** As a client does: the rules of a copy are bound to its origin, and without a copy there are none. */
  async #boundTo(sha256: string | undefined, origin: string, options: Options): Promise<Bound | NotReplayable> {
    const key = `${options.number} ${sha256} ${origin}`
    const known = this.#rules.get(key)
    if (known !== undefined) return known
    const file = sha256 === undefined ? { bytes: '' } : await this.#folder.robotsFile(sha256)
    if (file.bytes === undefined) return `robots-txt-${file.problem}`
    const { bytes } = file
    const { dialect, tokens } = options
    const rules = parseRobots({ bytes }, { dialect, ...(sha256 && { origin }) }).forCrawler(tokens)
    const bound = { bytes, rules }
    this.#rules.set(key, bound)
    return bound
  }
}

interface Bound {
  readonly bytes: string
  readonly rules: CrawlerRules
}

function sizeOf({ bytes }: Bound, key: string): number {
  return 2 * bytes.length + key.length + 1000
}

/**
 * Returns the policy of the record, with the defaults of another dialect in place of the defaults of
 * its own dialect. What the caller chose stays.
 */
function policyIn(given: AccessPolicy, from: Dialect, to: Dialect): AccessPolicy {
  const policy = { ...given, afterDays: given.afterDays ?? Number.POSITIVE_INFINITY } // JSON has no Infinity
  const defaults: Readonly<Record<string, unknown>> = { ...accessPolicyOf(from.access) }
  const others = Object.entries(accessPolicyOf(to.access))
  const changed = others.filter(([name]) => (policy as Readonly<Record<string, unknown>>)[name] === defaults[name])
  return { ...policy, ...Object.fromEntries(changed) }
}

/** Returns whether two verdicts are the same, with the same line of robots.txt and the same text. */
export function isSameVerdict(a: Describable, b: Describable): boolean {
  return a.allowed === b.allowed && a.because === b.because && keyOf(a) === keyOf(b)
}

/** Says which line of robots.txt decided, or what is wrong with the URL. */
function keyOf(verdict: Describable): string {
  const { rule, group, problem } = verdict as Partial<Record<'rule' | 'group' | 'problem', Rule>>
  const text = rule && textWithoutCredentials(rule.text) // as in the record
  return `${rule?.line} ${rule?.directive} ${text} ${group?.line} ${problem}`
}

/** Returns the verdict in a record, with what was known of robots.txt. */
export function recordedVerdict({ verdict, access, url }: DecisionRecord): Describable {
  return { ...verdict, access, url } as Describable
}
