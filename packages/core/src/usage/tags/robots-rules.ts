// The rules of robots tags: what each says, and which document says so.
//
// A rule can have several readings. The document that defines `nosnippet` speaks of snippets. Google
// documents that it also obeys `nosnippet` in its AI answers. Each reading names its document.
import type { Purpose } from '../purpose.ts'

/**
 * A document that defines robots rules.
 * @inline
 */
export interface RobotsDocument {
  readonly name: string
  /** The version, or the day on which the document was published or read. */
  readonly version: string
  readonly url: string
  /** Whose rules these are, if the document binds the crawlers of one operator only. */
  readonly operator: string | undefined
}

const DOCUMENTS = {
  'html-4.01': {
    name: 'HTML 4.01, appendix B.4.1.2, "Robots and the META element"',
    version: '1999-12-24',
    url: 'https://www.w3.org/TR/html401/appendix/notes.html#h-B.4.1.2',
    operator: undefined,
  },
  'repext-03': {
    name: 'Robots Exclusion Protocol Extension for URL Level Control',
    version: 'draft-illyes-repext-03, 2026-04-18, expired 2026-10-20',
    url: 'https://datatracker.ietf.org/doc/draft-illyes-repext/03/',
    operator: undefined,
  },
  'google-robots-meta': {
    name: 'Robots meta tag, data-nosnippet, and X-Robots-Tag specifications',
    version: '2026-03-24',
    url: 'https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag',
    operator: 'Google',
  },
  'bing-robots-meta': {
    name: 'Which robots metatags does Bing support',
    version: 'read 2026-11-26',
    url: 'https://www.bing.com/webmasters/help/which-robots-metatags-does-bing-support-5198d240',
    operator: 'Bing',
  },
  'bing-chat': {
    name: 'Announcing new options for webmasters to control usage of their content in Bing Chat',
    version: '2023-09-22',
    url: 'https://blogs.bing.com/webmaster/september-2023/Announcing-new-options-for-webmasters-to-control-usage-of-their-content-in-Bing-Chat',
    operator: 'Bing',
  },
  'apple-robots-meta': {
    name: 'About Applebot',
    version: 'read 2026-11-26',
    url: 'https://support.apple.com/119829',
    operator: 'Apple',
  },
  amazonbot: {
    name: 'About Amazonbot',
    version: '2026-04-19',
    url: 'https://developer.amazon.com/amazonbot',
    operator: 'Amazon',
  },
  'yandex-robots-meta': {
    name: 'Meta tags and the X-Robots-Tag header',
    version: 'read 2026-11-26',
    url: 'https://yandex.com/support/webmaster/controlling-robot/meta-robots.html',
    operator: 'Yandex',
  },
  'deviantart-noai': {
    name: 'DeviantArt, All deviations are opted out of AI datasets; Terms of Service',
    version: '2022-11-11',
    url: 'https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371',
    operator: undefined,
  },
  img2dataset: {
    name: 'img2dataset, disallowed_header_directives',
    version: 'read 2026-11-26',
    url: 'https://github.com/rom1504/img2dataset#opt-out-directives',
    operator: 'img2dataset',
  },
  noml: { name: 'NoML proposal', version: '2023-10-25', url: 'https://noml.info', operator: undefined },
} as const

/**
 * The key of a document in `robotsDocuments`.
 * @inline
 */
export type RobotsDocumentKey = keyof typeof DOCUMENTS

/** The documents that define the rules of robots tags, by the `vocabulary` of a statement. */
export const robotsDocuments: Readonly<Record<RobotsDocumentKey, RobotsDocument>> = DOCUMENTS

/**
 * Who says that a rule speaks of a purpose.
 *
 * - `document`: the document that defines the rule.
 * - `operator`: an operator says that its own crawlers read the rule so. Other crawlers need not.
 * - `ours`: our reading; no document says it.
 */
export type Reading = 'document' | 'operator' | 'ours'

/**
 * What a rule says about one purpose, in one reading.
 * @inline
 */
export interface RuleMeaning {
  readonly purpose: Purpose
  readonly answer: 'allowed' | 'disallowed'
  readonly vocabulary: RobotsDocumentKey
  readonly reading: Reading
}

/**
 * The kind of value that follows the name of a rule and a colon.
 * @inline
 */
