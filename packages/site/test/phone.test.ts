// Every page on a phone: the menu, the search, the size of the text, and tables that are wider than the window.

import { describe, expect, test } from 'vitest'
import { html } from './built-site.ts'
import { browseSite, isWithoutBrowser } from './site-browser.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const MIN_TEXT_PX = 14

describe.skipIf(isWithoutBrowser)('on a phone', () => {
  const site = browseSite()

  test('every page has the menu, the search, readable text, and no table that is cut without a sign', async () => {
    const page = await site.newLastingPage(PHONE)
    await page.route('**/*.woff2', (route) => route.abort()) // the size of text does not depend on them
    const faults: string[] = []
    for (const file of html.keys()) {
      await page.goto(`${site.origin}/${file.replace(/index\.html$/, '')}`, { waitUntil: 'domcontentloaded' })
      if (file === 'playground/index.html') await page.locator('#playground[data-loaded]').waitFor()
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
      const found = await page.evaluate(faultsOf, MIN_TEXT_PX)
      faults.push(...found.map((fault) => `${file}: ${fault}`))
    }
    expect(html.size).toBeGreaterThan(70)
    expect(faults).toEqual([])
  }, 180_000)

  test('the first screen of the playground has a verdict', async () => {
    const { page } = await site.newPage(PHONE)
    await page.goto(`${site.origin}/playground/`)
    await page.locator('#playground[data-loaded]').waitFor()
    const { y = Number.NaN, height = 0 } = (await page.locator('.pg-matrix td').first().boundingBox()) ?? {}
    expect(y + height).toBeLessThan(PHONE.viewport.height)
    await page.getByText('5 URLs, 4 crawlers: change').click()
    await page.getByRole('textbox', { name: 'URLs' }).fill('https://shop.example/cart')
    await page.getByText('1 URL, 4 crawlers: change').waitFor()
  })

  test('the search of the playground is on the next page', async () => {
    const { page } = await site.newPage(PHONE)
    await page.goto(`${site.origin}/playground/`)
    await page.getByRole('link', { name: 'Search' }).click()
    await page.locator('.pagefind-ui__search-input:focus').waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('the menu of the playground leads to a page', async () => {
    const { page } = await site.newPage(PHONE)
    await page.goto(`${site.origin}/playground/`)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Outcomes', exact: true }).first().click()
    await page.waitForURL('**/outcomes/')
  })
})

/** Runs in the page. */
function faultsOf(minTextPx: number): string[] {
  const faults = new Set<string>()
  const isShown = (element: Element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true })
  }
  const hasShown = (selector: string) => [...document.querySelectorAll(selector)].some(isShown)
  if (!hasShown('.sl-menu-button')) faults.add('no menu')
  if (!hasShown('button[data-open-modal], .search-link')) faults.add('no search')
  if (document.documentElement.scrollWidth > innerWidth) faults.add('wider than the window')

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const element = node.parentElement
    if (element === null || node.textContent?.trim() === '' || !isShown(element)) continue
    const scale = element instanceof SVGGraphicsElement ? (element.getScreenCTM()?.a ?? 1) : 1
    const size = Number.parseFloat(getComputedStyle(element).fontSize) * scale
    if (size < minTextPx)
      faults.add(
        `${size} px: <${element.tagName} class="${element.className}"> ${node.textContent?.trim().slice(0, 30)}`,
      )
  }

  for (const table of document.querySelectorAll('table')) {
    for (let box: HTMLElement | null = table; box !== null; box = box.parentElement) {
      if (getComputedStyle(box).overflowX === 'visible' || box.scrollWidth <= box.clientWidth + 1) continue
      const isMarked = box.dataset.cut?.includes('end') && getComputedStyle(box).maskImage !== 'none'
      if (isShown(table) && !isMarked) faults.add(`a table is cut: ${table.textContent?.trim().slice(0, 40)}`)
    }
  }
  return [...faults]
}
