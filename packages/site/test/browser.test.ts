// The site in a browser: at three widths and colours, without mouse, and without network.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { chromiumLaunch, findBrowser, isMissing } from '../../testkit/src/parts.ts'
import { startServer } from './built-site.ts'

/** Defined in the page by AXE. */
declare const axe: typeof import('axe-core')

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A folder for screenshots; without it, the tests take none. */
const { SITE_SCREENSHOTS } = process.env

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
}

const PAGES = [
  '/',
  '/waiting/',
  '/speed/',
  '/reference/api/sitemaps/',
  '/reference/errors/',
  '/playground/',
  '/404.html',
]

const part = findBrowser()

describe.skipIf(isMissing('chromium', part))('in a browser', () => {
  let browser: Browser
  let origin = ''
  let closeServer: () => void

  beforeAll(async () => {
    browser = await chromium.launch(chromiumLaunch(part))
    ;({ origin, close: closeServer } = await startServer())
  })

  afterAll(async () => {
    await browser.close()
    closeServer()
  })

  /**
   * Opens a page. When the test ends, the console may contain only what is `expected`, and all requests must have
   * gone to the site.
   */
  async function open(path: string, options = LOOKS.light ?? {}, expected = /^$/): Promise<Page> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => message.type() !== 'log' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('request', (request) => request.url().startsWith(origin) || problems.push(request.url()))
    page.on('response', (response) => response.ok() || problems.push(`${response.status()} ${response.url()}`))
    onTestFinished(async () => {
      await context.close()
      expect(problems.filter((problem) => !expected.test(problem))).toEqual([])
    })
    await page.goto(origin + path)
    return page
  }

  describe.each(Object.keys(LOOKS))('%s', (look) => {
    test.each(PAGES)('%s has no finding of axe, and fits the width of the window', async (path) => {
      const page = await open(path, LOOKS[look])
      await page.evaluate(() => document.fonts.ready)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(LOOKS[look]?.viewport?.width)
      await page.evaluate(AXE)
      const findings = await page.evaluate(async () => {
        const { violations } = await axe.run()
        return violations.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`),
        )
      })
      expect(findings).toEqual([])
      if (SITE_SCREENSHOTS !== undefined) {
        const name = `${path === '/' ? 'start' : path.replaceAll(/[/.]/g, ' ').trim()} ${look}`.replaceAll(' ', '-')
        await page.screenshot({ path: join(SITE_SCREENSHOTS, `${name}.png`) })
        await page.screenshot({ path: join(SITE_SCREENSHOTS, `${name}-full.png`), fullPage: true })
      }
    })
  })

  test('the search finds a section, with the keyboard only', async () => {
    const page = await open('/')
    await page.locator('button[data-open-modal]:enabled').waitFor() // until then, nothing listens to the keys
    await page.keyboard.press('Control+k')
    await page.locator('.pagefind-ui__search-input:focus').waitFor()
    await page.keyboard.type('Retry-After')
    const result = page.locator('.pagefind-ui__result-link', { hasText: 'Pauses that sites ask for' })
    await result.waitFor()
    await result.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/pauses/**')
  })

  test('the choice of colours is kept on the next page', async () => {
    const page = await open('/waiting/')
    await page.locator('starlight-theme-select select').first().selectOption('dark')
    await page.goto(`${origin}/pauses/`)
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  })

  test('the menu of a phone leads to a page', async () => {
    const page = await open('/waiting/', LOOKS.phone)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Pauses', exact: true }).first().click()
    await page.waitForURL('**/pauses/')
  })

  test('the playground loads, and the browser refuses its requests', async () => {
    const page = await open('/playground/', LOOKS.light, /Content Security Policy/)
    await page.locator('#playground:not(:empty)').waitFor()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    const blocked = page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective))
          fetch('/').catch(() => undefined)
        }),
    )
    expect(await blocked).toBe('connect-src')
    expect(requests).toEqual([])
  })
})