export type RuleValue = 'number' | 'image-size' | 'date'

/**
 * A known rule.
 * @inline
 */
export interface RobotsRule {
  /** Undefined for a rule without a value. */
  readonly value: RuleValue | undefined
  /** For `max-snippet`: the meaning of the value 0. For `unavailable_after`: after that time. */
  readonly means: readonly RuleMeaning[]
}

type Say = (
  answer: RuleMeaning['answer'],
) => (vocabulary: RobotsDocumentKey, reading: Reading, ...purposes: Purpose[]) => readonly RuleMeaning[]

const say: Say =
  (answer) =>
  (vocabulary, reading, ...purposes) =>
    purposes.map((purpose) => ({ purpose, answer, vocabulary, reading }))
const allows = say('allowed')
const disallows = say('disallowed')

/** Our reading: a page that is in no index is in no search application. */
const NOINDEX = [...disallows('repext-03', 'document', 'index'), ...disallows('repext-03', 'ours', 'search')]
const NOFOLLOW = disallows('html-4.01', 'document', 'follow')
const AI_ANSWERS_OF_GOOGLE = disallows('google-robots-meta', 'operator', 'ai-input')
// The terms of DeviantArt forbid to train a system, and to use the work as input of a trained one.
const NOAI = disallows('deviantart-noai', 'document', 'train-ai', 'ai-input')
const ARCHIVE_OF_BING = [
  ...disallows('bing-robots-meta', 'document', 'archive'),
  ...disallows('bing-chat', 'operator', 'train-ai', 'ai-input'),
]
const INDEX = allows('html-4.01', 'document', 'index')
const FOLLOW = allows('bing-robots-meta', 'document', 'follow')

function rule(value: RuleValue | undefined, ...means: readonly (readonly RuleMeaning[])[]): RobotsRule {
  return { value, means: means.flat() }
}

/** The known rules, by name in lower case. */
export const robotsRules: ReadonlyMap<string, RobotsRule> = new Map<string, RobotsRule>([
  ['all', rule(undefined, INDEX, FOLLOW)],
  ['index', rule(undefined, INDEX)],
  ['follow', rule(undefined, FOLLOW)],
  ['noindex', rule(undefined, NOINDEX, disallows('img2dataset', 'operator', 'train-ai'))],
  ['nofollow', rule(undefined, NOFOLLOW)],
  [
    'none',
    rule(
      undefined,
      disallows('google-robots-meta', 'document', 'index', 'follow'),
      disallows('google-robots-meta', 'ours', 'search'),
      disallows('apple-robots-meta', 'operator', 'snippet'),
    ),
  ],
  ['nosnippet', rule(undefined, disallows('repext-03', 'document', 'snippet'), AI_ANSWERS_OF_GOOGLE)],
  ['max-snippet', rule('number', disallows('google-robots-meta', 'document', 'snippet'), AI_ANSWERS_OF_GOOGLE)],
  ['max-image-preview', rule('image-size')],
  ['max-video-preview', rule('number')],
  ['noarchive', rule(undefined, ARCHIVE_OF_BING, disallows('amazonbot', 'operator', 'train-ai'))],
  ['nocache', rule(undefined, ARCHIVE_OF_BING)], // Bing still uses the URL, the title and the snippet
  ['archive', rule(undefined, allows('yandex-robots-meta', 'document', 'archive'))],
  [
    'unavailable_after',
    rule(
      'date',
      disallows('google-robots-meta', 'document', 'index'),
      disallows('google-robots-meta', 'ours', 'search'),
    ),
  ],
  ['noai', rule(undefined, NOAI)],
  // About images. img2dataset reads it as it reads `noai`, since all that it fetches are images.
  ['noimageai', rule(undefined, disallows('img2dataset', 'operator', 'train-ai'))],
  ['noml', rule(undefined, disallows('noml', 'document', 'train-ai'))],
  ['noimageindex', rule(undefined)],
  ['notranslate', rule(undefined)],
  ['indexifembedded', rule(undefined)],
  // No longer in use, but frequent.
  ['nositelinkssearchbox', rule(undefined)],
  ['noodp', rule(undefined)],
  ['noydir', rule(undefined)],
  ['noyaca', rule(undefined)],
])
