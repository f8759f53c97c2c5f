import { checkNaively } from '@politely/testkit/naive-reader'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { firstInShortRun, sampled } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { parseRobots, type RulesVerdict } from '../src/index.ts'
import { checkEveryWay, dialectNames, ruleLineOf } from './all-matchers.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const latin1 = (bytes: string) => new Uint8Array(Buffer.from(bytes, 'latin1'))
const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** The number of bytes of a line that core reads. RFC 9309 sets no limit for a line. */
const MAX_LINE_BYTES = 16_663

/** The parts of a verdict that do not contain text of the file. */
const allowedAndLine = (verdict: RulesVerdict) => ({ allowed: verdict.allowed, line: ruleLineOf(verdict) })

const LINES = [
  'Disallow: /\u00e9',
  'Disallow: /\u00e9t\u00e9/*\u20ac$',
  'Allow: /\u00e9/\u{1f600}',
  'Disallow: /\ufffd',
  'Disallow: /a\ufffd',
  'Disallow: /a\0b',
  'Allow: /\0',
  'Disallow: /b # \u00e9\ufffd',
  '# \ufffd',
  '#\u00e9 \u2028 Disallow: /',
  'Disallow: /c\u2028Disallow: /',
  'Disallow: /d\u0085Disallow: /',
  '\ufeffDisallow: /bom',
  '\u00a0Disallow: /nbsp',
  'Disallow: /nbsp2\u00a0',
  'Disallow:\u00a0/nbsp3',
  'Disallow: /index/\u00e9/index.html',
  'Allow: /index/\u00e9/index.html',
  'Disallow: /%C3%A9%c3%a9',
  'Disallow: /\u00c3\u00a9',
  'Disallow: /\ud800',
  'D\u0130sallow: /dotted',
  'Di\u017fallow: /long-s',
  'Disallow \u00e9',
  'User-agent: \u00c9xampleBot',
  'User-agent: ExampleBot\u00e9',
  'User-agent: ExampleBot',
  'Crawl-delay: 1\u00e9',
  'Disallow: /',
  '',
  '\0',
]

const ENDS = ['\n', '\n', '\n', '\r\n', '\r', '\n\r', '\r\r\n']

const PATHS = [
  '/\u00e9',
  '/\u00e9t\u00e9/x\u20ac',
  '/\u00e9/\u{1f600}',
  '/\ufffd',
  '/a\ufffd',
  '/a',
  '/a%00b',
  '/b',
  '/c',
  '/c\u2028Disallow:',
  '/d\u0085',
  '/bom',
  '/nbsp',
  '/nbsp2',
  '/nbsp2%C2%A0',
  '/%C2%A0/nbsp3',
  '/index/\u00e9/',
  '/index/\u00e9/index.html',
  '/%C3%A9\u00e9',
  '/\u00c3\u00a9',
  '/%EF%BF%BD',
  '/dotted',
  '/long-s',
  '/%E9',
  '/x',
]

