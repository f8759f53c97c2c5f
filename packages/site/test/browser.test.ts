// The site in a browser: at three widths and colours, without mouse, and without network.

import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import moved from '../src/docs/moved-pages.json' with { type: 'json' }
import { read } from './built-site.ts'
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

/** Returns the address on the site of `page#heading`. */
const addressOf = (place: string) => place.replace(/#|$/, '/$&')

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

  test.each(Object.entries<string>(moved))('%s leads to %s', async (old, place) => {
    const page = await open(`/${addressOf(old)}`)
    await page.waitForURL(`**/${addressOf(place)}`)
  })

  test('an old heading that is asked for on an open page leads to its new place', async () => {
    const isOpen = ([from]: [string, string]) => from.includes('#') && !((from.split('#')[0] ?? '') in moved)
    const [old = '', place = ''] = Object.entries<string>(moved).find(isOpen) ?? []
    const [path, heading = ''] = addressOf(old).split('#')
    const page = await open(`/${path}`)
    await page.evaluate((hash) => location.assign(`#${hash}`), heading)
    await page.waitForURL(`**/${addressOf(place)}`)
  })

  test('the search finds a section, with the keyboard only', async () => {
    const page = await open('/')
    await page.locator('button[data-open-modal]:enabled').waitFor() // until then, nothing listens to the keys
    await page.keyboard.press('Control+k')
    await page.locator('.pagefind-ui__search-input:focus').waitFor()
    await page.keyboard.type('Retry-After')
    const result = page.locator('.pagefind-ui__result-link[href*="/waiting/"]').first()
    await result.waitFor()
    await result.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/waiting/**')
  })

  test('the choice of colours is kept on the next page', async () => {
    const page = await open('/waiting/')
    await page.locator('starlight-theme-select select').first().selectOption('dark')
    await page.goto(`${site.origin}/outcomes/`)
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  })

  test('the menu of a phone leads to a page', async () => {
    const page = await open('/waiting/', LOOKS.phone)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Outcomes', exact: true }).first().click()
    await page.waitForURL('**/outcomes/')
  })

  test('the start page answers what is typed', async () => {
    const page = await open('/')
    const trial = page.locator('#trial')
    const cell = trial.locator('tbody tr').first().locator('td').first()
    expect(await cell.textContent()).toMatch(/allowed\s*line 4/)
    await trial.getByRole('textbox', { name: 'A path to check' }).fill('/cart/items')
    expect(await cell.textContent()).toMatch(/disallowed\s*line 2/)
    await trial.getByRole('textbox', { name: 'robots.txt' }).fill('User-agent: Googlebot\nAllow: /')
    expect(await trial.locator('output').textContent()).toBe(
      'Googlebot, /cart/items: allowed: line 2 of robots.txt says "Allow: /" to Googlebot.',
    )
    await trial.getByRole('link', { name: 'Continue in the playground' }).click()
    await page.waitForURL('**/playground/#*')
    await page.locator('.pg-panel', { hasText: '/cart/items' }).waitFor()
  })

  test('the start page has its verdicts without JavaScript', async () => {
    const page = await open('/', { ...LOOKS.light, javaScriptEnabled: false })
    expect(await page.locator('#trial td.disallowed').count()).toBe(4)
    expect(await page.locator('#trial textarea').getAttribute('readonly')).toBe('')
  })

  test('the start page leads to the documentation, and each figure to its source', async () => {
    const page = await open('/')
    await page.getByRole('link', { name: 'Docs', exact: true }).waitFor()
    expect(await page.locator('.figures p').count()).toBe(4)
    expect(await page.locator('.figures p:has(strong):has(a[href])').count()).toBe(4)
    expect(await page.locator('.who > div').count()).toBe(3)
  })

  test('a page is copied as Markdown', async () => {
    const page = await open('/waiting/', { ...LOOKS.light, permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('button', { name: 'Copy page as Markdown' }).click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(read('waiting.md').toString())
  })

  test('a matrix of a preset has the width of the page', async () => {
    const page = await open('/playground/', { viewport: { width: 1366, height: 768 } })
    await page.locator('#playground[data-loaded]').waitFor()
    await page.locator('select', { hasText: 'choose a preset' }).selectOption('ai-training')
    expect(await page.locator('.pg-matrix thead th').count()).toBeGreaterThan(20)
    const { left, width, hidden } = await page.locator('.pg-rows').evaluate((rows) => {
      const box = rows.getBoundingClientRect()
      return { left: box.left, width: box.width, hidden: rows.scrollWidth - rows.clientWidth }
    })
    expect(left).toBeLessThan(24)
    expect(width).toBeGreaterThan(1366 - 48)
    expect(hidden).toBeLessThanOrEqual(0)
  })

  test('the picture of a link shows the page', async () => {
    for (const [name, path] of Object.entries({ start: '/', playground: '/playground/' })) {
      const page = await open(path, { viewport: { width: 1200, height: 630 } })
      if (path === '/playground/') await page.locator('#playground[data-loaded]').waitFor()
      await page.evaluate(() => document.fonts.ready)
      expect(read(`card-${name}.png`).readUInt32BE(16)).toBe(1200) // the width in the header of a PNG
      expect(read(`card-${name}.png`).readUInt32BE(20)).toBe(630)
      if (SITE_SCREENSHOTS !== undefined) await page.screenshot({ path: join(SITE_SCREENSHOTS, `card-${name}.png`) })
    }
  })

  test('the playground loads, and the browser refuses its requests', async () => {
    const page = await open('/playground/', LOOKS.light, /Content Security Policy/)
    await page.locator('#playground[data-loaded]').waitFor()
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
