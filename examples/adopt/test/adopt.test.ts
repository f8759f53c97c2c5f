import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRobots } from '@politely/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Column, measure, tableOf } from '../measure.ts'
import { Copy, fetchAllowed, type Program } from '../program.ts'
import { startWeb } from '../web.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'adopt-test-'))
  mkdirSync(join(folder, 'original'))
  writeFileSync(join(folder, 'original/fetch.js'), 'const limit = 64\nget(url)\nget(url)\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the site allows 30 pages, as its robots.txt says', async () => {
  const web = await startWeb()
  try {
    const rules = parseRobots(await (await fetch(`${web.index}robots.txt`)).text()).forCrawler('ExampleBot')
    const site = web.pages.filter(({ isOnSite }) => isOnSite)
    expect(site.filter(({ isAllowed }) => isAllowed)).toHaveLength(30)
    expect(site.filter(({ url, isAllowed }) => rules.isAllowed(url) !== isAllowed)).toEqual([])
  } finally {
    await web.close()
  }
})

test('the table compares a program that ignores robots.txt with one that loses a page', async () => {
  const crawls: Program['crawl'][] = [
    (_copy, { pages }) => fetchAllowed(pages, () => true),
    async (_copy, { pages }) => {
      const results = await fetchAllowed(pages, (url) => pages.some((page) => page.url === url && page.isAllowed))
      return results.set(pages[0]?.url ?? '', 'failed')
    },
  ]
  const columns: Column[] = []
  for (const [i, crawl] of crawls.entries()) {
    const program: Program = { installs: [], ours: [], files: folder, fetchesPages: false, versions: {}, crawl }
    const copy = new Copy(`${folder}/original`, `${folder}/${i}`)
    if (i > 0) copy.edit('fetch.js', 'limit = 64', 'limit = 1')
    columns.push(await measure(i === 0 ? 'as it is' : 'patched', program, copy, columns[0]))
  }
  expect(tableOf('program', columns)).toEqual([
    'program                                   as it is  patched',
    'pages got, of 32 that robots.txt allows         32       31',
    'pages lost                                       0        1',
    'pages requested, of 12 that it disallows        12        0',
    'verdicts changed                                 0       12',
    'refusals that look like failures                 0        0',
    'lines added, removed                          0, 0     1, 1',
  ])
})

test('a patch fails if the program has changed', () => {
  const copy = new Copy(`${folder}/original`, `${folder}/copy`)
  copy.editBetween('fetch.js', 'const', 'get', '')
  expect(readFileSync(copy.path('fetch.js'), 'utf8')).toBe('get(url)\nget(url)\n')
  expect([copy.added, copy.removed]).toEqual([0, 1])
  expect(() => copy.edit('fetch.js', 'get(url)', 'politeGet(url)')).toThrow('expected "get(url)" once')
  expect(() => copy.edit('fetch.js', 'limit', '')).toThrow('expected "limit" once')
})
