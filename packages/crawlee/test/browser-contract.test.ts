// @module-tag full
// @module-tag browser
// Runs the common adapter cases with Crawlee's browser crawlers and Chromium.

import type { Configuration } from '@crawlee/basic'
import { PlaywrightCrawler } from '@crawlee/playwright'
import { PuppeteerCrawler } from '@crawlee/puppeteer'
import { adapterCasesFor, runAdapterCase } from '@politely/testkit/cases/adapter-cases'
import { chromiumLaunch, findBrowser, isMissing } from '@politely/testkit/parts'
import { describe, expect, test } from 'vitest'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import { withRobots } from '../src/index.ts'
import { inMemory, withoutFingerprints } from './in-memory.ts'
import { openVisits, type VisitHandlers } from './visits.ts'

const chromium = findBrowser()

type Make = (handlers: VisitHandlers<number>, configuration: Configuration) => AnyCrawler

const kinds: readonly (readonly [string, Make])[] = [
  [
    'PlaywrightCrawler',
    ({ onResponse, ...handlers }, configuration) =>
      new PlaywrightCrawler(
        {
          ...handlers,
          keepAlive: true,
          browserPoolOptions: withoutFingerprints,
          launchContext: { launchOptions: chromiumLaunch(chromium) },
          requestHandler: ({ request, response }) => onResponse(request, response?.status() ?? 0),
        },
        configuration,
      ),
  ],
  [
    'PuppeteerCrawler',
    ({ onResponse, ...handlers }, configuration) =>
      new PuppeteerCrawler(
        {
          ...handlers,
          keepAlive: true,
          browserPoolOptions: withoutFingerprints,
          launchContext: { launchOptions: chromiumLaunch(chromium) },
          requestHandler: ({ request, response }) => onResponse(request, response?.status() ?? 0),
        },
        configuration,
      ),
  ],
]

// navigation.test.ts covers what is specific to Crawlee.
describe.skipIf(isMissing('chromium', chromium)).each(kinds)('%s', (_, make) => {
  test.each(adapterCasesFor('Crawlee: browser crawlers'))('$capability: $name', async (adapterCase) => {
    const outcome = await runAdapterCase(adapterCase, (settings) =>
      openVisits((handlers) => withRobots(make(handlers, inMemory()), { ...settings, deferBeyondMs: Infinity })),
    )
    expect(outcome).toEqual(adapterCase.expected)
  })
})
