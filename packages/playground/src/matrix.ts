// The verdicts of the playground: one for each URL and crawler.
import { parseRobots, type Robots, type RulesVerdict } from '@politely/core'
import { findCrawler, rulesFor } from '@politely/core/crawlers'
import type { PlaygroundState } from './state.ts'

/** One verdict, and the verdict of the earlier file. */
export interface Cell {
  readonly verdict: RulesVerdict
  /** Undefined if the playground compares with no earlier file. */
  readonly before: RulesVerdict | undefined
  /** Whether the earlier file allows the URL and this file does not, or the other way round. */
  readonly isChanged: boolean
}

/** The cells by URL, then by crawler. */
export type Matrix = readonly (readonly Cell[])[]

/** Parses the text as bytes, because core rejects a text that is only the URL of a file. */
export function robotsOf(text: string, { dialect }: Pick<PlaygroundState, 'dialect'>): Robots {
  return parseRobots(new TextEncoder().encode(text), { dialect })
}

/** Each crawler reads the file as its operator documents it. */
export function matrixOf(state: PlaygroundState): Matrix {
  const rulesOf = (text: string) => {
    const robots = robotsOf(text, state)
    return state.crawlers.map((crawler) => rulesFor(robots, crawler))
  }
  const now = rulesOf(state.robots)
  const before = state.before === undefined ? undefined : rulesOf(state.before)
  return state.urls.map((url) =>
    now.map((rules, i): Cell => {
      const verdict = rules.check(url)
      const earlier = before?.[i]?.check(url)
      return { verdict, before: earlier, isChanged: earlier !== undefined && earlier.allowed !== verdict.allowed }
    }),
  )
}

/** The three answers of a cell. An invalid URL is neither allowed nor disallowed. */
export type Answer = 'allowed' | 'disallowed' | 'invalid'

export function answerOf(verdict: RulesVerdict): Answer {
  if (verdict.because === 'invalid-url') return 'invalid'
  return verdict.allowed ? 'allowed' : 'disallowed'
}

/** The sign before the word, so that colour is not needed. */
export const signs: Readonly<Record<Answer, string>> = { allowed: '✓', disallowed: '✗', invalid: '?' }

/** Returns the line that decides; undefined if no rule does. */
export function decidingLine(verdict: RulesVerdict): number | undefined {
  return verdict.because === 'rule' ? verdict.rule.line : undefined
}

/** Returns a crawler as people name it: `*` is any crawler that the file does not name. */
export function crawlerTitle(crawler: string): string {
  if (crawler === '*') return 'any other crawler'
  const name = findCrawler(crawler)?.name ?? crawler
  return name.toLowerCase() === crawler.toLowerCase() ? crawler : name
}

/** How many verdicts of each crawler changed, or are disallowed, for one sentence over the matrix. */
export function countCells(matrix: Matrix, isCounted: (cell: Cell) => boolean): number {
  return matrix.reduce((sum, row) => sum + row.filter(isCounted).length, 0)
}
