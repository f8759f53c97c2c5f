// What may be done with the page of the open cell: for each purpose, the answer and its sources.
import { readingOf } from '@politely/core/crawlers'
import { type Answer, describeConflict, describePurpose, type Purpose, purposes, usageOf } from '@politely/core/usage'
import { robotsOf } from './matrix.ts'
import type { PlaygroundState } from './state.ts'

export interface UsageReport {
  readonly url: string
  readonly crawler: string
  readonly answers: readonly PurposeAnswer[]
  /** Where two readings differ, each in one sentence. */
  readonly conflicts: readonly string[]
  /** The locations of the licenses that the site names. */
  readonly licenses: readonly string[]
  /** Why something was not read. */
  readonly problems: readonly string[]
}

export interface PurposeAnswer {
  readonly purpose: Purpose
  readonly title: string
  readonly answer: Answer
  /** Who says it; an empty text if nothing does. */
  readonly sources: string
}

const TITLES: Readonly<Record<Purpose, string>> = {
  index: 'show it in a search index',
  follow: 'follow its links',
  snippet: 'show a part of its text',
  archive: 'show a stored copy',
  search: 'use it in a search application',
  'train-ai': 'train an AI model on it',
  'ai-input': 'give it to an AI model as input',
  'text-and-data-mining': 'analyse it automatically',
}

/** A path of the matrix belongs to no site, and a page has a site. */
const ORIGIN = 'https://site.example'

/** Returns undefined if no cell is open, or its URL is invalid. */
export function usageReport(state: PlaygroundState): UsageReport | undefined {
  const url = state.urls[state.open?.url ?? -1]
  const crawler = state.crawlers[state.open?.crawler ?? -1]
  if (url === undefined || crawler === undefined) return undefined
  const given = robotsOf(state.robots, state)
  const { productTokens, dialect } = readingOf(crawler, given.dialect)
  const robots = dialect === given.dialect ? given : given.inDialect(dialect)
  const absolute = url.startsWith('/') ? `${ORIGIN}${url}` : url
  if (!URL.canParse(absolute)) return undefined
  const { headers = '', html = '' } = state.page ?? {}
  const usage = usageOf({
    robots,
    url: absolute,
    tokens: productTokens,
    headers: headerPairs(headers),
    ...(html.trim() !== '' && { html }),
  })
  return {
    url,
    crawler,
    answers: purposes.map((purpose) => {
      const { answer, statements } = usage.purposes[purpose]
      const sentence = describePurpose(purpose, usage.purposes[purpose])
      return {
        purpose,
        title: TITLES[purpose],
        answer,
        sources: statements.length === 0 ? '' : sentence.slice(sentence.indexOf(': ') + 2),
      }
    }),
    conflicts: [...new Set(usage.conflicts.map(describeConflict))],
    licenses: usage.licenses.map(({ url: location }) => String(location)),
    problems: usage.problems.map(({ why }) => why),
  }
}

/** Returns the headers in a text with one on each line. Lines without a colon are ignored, such as a status line. */
export function headerPairs(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) => {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value.trim()] as const]
  })
}
