// The documents behind the answers, with their versions. Drafts change: a new version is a new entry.
import { aiprefLabels, currentAiprefDraft } from '../parse/preference-labels.ts'
import { POLICY_TOKENS } from './robots-txt/policy-tokens.ts'
import { type RobotsDocument, robotsDocuments } from './tags/robots-rules.ts'
import { tdmrepTerms } from './tdmrep.ts'

/** The key of a document of AIPREF. @param draft Such as `vocab-08`. */
export function aiprefKey(draft: string): string {
  return `aipref-${draft}`
}

/** The key of Content Signals. */
export const CONTENT_SIGNALS = 'content-signals-2025-09-24'

const DRAFTS = new Set(Object.values(aiprefLabels).flatMap(({ drafts }) => drafts))

/** The documents that define labels and rules, by the `vocabulary` of a statement. */
export const usageDocuments: { readonly [vocabulary: string]: RobotsDocument } = {
  ...Object.fromEntries(
    [...DRAFTS].toSorted().map((draft) => [
      aiprefKey(draft),
      {
        name: 'A Vocabulary For Expressing AI Usage Preferences',
        version: `draft-ietf-aipref-${draft}${draft === currentAiprefDraft ? '' : ', replaced'}`,
        url: `https://datatracker.ietf.org/doc/draft-ietf-aipref-vocab/${draft.slice(-2)}/`,
        operator: undefined,
      },
    ]),
  ),
  [CONTENT_SIGNALS]: {
    name: 'Content Signals Policy',
    version: '2025-09-24; the key use: Cloudflare, 2026-07-01',
    url: 'https://contentsignals.org/',
    operator: undefined,
  },
  [tdmrepTerms.vocabulary]: {
    name: 'TDM Reservation Protocol',
    version: 'final report of the W3C Community Group, 2024-05-10',
    url: 'https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/',
    operator: undefined,
  },
  [POLICY_TOKENS]: {
    name: 'Machine-Readable Training Preference Signal',
    version: 'draft-kelley-aipref-training-preference-signal-00, 2026-10-30; only its abstract was read',
    url: 'https://datatracker.ietf.org/doc/draft-kelley-aipref-training-preference-signal/00/',
    operator: undefined,
  },
  ...robotsDocuments,
}
