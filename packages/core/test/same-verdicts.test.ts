import { checkNaively } from '@politely/testkit/naive-reader'
import { randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { firstInShortRun, sampled } from '@politely/testkit/scope'
import { describe, expect, it, vi } from 'vitest'
import { parseRobots } from '../src/index.ts'
import { parseUrl } from '../src/url/origin.ts'
import {
  checkEveryWay,
  countIndexedChecks,
  dialectNames,
  randomDialect,
  randomLargeRobots,
  ruleLineOf,
} from './all-matchers.ts'

const indexed = countIndexedChecks()

const bytes = (text: string) => Buffer.from(text, 'latin1')

/**
 * Returns the path that a client sends, for `checkNaively`; undefined for an invalid URL, or one
 * that starts with a host without a scheme.
 */
function sentPathOf(url: string): string | undefined {
  if (/^\/[/\\]/.test(url)) return undefined
  const parsedUrl = parseUrl(url.startsWith('/') ? `https://example.com${url}` : url)
  return typeof parsedUrl === 'string' ? undefined : parsedUrl.path
}

/** Returns a path, or a whole URL with that path. */
const pathOrUrl = (random: () => number, path: string) =>
  `${random() < 0.5 ? 'https://example.com' : ''}${utf8TextOf(path)}`

/** Counts what was compared, so that no test can pass with trivial cases only. */
const newCounts = () => ({ checks: 0, allowed: 0, disallowed: 0, byRule: 0, naively: 0 })

function compare(
  counts: ReturnType<typeof newCounts>,
  file: string,
  check: ReturnType<typeof checkEveryWay>,
  url: string,
  context: string,
  naiveToken?: string,
): void {
  const { verdict, others } = check(url)
  if (others.length > 0) expect.fail(`${context} checks ${JSON.stringify(url)}: ${others.join('\n')}`)
  counts.checks++
  counts[verdict.allowed ? 'allowed' : 'disallowed']++
  if (verdict.because === 'rule') counts.byRule++
  const path = naiveToken === undefined ? undefined : sentPathOf(url)
  if (naiveToken === undefined || path === undefined) return
  const ours = { allowed: verdict.allowed, line: ruleLineOf(verdict) }
  expect(ours, `${context} checks ${JSON.stringify(url)}`).toEqual(checkNaively(file, naiveToken, path))
  counts.naively++
}

describe('every way to check a URL gives the same verdict, RFC 9309 §2.2.2', () => {
  it('for random files, and the naive implementation gives it too', () => {
    const counts = newCounts()
    for (let seed = 1; seed <= sampled(1_000); seed++) {
      const random = seededRandom(seed)
      const file = randomRobots(random)
      for (const token of ['ExampleBot', 'a1', 'Nobody']) {
        const check = checkEveryWay(bytes(file), {}, token)
        for (let i = 0; i < 4; i++) {
          compare(counts, file, check, pathOrUrl(random, randomPath(random, file)), `seed ${seed}, ${token}`, token)
        }
      }
    }
    expect(counts.naively).toBeGreaterThan(counts.checks / 2)
    expect(counts.disallowed).toBeGreaterThan(counts.checks / 20)
    expect(counts.byRule).toBeGreaterThan(counts.checks / 10)
  })

  it.each(firstInShortRun(dialectNames))('for large random files, in dialect %s', (dialect) => {
    const counts = newCounts()
    const before = indexed()
    for (let seed = 1; seed <= sampled(150); seed++) {
      const random = seededRandom(seed)
      const { file, path } = randomLargeRobots(random)
      const check = checkEveryWay(bytes(file), { dialect }, 'ExampleBot')
      const naiveToken = dialect === 'rfc9309' ? 'ExampleBot' : undefined
      for (let i = 0; i < 20; i++) {
        compare(counts, file, check, pathOrUrl(random, path()), `${dialect}, seed ${seed}`, naiveToken)
      }
    }
    const indexedChecks = indexed() - before
    if (dialect === 'rfc9309') expect(counts.naively).toBeGreaterThan(counts.checks / 2)
    expect(indexedChecks).toBeGreaterThan(counts.checks / 2)
    expect(counts.allowed).toBeGreaterThan(counts.checks / 20)
    if (dialect !== 'original-1994') expect(counts.byRule).toBeGreaterThan(counts.checks / 4)
    expect(counts.disallowed).toBeGreaterThan(counts.checks / 20)
  })

  it('in random custom dialects', () => {
    const counts = newCounts()
    for (let seed = 1; seed <= sampled(400); seed++) {
      const random = seededRandom(seed)
      const dialect = randomDialect(random)
      const { file, path } = randomLargeRobots(random)
      const text = utf8TextOf(file)
      const source = random() < 0.5 ? text : bytes(file)
      const check = checkEveryWay(source, { dialect }, 'ExampleBot')
      for (let i = 0; i < 6; i++) {
        compare(counts, file, check, pathOrUrl(random, path()), `seed ${seed}, ${JSON.stringify(dialect.parsing)}`)
      }
    }
    expect(counts.byRule).toBeGreaterThan(counts.checks / 4)
    expect(counts.disallowed).toBeGreaterThan(counts.checks / 20)
  })

  it('for text with a character whose UTF-8 and Latin-1 bytes differ, in a dialect that decodes', () => {
    const decoding = randomDialect(() => 0)
    const dialect = { ...decoding, parsing: { ...decoding.parsing, compare: 'decoded' } } as const
    for (const url of ['/%E9', '/%C3%A9', '/\u00e9', '/%C3%83%C2%A9']) {
      const ways = ['User-agent: *\nDisallow: /\u00e9', bytes('User-agent: *\nDisallow: /\xc3\xa9')].map((source) =>
        checkEveryWay(source, { dialect }, 'a')(url),
      )
      for (const { others } of ways) expect(others, url).toEqual([])
      expect(ways[1]?.verdict, url).toEqual(ways[0]?.verdict)
    }
  })

  // Core reuses its buffers. Near these lengths it takes a larger buffer or another code path, and
  // must not read bytes that are not there.
  it.each([4094, 4095, 4096, 4097, 8191, 8192])(
    'for a path of %i bytes, with a freshly loaded core',
    async (length) => {
      for (const letter of ['a', '\u00e9', '\u20ac']) {
        vi.resetModules()
        const fresh = await import('../src/index.ts')
        const bytes = Buffer.from(letter).length
        const path = `/${'a'.repeat((length - 1) % bytes)}${letter.repeat((length - 1) / bytes)}`
        expect(Buffer.from(path).length).toBe(length)
        const verdict = fresh.parseRobots(`User-agent: *\nDisallow: ${path}`).check(path, 'a')
        expect(verdict.because === 'rule' && verdict.rule.text === path, `${length} bytes of ${letter}`).toBe(true)
      }
    },
  )

  it.each([4094, 4095, 4096, 4097])(
    'for %i bytes of packed rules that are not all ASCII, with a freshly loaded core',
    async (length) => {
      const file = (fill: number) => `User-agent: caf\u00e9\nUser-agent: *\nDisallow: /b\nAllow: /${'a'.repeat(fill)}`
      const packedBytes = (fill: number) => parseRobots(file(fill)).forCrawler('a').toJSON().packed.length
      let fill = length - 60
      while (packedBytes(fill) < length) fill++
      expect(packedBytes(fill)).toBe(length)
      const robots = file(fill)
      for (const url of ['/b', '/', '/a', `/${'a'.repeat(fill)}`]) {
        vi.resetModules()
        const fresh = await import('../src/index.ts')
        const rules = fresh.parseRobots(robots).forCrawler('a')
        expect(rules.check(url), url).toEqual(parseRobots(robots).check(url, 'a'))
      }
    },
  )

  it('for packed rules that are larger than the reused buffers and not all ASCII', { tags: 'full' }, () => {
    const rules = Array.from({ length: 400 }, (_, i) => `Disallow: /${i}${'\u00e9'.repeat(500)}`)
    const file = ['User-agent: caf\u00e9', 'User-agent: *', ...rules, 'Disallow: /b', 'Allow: /'].join('\n')
    expect(parseRobots(file).forCrawler('a').toJSON().packed.length).toBeGreaterThan(2 ** 20)
    const check = checkEveryWay(file, {}, 'a')
    for (const url of ['/b', '/', '/x', `/7${'\u00e9'.repeat(500)}`]) expect(check(url).others, url).toEqual([])
  })
})

it('a list of product tokens is read again after the caller changed it', () => {
  const robots = parseRobots('User-agent: a\nDisallow: /\n\nUser-agent: b\nAllow: /')
  const tokens = ['a']
  expect(robots.isAllowed('/x', tokens)).toBe(false)
  tokens[0] = 'b'
  expect(robots.isAllowed('/x', tokens)).toBe(true)
})