describe.each(firstInShortRun(dialectNames))(
  'text and bytes of one file give the same verdicts, RFC 9309 §2.3, in dialect %s',
  (dialect) => {
    it('with any characters and line ends, with and without a byte order mark', () => {
      let byRule = 0
      let disallowed = 0
      let checks = 0
      for (let seed = 1; seed <= sampled(1_200); seed++) {
        const random = seededRandom(seed)
        const lines = Array.from({ length: Math.floor(random() * 12) }, () => pick(random, LINES) + pick(random, ENDS))
        const start = pick(random, ['', '', '\ufeff', '\ufeff\ufeff', '\n'])
        const text = `${start}User-agent: ${pick(random, ['*', 'ExampleBot'])}${pick(random, ENDS)}${lines.join('')}`
        const bytes = encode(text)
        const whole = encode(`xx${text}xx`)
        const inside = whole.subarray(2, -2)
        for (let i = 0; i < 2; i++) {
          const path = pick(random, PATHS)
          const [ofText, ofBytes, ofInside] = [text, bytes, inside].map((source) =>
            checkEveryWay(source, { dialect }, 'ExampleBot')(path),
          )
          expect(ofText?.others, `seed ${seed}`).toEqual([])
          expect(ofBytes?.others, `seed ${seed}`).toEqual([])
          const what = `seed ${seed}: ${JSON.stringify(text)} checks ${path}`
          expect(ofBytes?.verdict, what).toEqual(ofText?.verdict)
          expect(ofInside?.verdict, what).toEqual(ofText?.verdict)
          checks++
          if (ofText?.verdict.because === 'rule') byRule++
          if (ofText?.verdict.allowed === false) disallowed++
        }
      }
      expect(byRule).toBeGreaterThan(checks / 20)
      expect(disallowed).toBeGreaterThan(checks / 20)
    })

    it('and bytes that are not UTF-8 affect only the values that contain them', () => {
      const invalid = ['\xff', '\xc3', '\xe9t\xe9', '\xed\xa0\x80', '\xf0\x9f', '\xc0\xaf', '\xef\xbf\xbd', '\xef\xbb']
      let disallowed = 0
      for (const broken of invalid) {
        for (const end of ['\n', '\r', '\r\n']) {
          const file = [
            'User-agent: *',
            `# ${broken}`,
            `X: ${broken}`,
            `Disallow: /b # ${broken}`,
            `${broken}Allow: /b`,
            'Allow: /c',
          ].join(end)
          const bytes = latin1(file)
          for (const path of ['/b', '/bb', '/c', '/']) {
            const [ours, asText] = [bytes, decode(bytes)].map((source) => checkEveryWay(source, { dialect }, 'a')(path))
            expect(ours?.others).toEqual([])
            expect(ours?.verdict).toEqual(asText?.verdict)
            if (ours?.verdict.allowed === false) disallowed++
          }
        }
      }
      expect(disallowed).toBe(2 * 3 * invalid.length)
    })

    it('a character above U+00FF in `bytes` is read as 0xFF', () => {
      for (const rule of ['/\u012c', '/%41\u012c', '/\u10a0*', '/\u012c$', '/a\ud83d']) {
        const file = (path: string) => ({ bytes: `User-agent: *\nDisallow: ${path}` })
        for (const path of ['/,', '/%IC', '/%A0', '/A%FF', '/%FF', '/A,', '/a%FF', '/']) {
          const ours = checkEveryWay(file(rule), { dialect }, 'a')(path)
          expect(ours.others).toEqual([])
          expect(ours.verdict).toEqual(
            checkEveryWay(file(rule.replace(/[^\0-\xff]/g, '\xff')), { dialect }, 'a')(path).verdict,
          )
        }
      }
    })

    it('a byte order mark is skipped, and so is the first part of one', () => {
      const rules = 'User-agent: *\nDisallow: /b'
      for (const mark of ['', '\xef', '\xef\xbb', '\xef\xbb\xbf']) {
        for (const rest of ['', '\n# \xff', '\n# \xef\xbf\xbd', '\n# \xc3\xa9']) {
          const { verdict, others } = checkEveryWay(latin1(mark + rules + rest), { dialect }, 'a')('/b')
          expect(others).toEqual([])
          expect(allowedAndLine(verdict), `${JSON.stringify(mark)} and ${JSON.stringify(rest)}`).toEqual({
            allowed: false,
            line: 2,
          })
        }
      }
    })

    it('long lines are cut off at the same byte', () => {
      let checks = 0
      let byLongRule = 0
      for (const letter of ['a', '\u00e9', '\u20ac', '\u{1f600}']) {
        for (let bytesLeft = 0; bytesLeft <= 5; bytesLeft++) {
          // The letter begins `bytesLeft` bytes before the limit.
          const fill = 'a'.repeat(MAX_LINE_BYTES - 'Disallow: /'.length - bytesLeft)
          const line = `Disallow: /${fill}${letter}tail`
          for (const comment of ['', '# \ufffd']) {
            const text = `User-agent: *\nAllow: /\n${line}\n${comment}`
            for (const suffix of [fill, `${fill}${letter}`, `${fill}${letter}tail`, fill.slice(1)]) {
              const path = `/${suffix}`
              const verdicts = [text, encode(text), `${text}\ufffd`, encode(`${text}\ufffd`)].map((source) =>
                allowedAndLine(parseRobots(source, { dialect }).check(path, 'a')),
              )
              const what = `${letter}, ${bytesLeft} bytes before the limit, ${JSON.stringify(comment)}, checks ${suffix.length}`
              for (const verdict of verdicts) expect(verdict, what).toEqual(verdicts[0])
              const bound = parseRobots(text, { dialect }).forCrawler('a')
              expect(allowedAndLine(bound.check(path)), what).toEqual(verdicts[0])
              checks++
              if (verdicts[0]?.line === 3) byLongRule++
            }
          }
        }
      }
      expect(checks).toBe(192)
      if (dialect !== 'koster-1996') expect(byLongRule).toBeGreaterThan(20)
    })

    it('long lines of multi-byte characters are too, with comments and NULs near the limit', { tags: 'full' }, () => {
      for (const letter of ['\u00e9', '\u20ac', '\u{1f600}']) {
        const bytes = encode(letter).length
        const times = Math.floor(MAX_LINE_BYTES / bytes)
        for (let missing = 0; missing <= 6; missing++) {
          for (const tail of ['', '# x', '\0x', '$', '\nDisallow: /z']) {
            const text = `User-agent: *\nDisallow: /${letter.repeat(times - missing)}${tail}\nDisallow: /y${tail}`
            for (const path of [`/${letter.repeat(times - missing)}`, `/${letter.repeat(times)}`, '/y', '/z', '/x']) {
              const [ofText, ofBytes, ofLongerBytes] = [text, encode(text), encode(`${text}\n#\ufffd`)].map((source) =>
                allowedAndLine(parseRobots(source, { dialect }).check(path, 'a')),
              )
              const what = `${letter}, ${missing} missing, ${JSON.stringify(tail)}, checks ${path.slice(0, 3)}`
              expect(ofBytes, what).toEqual(ofText)
              expect(ofLongerBytes, what).toEqual(ofText)
            }
          }
        }
      }
    })
  },
)

