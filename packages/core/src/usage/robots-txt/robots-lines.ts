// Finds the lines of a robots.txt about the use of content, and whom each is for: this crawler,
// other crawlers, or the whole site.
import { latin1Of } from '../../bytes.ts'
import type { OtherField } from '../../parse/directive.ts'
import { GroupSelection, OTHER_CRAWLERS_RANK } from '../../parse/group-selection.ts'
import { LineReader } from '../../parse/line-reader.ts'
import { type FieldHandler, parse } from '../../parse/parser.ts'
import { namesEveryone } from '../../parse/product-token.ts'
import type { Robots } from '../../robots.ts'

/** The fields of robots.txt about the use of content. */
type UsageField = 'content-usage' | 'content-signal' | 'license'

/** A line of robots.txt about the use of content. */
export interface UsageLine {
  readonly field: UsageField
  /** The key as written; one character for each byte, as in `value`. */
  readonly key: string
  readonly value: string
  readonly line: number
  /**
   * Whom the line is for.
   * - `own`: the groups of this crawler, or those for `*` if no group names it.
   * - `site`: all crawlers, since it is outside of the groups.
   * - `everyone-else`: the groups for `*`, which a group of this crawler replaces.
   * - `others`: other crawlers.
   */
  readonly audience: 'own' | 'site' | 'everyone-else' | 'others'
}

/** Returns the lines about the use of content, in the order of the file. */
export function usageLinesOf(robots: Robots, productTokens: readonly string[]): readonly UsageLine[] {
  const { parsing } = robots.dialect
  const range = robots.range()
  const collector = new Collector(range.bytes, new GroupSelection(productTokens, parsing))
  parse(new LineReader().open(range, parsing.keys), parsing, collector)
  return collector.lines()
}

/** One or more user-agent lines, which share a group or a run (parser.ts). */
interface Agents {
  /** The best rank of the lines. */
  rank: number
  /** Whether one of the lines is `*`. */
  areAll: boolean
}

interface FoundLine extends Omit<UsageLine, 'audience'> {
  readonly group: Agents | undefined
  readonly run: Agents | undefined
}

class Collector implements FieldHandler {
  readonly wantsRules = false
  readonly wantsUnknownFields = false
  readonly #bytes: Uint8Array
  readonly #selection: GroupSelection
  readonly #groups: Agents[] = []
  #run: Agents | undefined
  readonly #found: FoundLine[] = []

  constructor(bytes: Uint8Array, selection: GroupSelection) {
    this.#bytes = bytes
    this.#selection = selection
  }

  onUserAgent({ valueStart, contentEnd }: LineReader, startsGroup: boolean, startsRun: boolean): void {
    const rank = this.#selection.rankOf(this.#bytes, valueStart, contentEnd)
    const isAll = namesEveryone(this.#bytes, valueStart, contentEnd)
    if (startsGroup) this.#groups.push({ rank, areAll: isAll })
    if (startsRun) this.#run = { rank, areAll: isAll }
    for (const agents of [this.#groups.at(-1), this.#run]) {
      if (agents === undefined) continue
      agents.rank = Math.min(agents.rank, rank)
      agents.areAll ||= isAll
    }
  }

  onRule(): void {}

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    if (field !== 'content-usage' && field !== 'content-signal' && field !== 'license') return
    reader.readValue()
    const { line, contentStart, keyEnd, valueStart, contentEnd } = reader
    this.#found.push({
      field,
      key: latin1Of(this.#bytes.subarray(contentStart, keyEnd)),
      value: latin1Of(this.#bytes.subarray(valueStart, contentEnd)),
      line,
      group: isInGroup ? this.#groups.at(-1) : undefined,
      run: isInGroup ? this.#run : undefined,
    })
  }

  lines(): readonly UsageLine[] {
    const best = this.#groups.reduce((rank, group) => Math.min(rank, group.rank), OTHER_CRAWLERS_RANK)
    const ofBest = this.#groups.filter(({ rank }) => rank === best && rank !== OTHER_CRAWLERS_RANK)
    const own = new Set(this.#selection.isMerged(best) ? ofBest : ofBest.slice(0, 1))
    return this.#found.map(({ group, run, ...line }) => {
      // A preference is for the user-agent lines directly above it, a license for the whole group.
      const agents = line.field === 'license' ? group : run
      if (group === undefined || agents === undefined) return { ...line, audience: 'site' }
      if (own.has(group) && agents.rank === best) return { ...line, audience: 'own' }
      return { ...line, audience: agents.areAll ? 'everyone-else' : 'others' }
    })
  }
}
