import { checkNaively } from '@politely/testkit/naive-reader'
import { randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { isFullRun, sampled } from '@politely/testkit/scope'
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

/** As `readNaively` wants it: the path that a client sends; undefined for what starts with a host that nobody named a scheme for. */
function sentPathOf(url: string): string | undefined {
  if (/^\/[/\\]/.test(url)) return undefined
  const address = parseUrl(url.startsWith('/') ? `https://example.com${url}` : url)
  return typeof address === 'string' ? undefined : address.path
}

/** A path, or a whole URL. */
const askable = (random: () => number, path: string) =>
  `${random() < 0.5 ? 'https://example.com' : ''}${utf8TextOf(path)}`

/** What was compared, so that no test can pass because it asked nothing worth an answer. */
const nothingSeen = () => ({ asked: 0, allowed: 0, disallowed: 0, byRule: 0, naively: 0 })

function compare(
  seen: ReturnType<typeof nothingSeen>,
  file: string,
  way: ReturnType<typeof checkEveryWay>,
  url: string,
  whence: string,
  naiveToken?: string,
): void {
  const { verdict, others } = way(url)
  if (others.length > 0) expect.fail(`${whence} asks ${JSON.stringify(url)}: ${others.join('\n')}`)
  seen.asked++
  seen[verdict.allowed ? 'allowed' : 'disallowed']++
  if (verdict.because === 'rule') seen.byRule++
  const path = naiveToken === undefined ? undefined : sentPathOf(url)
  if (naiveToken === undefined || path === undefined) return
  const ours = { allowed: verdict.allowed, line: ruleLineOf(verdict) }
  expect(ours, `${whence} asks ${JSON.stringify(url)}`).toEqual(checkNaively(file, naiveToken, path))
  seen.naively++
}

describe('every way to ask gives the same answer, RFC 9309 §2.2.2', () => {
  it('on files made by dice, and the slow and obvious reader gives it too', () => {
    const seen = nothingSeen()
    for (let seed = 1; seed <= sampled(1_000); seed++) {
      const random = seededRandom(seed)
      const file = randomRobots(random)
      for (const token of ['ExampleBot', 'a1', 'Nobody']) {
        const way = checkEveryWay(bytes(file), {}, token)
        for (let i = 0; i < 4; i++) {
          compare(seen, file, way, askable(random, randomPath(random, file)), `seed ${seed}, ${token}`, token)
        }
      }
    }
    expect(seen.naively).toBeGreaterThan(seen.asked / 2)
    expect(seen.disallowed).toBeGreaterThan(seen.asked / 20)
    expect(seen.byRule).toBeGreaterThan(seen.asked / 10)
  })

  it.each(isFullRun ? dialectNames : dialectNames.slice(0, 1))(
    'on large files made by dice, in dialect %s',
    { timeout: 120_000 },
    (dialect) => {
      const seen = nothingSeen()
      const before = indexed()
      for (let seed = 1; seed <= sampled(150); seed++) {
        const random = seededRandom(seed)
        const { file, path } = randomLargeRobots(random)
        const way = checkEveryWay(bytes(file), { dialect }, 'ExampleBot')
        const naiveToken = dialect === 'rfc9309' ? 'ExampleBot' : undefined
        for (let i = 0; i < 20; i++) {
          compare(seen, file, way, askable(random, path()), `${dialect}, seed ${seed}`, naiveToken)
        }
      }
      const through = indexed() - before
      if (dialect === 'rfc9309') expect(seen.naively).toBeGreaterThan(seen.asked / 2)
      expect(through).toBeGreaterThan(seen.asked)
      expect(seen.allowed).toBeGreaterThan(seen.asked / 20)
      if (dialect !== 'original-1994') expect(seen.byRule).toBeGreaterThan(seen.asked / 4)
      expect(seen.disallowed).toBeGreaterThan(seen.asked / 20)
    },
  )

  it('in dialects of one’s own, whose words are mixed by dice', { timeout: 120_000 }, () => {
    const seen = nothingSeen()
    for (let seed = 1; seed <= sampled(400); seed++) {
      const random = seededRandom(seed)
      const dialect = randomDialect(random)
      const { file, path } = randomLargeRobots(random)
      const text = utf8TextOf(file)
      const source = random() < 0.5 ? text : bytes(file)
      const way = checkEveryWay(source, { dialect }, 'ExampleBot')
      for (let i = 0; i < 6; i++) {
        compare(seen, file, way, askable(random, path()), `seed ${seed}, ${JSON.stringify(dialect.parsing)}`)
      }
    }
    expect(seen.byRule).toBeGreaterThan(seen.asked / 4)
    expect(seen.disallowed).toBeGreaterThan(seen.asked / 20)
  })

  it('where one character of a text is another byte, in a dialect that decodes', () => {
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

  // Bytes are put where other bytes were; what does not fit there must not be taken for what does.
  it.each([4094, 4095, 4096, 4097, 8191, 8192])(
    'where a path is %i bytes, to a reader that has read nothing yet',
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
    'where %i bytes of rules are packed, not all ASCII, to a reader that has read nothing yet',
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

  it.runIf(isFullRun)('where more rules are packed than bytes are kept for, and not all are ASCII', () => {
    const rules = Array.from({ length: 400 }, (_, i) => `Disallow: /${i}${'\u00e9'.repeat(500)}`)
    const file = ['User-agent: caf\u00e9', 'User-agent: *', ...rules, 'Disallow: /b', 'Allow: /'].join('\n')
    expect(parseRobots(file).forCrawler('a').toJSON().packed.length).toBeGreaterThan(2 ** 20)
    const way = checkEveryWay(file, {}, 'a')
    for (const url of ['/b', '/', '/x', `/7${'\u00e9'.repeat(500)}`]) expect(way(url).others, url).toEqual([])
  })
})

it('a list of product tokens that its owner changed is another list', () => {
  const robots = parseRobots('User-agent: a\nDisallow: /\n\nUser-agent: b\nAllow: /')
  const tokens = ['a']
  expect(robots.isAllowed('/x', tokens)).toBe(false)
  tokens[0] = 'b'
  expect(robots.isAllowed('/x', tokens)).toBe(true)
})
