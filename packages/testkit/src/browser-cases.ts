// What is asked of every driver whose pages are polite, in one list: what pages do, and what every adapter has to do.
import assert from 'node:assert/strict'
import { type AdapterSettings, type AdapterUnderTest, adapterCasesFor, playAdapter } from './adapter-cases.ts'
import { browserDeathCases, browserEndCases } from './browser-end-cases.ts'
import { browserLoadCases } from './browser-load-cases.ts'
import { browserPageCases } from './browser-page-cases.ts'
import { browserRequestCases } from './browser-request-cases.ts'
import { type BrowserCase, HOME, openFixture, verdictOf } from './browser-fixture.ts'
import type { BrowserUnderTest } from './browser-under-test.ts'
import { isFullRun } from './scope.ts'
import { withRobotsCases } from './with-robots-cases.ts'

interface BrowserTest {
  readonly name: string
  /** Rejects where a promise is broken. */
  play(browser: BrowserUnderTest): Promise<void>
}

/** @param adapter Its name in `adapterRows`. */
export function browserTestsFor(adapter: string): readonly BrowserTest[] {
  const rows = [...browserPageCases, ...browserLoadCases, ...browserRequestCases, ...browserEndCases, ...withRobotsCases]
  return [
    ...adapterCasesFor(adapter).map((row) => ({
      name: `as an adapter, ${row.capability}: ${row.name}`,
      play: async (browser: BrowserUnderTest) => {
        const outcome = await playAdapter(row, (settings) => openAdapter(browser, settings))
        assert.deepEqual(outcome, row.expected)
      },
    })),
    ...rows
      .filter((row) => isFullRun || !row.wholeBrowser)
      .map((row) => ({ name: row.name, play: (browser: BrowserUnderTest) => play(row, browser) })),
  ]
}

/** What has to hold for each way to get hold of a browser. */
export const browserDeathTests: readonly {
  readonly name: string
  play(launch: BrowserUnderTest['launch']): Promise<void>
}[] = browserDeathCases.map((row) => ({ name: row.name, play: (launch) => playInOwn(launch, row) }))

async function play(row: BrowserCase, browser: BrowserUnderTest): Promise<void> {
  return row.browser === 'own' ? playInOwn(() => browser.launch(), row) : playIn(browser, row)
}

async function playInOwn(launch: BrowserUnderTest['launch'], row: BrowserCase): Promise<void> {
  const own = await launch()
  try {
    await playIn(own, row)
  } finally {
    await own.close()
  }
}

async function playIn(browser: BrowserUnderTest, { web, options, run, requested: asked }: BrowserCase): Promise<void> {
  const room = await openFixture(browser, web, options)
  try {
    await run(room)
    if (asked !== undefined) assert.deepEqual(room.sites.askedPages.map((url) => url.replace(HOME, '')).sort(), asked)
  } finally {
    await room.close()
  }
}

/** The browser as an adapter: each visit is one of a new page. */
async function openAdapter(browser: BrowserUnderTest, settings: AdapterSettings): Promise<AdapterUnderTest> {
  const context = await browser.newContext()
  const robots = await browser.withRobots(context, settings)
  return {
    visit: async (url, signal) => {
      const tab = await context.newPage()
      try {
        return { kind: 'answered', status: (await tab.goto(url, { signal }))?.status() ?? 0 }
      } catch (error) {
        const verdict = verdictOf(browser, error)
        if (verdict === undefined) throw error
        return { kind: 'refused', verdict }
      }
    },
    close: async () => {
      await robots.close()
      await context.close()
    },
  }
}
