import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DialectName, dialects, parseRobots } from '../src/index.ts'
import { matchesWildcards } from '../src/match/pattern.ts'
import { RequestPath } from '../src/url/request-path.ts'
import { SuffixAutomaton } from '../src/url/suffix-automaton.ts'
import { countingPath, pathOf } from './all-matchers.ts'

const names = Object.keys(dialects) as DialectName[]
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
/** A random file, and a path to check. */
const fileAndPath = fc.integer({ min: 1, max: 2 ** 31 }).map((seed) => {
  const random = seededRandom(seed)
  const file = randomRobots(random)
  return { file, path: randomPath(random, file) }
})

describe('any file', () => {
  it('is parsed and checked without an exception', () => {
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
      { numRuns: sampled(1_000) },
    )
  })

  it('has explanations that agree with the verdicts, in every dialect', () => {
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

  it('gives the same verdict as text and as bytes, also as part of a larger buffer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fileAndPath, (words, { file, path }) => {
        const text = `${file.replace(/[\u0080-\uffff]/g, words)}\nDisallow: /${words}\n`
        const bytes = new TextEncoder().encode(`xx${text}xx`).subarray(2, -2)
        const verdicts = [text, bytes].map((source) => parseRobots(source).check(path, 'ExampleBot'))
        expect(verdicts[0]).toEqual(verdicts[1])
      }),
      { numRuns: sampled(1_000) },
    )
  })
})

