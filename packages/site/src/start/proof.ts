// Figures of the start page, each with the page that says how it was measured.

import { knownCrawlers } from '@politely/core/crawlers'
import { agreements } from '@politely/playground/agreement'
import { siteVisitRatio } from '../charts/benchmarks.ts'
import { lintKinds } from './readme.ts'

export interface Figure {
  readonly value: string
  readonly meaning: string
  readonly link: string
  readonly source: string
}

const { rfc9309 } = agreements
if (rfc9309 === undefined) throw new Error('packages/playground/src/agreement.ts has no agreement of rfc9309')
const { cases, same } = rfc9309
const URLS = 50

export const figures: readonly Figure[] = [
  {
    value: `${(cases - same).toLocaleString('en')} of ${cases.toLocaleString('en')}`,
    meaning: 'verdicts differ from google/robotstxt, in cases that bind RFC 9309',
    link: 'conformance/#agreement-with-googlerobotstxt',
    source: 'How it was compared',
  },
  {
    value: `${siteVisitRatio(URLS).toFixed(1)} times`,
    meaning: `the rate of robots-parser, for a site visit with ${URLS} URLs`,
    link: 'speed/#a-site-visit',
    source: 'How it was measured',
  },
  {
    value: `${lintKinds}`,
    meaning: 'kinds of mistakes that the linter finds in a robots.txt',
    link: 'reference/lint-findings/',
    source: 'All findings',
  },
  {
    value: `${knownCrawlers.length}`,
    meaning: 'crawlers with what their operators document about robots.txt',
    link: 'reference/known-crawlers/',
    source: 'The catalogue',
  },
]
