// TDMRep: the file, the headers and the meta elements. The rows are from the examples of the final
// report (2024-05-10) unless they say otherwise.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { deepSampled } from '@politely/testkit/scope'
import { describe, expect, test } from 'vitest'
import { OptionError } from '../../src/index.ts'
import { pageHeadOf, parseTdmrep } from '../../src/usage/index.ts'
import { reservationIn, tdmrepOf } from '../../src/usage/tdmrep.ts'

const POLICY = 'https://provider.test/policies/policy.json'
const EXAMPLE = JSON.stringify([
  { location: '/directory-a/', 'tdm-reservation': 1 },
  { location: '/directory-b/html/', 'tdm-reservation': 1, 'tdm-policy': POLICY },
  { location: '/directory-b/images/*.jpg', 'tdm-reservation': 0 },
])

/** A file with one rule that reserves a location. */
const reserve = (location: string) => JSON.stringify([{ location, 'tdm-reservation': 1 }])

describe('the rule that decides', () => {
  test.each<[name: string, file: string, path: string, expected: string | undefined]>([
    ['a location is a prefix', reserve('/'), '/any/path?query', '1'],
    ['a folder', EXAMPLE, '/directory-a/x.pdf', '1'],
    ['a folder with a policy', EXAMPLE, '/directory-b/html/y.html', `1 ${POLICY}`],
    ['* is any run of characters', EXAMPLE, '/directory-b/images/z.jpg', '0'],
    ['no rule matches', EXAMPLE, '/directory-b/images/z.png', undefined],
    ['no rule matches the start page', EXAMPLE, '/', undefined],
    ['$ is the end', reserve('/this/path/exactly$'), '/this/path/exactly', '1'],
    ['$ is the end, and not a prefix', reserve('/this/path/exactly$'), '/this/path/exactly/x', undefined],
    ['* in the middle', reserve('/this/*/then'), '/this/a/then', '1'],
    ['* in the middle, and a prefix', reserve('/this/*/then'), '/this/a/b/then/x', '1'],
    ['a literal $', reserve('/path/foo-%24'), '/path/foo-$', '1'],
    ['a literal *', reserve('/path/foo-%2A'), '/path/foo-*', '1'],
    ['a literal * matches nothing else', reserve('/path/foo-%2A'), '/path/foo-bar', undefined],
    ['upper and lower case differ', reserve('/Path'), '/path', undefined],
    ['percent-encoded unreserved characters are decoded', reserve('/%7Ejoe'), '/~joe', '1'],
    ['percent-encoded reserved characters are not decoded', reserve('/a%2Fb'), '/a/b', undefined],
    ['characters that are not ASCII', reserve('/é'), '/%C3%A9', '1'],
    ['our reading: the query counts, as in robots.txt', reserve('/*?print'), '/page?print=1', '1'],
    ['GAIP: a location of * alone with a slash', reserve('/*'), '/page', '1'],
    ['our choice: a location may begin with *', reserve('*.pdf$'), '/a/b.pdf', '1'],
    [
      'the first rule counts, not the longest',
      '[{"location":"/a","tdm-reservation":0},{"location":"/a/b","tdm-reservation":1}]',
      '/a/b',
      '0',
    ],
    [
      'our reading: a rule with another value matches, and says nothing',
      '[{"location":"/a","tdm-reservation":2},{"location":"/","tdm-reservation":1}]',
      '/a/b',
      'unset',
    ],
  ])('%s', (_, source, path, expected) => {
    const file = parseTdmrep(source)
    for (const url of [path, `https://site.test${path}`, new URL(`https://user:password@site.test${path}#x`)]) {
      const rule = reservationIn(file, url)
      const found = rule && [rule.reservation ?? 'unset', rule.policy].filter(Boolean).join(' ')
      expect(found).toBe(expected)
    }
  })

  test('an invalid URL matches no rule', () => {
    for (const url of ['', 'site.test/page', 'mailto:x@site.test', 'http://', '//host/x']) {
      expect(reservationIn(parseTdmrep(reserve('/')), url)).toBeUndefined()
    }
    expect(() => reservationIn(parseTdmrep('[]'), 1 as never)).toThrow(OptionError)
  })
})

