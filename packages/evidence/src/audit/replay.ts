// Makes all decisions of a folder once more, and compares them with what was recorded.
import { describeVerdict } from '@politely/core'
import type { Describable } from '@politely/core/internal'
import { type DecisionRecord, RECORD_VERSION } from '../record.ts'
import { isSameVerdict, type NotReplayable, Replayer, recordedVerdict, type WhatIf } from './decision.ts'
import { EvidenceFolder, type Place } from './read.ts'

/** A decision that comes out differently. */
export interface ReplayDifference extends Place {
  readonly id: string
  /** Of the decision, in ISO 8601. */
  readonly time: string
  readonly url: string
  readonly recorded: ReplayedVerdict
  readonly replayed: ReplayedVerdict
}

/** A verdict, and its reason in words. */
export interface ReplayedVerdict {
  readonly allowed: boolean
  readonly because: string
  /** The line of robots.txt that decides. */
  readonly line?: number
  readonly text: string
}

/** Different decisions of one origin with the same reasons. */
export interface ReplayChange {
  readonly origin: string
  readonly count: number
  readonly recorded: ReplayedVerdict
  readonly replayed: ReplayedVerdict
  readonly examples: readonly string[]
}

/** The result of `replay`. */
export interface Replay {
  readonly decisions: number
  readonly same: number
  readonly different: number
  /** How many of the different decisions disallowed the URL, and now allow it. */
  readonly nowAllowed: number
  readonly nowDisallowed: number
  readonly notReplayable: Readonly<Partial<Record<NotReplayable, number>>>
  /** Lines that can't be read: `verify` says why. */
  readonly unreadableLines: number
  /** The different decisions by their reasons, the most frequent first; at most 100. */
  readonly changes: readonly ReplayChange[]
}

/** Options of `replay`. Each of the first two makes it a "what if?". */
export interface ReplayOptions extends WhatIf {
  /** Called with each decision that comes out differently. */
  readonly onDifference?: ((difference: ReplayDifference) => void | Promise<void>) | undefined
}

const MAX_CHANGES = 10_000
const MAX_SHOWN_CHANGES = 100
const MAX_EXAMPLES = 3

/**
 * Makes all decisions of a folder once more with this version: the same robots.txt, the same state
 * of the site, the same time, the same options. Counts those that come out the same: the same
 * verdict by the same line.
 * @throws {OptionError} if this is not a folder, a folder without records, or for an unknown dialect.
 */
export async function replay(dir: string, { onDifference, ...whatIf }: ReplayOptions = {}): Promise<Replay> {
  using folder = new EvidenceFolder(dir)
  const replayer = new Replayer(folder, whatIf)
  const counts = { decisions: 0, same: 0, different: 0, nowAllowed: 0, nowDisallowed: 0, unreadableLines: 0 }
  const notReplayable: Partial<Record<NotReplayable, number>> = {}
  const changes = new Map<string, ReplayChange>()
  for await (const { record, link = record, problem, file, line } of folder.items()) {
    if (link === undefined) counts.unreadableLines++
    if (link?.kind !== 'decision') continue
    counts.decisions++
    const isNewer = problem !== undefined && link.v > RECORD_VERSION
    const verdict =
      record?.kind === 'decision' ? await replayer.decide(record) : isNewer ? 'newer-version' : 'unreadable'
    if (typeof verdict === 'string' || record?.kind !== 'decision') {
      const why = verdict as NotReplayable
      notReplayable[why] = (notReplayable[why] ?? 0) + 1
      continue
    }
    const recorded = recordedVerdict(record)
    if (isSameVerdict(recorded, verdict)) {
      counts.same++
      continue
    }
    counts.different++
    if (verdict.allowed !== recorded.allowed) counts[verdict.allowed ? 'nowAllowed' : 'nowDisallowed']++
    const { access: _, ...old } = recorded // it differs from decision to decision
    const { access: __, ...now } = verdict
    addChange(changes, record, { recorded: shown(old), replayed: shown(now) })
    const { id, time, url } = record
    await onDifference?.({ id, time, url, file, line, recorded: shown(recorded), replayed: shown(verdict) })
  }
  const sorted = [...changes.values()].sort((a, b) => b.count - a.count).slice(0, MAX_SHOWN_CHANGES)
  return { ...counts, notReplayable, changes: sorted }
}

function addChange(
  changes: Map<string, ReplayChange>,
  { origin = '', url }: DecisionRecord,
  both: Pick<ReplayChange, 'recorded' | 'replayed'>,
): void {
  const key = `${origin} ${both.recorded.text} ${both.replayed.text}`
  const { count, examples } = changes.get(key) ?? { count: 0, examples: [] }
  if (count === 0 && changes.size >= MAX_CHANGES) return
  const shownUrls = examples.length < MAX_EXAMPLES ? [...examples, url] : examples
  changes.set(key, { origin, count: count + 1, ...both, examples: shownUrls })
}

function shown(verdict: Describable): ReplayedVerdict {
  const { allowed, because } = verdict
  return { allowed, because, ...(because === 'rule' && { line: verdict.rule.line }), text: describeVerdict(verdict) }
}
