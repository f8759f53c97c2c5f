// What may be done with a page: purposes, answers, and where an answer comes from.

/** All purposes, in the order in which they are shown. */
export const purposes = [
  'index',
  'follow',
  'snippet',
  'archive',
  'search',
  'train-ai',
  'ai-input',
  'text-and-data-mining',
] as const

/**
 * What a crawler may want to do with a page.
 *
 * - `index`: show the page in a search index. `follow`: follow its links. `snippet`: show a part of
 *   its text. `archive`: show a stored copy of it. These four are what robots tags speak about.
 * - `search`: use the page in a search application (AIPREF, Content Signals).
 * - `train-ai`: train a generative model on it. `ai-input`: give it to a model as input.
 * - `text-and-data-mining`: analyse it automatically (TDMRep; Directive (EU) 2019/790, Article 2).
 */
export type Purpose = (typeof purposes)[number]

/** What the site says about a purpose. `unstated`: nothing. That is no permission and no refusal. */
export type Answer = 'allowed' | 'disallowed' | 'unstated'

/**
 * The ways in which a site says it.
 * @inline
 */
export type Channel =
  | 'content-usage' // AIPREF: a field of robots.txt, and a header
  | 'content-signal' // Content Signals: a field of robots.txt, and a header
  | 'license' // RSL: a field of robots.txt, a Link header, a link element
  | 'robots-tag' // draft-illyes-repext: a header
  | 'x-robots-tag' // a header
  | 'meta-robots' // a meta element
  | 'tdmrep' // TDMRep: a file, a header, a meta element
  | 'policy-token' // draft-kelley-aipref-training-preference-signal: groups of robots.txt. Experimental

/**
 * Where a statement was found. JSON-safe.
 * @inline
 */
export interface UsageSource {
  readonly channel: Channel
  readonly in: 'robots.txt' | 'header' | 'html' | 'tdmrep.json'
  /** The key, the name of the header or of the meta element, the location, or the policy token. */
  readonly name: string
  /** The value as written; cut after 200 characters. */
  readonly text: string
  /** The line in robots.txt, counted from 1; undefined elsewhere. */
  readonly line: number | undefined
}

/** One thing that a site says about one purpose. JSON-safe. */
export interface Statement {
  readonly purpose: Purpose
  readonly answer: 'allowed' | 'disallowed'
  /** The part of the value that says it, such as `train-ai=n`, `noindex` or `tdm-reservation: 1`. */
  readonly label: string
  /** The document that defines the label, with its version. A key of `usageDocuments`. */
  readonly vocabulary: string
  readonly source: UsageSource
}

/**
 * Something that was not read or not used, and why. JSON-safe.
 * @inline
 */
export interface UsageProblem {
  readonly source: UsageSource
  readonly why: string
}

/** Lists in a result are cut after this number, because a hostile file may have thousands of lines. */
const MAX_SHOWN = 100

/** Returns the first items of a list, for a result. */
export function shown<Item>(list: readonly Item[]): readonly Item[] {
  return list.slice(0, MAX_SHOWN)
}

const MAX_TEXT = 200

/** Returns a source, with its text cut. */
export function usageSourceOf(
  channel: Channel,
  where: UsageSource['in'],
  name: string,
  text: string,
  line?: number,
): UsageSource {
  return { channel, in: where, name, text: text.slice(0, MAX_TEXT), line }
}
