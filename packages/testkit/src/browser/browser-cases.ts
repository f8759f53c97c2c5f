// The common cases for browser drivers: behaviour of pages, and the cases that every adapter must
// pass.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AdapterSettings, type AdapterUnderTest, adapterCasesFor, runAdapterCase } from '../cases/adapter-cases.ts'
import { browserEndCases, browserGoneCases } from './browser-end-cases.ts'
import { type BrowserCase, HOME, openFixture, verdictOf } from './browser-fixture.ts'
import { browserLoadCases } from './browser-load-cases.ts'
import { browserNamedUrlCases } from './browser-named-url-cases.ts'
import { browserPageCases } from './browser-page-cases.ts'
import { browserRequestCases, browserRequestWays } from './browser-request-cases.ts'
import type { BrowserUnderTest } from './browser-under-test.ts'
import { withRobotsCases } from './with-robots-cases.ts'

interface BrowserTest {
  readonly name: string
  readonly wholeChromium: boolean
  /** Rejects if the test fails. */
  run(browser: BrowserUnderTest): Promise<void>
}

/** @param adapter The adapter's name in `adapterRows`. */
export function browserTestsFor(adapter: string): readonly BrowserTest[] {
  const cases = [
    ...browserPageCases,
    ...browserLoadCases,
    ...browserRequestCases,
    ...browserNamedUrlCases,
    ...browserEndCases,
    ...withRobotsCases,
  ]
  return [
    ...adapterCasesFor(adapter).map((testCase) => ({
      name: `as an adapter, ${testCase.capability}: ${testCase.name}`,
      wholeChromium: false,
      run: async (browser: BrowserUnderTest) => {
        const outcome = await runAdapterCase(testCase, (settings) => openAdapter(browser, settings))
        assert.deepEqual(outcome, testCase.expected)
      },
    })),
    ...testsOf(cases),
  ]
}

/** The ways in which a page can start a request. They run in every adapter. */
export const browserRequestTests: readonly BrowserTest[] = testsOf(browserRequestWays)

function testsOf(cases: readonly BrowserCase[]): BrowserTest[] {
  return cases.map((testCase) => ({
    name: testCase.name,
    wholeChromium: testCase.wholeChromium === true,
    run: (browser: BrowserUnderTest) => runCase(testCase, browser),
  }))
}

/** The cases to run for each way to open a browser. */
export const browserGoneTests: readonly {
  readonly name: string
  run(launch: BrowserUnderTest['launch']): Promise<void>
}[] = browserGoneCases.map((testCase) => ({ name: testCase.name, run: (launch) => runInOwnBrowser(launch, testCase) }))

function hasOwnBrowser({ browser, switches }: BrowserCase): boolean {
  return browser === 'own' || switches !== undefined
}

async function runCase(testCase: BrowserCase, browser: BrowserUnderTest): Promise<void> {
  return hasOwnBrowser(testCase)
    ? runInOwnBrowser(() => browser.launch(testCase.switches), testCase)
    : runInBrowser(browser, testCase)
}

async function runInOwnBrowser(launch: BrowserUnderTest['launch'], testCase: BrowserCase): Promise<void> {
  const own = await launch()
  try {
    await runInBrowser(own, testCase)
  } finally {
    await own.close()
  }
}

/**
 * The time limit of a case, in milliseconds. It is less than the time limit of the test, so that a
 * case that hangs reports what had happened by then.
 */
const MAX_CASE_MS = 50_000

async function runInBrowser(browser: BrowserUnderTest, { web, options, run, requested }: BrowserCase): Promise<void> {
  let report = () => 'opening the context'
  const runAndClose = async () => {
    const fixture = await openFixture(browser, web, options)
    const { sites, refusedUrls } = fixture
    report = () => `requested: ${sites.requestedUrls.join(' ')}; refused: ${refusedUrls.join(' ')}`
    try {
      await run(fixture)
      if (requested !== undefined) {
        assert.deepEqual(sites.requestedPages.map((url) => url.replace(HOME, '')).sort(), requested)
      }
    } finally {
      const seen = report()
      report = () => `closing the context; ${seen}`
      await fixture.close()
    }
  }
  const ended = new AbortController()
  const hang = sleep(MAX_CASE_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`The case did not end within ${MAX_CASE_MS / 1000} s. At that time: ${report()}`)
  })
  try {
    await Promise.race([runAndClose(), hang])
  } finally {
    hang.catch(() => undefined) // rejects when it is aborted
    ended.abort()
  }
}

/** The browser as an adapter: each visit opens a new page. */
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
