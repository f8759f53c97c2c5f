// Statements that an operator, or a law, reads as being about a further purpose. The answer does not
// follow these readings; `conflicts` shows them.
import type { SignalUse } from '../parse/preference-labels.ts'
import { compare, type UsageConflict } from './conflicts.ts'
import { CONTENT_SIGNALS } from './documents.ts'
import type { Purpose, Statement } from './purpose.ts'
import type { FoundUse } from './robots-txt/robots-preferences.ts'
import type { RobotsStatement } from './tags/robots-directives.ts'
import { robotsDocuments } from './tags/robots-rules.ts'

interface WiderReading {
  /** The labels that are read so, as in `Statement.label`. */
  readonly labels: readonly string[]
  /** The further purposes. They get the same answer. */
  readonly purposes: readonly Purpose[]
  /** As in `UsageReading`, with the date of the document. */
  readonly how: string
}

/** The wider readings of other channels than robots tags, whose rules have their own (robots-rules.ts). */
const widerReadings: readonly WiderReading[] = [
  {
    labels: ['tdm-reservation: 1'],
    purposes: ['train-ai'],
    how: 'by Directive (EU) 2019/790, Article 4, if training is text and data mining',
  },
  {
    labels: ['ai-train=no'],
    purposes: ['text-and-data-mining'],
    how: 'by the policy of Content Signals, which calls a refusal a reservation under Directive (EU) 2019/790, Article 4',
  },
]

/** The purposes that a value of the key `use` of Content Signals refuses. Cloudflare, 2026-07-01. */
const REFUSED_BY_USE: Readonly<Record<SignalUse, readonly Purpose[]>> = {
  immediate: ['archive', 'train-ai'],
  reference: ['train-ai'],
  full: [],
}

/**
 * Returns the conflicts of the statements with their wider readings.
 * @param uses The values of the key `use` of Content Signals.
 * @param byOperators The readings of robots tags by operators.
 */
export function widerConflicts(
  statements: readonly Statement[],
  byOperators: readonly RobotsStatement[],
  uses: readonly FoundUse[],
): readonly UsageConflict[] {
  const wider = [
    {
      how: 'for the crawl service of Cloudflare (2026-08-31)',
      statements: uses.flatMap(({ use, source }) =>
        REFUSED_BY_USE[use].map((purpose) => ({
          purpose,
          answer: 'disallowed' as const,
          label: `use=${use}`,
          vocabulary: CONTENT_SIGNALS,
          source,
        })),
      ),
    },
    ...widerReadings.map(({ labels, purposes, how }) => ({
      how,
      statements: statements
        .filter(({ label }) => labels.includes(label))
        .flatMap((one) => purposes.map((purpose) => ({ ...one, purpose }))),
    })),
    ...[...new Set(byOperators.map(({ vocabulary }) => vocabulary))].map((vocabulary) => ({
      how: `for ${robotsDocuments[vocabulary].operator} (${robotsDocuments[vocabulary].version})`,
      statements: byOperators.filter((one) => one.vocabulary === vocabulary),
    })),
  ]
  return wider.flatMap((reading) =>
    compare(
      'wider-reading',
      { how: 'by its words', statements },
      { how: reading.how, statements: [...statements, ...reading.statements] },
    ),
  )
}
