import { dialectCases } from '@politely/testkit/cases/dialect-cases'
import { verdictText } from '@politely/testkit/cases/rules-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { describe, expect, it } from 'vitest'
import { accessPolicyOf, type Entry, settle } from '../src/engine.ts'
import {
  type Dialect,
  type DialectName,
  describeReason,
  deviations,
  dialects,
  explainDialects,
  OptionError,
  parseRobots,
  restoreRules,
} from '../src/index.ts'
import { advance, dialectFor, originAccessOf, startAttempt } from '../src/internal.ts'

const names = Object.keys(dialects) as DialectName[]
const HOUR = 3_600_000

describe('each dialect', () => {
  it.each(dialectCases)('gives its own verdict for $name', ({ robots, url, agent, verdicts }) => {
    const given = names.map((dialect) => [dialect, verdictText(parseRobots(robots, { dialect }).check(url, agent))])
    expect(Object.fromEntries(given)).toEqual(verdicts)
  })

  it('has a test case for each of its deviations', () => {
    // A deviation that changes no verdict is not covered by any case.
    for (const name of names) {
      for (const { question, answer } of deviations[name]) {
        if (!(question in dialects[name].parsing)) continue
        const undone = { ...dialects[name].parsing, [question]: dialects.rfc9309.parsing[question as never] }
        const without: Dialect = { ...dialects[name], name: 'undone', parsing: undone }
        const changed = dialectCases.filter(
          ({ robots, url, agent, verdicts }) =>
            verdictText(parseRobots(robots, { dialect: without }).check(url, agent)) !== verdicts[name],
        )
        expect(changed.length, `${name}: ${question} ${answer}`).toBeGreaterThan(0)
      }
    }
  })
})

describe('groupsForAll', () => {
  const dialect: Dialect = {
    ...dialects.rfc9309,
    name: 'mine',
    parsing: { ...dialects.rfc9309.parsing, groupsForAll: 'ignored' },
  }
  const robots = parseRobots('User-agent: *\nDisallow: /\n\nUser-agent: OtherBot\nDisallow: /a\n', { dialect })

  it('ignored: a crawler without a group of its own has no rules, and the verdict says why', () => {
    expect(robots.check('/', ['ExampleBot', 'ExampleNews'])).toEqual({
      allowed: true,
      because: 'no-group',
      productTokens: ['ExampleBot', 'ExampleNews'],
      ignoresGroupsForAll: true,
    })
    expect(describeReason(robots.check('/', ['ExampleBot', 'ExampleNews']))).toBe(
      'robots.txt has no group for ExampleBot or ExampleNews, which does not read the group for *',
    )
    expect(robots.isAllowed('/a', 'OtherBot')).toBe(false)
  })

  it('survives storage', () => {
    const stored = JSON.parse(JSON.stringify(robots.forCrawler('ExampleBot')))
    expect(restoreRules(stored)?.check('/')).toEqual(robots.check('/', 'ExampleBot'))
  })

  it('inDialect reads the same bytes in another dialect', () => {
    expect(robots.inDialect('rfc9309').isAllowed('/', 'ExampleBot')).toBe(false)
    expect(() => robots.inDialect('mine' as DialectName)).toThrow('is not known; write one of')
  })
})

describe('explainDialects', () => {
  const file = 'User-agent: *\nAllow: /a\nDisallow: /a/b*c\n'

  it('names the questions that change the verdict alone', () => {
    const answers = explainDialects(file, '/a/bxc', 'ExampleBot')
    expect(answers.rfc9309.parts).toEqual([])
    expect(answers.google.parts).toEqual([])
    expect(answers['koster-1996'].explanation.verdict.allowed).toBe(true)
    expect(answers['koster-1996'].parts.map(({ question }) => question)).toEqual(['winner', 'wildcards'])
    expect(answers['original-1994'].parts.map(({ question }) => question)).toContain('wildcards')
  })

  it('names all deviations if only several together change the verdict', () => {
    // With literal wildcards alone the second rule disallows the URL, with groups ended by blank
    // lines alone the first one. Both together allow it.
    const together = 'User-agent: *\nDisallow: /*a\n\nDisallow: /a\n'
    const { explanation, parts } = explainDialects(together, '/a', 'ExampleBot')['koster-1996']
    expect(explanation.verdict.allowed).toBe(true)
    expect(parts).toEqual(deviations['koster-1996'].filter(({ question }) => question in dialects.rfc9309.parsing))
  })
})

it('explain shows the path and the rule percent-encoded, as in a URL', () => {
  const { target, matches } = parseRobots('User-agent: *\nDisallow: /a%2fb%0a', { dialect: 'koster-1996' }).explain(
    '/a%2Fb%0A',
    'x',
  )
  expect([target, matches[0]?.form]).toEqual(['/a%2Fb%0A', '/a%2Fb%0A'])
})

