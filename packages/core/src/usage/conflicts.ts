// Conflicts: where two readings of the same statements differ. The answer follows one reading, and a
// conflict shows both.
import { combinedAnswer } from './combine.ts'
import { type Answer, type Purpose, purposes, type Statement, shown, type UsageSource } from './purpose.ts'

/** The kinds of conflicts, and what each is about. */
export const conflictKinds = {
  'channels-disagree': 'One source allows what another one refuses; a refusal counts.',
  'search-overrides':
    'AIPREF: a preference on search overrides the others inside a search application (vocab-08 §4.3).',
  'own-group':
    'The group of this crawler replaces the one for *, with its preferences; the author of the file may not know that.',
  'signal-scope': 'Content Signals count for their group; some readers take them for the whole file.',
  'signal-path': 'A path before Content Signals is read by some and makes the line unreadable for others.',
  'longer-path': 'The line with the longest path replaces the others, also for labels that it does not have.',
  'page-disallowed':
    'robots.txt disallows the page, so its Content-Usage does not apply, and a crawler that obeys never sees the page: a noindex there has no effect, and its URL may still be in an index.',
  'older-label': 'The label is of an older draft; a reader of the current draft ignores it.',
  'unclear-scope':
    'Header lines were joined, so it is unclear whether a rule is for one crawler or for all; a refusal counts.',
  'wider-reading': 'An operator, or a law, reads the statement as being about this purpose too.',
  'later-carrier': 'TDMRep: the header replaces the file, and the page replaces both, also to allow what they reserve.',
  'license-scope': 'A license inside a group is for that group by RSL 1.0 §4.4, and for the whole site by its guide.',
} as const

/**
 * A kind of conflict.
 * @inline
 */
export type ConflictKind = keyof typeof conflictKinds

/**
 * One way to read the statements. JSON-safe.
 * @inline
 */
export interface UsageReading {
  /** By which document, for whom, or on what condition: a phrase that follows the answer. */
  readonly how: string
  /** The answer in this reading; undefined for licenses. */
  readonly answer: Answer | undefined
  /** The URLs of the licenses that apply in this reading; undefined for a purpose. */
  readonly licenses?: readonly string[]
  /** At most the first 100. */
  readonly sources: readonly UsageSource[]
}

/** Two readings of the same statements. JSON-safe. */
export interface UsageConflict {
  readonly kind: ConflictKind
  /** The purpose that the readings differ about; undefined for licenses. */
  readonly purpose: Purpose | undefined
  /** The answer follows the first reading. */
  readonly readings: readonly [UsageReading, UsageReading]
}

/** A reading before it is compared: how it reads, and which statements count. */
export interface ComparedReading {
  readonly how: string
  readonly statements: readonly Statement[]
}

/** Returns a conflict for each purpose about which two readings differ. */
export function compare(
  kind: ConflictKind,
  followed: ComparedReading,
  other: ComparedReading,
): readonly UsageConflict[] {
  if (areSame(followed.statements, other.statements)) return []
  return purposes.flatMap((purpose) => {
    const ours = readingOf(purpose, followed)
    const theirs = readingOf(purpose, other)
    return ours.answer === theirs.answer ? [] : [{ kind, purpose, readings: [ours, theirs] as const }]
  })
}

/** Most pages state nothing, or nothing that can be read in two ways. */
function areSame(some: readonly Statement[], others: readonly Statement[]): boolean {
  return some.length === others.length && some.every((one, i) => one === others[i])
}

function readingOf(purpose: Purpose, { how, statements }: ComparedReading): UsageReading {
  const about = statements.filter((one) => one.purpose === purpose)
  return { how, answer: combinedAnswer(about), sources: shown(about.map(({ source }) => source)) }
}