describe('a file', () => {
  const rule = { location: '/', 'tdm-reservation': 1 }

  test.each<[name: string, source: string, reservations: string, problem: string | undefined]>([
    ['GAIP: a site with a policy', JSON.stringify([{ ...rule, 'tdm-policy': POLICY }]), '1', undefined],
    ['GAIP: a part of the site', JSON.stringify([rule, { location: '/blog', 'tdm-reservation': 0 }]), '1 0', undefined],
    ['GAIP: a text as value', '[{"location":"/*","tdm-reservation":"1"}]', '1', 'in quotation marks'],
    ['GAIP: an object in place of the array', '{"location":"/"}', 'unreadable', 'not an array'],
    ['GAIP: not JSON', 'not json', 'unreadable', 'not valid JSON'],
    ['GAIP: an empty array', '[]', '', undefined],
    ['an empty file', '', 'unreadable', 'not valid JSON'],
    ['an HTML page', '<!doctype html><title>Home</title>', 'unreadable', 'the server sent a web page'],
    ['null', 'null', 'unreadable', 'not an array'],
    ['a byte order mark', `\ufeff${JSON.stringify([rule])}`, '1', undefined],
    ['a trailing comma', '[{"location":"/","tdm-reservation":1},]', 'unreadable', 'not valid JSON'],
    ['unknown members', JSON.stringify([{ ...rule, comment: [{}] }]), '1', undefined],
    ['the value 2', '[{"location":"/","tdm-reservation":2}]', 'unset', 'neither 0 nor 1'],
    ['the value 1.0, which is 1', '[{"location":"/","tdm-reservation":1.0}]', '1', undefined],
    ['the value -0, which is 0', '[{"location":"/","tdm-reservation":-0}]', '0', undefined],
    ['the value true', '[{"location":"/","tdm-reservation":true}]', 'unset', 'neither 0 nor 1'],
    ['the value null', '[{"location":"/","tdm-reservation":null}]', 'unset', 'neither 0 nor 1'],
    ['a list as value', '[{"location":"/","tdm-reservation":[1]}]', 'unset', 'neither 0 nor 1'],
    ['no value', '[{"location":"/"}]', 'unset', 'neither 0 nor 1'],
    ['no location', '[{"tdm-reservation":1}]', '', 'rule 1 has no location'],
    ['an empty location', reserve(''), '', 'rule 1 has no location'],
    ['a URL as location', reserve('https://site.test/'), '', 'rule 1 has no location'],
    [
      'rules that are not objects',
      '[1,null,"/",[["location","/"]],{"location":"/","tdm-reservation":0}]',
      '0',
      'rule 1',
    ],
    ['a policy that is not a text', JSON.stringify([{ ...rule, 'tdm-policy': 1 }]), '1', 'policy is not a text'],
    ['members of the prototype', '[{"__proto__":{"location":"/","tdm-reservation":1}}]', '', 'rule 1 has no location'],
    ['more than 500 KiB', JSON.stringify([{ ...rule, x: 'x'.repeat(512_000) }]), 'unreadable', 'larger than 500 KiB'],
    ['more than 10,000 rules', JSON.stringify(Array(10_001).fill(rule)), '1 '.repeat(10_000).trim(), 'more than 10000'],
    ['deep nesting', '['.repeat(500_000), 'unreadable', 'not valid JSON'],
  ])('%s', (_, source, reservations, problem) => {
    for (const file of [parseTdmrep(source), parseTdmrep(new TextEncoder().encode(source))]) {
      const { isReadable, rules, problems } = file
      const found = rules.map(({ reservation }) => reservation ?? 'unset').join(' ')
      expect(isReadable ? found : 'unreadable').toBe(reservations)
      if (problem === undefined) expect(problems).toEqual([])
      else expect(problems[0]?.why).toContain(problem)
      expect(JSON.parse(JSON.stringify(file))).toEqual(file)
    }
  })

  test('keeps 100 problems, with the location and the start of the value', () => {
    const long = 'x'.repeat(1_000)
    const { problems } = parseTdmrep(JSON.stringify(Array(200).fill({ location: '/a', 'tdm-reservation': long })))
    expect(problems).toHaveLength(100)
    expect(problems[0]).toEqual({
      source: { channel: 'tdmrep', in: 'tdmrep.json', name: '/a', text: `"${'x'.repeat(199)}`, line: undefined },
      why: 'the reservation is neither 0 nor 1, so it says nothing',
    })
  })

  test('reads what JSON.parse returns', () => {
    const text = JSON.stringify([rule, 'x'])
    expect(parseTdmrep(JSON.parse(text))).toEqual(parseTdmrep(text))
    expect(parseTdmrep({ rules: [rule] } as never).problems[0]?.why).toContain('not an array')
  })

  test('reads the copy of a client, and ignores one that was cut', () => {
    const bytes = Buffer.from(reserve('/é')).toString('latin1')
    expect(parseTdmrep({ bytes, truncated: false }).rules).toMatchObject([{ location: '/é', reservation: '1' }])
    expect(parseTdmrep({ bytes, truncated: true })).toMatchObject({ isReadable: false, rules: [] })
  })

  test.each([undefined, null, 1, new Date(), { bytes: 1 }])('rejects %s as a source', (source) => {
    expect(() => parseTdmrep(source as never)).toThrow(OptionError)
    if (source !== undefined) expect(() => tdmrepOf({ url: '/', file: source as never })).toThrow(OptionError)
  })
})

