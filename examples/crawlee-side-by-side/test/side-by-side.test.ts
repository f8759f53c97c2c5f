// The example as a process of its own, and what it prints.
import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { checkNaively } from '@politely/testkit/naive-reader'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { type Page, type Site, sites } from '../small-web.ts'
import type { Departure } from './departures.ts'
import { type Block, blocksIn, tableIn } from './printed.ts'

const here = import.meta.dirname

let code: number | null
let stdout: string
let stderr: string
let leftBehind: readonly string[]
const departures: Departure[] = []

beforeAll(async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'side-by-side-'))
  const { FORCE_COLOR, NO_COLOR, ...env } = process.env
  const preload = ['--import', join(here, 'departures.ts')]
  const child = fork(join(here, '../main.ts'), {
    cwd,
    env,
    execArgv: preload,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  if (child.stdout === null || child.stderr === null) throw new Error('both were asked for')
  child.on('message', (message) => departures.push(message as Departure))
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  ;[stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  leftBehind = readdirSync(cwd)
  rmSync(cwd, { recursive: true })
}, 60_000)

test('it ends by itself, complains of nothing, and leaves nothing behind', () => {
  expect({ code, stderr, leftBehind }).toEqual({ code: 0, stderr: '', leftBehind: [] })
})

test('it fits into 120 columns, and has no colours where nobody sees them', () => {
  const lines = stdout.split('\n')
  expect(lines.filter((line) => line.length > 120)).toEqual([])
  expect(stdout).not.toContain('\u001b')
})

const NEVER = 'never asked for'

// RFC 9309; the rows of the small web itself say which section.
const fates: readonly (readonly [block: string, path: string, own: string, politely: string])[] = [
  ['Rules that leave no doubt', '/private/diary', `${NEVER} ✓`, `${NEVER} ✓`],
  ['Rules that leave no doubt', '/private/press', '200', '200'],
  ['Rules that leave no doubt', '/map.pdf', `${NEVER} ✓`, `${NEVER} ✓`],
  ['Rules that leave no doubt', '/map.pdf?page=2', '200', '200'],
  ['One path written in two ways', '/~ann', `${NEVER} ✓`, `${NEVER} ✓`],
  ['One path written in two ways', '/%7Eann', '200 ✗', `${NEVER} ✓`],
  ['One path written in two ways', '/~bob', '200 ✗', `${NEVER} ✓`],
  ['A redirect into what is disallowed', '/checkout', '302', '302'],
  ['A redirect into what is disallowed', '/cart/pay', '200 ✗', `${NEVER} ✓`],
  ['A redirect into what is disallowed', '/here', '200', '200'],
  ['Out of reach', '/robots.txt', '503', '503'],
  ['Out of reach', '/', '200 ✗', `${NEVER} ✓`],
  ['Out of reach', '/news', '200 ✗', `${NEVER} ✓`],
  ['Missing', '/robots.txt', '404', '404'],
  ['Missing', '/news', '200', '200'],
  ['A pause', '/3', '200', '200'],
  ['Huge', '/first', `${NEVER} ✓`, `${NEVER} ✓`],
  ['Huge', '/last', NEVER, '200'],
]

/** What is asserted of Crawlee itself is true of the version that was tried, and may well get better. */
const OF_CRAWLEE =
  'This is what Crawlee does by itself, and not a promise of ours. Where a later version does better, write so here and in docs/frameworks.md.'

describe.each(fates)('%s: %s', (block, path, own, politely) => {
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
    ['taken of the robots.txt of 8.0 MiB', /^[01]\.\d MiB$/], // some of it waits in buffers when the client hangs up
    ['asked for robots.txt as', /^SideBot\/1\.0 \(\+https:\/\/example\.com\)$/],
    ['asked for pages as', /^SideBot\/1\.0 \(\+https:\/\/example\.com\)$/],
  ])('with Politely, %s: %s', (label, value) => {
    expect(tableIn(stdout).get(label)?.[1]).toMatch(value)
  })

  it.each([
    ['allowed pages requested', /^15 of 15$/],
    ['disallowed pages requested', /^3 of 8$/],
    ['pages requested without knowing robots.txt', /^2 of 2$/],
    ['taken of the robots.txt of 8.0 MiB', /^8\.0 MiB$/],
    ['asked for robots.txt as', /^Mozilla/],
    ['asked for pages as', /^Mozilla.*, \d+ more$/], // generated for each page
  ])('Crawlee on its own, %s: %s', (label, value) => {
    expect(tableIn(stdout).get(label)?.[0], OF_CRAWLEE).toMatch(value)
  })
})

test('with Politely, requests leave with the pause that robots.txt asks for', () => {
  const origin = departures.find(({ url }) => url.endsWith('/3'))?.url.slice(0, -1) ?? 'nobody asked for /3'
  const at = departures.filter(({ url }) => url.startsWith(origin)).map((departure) => departure.at)
  const gaps = at.slice(1).map((moment, i) => moment - (at[i] ?? 0))
  expect(gaps).toHaveLength(3)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500)
})

test('docs/frameworks.md shows what it prints, but for times and names', () => {
  const page = readFileSync(join(here, '../../../docs/frameworks.md'), 'utf8')
  const shown = [...page.matchAll(/^```text\n(.*?)^```/gms)].map(([, block = '']) => blocksIn(block))
  expect(shown).toContainEqual(blocksIn(stdout))
})

// The marks are what the example judges by, so somebody else has to say them too.
const ruled = sites.filter(({ robots }) => robots.status === 200)
const marks = ruled.flatMap((site) => Object.entries(site.pages).map(([path, page]) => ({ site, path, page })))

test.each(marks)('$site.name: $path is $page.is', ({ site, path, page }: { site: Site; path: string; page: Page }) => {
  const whole = checkNaively(site.robots.body, 'SideBot', path)
  const first = checkNaively(site.robots.body.slice(0, 500 * 1024), 'SideBot', path)
  const said = whole.allowed !== first.allowed ? 'either' : whole.allowed ? 'allowed' : 'disallowed'
  expect(said).toBe(page.is)
})
