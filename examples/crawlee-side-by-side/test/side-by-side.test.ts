// @module-tag full
// Runs the example in a process of its own and checks its output.
import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { checkNaively } from '@politely/testkit/naive-reader'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { type Page, type Site, sites } from '../local-sites.ts'
import { type Block, blocksIn, tableIn } from './parse-output.ts'
import type { RequestStart } from './report-starts.ts'

const here = import.meta.dirname

describe('the example', () => {
  let code: number | null
  let stdout: string
  let stderr: string
  let remainingFiles: readonly string[]
  const starts: RequestStart[] = []

  beforeAll(async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'side-by-side-'))
    const { FORCE_COLOR, NO_COLOR, ...env } = process.env
    const preload = ['--import', join(here, 'report-starts.ts')]
    const child = fork(join(here, '../main.ts'), {
      cwd,
      env,
      execArgv: preload,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    if (child.stdout === null || child.stderr === null) throw new Error('stdout and stderr must be pipes')
    child.on('message', (message) => starts.push(message as RequestStart))
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
    ;[stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
    remainingFiles = readdirSync(cwd)
    rmSync(cwd, { recursive: true })
  })

  test('ends by itself, prints no errors, and leaves no files behind', () => {
    expect({ code, stderr, remainingFiles }).toEqual({ code: 0, stderr: '', remainingFiles: [] })
  })

  test('the output fits into 120 columns, and has no colours without a terminal', () => {
    const lines = stdout.split('\n')
    expect(lines.filter((line) => line.length > 120)).toEqual([])
    expect(stdout).not.toContain('\u001b')
  })

  const NEVER = 'never requested'

  // By RFC 9309. The sites in local-sites.ts name the sections.
  const outcomes: readonly (readonly [block: string, path: string, own: string, politely: string])[] = [
    ['Plain rules', '/private/diary', `${NEVER} ✓`, `${NEVER} ✓`],
    ['Plain rules', '/private/press', '200', '200'],
    ['Plain rules', '/map.pdf', `${NEVER} ✓`, `${NEVER} ✓`],
    ['Plain rules', '/map.pdf?page=2', '200', '200'],
    ['Percent-encoding', '/~ann', `${NEVER} ✓`, `${NEVER} ✓`],
    ['Percent-encoding', '/%7Eann', '200 ✗', `${NEVER} ✓`],
    ['Percent-encoding', '/~bob', '200 ✗', `${NEVER} ✓`],
    ['Redirect to a disallowed page', '/checkout', '302', '302'],
    ['Redirect to a disallowed page', '/cart/pay', '200 ✗', `${NEVER} ✓`],
    ['Redirect to a disallowed page', '/here', '200', '200'],
    ['Unreachable robots.txt', '/robots.txt', '503', '503'],
    ['Unreachable robots.txt', '/', '200 ✗', `${NEVER} ✓`],
    ['Unreachable robots.txt', '/news', '200 ✗', `${NEVER} ✓`],
    ['Missing robots.txt', '/robots.txt', '404', '404'],
    ['Missing robots.txt', '/news', '200', '200'],
    ['Crawl-delay', '/3', '200', '200'],
    ['Huge robots.txt', '/first', `${NEVER} ✓`, `${NEVER} ✓`],
    ['Huge robots.txt', '/last', NEVER, '200'],
  ]

  /**
   * The assertions about Crawlee itself hold for the tested version. A later version may do better.
   */
  const OF_CRAWLEE =
    'This is the behaviour of Crawlee without Politely. If a later version does better, update this test and docs/frameworks.md.'

  describe.each(outcomes)('%s: %s', (block, path, own, politely) => {
    const here = (): Block | undefined => blocksIn(stdout).get(block)

    it(`with Politely: ${politely}`, () => {
      expect(here()?.politely[path]).toBe(politely)
    })

    it(`Crawlee on its own: ${own}`, () => {
      expect(here()?.own[path], OF_CRAWLEE).toBe(own)
    })
  })

  describe('the table at the end', () => {
    it.each([
      ['allowed pages requested', /^15 of 15$/],
      ['disallowed pages requested', /^0 of 8$/],
      ['pages requested without knowing robots.txt', /^0 of 2$/],
      ['read of the 8.0 MiB robots.txt', /^[01]\.\d MiB$/], // some of it is in buffers when the client closes the connection
      ['User-Agent for robots.txt', /^SideBot\/1\.0 \(\+https:\/\/example\.com\)$/],
      ['User-Agent for pages', /^SideBot\/1\.0 \(\+https:\/\/example\.com\)$/],
    ])('with Politely, %s: %s', (label, value) => {
      expect(tableIn(stdout).get(label)?.[1]).toMatch(value)
    })

    it.each([
      ['allowed pages requested', /^15 of 15$/],
      ['disallowed pages requested', /^3 of 8$/],
      ['pages requested without knowing robots.txt', /^2 of 2$/],
      ['read of the 8.0 MiB robots.txt', /^8\.0 MiB$/],
      ['User-Agent for robots.txt', /^Mozilla/],
      ['User-Agent for pages', /^Mozilla.*, \d+ more$/], // generated for each page
    ])('Crawlee on its own, %s: %s', (label, value) => {
      expect(tableIn(stdout).get(label)?.[0], OF_CRAWLEE).toMatch(value)
    })
  })

  test('with Politely, requests start with the crawl-delay of robots.txt between them', () => {
    const origin = starts.find(({ url }) => url.endsWith('/3'))?.url.slice(0, -1) ?? '/3 was not requested'
    const at = starts.filter(({ url }) => url.startsWith(origin)).map((start) => start.at)
    const gaps = at.slice(1).map((moment, i) => moment - (at[i] ?? 0))
    expect(gaps).toHaveLength(3)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500)
  })

  test('docs/frameworks.md shows two sites and the table of the output, except for times and User-Agents', () => {
    const page = readFileSync(join(here, '../../../docs/frameworks.md'), 'utf8')
    const [, shown = ''] = /^```text\n(.*?)^```/ms.exec(page) ?? []
    const printed = blocksIn(stdout)
    const blocks = [...blocksIn(shown)]
    expect(blocks).toEqual(blocks.map(([name]) => [name, printed.get(name)]))
    expect(blocks).toHaveLength(2)
    expect([...tableIn(shown).keys()]).toEqual([...tableIn(stdout).keys()])
  })
})

// The example relies on the marks of its pages, so an independent parser checks them.
const ruled = sites.filter(({ robots }) => robots.status === 200)
const marks = ruled.flatMap((site) => Object.entries(site.pages).map(([path, page]) => ({ site, path, page })))

test.each(marks)('$site.name: $path is $page.is', ({ site, path, page }: { site: Site; path: string; page: Page }) => {
  const whole = checkNaively(site.robots.body, 'SideBot', path)
  const first = checkNaively(site.robots.body.slice(0, 500 * 1024), 'SideBot', path)
  const expected = whole.allowed !== first.allowed ? 'either' : whole.allowed ? 'allowed' : 'disallowed'
  expect(page.is).toBe(expected)
})
