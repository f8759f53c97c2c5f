// The labels of the two vocabularies for preferences on the use of content: AIPREF (the field and
// header Content-Usage) and Content Signals (Content-Signal). Only data, so that `lintRobots` and
// the entry `usage` share it. Drafts rename labels: a new draft is a new row, or a new item of
// `drafts`.

/** What a label speaks about. The names are the same as in `Purpose` of the entry `usage`. */
export type LabelPurpose = 'search' | 'train-ai' | 'ai-input' | 'text-and-data-mining'

/** A label of AIPREF: draft-ietf-aipref-vocab. */
export interface AiprefLabel {
  /** What it speaks about; for a label of an older draft, the closest purpose of today. */
  readonly purpose: LabelPurpose
  /** The drafts that define it, such as `vocab-08`, oldest first. -00 defines no label. */
  readonly drafts: readonly string[]
  /** Whether the newest draft defines it. */
  readonly current: boolean
}

/** The draft that defines the current labels. */
export const currentAiprefDraft = 'vocab-08' // draft-ietf-aipref-vocab-08, 2026-09-14

/**
 * The labels of all drafts of AIPREF. Labels are case-sensitive. Two labels changed: `train-ai` meant
 * machine learning of any kind in -02 and -03, and means models that generate content since -06;
 * `ai-use` was absent from -03 to -07.
 */
export const aiprefLabels: Readonly<Record<string, AiprefLabel>> = {
  'train-ai': label('train-ai', [2, 3, 4, 5, 6, 7, 8]),
  'ai-use': label('ai-input', [2, 8]),
  search: label('search', [1, 2, 3, 4, 5, 6, 7, 8]),
  tdm: label('text-and-data-mining', [1]),
  ai: label('train-ai', [1]),
  genai: label('train-ai', [1]),
  inference: label('ai-input', [1]),
  all: label('text-and-data-mining', [2]), // automated processing
  bots: label('text-and-data-mining', [3, 4]), // automated processing
  'train-genai': label('train-ai', [2, 3]),
  'ai-output': label('ai-input', [4]),
}

function label(purpose: LabelPurpose, versions: readonly number[]): AiprefLabel {
  const drafts = versions.map((version) => `vocab-0${version}`)
  return { purpose, drafts, current: drafts.includes(currentAiprefDraft) }
}

/**
 * The labels of Content Signals, and what they speak about. contentsignals.org, 2025-09-24;
 * draft-romm-aipref-contentsignals-00 has the same ones. Each is `yes` or `no`.
 */
export const contentSignalLabels: Readonly<Record<string, LabelPurpose>> = {
  search: 'search',
  'ai-input': 'ai-input',
  'ai-train': 'train-ai',
}

/**
 * How far content may be used, the key `use` of Content Signals, from the most restrictive one.
 * `immediate`: for one answer, and not kept. `reference`: kept, indexed and cited. `full`: without a
 * limit, training included. Cloudflare, 2026-07-01.
 * @inline
 */
export type SignalUse = 'immediate' | 'reference' | 'full'

const USES: Readonly<Record<SignalUse, true>> = { immediate: true, reference: true, full: true }
/** The values of the key `use`, from the most restrictive one. */
export const contentSignalUses = Object.keys(USES) as readonly SignalUse[]
