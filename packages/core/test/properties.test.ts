import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DialectName, dialects, parseRobots } from '../src/index.ts'
import { matchesWildcards } from '../src/match/pattern.ts'
import { RequestPath } from '../src/url/request-path.ts'
import { MAX_AUTOMATON_BYTES, SuffixAutomaton } from '../src/url/suffix-automaton.ts'
import { OriginBytes, setSimpleUrl } from '../src/url/url-fast-path.ts'
import { countingPath, pathOf } from './all-matchers.ts'

const names = Object.keys(dialects) as DialectName[]
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
/** A file by dice, and a path to ask about. */
const fileAndPath = fc.integer({ min: 1, max: 2 ** 31 }).map((seed) => {
  const random = seededRandom(seed)
  const file = randomRobots(random)
  return { file, path: randomPath(random, file) }
})

describe('whatever a site sends', () => {
  it('reading it never throws', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.string({ unit: 'binary' }),
        fc.string(),
        (bytes, url, agent) => {
          for (const dialect of names) {
            const robots = parseRobots(bytes, { dialect })
            expect(typeof robots.check(url, agent).allowed).toBe('boolean')
            expect(robots.explain(url, [agent, 'ExampleBot']).verdict).toEqual(robots.check(url, [agent, 'ExampleBot']))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('what explains a verdict explains that verdict, in every dialect', () => {
    let explained = 0
    fc.assert(
      fc.property(fileAndPath, fc.constantFrom(...names), ({ file, path }, dialect) => {
        const robots = parseRobots(bytes(file), { dialect })
        const { verdict, matches: matching, wonBy } = robots.explain(path, 'ExampleBot')
        expect(verdict).toEqual(robots.check(path, 'ExampleBot'))
        expect(verdict.because === 'rule').toBe(matching.length > 0)
        expect(wonBy === 'no-rule').toBe(matching.length === 0)
        if (verdict.because === 'rule') expect(matching[0]).toMatchObject(verdict.rule)
        explained += matching.length
      }),
      { numRuns: sampled(2_000) },
    )
    expect(explained).toBeGreaterThan(sampled(200))
  })

  it('text and bytes read alike, also out of the middle of a larger buffer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fileAndPath, (words, { file, path }) => {
        const text = `${file.replace(/[\u0080-\uffff]/g, words)}\nDisallow: /${words}\n`
        const bytes = new TextEncoder().encode(`xx${text}xx`).subarray(2, -2)
        const verdicts = [text, bytes].map((source) => parseRobots(source).check(path, 'ExampleBot'))
        expect(verdicts[0]).toEqual(verdicts[1])
      }),
      { numRuns: 500 },
    )
  })
})

describe('a verdict does not depend on', () => {
  it('how lines end', () => {
    let decided = 0
    fc.assert(
      fc.property(fileAndPath, ({ file, path }) => {
        const lines = file.split(/\r\n|\r|\n/)
        const [lf, cr, crlf] = ['\n', '\r', '\r\n'].map((end) =>
          parseRobots(bytes(lines.join(end))).check(path, 'ExampleBot'),
        )
        expect(cr).toEqual(lf)
        expect(crlf).toEqual(lf)
        if (lf?.because === 'rule') decided++
      }),
      { numRuns: sampled(1_000) },
    )
    expect(decided).toBeGreaterThan(sampled(100))
  })

  it('the order of groups, nor on that of rules in a group', () => {
    const path = fc
      .string({ unit: fc.constantFrom('/', 'a', 'b', '*', '$', '%61'), maxLength: 4 })
      .map((end) => `/${end}`)
    const rule = fc.tuple(fc.constantFrom('Allow', 'Disallow'), path).map(([key, value]) => `${key}: ${value}`)
    const group = fc.record({
      agent: fc.constantFrom('*', 'ExampleBot', 'Other'),
      rules: fc.array(rule, { minLength: 1 }),
    })
    let disallowed = 0
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 6 }), path, fc.nat(), (groups, url, seed) => {
        const text = (of: typeof groups) =>
          of.map(({ agent, rules }) => [`User-agent: ${agent}`, ...rules, ''].join('\n')).join('\n')
        const random = seededRandom(seed)
        const shuffled = <T>(items: readonly T[]) =>
          items
            .map((item) => ({ item, at: random() }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item)
        const other = shuffled(groups).map(({ agent, rules }) => ({ agent, rules: shuffled(rules) }))
        const allowed = parseRobots(text(groups)).isAllowed(url, 'ExampleBot')
        expect(parseRobots(text(other)).isAllowed(url, 'ExampleBot')).toBe(allowed)
        if (!allowed) disallowed++
      }),
      { numRuns: sampled(2_000) },
    )
    expect(disallowed).toBeGreaterThan(sampled(100))
  })
})

