// The playground in a browser: with mouse and keyboard, with links, without network.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { gallery, mistakeHash } from '@politely/playground/gallery'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browseSite, expectAccessible, isWithoutBrowser, SITE_SCREENSHOTS } from './site-browser.ts'

const OLD_LINKS: readonly {
  readonly about: string
  readonly hash: string
  readonly state: { readonly robots: string }
}[] = JSON.parse(readFileSync(join(import.meta.dirname, '../../playground/test/links.json'), 'utf8'))

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' },
}

/** What is shown, and how to get there. */
const STATES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  start: async () => undefined,
  cell: (page) => cell(page, 2, 'GPTBot').click(),
  'before and after': (page) => followMistake(page, 'staging'),
  'gallery and exports': async (page) => {
    await page.getByText('real mistakes to learn from').click()
    await page.getByText('Share and export').click()
  },
  usage: async (page) => {
    await page.getByText('What may be done with the page').click()
    await page.getByLabel('Headers of the page, pasted').fill('X-Robots-Tag: noindex\nContent-Signal: search=yes')
    await page.getByText('Where readings differ').waitFor()
  },
}

describe.skipIf(isWithoutBrowser)('the playground', () => {
  const site = browseSite()

  /**
   * Opens the playground. When the test ends, the console must be empty, and all requests must have
   * gone to the site, and none of them after the page was loaded.
   */
  async function open(hash = '', options = LOOKS.light ?? {}): Promise<Page> {
    const { page, problems } = await site.newPage(options)
    await page.goto(`${site.origin}/playground/${hash}`)
    await page.locator('#playground[data-loaded]').waitFor()
    page.on('request', (request) => problems.push(`after the page was loaded: ${request.url()}`))
    return page
  }

  describe.each(Object.keys(LOOKS))('%s', (look) => {
    test.each(Object.keys(STATES))('%s has no finding of axe, and fits the width of the window', async (state) => {
      const page = await open('', LOOKS[look])
      await STATES[state]?.(page)
      await expectAccessible(page)
      if (SITE_SCREENSHOTS !== undefined) {
        const path = join(SITE_SCREENSHOTS, `playground-${state.replaceAll(' ', '-')}-${look}.png`)
        await page.screenshot({ path, fullPage: true })
      }
    })
  })

  test('a rule that is typed changes the verdict, which is announced', async () => {
    const page = await open()
    await expectText(cell(page, 0, 'Googlebot'), '✓ allowed no rule')
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('User-agent: Googlebot\nDisallow: /\n')
    await expectText(cell(page, 0, 'Googlebot'), '✗ disallowed line 2')
    await expect
      .poll(() => page.locator('#pg-live').textContent())
      .toContain(
        'https://shop.example/ for Googlebot is now disallowed: line 2 of robots.txt says "Disallow: /" to Googlebot.',
      )
  })

  test('a cell shows the line that decides, the rules that lost, and a trace', async () => {
    const page = await open()
    await cell(page, 1, 'Googlebot').click()
    expect(await page.locator('.cm-deciding').textContent()).toBe('Disallow: /*?sort=')
    const panel = page.locator('.pg-panel')
    await expectText(panel.locator('.pg-reason'), 'Line 5 of robots.txt says "Disallow: /*?sort=" to *.')
    await expectText(
      panel.locator('.pg-trace'),
      'text / took / * took shoes text ?sort= took ?sort= what follows price',
    )
    await panel.getByLabel('The rule to trace').selectOption('3')
    await expectText(
      panel.locator('.pg-fails'),
      '✗ Both begin with "/"; then the pattern has "cart", and the URL "shoes?sort=price".',
    )
    await cell(page, 2, 'Googlebot').click()
    await expectText(
      panel.locator('.pg-ranked li').last(),
      'line 4 Disallow: /account/ shorter: 9 bytes, and line 6 has 13',
    )
    expect(await page.locator('.cm-losing').textContent()).toBe('Disallow: /account/')
  })

  test('a quick fix repairs the line, and can be undone', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Write "Disallow: /search"' }).click()
    await expectLine(page, 14, 'Disallow: /search')
    await expect.poll(() => page.locator('.pg-finding').count()).toBe(1)
    await page.keyboard.press('Control+z')
    await expectLine(page, 14, 'Disallow /search')
  })

  test('a squiggle offers the quick fix, too', async () => {
    const page = await open()
    await page.locator('.cm-lintRange-warning').first().hover()
    await page.locator('.cm-diagnosticAction').click()
    await expectLine(page, 14, 'Disallow: /search')
  })

  test('all fixes that change no verdict are applied together', async () => {
    const page = await open(mistakeHash(gallery.find(({ id }) => id === 'missing-colon') as (typeof gallery)[number]))
    await page.getByRole('button', { name: 'Fix 2 lines without changing a verdict' }).click()
    await expectLine(page, 2, 'Disallow: /checkout')
    await expectLine(page, 3, 'Disallow: /account')
  })

  test('with the keyboard only: the matrix, a cell, its panel, and out of the editor', async () => {
    const page = await open()
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    await page.getByRole('button', { name: 'Add', exact: true }).focus()
    await tabTo(page, 'td[role=gridcell]')
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('✗ disallowed GPTBot https://shop.example/account/help')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('line 9')
    await page.keyboard.press('Escape')
    expect(await focused()).toBe('GPTBot✗disallowedline 9')
    await page.keyboard.press('Home')
    await page.keyboard.press(' ')
    expect(await focused()).toContain('Googlebot')
    await page.locator('.cm-content').focus()
    await page.keyboard.type('#')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BUTTON')
  })

  test.each(OLD_LINKS)('opens an old link: $about', async ({ hash, state }) => {
    const page = await open(hash)
    const [first = ''] = state.robots.replace('\ufeff', '').split('\n')
    await expect.poll(() => page.locator('.cm-line').first().textContent()).toContain(first)
  })

  test('the link of the address bar opens the same page', async () => {
    const page = await open()
    await page.getByRole('textbox', { name: 'URLs' }).fill('/new\n/search?q=1')
    await cell(page, 1, 'Bingbot').click()
    await expect.poll(() => page.url()).toContain('#1')
    await page.waitForTimeout(1000) // the link is written after a pause
    const other = await open(new URL(page.url()).hash)
    await expectText(cell(other, 1, 'Bingbot'), '✗ disallowed line 14')
    await expectText(other.locator('.pg-panel h2'), '✗ disallowed Bingbot /search?q=1')
  })

  test('"Skip to content" keeps the state, and a reload opens it', async () => {
    const page = await open()
    await page.getByRole('textbox', { name: 'URLs' }).fill('/kept')
    await page.getByRole('link', { name: 'Skip to content' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain('#1')
    expect(await page.locator('#playground > .pg-status').textContent()).toBe('')
    const other = await open(new URL(page.url()).hash)
    await expectText(cell(other, 0, 'Bingbot'), '✓ allowed no rule')
    expect(await other.getByRole('textbox', { name: 'URLs' }).inputValue()).toBe('/kept')
  })

  test('the Back button returns to the page before a mistake of the gallery', async () => {
    const page = await open()
    await followMistake(page, 'staging')
    await expectText(page.locator('.pg-panel h2'), '✗ disallowed Googlebot https://shop.example/')
    await page.goBack()
    await expectLine(page, 1, '# A small shop')
  })

  test.each(['light', 'phone'])('a cell of a long matrix shows its verdict beside it: %s', async (look) => {
    const page = await open('', LOOKS[look])
    const paths = Array.from({ length: 40 }, (_, i) => `/cart/${i}`)
    await page.locator('#pg-urls').evaluate((field: HTMLTextAreaElement, text) => {
      field.value = text
      field.dispatchEvent(new Event('input'))
    }, paths.join('\n'))
    await cell(page, 25, 'Googlebot').click()
    await page.waitForTimeout(200) // the editor scrolls in the next frame
    const top = await page.locator('.pg-panel h2').evaluate((heading) => heading.getBoundingClientRect().top)
    expect(top).toBeGreaterThan(0)
    expect(top).toBeLessThan(LOOKS[look]?.viewport?.height ?? 0)
  })

  test('says what it does not check: URLs over the limit, crawlers of a preset, other origins', async () => {
    const page = await open()
    const field = page.getByRole('textbox', { name: 'URLs' })
    const remark = page.locator('#pg-urls-note + p')
    await field.evaluate((element: HTMLTextAreaElement) => {
      element.value = Array.from({ length: 5_001 }, (_, i) => `/${i}`).join('\n')
      element.dispatchEvent(new Event('input'))
    })
    await expectText(remark, 'Only the first 5,000 of 5,001 URLs are checked.')
    expect((await field.inputValue()).endsWith('/5000')).toBe(true)
    await field.fill('https://shop.example/cart\nhttps://cdn.example/site.css\nwww.shop.example')
    await expectText(remark, 'These URLs have 2 origins. A robots.txt is for one origin: its scheme, host and port.')
    await expectText(page.locator('#pg-verdicts + .pg-summary'), '4 of 12 verdicts disallowed, 4 invalid')
    await page.getByLabel('Crawlers by purpose').selectOption('search')
    expect(await page.locator('#pg-crawler-problem').textContent()).toMatch(
      /^The matrix has at most 24 crawlers, so the last \d+ of this preset are left out\.$/,
    )
  })

  test('says what is wrong with a broken link', async () => {
    const page = await open('#1abc')
    await expectText(
      page.locator('#playground > .pg-status'),
      'This link is damaged: a part of it is missing or was changed. This is the start page instead.',
    )
  })

  test.each(gallery)('a mistake of the gallery opens: $id', async (mistake) => {
    const page = await open()
    await followMistake(page, mistake.id)
    await expect
      .poll(() => page.getByRole('textbox', { name: 'URLs' }).inputValue())
      .toBe(mistake.state.urls.join('\n'))
  })

  test('an earlier file shows which verdicts change', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Compare with an earlier file' }).click()
    await page.getByLabel('Paste the file that is live now').fill('User-agent: *\nDisallow: /cart\n')
    await expectText(page.locator('#pg-verdicts + .pg-summary'), '8 of 20 verdicts disallowed, 6 changed')
    await expectText(cell(page, 3, 'Bingbot'), '✓ allowed was disallowed')
    await page.getByLabel('Show the URLs').selectOption('changed')
    expect(await page.locator('.pg-matrix tbody tr').count()).toBe(4)
    expect(await page.locator('.cm-changedLine').count()).toBeGreaterThan(3)
    await page.getByRole('button', { name: 'Stop comparing' }).click()
    await expectText(page.locator('#pg-verdicts + .pg-summary'), '8 of 20 verdicts disallowed')
  })

  test('reads a sitemap, an access log and a robots.txt, and says what it skipped', async () => {
    const page = await open()
    const input = page.locator('input[type=file]').first()
    const status = page.locator('#playground > .pg-status')
    const give = (name: string, text: string) =>
      input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await give('sitemap.xml', '<urlset><url><loc>https://a.example/1</loc></url><url><loc></loc></url></urlset>')
    await expectText(status, 'Read 1 page of a sitemap. Skipped: 1 entry without a URL.')
    await give('access.log', '192.0.2.1 - - [25/Nov/2026:10:00:00 +0000] "GET /b HTTP/1.1" 200 5\nnonsense\n')
    await expectText(
      status,
      'Read 1 URL of an access log with 1 request, the most frequent first. Skipped: 1 line without a request.',
    )
    await give('Pages.csv', 'Top pages,Clicks\n"https://a.example/x,y",3\n')
    await expectText(status, 'Read 1 URL of a table.')
    await give('log.json', '{"request":{"uri":"/b"}}\n')
    await expectText(status, 'Read 1 URL of JSON.')
    await give('robots.txt', 'User-agent: *\nDisallow: /b\n')
    await expectText(status, 'Read a robots.txt with 3 lines.')
    await expectText(cell(page, 0, 'GPTBot'), '✗ disallowed line 2')
    await give('robots.txt', '')
    await expectText(status, 'Read robots.txt, which is empty.')
    await expectText(cell(page, 0, 'GPTBot'), '✓ allowed no rule')
  })

  test('a file that is dropped is read, also on the editor; on the comparison it is the earlier file', async () => {
    const page = await open()
    const drop = (selector: string, name: string, bytes: Buffer) =>
      page.locator(selector).evaluate(
        (element, { name, data }) => {
          const dataTransfer = new DataTransfer()
          dataTransfer.items.add(new File([Uint8Array.from(data)], name))
          element.dispatchEvent(
            new DragEvent('drop', { dataTransfer, bubbles: true, composed: true, cancelable: true }),
          )
        },
        { name, data: [...bytes] },
      )
    await drop('.cm-content', 'robots.txt', Buffer.from('User-agent: *\nDisallow: /dropped\n'))
    await expectLine(page, 2, 'Disallow: /dropped')
    await drop(
      '#pg-urls',
      'sitemap.xml.gz',
      gzipSync('<urlset><url><loc>https://a.example/dropped/1</loc></url></urlset>'),
    )
    await expectText(cell(page, 0, 'Bingbot'), '✗ disallowed line 2')
    await page.getByRole('button', { name: 'Compare with an earlier file' }).click()
    await drop('#pg-before', 'robots.txt', Buffer.from('User-agent: *\n'))
    await expectText(cell(page, 0, 'Bingbot'), '✗ disallowed was allowed')
    await drop('#pg-urls', 'urls.txt.gz', Buffer.from('no gzip'))
    await expectText(
      page.locator('#playground > .pg-status'),
      'urls.txt.gz could not be read: it is not a whole gzip file.',
    )
  })

  test('a state that is too long for a link is offered as a file, which opens again', async () => {
    const page = await open()
    const random = Array.from(
      { length: 1500 },
      (_, i) => `Disallow: /${createHash('sha256').update(`${i}`).digest('base64url')}`,
    )
    const robots = `User-agent: *\n${random.join('\n')}\n`
    const give = (name: string, text: string) =>
      page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await give('robots.txt', robots)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => page.locator('#playground > .pg-status').textContent()).toContain('so send a file instead')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const file = await (await download).path()
    await page.getByRole('link', { name: 'Real mistakes' }).click()
    await page.locator('#pg-gallery a').first().click()
    await expectLine(page, 2, 'Disallow: /cart/')
    await page.goBack()
    await expectLine(page, 2, random[0] ?? '')
    await page.goForward()
    await expectLine(page, 2, 'Disallow: /cart/')
    await give('playground.json', readFileSync(file, 'utf8'))
    await expectLine(page, 2, random[0] ?? '')
  })

  test('a preset replaces the crawlers, and a name is added', async () => {
    const page = await open()
    await page.getByLabel('Crawlers by purpose').selectOption('ai-assistant')
    expect(await page.locator('.pg-matrix thead th').allTextContents()).toContain('ChatGPT-User')
    await page.getByLabel('Another crawler').fill('googlebot-news')
    await page.keyboard.press('Enter')
    expect(await page.locator('.pg-matrix thead th').last().textContent()).toBe('Googlebot-News')
    await page.getByLabel('Another crawler').fill('no name')
    await page.keyboard.press('Enter')
    expect(await page.locator('#pg-crawler-problem').textContent()).toContain('such as ExampleBot')
  })

  test('says what may be done with the page, by headers and HTML that are pasted', async () => {
    const page = await open()
    await page.getByText('What may be done with the page').click()
    await page.getByLabel('Headers of the page, pasted').fill('X-Robots-Tag: noai')
    const answer = (purpose: string) => page.locator('li').filter({ hasText: `(${purpose})` })
    await expectText(
      answer('train-ai'),
      '✗ disallowed train an AI model on it (train-ai) the header X-Robots-Tag says noai',
    )
    await page.getByLabel('The page or its head, pasted').fill('<meta name="robots" content="noindex">')
    await expectText(
      answer('index'),
      '✗ disallowed show it in a search index (index) the meta element robots says noindex',
    )
    await page.waitForTimeout(1000) // the link is written after a pause
    const other = await open(new URL(page.url()).hash)
    await expectText(
      other.locator('li').filter({ hasText: '(index)' }),
      '✗ disallowed show it in a search index (index) the meta element robots says noindex',
    )
  })

  test('the exports have the verdicts of the page', async () => {
    const page = await open()
    await page.getByText('Share and export').click()
    const text = page.getByLabel('The exported text')
    await expect.poll(() => text.inputValue()).toContain('/playground/#1')
    for (const [tab, expected] of [
      ['Command', 'npx politely match --robots robots.txt --crawler Googlebot'],
      ['Expectations', 'deny GPTBot https://shop.example/cart'],
      ['Vitest', "['GPTBot', 'https://shop.example/cart', false],"],
      ['JSON', '"version": 1'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click()
      await expect.poll(() => text.inputValue()).toContain(expected)
    }
  })

  test('works without network once it is open', async () => {
    const page = await open()
    await page.context().setOffline(true)
    await cell(page, 1, 'GPTBot').click()
    await page.getByRole('button', { name: 'Compare with an earlier file' }).click()
    await page.getByText('Share and export').click()
    await page.getByText('What may be done with the page').click()
    await followMistake(page, 'staging')
    await expectText(page.locator('.pg-panel h2'), '✗ disallowed Googlebot https://shop.example/')
  })
})

/** The cell of a URL, counted from 0, and a crawler. */
function cell(page: Page, url: number, crawler: string): Locator {
  return page
    .locator('.pg-matrix tbody tr')
    .nth(url)
    .locator('td')
    .filter({ has: page.getByText(crawler, { exact: true }) })
}

async function followMistake(page: Page, id: string): Promise<void> {
  await page.locator('#pg-gallery').evaluate((details: HTMLDetailsElement) => details.setAttribute('open', ''))
  await page.locator(`#pg-gallery a[href="#mistake=${id}"]`).click()
  await page.waitForFunction((hash) => location.hash.includes(hash), id)
}

/** Compares the text that is shown, whatever its blanks; without the name of the crawler in a cell. */
async function expectText(locator: Locator, expected: string): Promise<void> {
  const read = () =>
    locator.evaluate((element) => {
      const walk = (node: Node): string => {
        if (node instanceof Element && node.classList.contains('pg-who')) return ''
        return node instanceof Text ? node.data : `${[...node.childNodes].map(walk).join(' ')} `
      }
      return walk(element).replace(/\s+/g, ' ').trim()
    })
  await expect.poll(read).toBe(expected)
}

/** Compares a line of the editor, counted from 1. */
async function expectLine(page: Page, line: number, expected: string): Promise<void> {
  await expect
    .poll(() =>
      page
        .locator('.cm-line')
        .nth(line - 1)
        .textContent(),
    )
    .toBe(expected)
}

/** Presses Tab until an element with this selector has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let i = 0; i < 10; i++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${selector} was not reached`)
}
