// A browser and a server of the built site, for the tests that open its pages.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { chromiumLaunch, findBrowser, isMissing } from '../../testkit/src/parts.ts'
import { startServer } from './built-site.ts'

/** Defined in the page by AXE. */
declare const axe: typeof import('axe-core')

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A folder for screenshots; without it, the tests take none. */
export const { SITE_SCREENSHOTS } = process.env

const part = findBrowser()

/** Whether there is no browser for the tests. */
export const isWithoutBrowser: boolean = isMissing('chromium', part)

/** The site, and a browser that opens its pages. */
export interface BrowsedSite {
  readonly origin: string
  /**
   * Opens an empty page, and lists its problems: texts in the console, errors, and requests to other
   * origins. When the test ends, the list may have only problems that are `expected`.
   */
  newPage(options: BrowserContextOptions, expected?: RegExp): Promise<{ page: Page; problems: string[] }>
  /** Opens an empty page for several tests. */
  newLastingPage(options?: BrowserContextOptions): Promise<Page>
}

/** Starts the browser and the server before the tests of a suite, and ends them after these. */
export function browseSite(): BrowsedSite {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startServer>>
  beforeAll(async () => {
    browser = await chromium.launch(chromiumLaunch(part))
    server = await startServer()
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })
  return {
    get origin() {
      return server.origin
    },
    newLastingPage: (options) => browser.newPage(options),
    async newPage(options, expected) {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      const problems: string[] = []
      page.on('console', (message) => message.type() !== 'log' && problems.push(message.text()))
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('request', (request) => request.url().startsWith(server.origin) || problems.push(request.url()))
      onTestFinished(async () => {
        await context.close()
        expect(problems.filter((problem) => expected?.test(problem) !== true)).toEqual([])
      })
      return { page, problems }
    },
  }
}

/** Expects that axe finds nothing in a page, and that the page fits the width of its window. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(() => document.fonts.ready)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(page.viewportSize()?.width)
  await page.evaluate(AXE)
  const findings = await page.evaluate(async () => {
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`))
  })
  expect(findings).toEqual([])
}