/** The two properties, in a header or in a meta element each. */
type Fields = readonly (readonly [name: string, value: string])[]

const fields = (reservations: readonly string[] = [], policies: readonly string[] = []): Fields => [
  ...reservations.map((value) => ['TDM-Reservation', value] as const),
  ...policies.map((value) => ['TDM-Policy', value] as const),
]

const metas = (of: Fields) => of.map(([name, content]) => `<meta name="${name}" content="${content}">`).join('')

describe('file, headers and page', () => {
  const FILE_1 = JSON.stringify([{ location: '/', 'tdm-reservation': 1, 'tdm-policy': 'P' }])
  const FILE_0 = JSON.stringify([{ location: '/', 'tdm-reservation': 0, 'tdm-policy': 'P' }])

  interface Expected {
    /** Who decides and what: `html 1`. Then who is overridden. */
    readonly order?: readonly string[]
    readonly policy?: string
    readonly problem?: string
  }

  test.each<[name: string, file: string | undefined, headers: Fields, head: Fields, expected: Expected]>([
    ['nothing', undefined, fields(), fields(), {}],
    ['a header', undefined, fields(['1']), fields(), { order: ['header 1'] }],
    ['a header with a policy', undefined, fields(['1'], [POLICY]), fields(), { order: ['header 1'], policy: POLICY }],
    ['a meta element', undefined, fields(), fields(['1'], [POLICY]), { order: ['html 1'], policy: POLICY }],
    ['the header replaces the file', FILE_1, fields(['0']), fields(), { order: ['header 0', 'tdmrep.json 1'] }],
    [
      'the page replaces both',
      FILE_1,
      fields(['1']),
      fields(['0']),
      { order: ['html 0', 'header 1', 'tdmrep.json 1'] },
    ],
    [
      'the page reserves',
      FILE_0,
      fields(['0']),
      fields(['1']),
      { order: ['html 1', 'header 0', 'tdmrep.json 0'], policy: 'P' },
    ],
    ['absence replaces nothing', FILE_1, fields(), fields(), { order: ['tdmrep.json 1'], policy: 'P' }],
    [
      'our reading: the policy is settled by itself',
      FILE_1,
      fields(['1']),
      fields([], ['Q']),
      { order: ['header 1', 'tdmrep.json 1'], policy: 'Q' },
    ],
    [
      'a policy without a reservation is not processed',
      undefined,
      fields([], [POLICY]),
      fields(),
      { problem: 'without a reservation' },
    ],
    ['a policy of what is not reserved is not processed', FILE_0, fields(), fields(), { order: ['tdmrep.json 0'] }],
    [
      'another value is unset',
      FILE_1,
      fields(['2']),
      fields(),
      { order: ['tdmrep.json 1'], policy: 'P', problem: 'neither 0 nor 1' },
    ],
    [
      'a word is unset',
      FILE_1,
      fields(['yes']),
      fields(),
      { order: ['tdmrep.json 1'], policy: 'P', problem: 'neither 0 nor 1' },
    ],
    [
      'an empty value is unset',
      FILE_1,
      fields(['']),
      fields(),
      { order: ['tdmrep.json 1'], policy: 'P', problem: 'neither 0 nor 1' },
    ],
    ['blanks around the value', undefined, fields([' 1\t']), fields(), { order: ['header 1'] }],
    [
      'our reading: equal values count once',
      undefined,
      fields(['1, 1']),
      fields(['1', '1']),
      { order: ['html 1', 'header 1'] },
    ],
    [
      'our reading: of values that differ, a reservation counts',
      undefined,
      fields(['1, 0']),
      fields(['0', '1']),
      { order: ['html 1', 'header 1'], problem: 'values differ' },
    ],
    [
      'our reading: policies that differ are ignored',
      FILE_1,
      fields(['1'], ['Q', 'R']),
      fields(),
      { order: ['header 1', 'tdmrep.json 1'], policy: 'P', problem: 'policy differ' },
    ],
    ['a problem of the file is kept', '{}', fields(['1']), fields(), { order: ['header 1'], problem: 'not an array' }],
  ])('%s', (_, file, headers, head, { order = [], policy, problem }) => {
    const answer = tdmrepOf({ url: 'https://site.test/page', file, headers, head: pageHeadOf(metas(head)) })
    const all = [...answer.statements, ...answer.overridden]
    expect(answer.statements).toHaveLength(Math.min(order.length, 1))
    expect(all.map(({ source, label }) => `${source.in} ${label.slice(-1)}`)).toEqual(order)
    expect(all.map(({ answer }) => answer)).toEqual(
      order.map((place) => (place.endsWith('1') ? 'disallowed' : 'allowed')),
    )
    expect(answer.policy).toBe(policy)
    expect(answer.policySource?.text).toBe(policy)
    const [first] = answer.problems
    if (problem === undefined) expect(first).toBeUndefined()
    else expect(first?.why).toContain(problem)
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
  })

  test('a statement names its rule, the vocabulary and the value', () => {
    expect(tdmrepOf({ url: '/directory-a/x', file: parseTdmrep(EXAMPLE) }).statements).toEqual([
      {
        purpose: 'text-and-data-mining',
        answer: 'disallowed',
        label: 'tdm-reservation: 1',
        vocabulary: 'tdmrep-2024-05-10',
        source: { channel: 'tdmrep', in: 'tdmrep.json', name: '/directory-a/', text: '1', line: undefined },
      },
    ])
  })
})

test('mutated files never throw, and every rule can be matched', () => {
  const roll = seededRandom(47)
  const seeds = [EXAMPLE, reserve('/a*b$'), '[{"location":"/%zz*%","tdm-reservation":"1"}]', '{"a":[1,{}]}']
  const parts = ['"', '\\', '{', '}', '[', ']', ',', ':', '*', '$', '%', '/', '\0', '\ud800', '1e999', 'null', 'true']
  for (let n = 0; n < deepSampled(200_000, 500); n++) {
    let text = pick(roll, seeds)
    for (let edits = Math.floor(roll() * 6); edits >= 0; edits--) {
      const at = Math.floor(roll() * text.length)
      const cut = Math.floor(roll() * 4)
      text = text.slice(0, at) + (roll() < 0.7 ? pick(roll, parts) : '') + text.slice(at + cut)
    }
    const file = parseTdmrep(roll() < 0.5 ? text : new TextEncoder().encode(text))
    const answer = tdmrepOf({ url: `/directory-b/${pick(roll, parts)}a.jpg`, file, headers: fields([text], [text]) })
    expect(file.isReadable || file.rules.length === 0).toBe(true)
    expect(answer.statements.length).toBeLessThan(2)
  }
})