describe('a custom dialect', () => {
  it('is a plain object made from a built-in dialect', () => {
    const mine: Dialect = {
      ...dialects.rfc9309,
      name: 'first-come',
      parsing: { ...dialects.rfc9309.parsing, winner: 'first' },
    }
    const robots = parseRobots('User-agent: *\nAllow: /\nDisallow: /a', { dialect: mine })
    expect(robots.dialect.name).toBe('first-come')
    expect(robots.explain('/a', 'ExampleBot')).toMatchObject({ verdict: { allowed: true }, wonBy: 'first-match' })
  })

  it('is copied, so that the caller can no longer change it', () => {
    const mine = { ...dialects.rfc9309, name: 'mine', parsing: { ...dialects.rfc9309.parsing } }
    const robots = parseRobots('User-agent: *\nDisallow: /a', { dialect: mine })
    Object.assign(mine.parsing, { winner: 'last', compare: 'none' })
    expect(robots.check('/a', 'ExampleBot')).toMatchObject({ allowed: false, because: 'rule' })
    expect(robots.dialect.parsing).toEqual(dialects.rfc9309.parsing)
  })

  it.each([
    ['bing', '"bing" is not known; write one of rfc9309, google'],
    [null, 'null is not known; write one of rfc9309'],
    [42, '42 is not known; write one of rfc9309, google'],
    [{}, 'name is missing; write one such as "mine"'],
    [{ ...dialects.google, name: { toString: 1 } }, 'is not a string; write one such as "mine"'],
    [{ name: 'mine' }, 'keys is missing; write one of lenient, exact'],
    [
      { ...dialects.google, parsing: { ...dialects.google.parsing, winner: 'longest' } },
      'parsing.winner: "longest" is not valid; write one of most-octets, first',
    ],
    [
      { ...dialects.google, access: { ...dialects.google.access, ttlHours: -1 } },
      'access.ttlHours: -1 is not valid; write hours',
    ],
  ])('%j is rejected', (dialect, hint) => {
    expect(() => dialectFor(dialect as never)).toThrow(OptionError)
    expect(() => dialectFor(dialect as never)).toThrow(hint)
  })
})

