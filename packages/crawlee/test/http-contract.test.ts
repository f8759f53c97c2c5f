// @module-tag nodes
// Runs the common adapter cases with Crawlee's HTTP crawlers.
import type { Configuration } from '@crawlee/basic'
import { CheerioCrawler } from '@crawlee/cheerio'
import { HttpCrawler } from '@crawlee/http'
import { adapterCasesFor, runAdapterCase } from '@politely/testkit/cases/adapter-cases'
import { firstInShortRun } from '@politely/testkit/scope'
import { expect, test } from 'vitest'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import { withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'
import { openVisits, type VisitHandlers } from './visits.ts'

type Make = (handlers: VisitHandlers<number>, configuration: Configuration) => AnyCrawler

const kinds: readonly (readonly [string, Make])[] = [
  [
    'HttpCrawler',
    ({ onResponse, ...handlers }, configuration) =>
      new HttpCrawler(
        {
          ...handlers,
          keepAlive: true,
          requestHandler: ({ request, response }) => onResponse(request, response.statusCode as number),
        },
        configuration,
      ),
  ],
  [
    'CheerioCrawler',
    ({ onResponse, ...handlers }, configuration) =>
      new CheerioCrawler(
        {
          ...handlers,
          keepAlive: true,
          requestHandler: ({ request, response }) => onResponse(request, response.statusCode as number),
        },
        configuration,
      ),
  ],
]

for (const [kind, make] of firstInShortRun(kinds)) {
  test.each(adapterCasesFor('Crawlee: HTTP crawlers'))(`${kind}, $capability: $name`, async (adapterCase) => {
    const outcome = await runAdapterCase(adapterCase, (settings) =>
      openVisits((handlers) => withRobots(make(handlers, inMemory()), { ...settings, deferBeyondMs: Infinity })),
    )
    expect(outcome).toEqual(adapterCase.expected)
  })
}
