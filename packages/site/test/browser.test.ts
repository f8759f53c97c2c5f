// The site in a browser: at three widths and colours, without mouse, and without network.

import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browseSite, expectAccessible, isWithoutBrowser, SITE_SCREENSHOTS } from './site-browser.ts'

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

describe.skipIf(isWithoutBrowser)('in a browser', () => {
  const site = browseSite()

  /**
   * Opens a page. When the test ends, the console may contain only what is `expected`, and all requests must have
   * gone to the site.
   */
  async function open(path: string, options = LOOKS.light ?? {}, expected = /^$/): Promise<Page> {
    const { page, problems } = await site.newPage(options, expected)
    page.on('response', (response) => response.ok() || problems.push(`${response.status()} ${response.url()}`))
    await page.goto(site.origin + path)
    return page
  }

  describe.each(Object.keys(LOOKS))('%s', (look) => {
    test.each(PAGES)('%s has no finding of axe, and fits the width of the window', async (path) => {
      const page = await open(path, LOOKS[look])
      await expectAccessible(page)
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
    await page.goto(`${site.origin}/pauses/`)
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