describe('the naive implementation gives the same verdicts', () => {
  it('with any bytes in a file', () => {
    let byRule = 0
    for (let seed = 1; seed <= sampled(2_000); seed++) {
      const random = seededRandom(seed)
      const bytes = () =>
        String.fromCharCode(
          ...Array.from({ length: 1 + Math.floor(random() * 3) }, () => 0x80 + Math.floor(random() * 0x80)),
        )
      const value = () => `/${pick(random, ['', 'a', bytes(), `a${bytes()}`, '*', `*${bytes()}$`, `\0${bytes()}`])}`
      const lines = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
        const key = pick(random, ['Disallow: ', 'Allow: ', 'Disallow:', `${bytes()}Allow: `])
        return `${key}${value()}${pick(random, ['', ` # ${bytes()}`])}${pick(random, ENDS)}`
      })
      const file = `${pick(random, ['', '\xef\xbb\xbf', '\xef\xbb', '\xef'])}User-agent: *\n${lines.join('')}`
      const path = value()
        .replace(/\*|\$|\0/g, '')
        .replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
      const { verdict, others } = checkEveryWay(latin1(file), {}, 'a')(path)
      expect(others, `seed ${seed}`).toEqual([])
      expect(allowedAndLine(verdict), `seed ${seed}: ${JSON.stringify(file)} checks ${path}`).toEqual(
        checkNaively(file, 'a', path),
      )
      if (verdict.because === 'rule') byRule++
    }
    expect(byRule).toBeGreaterThan(sampled(500))
  })

  it('with user-agent lines after any number of irrelevant lines', () => {
    const names = [
      'User-agent: ',
      'USER-AGENT:',
      ' \tuser-agent :',
      'useragent: ',
      'user agent: ',
      'User-agent ',
      'uSer-aGents: ',
    ]
    const irrelevantLines = [
      '',
      '   ',
      '<p class="user">',
      'user',
      ' \t user',
      'username: a',
      'a user-agent: a',
      '# user-agent: a',
      '\0user-agent: a',
      'user\0agent: a',
      'user\ragent: a',
      '\x0buser',
      'Disallow: /user',
      'Sitemap: /user-agent: a',
      'Crawl-delay: 1',
    ]
    let decidedByLateLine = 0
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const random = seededRandom(seed)
      const ends = pick(random, [['\n'], ['\r'], ['\r\n'], ENDS])
      const some = (maxCount: number, line: () => string) =>
        Array.from({ length: Math.floor(random() * (maxCount + 1)) }, line)
      const rule = () => `${pick(random, ['Disallow: ', 'Allow: '])}${pick(random, ['/', '/a', '/a*', '/b'])}`
      const group = () => [
        ...some(40, () => pick(random, irrelevantLines)),
        ...some(2, () => `${pick(random, names)}${pick(random, ['a', 'b', 'other', '*'])}`),
        ...some(2, rule),
      ]
      const lines = [...group(), ...group(), ...group(), ...some(20, () => pick(random, irrelevantLines)), ...group()]
      const file = lines.map((line) => line + pick(random, ends)).join('')
      const path = pick(random, ['/', '/a', '/ab', '/b'])
      const { verdict, others } = checkEveryWay(latin1(file), {}, 'a')(path)
      expect(others, `seed ${seed}`).toEqual([])
      expect(allowedAndLine(verdict), `seed ${seed}: ${JSON.stringify(file)} checks ${path}`).toEqual(
        checkNaively(file, 'a', path),
      )
      if (allowedAndLine(verdict).line > 60) decidedByLateLine++
    }
    expect(decidedByLateLine).toBeGreaterThan(sampled(300))
  })

  it('with lines over the limit', () => {
    for (const letter of ['a', '\u00e9', '\u20ac']) {
      for (let bytesLeft = 0; bytesLeft <= 4; bytesLeft++) {
        const fill = 'a'.repeat(MAX_LINE_BYTES - 'Disallow: /'.length - bytesLeft)
        for (const comment of ['', '# \ufffd']) {
          const text = `User-agent: *\nDisallow: /${fill}${letter}tail\n${comment}`
          const bytes = Buffer.from(text).toString('latin1')
          for (const path of [`/${fill}`, `/${fill}${encodeURI(letter)}`, `/${fill}${encodeURI(letter)}tail`]) {
            const naive = checkNaively(bytes, 'a', path)
            const what = `${letter}, ${bytesLeft} bytes before the limit, ${JSON.stringify(comment)}, checks ${path.length}`
            expect(allowedAndLine(parseRobots(encode(text)).check(path, 'a')), what).toEqual(naive)
            expect(allowedAndLine(parseRobots(text).check(path, 'a')), what).toEqual(naive)
          }
        }
      }
    }
  })
})
