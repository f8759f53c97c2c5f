import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'
import type { NormalForm } from '../src/url/normal-form.ts'
import { MAX_PATH_LENGTH } from '../src/url/origin.ts'
import { RequestPath } from '../src/url/request-path.ts'
import { sentUrlOf } from '../src/url/sent-path.ts'
import { checkEveryWay, checkOften, dialectNames } from './all-matchers.ts'

const STARTS = [
  '',
  'https://example.com',
  'https://example.com:443',
  'https://example.com:8080',
  'https://example.com:',
  'https://example.com.',
  'https://example.com.evil.example',
  'https://example.com@evil.example',
  'https://user:pw@example.com',
  'HTTPS://example.com',
  'https://EXAMPLE.com',
  'http://example.com',
  'http://example.com:80',
  'ftp://example.com',
  'https:///example.com',
  'https:example.com',
  ' https://example.com',
  'https://b\u00fccher.example',
  'https://xn--bcher-kva.example',
  'https://1.2.3.400',
  'http://[::1]',
  'https://example.com:99999',
  'https://a_b',
  'https://a%20b',
  'https://:80',
  'https://',
  'mailto:',
]

const PIECES = [
  '/',
  '/',
  '/',
  'a',
  'b',
  'Z9',
  'index.html',
  '.',
  '..',
  '/.',
  '/..',
  './',
  '../',
  '%2e',
  '%2E',
  '.%2e',
  '%2E%2e/',
  '%7e',
  '%7E',
  '%41',
  '%2f',
  '%2F',
  '%25',
  '%c3%a9',
  '%zz',
  '%',
  '%4',
  "'",
  '%27',
  '"',
  '*',
  '%2A',
  '%2a',
  '$',
  '%24',
  '\t',
  '\n',
  '\r',
  ' ',
  '\\',
  '#',
  '#/x',
  '//',
  '\u00e9',
  '\u{1f600}',
  '\ud800',
  '\0',
  '?',
  '?a=b&c',
  ';',
  '=',
  ':',
  '@',
  '[]',
  '|',
  '^',
  '{}',
  '<',
  '`',
  '~',
  '!()+,',
]

const ORIGINS = [
  undefined,
  'https://example.com',
  'https://example.com:8080',
  'http://example.com',
  'https://xn--bcher-kva.example',
  'http://[::1]',
  'https://xy;1',
]

/** A URL or a path made of random pieces, some of them very long. */
const url = fc
  .record({
    start: fc.constantFrom(...STARTS),
    slash: fc.constantFrom('/', '/', '/', ''),
    pieces: fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }),
    length: fc.oneof(fc.constant(0), fc.nat(40), fc.integer({ min: 4_060, max: 4_110 }), fc.nat(5_000)),
    filling: fc.constantFrom('a', 'ab/', '%7e', "'", '*'),
  })
  .map(({ start, slash, pieces, length, filling }) => {
    const half = pieces.length >> 1
    const filled = filling.repeat(Math.ceil(length / filling.length)).slice(0, length)
    return start + slash + pieces.slice(0, half).join('') + filled + pieces.slice(half).join('')
  })

/** A URL that is likely to be simple (request-path.ts). */
const likelySimpleUrl = fc
  .record({
    start: fc.constantFrom('', 'https://example.com', 'http://x', 'https://xy:1', 'https://xy;1'),
    pieces: fc.array(fc.constantFrom(..."a b1 / /c . - %7e %c3 %2f % ' * $ ? &".split(' ')), { maxLength: 20 }),
    filling: fc.constantFrom('', '', 'a'.repeat(3_999), '/b7'.repeat(1_300), "'".repeat(4_000)),
  })
  .map(({ start, pieces, filling }) => `${start}/${filling}${pieces.join('')}`)

const anyUrl = fc.oneof(url, likelySimpleUrl, likelySimpleUrl)

const bytesOf = ({ bytes, start, end }: RequestPath) => Buffer.from(bytes.subarray(start, end)).toString('latin1')

const FORMS = ['rfc9309', 'decoded', 'plain', 'google'] as const

/** Returns the path that `setSimpleUrl` sets; undefined if the URL is not simple. */
function fastPath(text: string, origin: string | undefined, form: NormalForm = 'rfc9309'): string | undefined {
  const path = new RequestPath()
  return path.setSimpleUrl(text, origin, form) ? bytesOf(path) : undefined
}

/**
 * Returns the path that the platform's URL parser finds, or google/robotstxt; undefined for an
 * invalid URL. Also whether the URL belongs to another origin.
 */