describe('a verdict does not depend on', () => {
  it('the kind of line ends', () => {
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

  it('the order of groups, or of rules in a group', () => {
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

describe('a match compares at most pattern × path bytes', () => {
  it.each([
    ['stars and no match', '/*a*a*a*a*a*a*a*a*a*a*b', `/${'a'.repeat(2_000)}`],
    ['stars that all match', '/*a*a*a*a*a*a*a*a*a*a*a$', `/${'a'.repeat(2_000)}`],
    ['only stars after a slash', `/${'*'.repeat(2_000)}`, `/${'a'.repeat(2_000)}`],
    ['a long piece that nearly matches', `/*${'a'.repeat(500)}b`, `/${'a'.repeat(2_000)}b`],
    ['a long end that nearly matches', `/*b${'a'.repeat(500)}$`, `/b${'a'.repeat(2_000)}b`],
    ['many pieces of two bytes', '/*ab'.repeat(300), `/${'/xab'.repeat(500)}`],
    ['many pieces, of which only the last is missing', `${'/*ab'.repeat(300)}*ba$`, `/${'/xab'.repeat(500)}`],
  ])('%s', (_name, rule, text) => {
    const { path, reads } = countingPath(text)
    matchesWildcards(path, bytes(rule), 0, rule.length)
    expect(reads()).toBeGreaterThan(0)
    expect(reads()).toBeLessThanOrEqual((rule.length + 1) * (text.length + 1))
  })

  it('for any pattern, and finds every match', () => {
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
          // The first star also matches text that no piece matches. That is more than a search
          // reads before it asks the automaton.
          const star = rule.indexOf('*')
          const far = `${text.slice(0, star)}${'x'.repeat(100)}${text.slice(star)}`
          if (star !== -1) {
            const result = matchesWildcards(withAutomaton(pathOf(far)), bytes(rule), 0, rule.length)
            expect(result, `${rule} and ${far}, with automaton`).toBe(found)
          }
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
    ['a piece that occurs often in the path, but for its last byte', '/*abc', `/${'abxbc'.repeat(400)}`],
    ['a piece that occurs before the offset, and far after it', '/*z*abc*ww', `/abcz${'abx'.repeat(650)}abc`],
  ])('and far fewer for each of many patterns: %s', (_name, rule, text) => {
    const { path, reads } = countingPath(text)
    const rules = 20_000
    let matches = 0
    for (let i = 0; i < rules; i++) if (matchesWildcards(path, bytes(rule), 0, rule.length)) matches++
    expect(matches).toBe(0)
    expect(reads()).toBeGreaterThan(100_000)
    expect(reads()).toBeLessThan(100 * rules + 300_000) // not 2,000 times 20,000
  })
})

/** Makes the path use its automaton after 64 bytes of a search. */
function withAutomaton(path: RequestPath): RequestPath {
  path.searchedBytes = 2 ** 20
  return path
}

describe('everything cached for a path is discarded when another path is set', () => {
  describe.each([
    ['by setPath', (path: RequestPath, text: string) => path.setPath(text, 'rfc9309')],
    ['by setSimpleUrl', (path: RequestPath, text: string) => path.setSimpleUrl(text, undefined, 'rfc9309')],
  ])('%s', (_name, set) => {
    it.each([
      ['the automaton', 300],
      ['the automaton of a long path', 3_500],
    ])('%s', (_what, length) => {
      const far = 'x'.repeat(length)
      const path = new RequestPath()
      set(path, `/axb${far}`)
      withAutomaton(path)
      expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(false)
      set(path, `/axab${far}`)
      expect(matchesWildcards(path, bytes('/*ab'), 0, 4)).toBe(true)
    })
  })
})

describe('the suffix automaton', () => {
  it('does not find a piece that overlaps the end of the pattern', () => {
    for (const [end, isMatch] of [
      ['aab', false],
      ['aabb', true],
    ] as const) {
      const path = withAutomaton(pathOf(`/${'x'.repeat(100)}${end}`))
      expect(matchesWildcards(path, bytes('/*ab*b$'), 0, 7), end).toBe(isMatch)
    }
  })

  it('finds each piece where indexOf finds it, from any offset on', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', '%', '\0', '\xff'), maxLength: 60 }),
    )
    let found = 0
    let missed = 0
    fc.assert(
      fc.property(text, text, fc.nat(60), fc.nat(6), (path, other, offset, length) => {
        const automaton = new SuffixAutomaton(bytes(`?${path}?`), 1, 1 + path.length)
        const at = offset % (path.length + 1)
        for (const piece of [path.slice(at, at + length), other.slice(0, length), `${path}a`]) {
          for (let from = 0; from <= path.length && piece !== ''; from++) {
            const endOfNext = automaton.endOfNext(bytes(`?${piece}`), 1, 1 + piece.length, from)
            const expected = path.indexOf(piece, from)
            const expectedEnd = expected === -1 ? -1 : expected + piece.length
            if (endOfNext !== expectedEnd) expect.fail(`${piece} in ${path} from ${from} on: ${endOfNext}`)
            if (expected === -1) missed++
            else found++
          }
        }
      }),
      { numRuns: sampled(5_000) },
    )
    expect(found).toBeGreaterThan(sampled(10_000))
    expect(missed).toBeGreaterThan(sampled(10_000))
  })

  it('indexes long paths with up to 256 different bytes', () => {
    const random = seededRandom(1)
    const length = sampled(200_000)
    for (const different of [1, 2, 256]) {
      const path = Array.from({ length }, () => String.fromCharCode(Math.floor(random() * different))).join('')
      const automaton = new SuffixAutomaton(bytes(path), 0, path.length)
      const endOfNext = (piece: string, from: number) => automaton.endOfNext(bytes(piece), 0, piece.length, from)
      for (let byte = 0; byte < different; byte++) {
        const one = String.fromCharCode(byte)
        expect(endOfNext(one, 0)).toBe(path.indexOf(one) + 1)
      }
      for (let i = 0; i < 1_000; i++) {
        const start = Math.floor(random() * path.length)
        const piece = path.slice(start, start + 1 + Math.floor(random() * 20))
        const ends = [endOfNext(piece, 0), endOfNext(piece, start)]
        expect(ends).toEqual([path.indexOf(piece) + piece.length, start + piece.length])
      }
    }
  })
})
