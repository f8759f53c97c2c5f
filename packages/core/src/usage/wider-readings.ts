// Statements that an operator, or a law, reads as being about a further purpose. The answer does not
// follow these readings; `conflicts` shows them.
import { compare, type UsageConflict } from './conflicts.ts'
import type { Purpose, Statement } from './purpose.ts'

interface WiderReading {
  /** The labels that are read so, as in `Statement.label`. */
  readonly labels: readonly string[]
  /** The further purposes. They get the same answer. */
  readonly purposes: readonly Purpose[]
  /** Who reads so, with the date of the document. */
  readonly by: string
}

/** The wider readings that operators document, and those of laws. */
export const widerReadings: readonly WiderReading[] = [
  {
    labels: ['nosnippet', 'max-snippet:0'],
    purposes: ['ai-input'],
    by: 'Google, for AI Overviews and AI Mode (2026-03)',
  },
  {
    labels: ['noarchive'],
    purposes: ['ai-input', 'train-ai'],
    by: 'Microsoft, for Copilot and the training of its models (2023-09)',
  },
  { labels: ['noarchive'], purposes: ['train-ai'], by: 'Amazon, for the training of its models (2026-04)' },
  {
    labels: ['tdm-reservation: 1'],
    purposes: ['train-ai'],
    by: 'Directive (EU) 2019/790, Article 4, if training is text and data mining',
  },
  {
    labels: ['ai-train=no'],
    purposes: ['text-and-data-mining'],
    by: 'the policy of Content Signals, which calls a refusal a reservation under Directive (EU) 2019/790, Article 4',
  },
]

/** Returns the conflicts of the statements with their wider readings. */
export function widerConflicts(statements: readonly Statement[]): readonly UsageConflict[] {
  return widerReadings.flatMap(({ labels, purposes, by }) => {
    const wider = statements
      .filter(({ label }) => labels.includes(label))
      .flatMap((one) => purposes.map((purpose) => ({ ...one, purpose })))
    return compare('wider-reading', { by: 'its words', statements }, { by, statements: [...statements, ...wider] })
  })
}