function parsed(
  text: string,
  origin: string | undefined,
  form: NormalForm = 'rfc9309',
): { readonly path: string | undefined; readonly isOtherOrigin: boolean } {
  const sent = sentUrlOf(text, form, origin !== undefined)
  if (typeof sent === 'string') return { path: undefined, isOtherOrigin: false }
  const path = new RequestPath()
  path.setPath(sent.path, form)
  const isOtherOrigin = sent.origin !== undefined && origin !== undefined && sent.origin !== origin
  return { path: bytesOf(path), isOtherOrigin }
}

describe('setSimpleUrl, RFC 9309 §2.2.2', () => {
  it.each(FORMS)('sets the path that is found in the form %s, or returns false', (form) => {
    let simple = 0
    let changed = 0
    let notSimple = 0
    let long = 0
    const lengths = new Set<number>()
    fc.assert(
      fc.property(anyUrl, fc.constantFrom(...ORIGINS), (text, origin) => {
        const path = fastPath(text, origin, form)
        if (path === undefined) {
          notSimple++
          return
        }
        const expected = parsed(text, origin, form)
        expect(path).toBe(expected.path)
        expect(expected.isOtherOrigin).toBe(false)
        simple++
        if (!text.endsWith(path)) changed++
        if (text.length > 3_000) long++
        lengths.add(path.length % 4)
      }),
      { numRuns: sampled(10_000) },
    )
    expect(notSimple).toBeGreaterThan(sampled(2_000))
    expect(simple).toBeGreaterThan(form === 'rfc9309' || form === 'google' ? sampled(700) : 0)
    if (form !== 'rfc9309') return // these URLs are not changed
    expect(changed).toBeGreaterThan(sampled(500))
    expect(long).toBeGreaterThan(sampled(50))
    expect(lengths.size).toBe(4)
  })

  it.each(['/.', '/..', '/a/./b', '/a/..', '/ab/..?b', '/a?b=/.', '/a/.%2e', '/a/%2E/'])(
    '%s, which may have a dot segment, is not simple',
    (text) => {
      expect(fastPath(text, undefined)).toBeUndefined()
    },
  )

  it('a URL of a host with `;`, where the path begins in google/robotstxt, is not simple there', () => {
    expect(fastPath('https://a;b/c', 'https://a;b', 'google')).toBeUndefined()
    expect(fastPath('https://a;b/c', 'https://a;b')).toBe('/c')
    expect(parsed('https://a;b/c', 'https://a;b', 'google').path).toBe('/;b/c')
  })

  it.each(['/...', '/.well-known/x', '/a/.b', '/a/..b/', '/a./b', '/a?b=/.c'])('%s is simple', (text) => {
    expect(fastPath(text, undefined)).toBe(text)
  })

  it('leads to the same result of isAllowed and check, with a rule for exactly this path or another', () => {
    let allowed = 0
    let disallowed = 0
    let simple = 0
    fc.assert(
      fc.property(anyUrl, fc.constantFrom(...ORIGINS), fc.boolean(), (text, origin, isOther) => {
        const { path = '/' } = parsed(text, origin)
        // A rule must fit into a line. The other rule matches paths that differ in the last byte
        // only.
        const rule = path.length > 16_000 ? path.slice(0, 16_000) : `${isOther ? path.slice(0, -1) : path}$`
        const robots = parseRobots(`User-agent: *\nDisallow: ${rule}`, origin === undefined ? {} : { origin })
        const rules = robots.forCrawler('a')
        const verdict = rules.check(text)
        expect(rules.isAllowed(text)).toBe(verdict.allowed)
        expect(robots.isAllowed(text, 'a')).toBe(verdict.allowed)
        expect(robots.isAllowed(text, 'a')).toBe(verdict.allowed)
        if (verdict.allowed) allowed++
        else if (verdict.because === 'rule') disallowed++
        if (fastPath(text, origin) !== undefined) simple++
      }),
      { numRuns: sampled(6_000) },
    )
    expect(allowed).toBeGreaterThan(sampled(500))
    expect(disallowed).toBeGreaterThan(sampled(500))
    expect(simple).toBeGreaterThan(sampled(700))
  })

  it('leads to the same result with rules that match or nearly match, and without rules', () => {
    let disallowed = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...ORIGINS.filter((origin) => origin !== undefined)),
        fc.array(fc.constantFrom(...PIECES, ...'abcabc/abc/abc/'), { maxLength: 12 }),
        fc.nat(20),
        fc.constantFrom('', '', '/', 'a', '%4', 'Z', '.'),
        (origin, pieces, length, end) => {
          const text = `${origin}/${pieces.join('')}`
          const { path = '/' } = parsed(text, origin)
          const file = `User-agent: *\nDisallow: ${path.slice(0, 1 + length)}${end}\nDisallow: /b\nAllow: /ab`
          const rules = checkOften(parseRobots(file, { origin }).forCrawler('a'))
          const { allowed } = rules.check(text)
          expect(rules.isAllowed(text), file).toBe(allowed)
          if (!allowed) disallowed++
          const none = parseRobots('', { origin }).forCrawler('a')
          expect(none.isAllowed(text)).toBe(none.check(text).allowed)
        },
      ),
      { numRuns: sampled(8_000) },
    )
    expect(disallowed).toBeGreaterThan(sampled(1_000))
  })

  it.each([
    ['/abcdefg%4', '/abcdefg%41'],
    ['/abcdefgA', '/abcdefg%41'],
    ['/abcdefg', '/abcd\tefg'],
    ['/abcdefg', '/abcdefg/../x'],
    ['/abcdefg', '/abcdefg/%\t2e%\n2E/x'],
    ['/abcdefg', '/abcdefg/%2\te%2\nE/x'],
    ['/abcdefg', '/abcdefg/.\t./x'],
    ['/abcdefg', '/abcdefg/\t../x'],
    ['/abcdefg<', '/abcdefg<x'],
    ['/abcdefg', '/abcdefg\\..\\x'],
    ['/abcdefg', '/x/../abcdefg'],
    ['/abcdefg', '/abcd\\..'],
    ['/abcdefg', '/abcdefg?/../x'],
    ['/abcdefg', '/abcdefg#/../x'],
    ['/abcdefg#', '/abcdefg#'],
    ['/abcdefg/', '/abcdefg\\'],
    ['/abcdefg', ' /abcdefg'],
    ['/', '/..'],
    ['/r', '/robots.txt'],
    ['/r', '/robots.txt#'],
    ['/r', '/robots.txt?'],
    ['/r', '/robot%73.txt'],
    ['xbcdef', '/bcdefg'],
    ['bcd', '/bcd'],
    ['', '/x'],
  ])('isAllowed and check agree for the rule %j and the path %j', (rule, path) => {
    const [origin, file] = ['https://example.com', `User-agent: *\nDisallow: ${rule}`]
    for (const dialect of dialectNames) {
      const rules = checkOften(parseRobots(file, { origin, dialect }).forCrawler('a'))
      expect(rules.isAllowed(origin + path), dialect).toBe(rules.check(origin + path).allowed)
    }
  })

  it.each([0, 1, 2, 3, 10, 11, 12, 4_095, 4_096, 4_097, 4_999, 5_000])(
    'agrees with the URL parser for a URL of %i bytes',
    (length) => {
      for (const start of ['/', 'https://example.com/', 'http://a/']) {
        const text = start.padEnd(length, 'a').slice(0, length)
        const { path = '/' } = parsed(text, undefined)
        const rules = parseRobots(`User-agent: *\nDisallow: ${path}$`).forCrawler('a')
        expect(rules.isAllowed(text), text).toBe(rules.check(text).allowed)
        const simple = fastPath(text, undefined)
        if (simple !== undefined) expect(simple).toBe(path)
      }
    },
  )

  it('recognizes /robots.txt, which is always allowed', () => {
    const rules = parseRobots('User-agent: *\nDisallow: /').forCrawler('a')
    const spellings = [
      '/robots.txt',
      'https://example.com/robots.txt',
      '/robot%73.txt',
      '/./robots.txt',
      '/robots.txt#a',
    ]
    for (const text of spellings) expect(rules.isAllowed(text), text).toBe(true)
    for (const text of ['/robots.txt?', '/Robots.txt', '/robotsxtxt', '/robots%2Etxtx']) {
      expect(rules.isAllowed(text), text).toBe(false)
    }
  })

  it('leads to the same result for a string and for a URL object', () => {
    let disallowed = 0
    fc.assert(
      fc.property(likelySimpleUrl, (text) => {
        const whole = text.startsWith('/') ? `https://example.com${text}` : text
        const rules = parseRobots(`User-agent: *\nDisallow: ${parsed(whole, undefined).path}$`).forCrawler('a')
        expect([rules.isAllowed(whole), rules.isAllowed(new URL(whole))]).toEqual([
          rules.check(whole).allowed,
          rules.check(new URL(whole)).allowed,
        ])
        if (!rules.isAllowed(whole)) disallowed++
      }),
      { numRuns: sampled(500) },
    )
    expect(disallowed).toBeGreaterThan(sampled(300))
  })
})

