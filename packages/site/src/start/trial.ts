// The verdicts that the start page shows. The build writes them into the page, and the page computes them again
// for what is typed.

import { describeVerdict, parseRobots, type RulesVerdict } from '@politely/core'

export const ROBOTS = `User-agent: *
Disallow: /cart
Disallow: /*?sort=
Allow: /cart/help

User-agent: GPTBot
Disallow: /
Allow: /press/`

/** The visitor can edit the first one. */
export const PATHS: readonly string[] = ['/cart/help', '/shoes?sort=price', '/press/2026']

/** `*` is any crawler that the file does not name. */
export const CRAWLERS: readonly string[] = ['Googlebot', 'GPTBot', '*']

export interface TrialCell {
  readonly answer: 'allowed' | 'disallowed' | 'invalid'
  readonly sign: string
  /** `line 4`, or `no rule`. */
  readonly because: string
}

export interface Trial {
  /** By path, then by crawler. */
  readonly rows: readonly (readonly TrialCell[])[]
  /** The verdict of the first path for the first crawler. */
  readonly sentence: string
}

export function trialOf(text: string, paths: readonly string[]): Trial {
  // As bytes, because core rejects a text that is only the URL of a file.
  const robots = parseRobots(new TextEncoder().encode(text))
  const rules = CRAWLERS.map((crawler) => robots.forCrawler(crawler))
  const verdicts = paths.map((path) => rules.map((one) => one.check(path)))
  const first = verdicts[0]?.[0]
  return {
    rows: verdicts.map((row) => row.map(cellOf)),
    sentence: first === undefined ? '' : `${CRAWLERS[0]}, ${paths[0]}: ${describeVerdict(first)}.`,
  }
}

function cellOf(verdict: RulesVerdict): TrialCell {
  if (verdict.because === 'invalid-url') return { answer: 'invalid', sign: '?', because: 'not a path' }
  const because = verdict.because === 'rule' ? `line ${verdict.rule.line}` : 'no rule'
  return verdict.allowed ? { answer: 'allowed', sign: '✓', because } : { answer: 'disallowed', sign: '✗', because }
}