describe('the access defaults of a dialect', () => {
  const origin = 'https://example.com'
  const success = {
    kind: 'success',
    status: 200,
    headers: {},
    body: { bytes: 'User-agent: *\nDisallow: /a', truncated: false },
    url: `${origin}/robots.txt`,
    hops: [],
  } as const

  function afterStatus(dialect: DialectName, status: number, last?: Entry, body?: string): Entry {
    const policy = accessPolicyOf(dialects[dialect].access)
    const reply = {
      kind: 'response',
      status,
      headers: {},
      ...(body && { body: { bytes: body, truncated: false } }),
    } as const
    const next = advance(startAttempt(`${origin}/robots.txt`), reply, policy)
    if (next.kind === 'request') throw new Error('unexpected redirect')
    return settle(last, origin, next, HOUR, policy)
  }

  const accessIn = (dialect: DialectName, entry: Entry, now = HOUR) => {
    const { holds, ...rest } = originAccessOf(entry, now, accessPolicyOf(dialects[dialect].access))
    return holds === 'rules' ? holds : `${holds}: ${'because' in rest ? rest.because : ''}`
  }

  it.each([
    ['rfc9309', 401, 'allow-all: unavailable'],
    ['rfc9309', 403, 'allow-all: unavailable'],
    ['google', 403, 'allow-all: unavailable'],
    ['draft-koster-rep-00', 403, 'allow-all: unavailable'],
    ['koster-1996', 401, 'disallow-all: restricted'],
    ['koster-1996', 403, 'disallow-all: restricted'],
    ['koster-1996', 404, 'allow-all: unavailable'],
    ['koster-1996', 503, 'disallow-all: unreachable'],
    ['original-1994', 403, 'disallow-all: restricted'],
  ] as const)('%s: %i means %s', (dialect, status, expected) => {
    expect(accessIn(dialect, afterStatus(dialect, status))).toBe(expected)
  })

  it.each([
    ['rfc9309', 404, 'allow-all: unavailable', 'allow-all: unavailable'],
    ['draft-koster-rep-00', 404, 'rules', 'allow-all: unavailable'],
    ['rfc9309', 503, 'rules', 'rules'],
    ['koster-1996', 503, 'disallow-all: unreachable', 'disallow-all: unreachable'],
  ] as const)('%s: with a good copy %i means %s, and a day later %s', (dialect, status, then, later) => {
    const hour = { ...success, headers: { 'cache-control': 'max-age=3600' } }
    const good = settle(undefined, origin, hour, 0, accessPolicyOf(dialects[dialect].access))
    const entry = afterStatus(dialect, status, good)
    expect(accessIn(dialect, entry)).toBe(then)
    expect(accessIn(dialect, entry, 25 * HOUR)).toBe(later)
  })

  it('a response without cache headers is valid for the time of the dialect', () => {
    const validForHours = (dialect: DialectName) =>
      settle(undefined, origin, success, 0, accessPolicyOf(dialects[dialect].access)).nextAttemptAt / HOUR
    expect(Object.fromEntries(names.map((name) => [name, validForHours(name)]))).toEqual({
      rfc9309: 24,
      google: 24,
      'draft-koster-rep-00': 24,
      'koster-1996': 168,
      'original-1994': 168,
    })
  })

  it('a copy that the site removed is dropped (RFC 9309 §2.3.1.4)', () => {
    const draft = dialects['draft-koster-rep-00'].access
    const good = settle(undefined, origin, success, 0, accessPolicyOf(draft))
    const gone = { kind: 'unavailable', reason: 'status', status: 404, headers: {}, url: origin, hops: [] } as const
    const entry = settle(good, origin, gone, 25 * HOUR, accessPolicyOf(draft))
    expect(entry.copy).toBeUndefined()
  })

  it('the dialects of 1994 and 1996 disallow everything for as long as robots.txt is unreachable', () => {
    const down = { kind: 'unreachable', reason: 'status', status: 503, headers: {}, url: origin, hops: [] } as const
    const accessAfter400Days = (dialect: DialectName) => {
      const policy = accessPolicyOf(dialects[dialect].access)
      let entry = afterStatus(dialect, 503)
      for (let day = 1; day <= 400; day++) entry = settle(entry, origin, down, day * 24 * HOUR, policy)
      return accessIn(dialect, entry, 400 * 24 * HOUR)
    }
    expect(accessAfter400Days('koster-1996')).toBe('disallow-all: unreachable')
    expect(accessAfter400Days('rfc9309')).toBe('allow-all: unreachable-too-long')
  })

  it('a 5xx that says "not found" counts as a 404 with notFoundPages: unavailable (Google)', () => {
    const policy = { ...accessPolicyOf(dialects.google.access), notFoundPages: 'unavailable' } as const
    const reply = (bytes: string) =>
      ({ kind: 'response', status: 500, headers: {}, body: { bytes, truncated: false } }) as const
    const start = startAttempt(`${origin}/robots.txt`)
    expect(advance(start, reply('<h1>Page Not Found</h1>'), policy)).toMatchObject({
      kind: 'unavailable',
      reason: 'not-found-page',
    })
    expect(advance(start, reply('<h1>Out of order</h1>'), policy).kind).toBe('unreachable')
    expect(advance(start, reply('Not Found'), accessPolicyOf(dialects.google.access)).kind).toBe('unreachable')
  })
})

it('docs/dialects.md has the current table', { tags: 'page' }, async () => {
  const rows = names.flatMap((name) =>
    deviations[name].map(({ question, answer, source }) => [`\`${name}\``, `\`${question}\``, `\`${answer}\``, source]),
  )
  const table = { head: ['dialect', 'question', 'answer', 'why'], rows }
  await expectTables('docs/dialects.md', table)
})

it('compares names without case in ASCII only: the Kelvin sign is not a k, in any dialect', () => {
  const file = 'User-agent: k\nDisallow: /\n\nUser-agent: \u212a2\nDisallow: /'
  for (const dialect of Object.keys(dialects) as DialectName[]) {
    const robots = parseRobots(file, { dialect })
    expect(robots.check('/a', '\u212a').because, dialect).toBe('no-group')
    expect(robots.isAllowed('/a', 'K'), dialect).toBe(false)
  }
})

it.each<readonly [DialectName, agent: string, crawlDelayMs: number]>([
  ['rfc9309', 'ExampleBot', 9_000],
  ['rfc9309', 'OtherBot', 7_000],
  ['draft-koster-rep-00', 'ExampleBot', 9_000],
  ['draft-koster-rep-00', 'OtherBot', 2_000],
  ['koster-1996', 'ExampleBot', 4_000],
  ['koster-1996', 'OtherBot', 2_000],
])('%s: %s gets no crawl-delay of a group that the dialect ignores', (dialect, agent, crawlDelayMs) => {
  const group = (name: string, delay: number) => `User-agent: ${name}\nDisallow: /x\nCrawl-delay: ${delay}\n\n`
  const file = group('ExampleBot', 4) + group('*', 2) + group('ExampleBot', 9) + group('*', 7)
  expect(parseRobots(file, { dialect }).forCrawler(agent).crawlDelayMs).toBe(crawlDelayMs)
})