describe("an origin that only begins like the file's origin is another origin, RFC 9309 §2.3", () => {
  it.each([
    ['https://example.com', 'https://example.com.evil'],
    ['https://example.com', 'https://example.com:8080'],
    ['https://example.com', 'https://example.com@evil'],
    ['https://example.com', 'https://example.com:80@evil'],
    ['https://example.com', 'https://example.com\\@evil'],
    ['https://example.com', 'https://example.community'],
    ['https://example.com', 'https://example.com%2eevil'],
    ['https://example.com', 'https://example.com-'],
    ['https://example.com', 'http://example.com'],
    ['https://example.com', 'https://example.co'],
    ['https://example.com', 'https://example.con'],
    ['https://example.com', 'https://exemple.com'],
    ['https://example.com', '//example.com'],
    ['https://example.com', '//evil'],
    ['https://example.com', '/\\evil'],
    ['https://example.com:8080', 'https://example.com:80801'],
    ['https://example.com:8080', 'https://example.com'],
    ['https://example.com:8080', 'https://example.com:808'],
    ['http://a', 'http://ab'],
    ['http://[::1]', 'http://[::1]:8'],
  ])('%s and not %s', (origin, other) => {
    const rules = parseRobots('User-agent: *\nAllow: /', { origin }).forCrawler('a')
    expect(rules.isAllowed(`${origin}/`)).toBe(true)
    for (const path of ['/', '/a', '/a/b?c', '/%7e', '', '?', '#']) {
      const text = other + path
      // A `\` ends a host as `/` does, so this is a path of the file's own origin.
      if (other === 'https://example.com\\@evil') {
        expect(rules.isAllowed(text), text).toBe(rules.check(text).allowed)
        continue
      }
      expect(fastPath(text, origin), text).toBeUndefined()
      expect(rules.check(text).allowed, text).toBe(false)
      expect(rules.isAllowed(text), text).toBe(false)
    }
  })

  it('also directly after a check with the file of the other origin', () => {
    const open = (origin: string) => parseRobots('User-agent: *\nAllow: /', { origin }).forCrawler('a')
    const [a, b] = [open('https://a.example'), open('https://b.example')]
    for (let i = 0; i < 20; i++) {
      expect([a.isAllowed('https://a.example/'), b.isAllowed('https://a.example/')]).toEqual([true, false])
      expect([a.isAllowed('https://b.example/'), b.isAllowed('https://b.example/')]).toEqual([false, true])
    }
  })
})