describe('matching is bounded by pattern × path', () => {
  it.each([
    ['stars and no match', '/*a*a*a*a*a*a*a*a*a*a*b', `/${'a'.repeat(2_000)}`],
    ['stars that all match', '/*a*a*a*a*a*a*a*a*a*a*a$', `/${'a'.repeat(2_000)}`],
    ['nothing but stars behind a slash', `/${'*'.repeat(2_000)}`, `/${'a'.repeat(2_000)}`],
    ['a long piece that nearly fits', `/*${'a'.repeat(500)}b`, `/${'a'.repeat(2_000)}b`],
    ['a long end that nearly fits', `/*b${'a'.repeat(500)}$`, `/b${'a'.repeat(2_000)}b`],
    ['pairs', '/*ab'.repeat(300), `/${'/xab'.repeat(500)}`],
    ['pieces of which only the last is missing', `${'/*ab'.repeat(300)}*ba$`, `/${'/xab'.repeat(500)}`],
  ])('%s', (_name, rule, text) => {
    const { path, reads } = countingPath(text)
    matchesWildcards(path, bytes(rule), 0, rule.length)
    expect(reads()).toBeGreaterThan(0)
    expect(reads()).toBeLessThanOrEqual((rule.length + 1) * (text.length + 1))
  })

  it('whatever stands in the pattern, and where it matches it is found', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', '/', '*', '$')
    const textOf = (pieces: readonly string[]) => `/${pieces.join('')}`
    let matched = 0
    let missed = 0
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(piece, { maxLength: 9 }),
        fc.boolean(),
        (pattern, pieces, isNear) => {
          const rule = textOf(pattern)
          const parts = isNear ? [...pattern.map((part) => (part === '*' ? 'abab' : part)), ...pieces.slice(6)] : pieces
          if (!/\*|\$$/.test(rule)) return
          const text = textOf(parts).replace(/[*$]/g, '')
          const { path, reads } = countingPath(text)
          const found = matchesWildcards(path, bytes(rule), 0, rule.length)
          expect(reads()).toBeLessThanOrEqual((rule.length + 1) * (text.length + 1))
          const isAnchored = rule.endsWith('$')
          const escaped = (isAnchored ? rule.slice(0, -1) : rule).replace(/\$/g, '\\$').replace(/\*+/g, '.*')
          expect(found, `${rule} and ${text}`).toBe(new RegExp(`^${escaped}${isAnchored ? '$' : ''}`).test(text))
          const searched = searchedOften(pathOf(text))
          expect(matchesWildcards(searched, bytes(rule), 0, rule.length), `${rule} and ${text}, searched`).toBe(found)
          if (found) matched++
          else missed++
        },
      ),
      { numRuns: sampled(5_000) },
    )
    expect(matched).toBeGreaterThan(sampled(500))
    expect(missed).toBeGreaterThan(sampled(500))
  })

  it.each([
    ['a piece of which the path has all but the last byte in many places', '/*abc', `/${'abxbc'.repeat(400)}`],
    ['one that the path has before the offset and far behind it', '/*z*abc*ww', `/abcz${'abx'.repeat(650)}abc`],
  ])('and by the path and all patterns where a site writes many: %s', (_name, rule, text) => {
    const { path, reads } = countingPath(text)
    const rules = 20_000
    for (let i = 0; i < rules; i++) expect(matchesWildcards(path, bytes(rule), 0, rule.length)).toBe(false)
    expect(reads()).toBeGreaterThan(100_000)
    expect(reads()).toBeLessThan(10 * rules + 300_000) // not 2,000 times 20,000
  })
})

