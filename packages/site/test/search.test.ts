// The search, as the page calls it: questions, and the names that the documentation explains.

import { beforeAll, describe, expect, test } from 'vitest'
import { namedSections } from '../src/search/index-words.ts'
import { blindQuestions, type Questions, questions } from './search-questions.ts'
import { browseSite, isWithoutBrowser } from './site-browser.ts'

/** Runs in the page. It is text because Vitest rewrites each `import` of this file. */
const HITS = `async (queries) => {
  const pagefind = await import('/pagefind/pagefind.js')
  const found = []
  for (const query of queries) {
    const { results } = await pagefind.search(query)
    found.push((await Promise.all(results.slice(0, 3).map((result) => result.data()))).map(({ url }) => url))
  }
  return found
}`

describe.skipIf(isWithoutBrowser)('the search', () => {
  const site = browseSite()
  /** Returns the addresses of the first results of each query. */
  let hits: (queries: readonly string[]) => Promise<string[][]>

  beforeAll(async () => {
    const page = await site.newLastingPage()
    await page.goto(`${site.origin}/waiting/`)
    hits = (queries) => page.evaluate(`(${HITS})(${JSON.stringify(queries)})`)
  })

  /** Returns the questions whose right page is not among so many first results. */
  async function wrong(list: Questions, among: number): Promise<readonly string[]> {
    const found = await hits(Object.keys(list))
    return Object.entries(list).flatMap(([question, right], i) => {
      const pages = (found[i] ?? []).slice(0, among).map((url) => url.replace(/\/(?:#.*)?$/, '').slice(1))
      return pages.some((page) => right.includes(page)) ? [] : [`${question}: ${pages.join(', ')}`]
    })
  }

  test('finds the answer of each question in its first three results, and of 35 of 38 in its first', async () => {
    expect(Object.keys(questions)).toHaveLength(38)
    expect(await wrong(questions, 3)).toEqual([])
    const missed = await wrong(questions, 1)
    expect(missed.length, missed.join('; ')).toBeLessThanOrEqual(3)
  })

  test('finds the answer of 20 of 24 questions for which it was not tuned in its first result', async () => {
    expect(Object.keys(blindQuestions)).toHaveLength(24)
    const missed = await wrong(blindQuestions, 1)
    expect(missed.length, missed.join('; ')).toBeLessThanOrEqual(4)
  })

  test('finds the section that explains each option and each error code', async () => {
    const sections = Object.entries(namedSections())
    expect(sections.length).toBeGreaterThan(150)
    const named = sections.filter(([name]) => /[A-Z_]/.test(name))
    const found = await hits(named.map(([name]) => name))
    expect(named.filter(([, section], i) => found[i]?.[0] !== `/${section}`)).toEqual([])
  })

  test('shows a section, and no index words', async () => {
    const { page } = await site.newPage({ viewport: { width: 1280, height: 860 } })
    await page.goto(`${site.origin}/waiting/`)
    await page.locator('button[data-open-modal]:enabled').click()
    await page.locator('.pagefind-ui__search-input').fill('ERR_POLITELY_QUEUE_FULL')
    const first = page.locator('.pagefind-ui__result').first().getByRole('link', { name: 'ERR_POLITELY_QUEUE_FULL' })
    await first.waitFor()
    expect(await page.locator('.pagefind-ui__result-tag').count()).toBe(0)
    await first.click()
    await page.waitForURL('**/reference/errors/#err_politely_queue_full')
  })
})