describe('a URL whose path is about as long as the longest path that is checked', { tags: 'full' }, () => {
  const ORIGIN = 'https://xn--bcher-kva.example'
  const FILES = [
    '',
    'User-agent: *\nDisallow:',
    'User-agent: other\nDisallow: /',
    'User-agent: *\nAllow: /',
    'User-agent: *\nDisallow: /*a',
  ]
  const URL_STARTS = [
    ORIGIN,
    `${ORIGIN}:443`,
    'https://user:pw@xn--bcher-kva.example',
    'https://b\u00fccher.example',
    'https://example.com',
    '',
  ]
  // Percent-encoding writes 1, 3, 6, 9, 12 and 9 characters for the first six. A client removes a
  // tab and a line feed.
  const FILLINGS = ['a', ' ', '\u00e9', '\u20ac', '\u{1f600}', '\ud800', 'a\t\n']

  it.each([
    [10_922, 'no-group'],
    [10_923, 'too-long'],
  ])('with %i times \u00e9, and without rules: %s', (count, expected) => {
    const url = `https://example.com/${'\u00e9'.repeat(count)}`
    const { verdict, others } = checkEveryWay('', { origin: 'https://example.com' }, 'a')(url)
    expect([verdict.because === 'invalid-url' ? verdict.problem : verdict.because, others]).toEqual([expected, []])
  })

  it('gets the same verdict in every way', () => {
    let tooLong = 0
    let allowed = 0
    fc.assert(
      fc.property(
        fc.record({
          file: fc.constantFrom(...FILES),
          dialect: fc.constantFrom(...dialectNames),
          origin: fc.constantFrom(ORIGIN, ORIGIN, undefined),
          start: fc.constantFrom(ORIGIN, ...URL_STARTS),
          first: fc.constantFrom('/', '/robots.txt?', '/../', '\\'),
          filling: fc.constantFrom(...FILLINGS),
          by: fc.integer({ min: -30, max: 30 }),
          end: fc.constantFrom('', '#fragment', `#${'\u00e9'.repeat(9_000)}`, '\t', '\0'),
        }),
        ({ file, dialect, origin, start, first, filling, by, end }) => {
          const sent = encodeURI(filling.toWellFormed().replace(/[\t\n]/g, ''))
          const length = dialect === 'google' ? filling.length : sent.length
          const text = `${start}${first}${filling.repeat(Math.ceil((MAX_PATH_LENGTH + by) / length))}${end}`
          const { verdict, others } = checkEveryWay(file, { dialect, ...(origin && { origin }) }, 'a')(text)
          expect(others).toEqual([])
          if (verdict.because === 'invalid-url') tooLong++
          if (verdict.allowed) allowed++
        },
      ),
      { numRuns: sampled(600) },
    )
    expect(tooLong).toBeGreaterThan(sampled(100))
    expect(allowed).toBeGreaterThan(sampled(30))
  })
})
