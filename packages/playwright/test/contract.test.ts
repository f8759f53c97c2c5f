// What Playwright's pages do as those of any browser do, and what every adapter has to do.
import {
  adapterCasesFor,
  endRows,
  loadRows,
  openAdapter,
  pageRows,
  playAdapter,
  playInBrowser,
} from '@politely/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Driven, noChromium } from './driven.ts'

describe.skipIf(noChromium)('in Chromium', () => {
  let browser: Driven

  beforeAll(async () => {
    browser = await Driven.launch()
  })

  afterAll(() => browser.close())

  test.each(adapterCasesFor('Playwright'))('Playwright, $capability: $name', async (row) => {
    expect(await playAdapter(row, (settings) => openAdapter(browser, settings))).toEqual(row.expected)
  })

  for (const row of [...pageRows, ...loadRows, ...endRows]) test(row.name, () => playInBrowser(row, browser))
})