/** A path that was searched so often that it has an automaton, if it is not too long for one. */
function searchedOften(path: RequestPath): RequestPath {
  path.searchedBytes = 2 ** 20
  return path
}

describe('what was found out about a path is discarded when another one is asked about', () => {
  const known = new OriginBytes()

  describe.each([
    ['by the URL parser', (path: RequestPath, text: string) => path.setPath(text, 'rfc9309')],
    ['byte by byte', (path: RequestPath, text: string) => setSimpleUrl(path, text, undefined, known)],
  ])('%s', (_name, set) => {
    it.each([
      ['which pieces it has', 300],
      ['which pairs of bytes it has', 3_500],
    ])('%s', (_what, length) => {
      const far = 'x'.repeat(length)
      const path = new RequestPath()
      set(path, `/axb${far}`)
      searchedOften(path)
      expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(false)
      set(path, `/axab${far}`)
      expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(true)
    })
  })

  it('in a path that is too long for an automaton too', () => {
    const far = 'x'.repeat(MAX_AUTOMATON_BYTES)
    const path = new RequestPath()
    path.setPath(`/axb${far}`, 'rfc9309')
    expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(false)
    path.setPath(`/axab${far}`, 'rfc9309')
    expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(true)
  })
})

describe('where a piece is in a path', () => {
  it('is not where it would share bytes with the end of the pattern', () => {
    for (const [text, isMatch] of [
      ['/aab', false],
      ['/aabb', true],
    ] as const) {
      const path = searchedOften(pathOf(text))
      expect(matchesWildcards(path, bytes('/*ab*b$'), 0, 7), text).toBe(isMatch)
    }
  })

  it('is where the text has it, from any offset on', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', '%', '\0', '\xff'), maxLength: 60 }),
    )
    let found = 0
    let missed = 0
    fc.assert(
      fc.property(text, text, fc.nat(60), fc.nat(6), (path, other, place, length) => {
        const automaton = new SuffixAutomaton(bytes(`?${path}?`), 1, 1 + path.length)
        const at = place % (path.length + 1)
        for (const run of [path.slice(at, at + length), other.slice(0, length), `${path}a`]) {
          for (let from = 0; from <= path.length && run !== ''; from++) {
            const behind = automaton.endOfNext(bytes(`?${run}`), 1, 1 + run.length, from)
            const wanted = path.indexOf(run, from)
            expect(behind, `${run} in ${path} from ${from} on`).toBe(wanted === -1 ? -1 : wanted + run.length)
            if (wanted === -1) missed++
            else found++
          }
        }
      }),
      { numRuns: sampled(5_000) },
    )
    expect(found).toBeGreaterThan(sampled(10_000))
    expect(missed).toBeGreaterThan(sampled(10_000))
  })

  it('is known of the longest path that has an automaton, with every byte in it', () => {
    const random = seededRandom(1)
    for (const different of [1, 2, 256]) {
      const path = String.fromCharCode(
        ...Array.from({ length: MAX_AUTOMATON_BYTES }, () => Math.floor(random() * different)),
      )
      const automaton = new SuffixAutomaton(bytes(path), 0, path.length)
      const behind = (run: string, from: number) => automaton.endOfNext(bytes(run), 0, run.length, from)
      for (let byte = 0; byte < different; byte++) {
        const one = String.fromCharCode(byte)
        expect(behind(one, 0)).toBe(path.indexOf(one) + 1)
      }
      for (let i = 0; i < 1_000; i++) {
        const start = Math.floor(random() * path.length)
        const run = path.slice(start, start + 1 + Math.floor(random() * 20))
        expect(behind(run, 0)).toBe(path.indexOf(run) + run.length)
        expect(behind(run, start)).toBe(start + run.length)
      }
    }
  })
})
