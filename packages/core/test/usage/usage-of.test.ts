import {
  type UsageCell,
  type UsageParts,
  usageCases,
  usageChannelCases,
} from '@politely/testkit/cases/usage/usage-cases'
import { usageVectors } from '@politely/testkit/cases/usage/usage-vectors'
import { expectPage, expectTables } from '@politely/testkit/doc-page'
import { deepSampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRobots } from '../../src/index.ts'
import { conflictKinds, parseTdmrep, purposes, type Usage, usageOf } from '../../src/usage/index.ts'

const SITE = 'https://site.example'
const now = Date.UTC(2026, 10, 26)

function usage({ robots, headers, html, tdmrep }: UsageParts, path = '/page', token = 'ExampleBot'): Usage {
  const file = robots === undefined ? undefined : parseRobots(robots, { origin: SITE })
  return usageOf({ robots: file, url: SITE + path, tokens: token, headers, html, tdmrep, now })
}

/** Returns the answers other than `unstated`. */
function answersOf({ purposes }: Usage): Record<string, string> {
  const answers = Object.entries(purposes).map(([purpose, { answer }]) => [purpose, answer])
  return Object.fromEntries(answers.filter(([, answer]) => answer !== 'unstated'))
}

describe('usageOf', () => {
  it.each(usageCases)('$name', ({ path, token, answers, conflicts, licenses = [], ...parts }) => {
    const result = usage(parts, path, token)
    expect(answersOf(result)).toEqual(answers)
    if (conflicts !== undefined)
      expect(result.conflicts.map(({ kind, purpose }) => [kind, purpose].join(' ').trim()).toSorted()).toEqual(
        conflicts.toSorted(),
      )
    else expect(result.licenses.filter(({ applies }) => applies).map(({ url }) => url)).toEqual(licenses)
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  })

  const cells = usageChannelCases.flatMap(({ channel, parts, cells }) =>
    Object.entries(cells).flatMap(([purpose, list]) => list.map((cell) => ({ channel, parts, purpose, ...cell }))),
  )
  it.each(cells)('$channel: $value about $purpose', ({ parts, value, purpose, answer, from }) => {
    const { statements, ...about } = usage(parts(value)).purposes[purpose as 'index']
    expect(about).toEqual({ answer, combination: 'one-statement' })
    expect('reading' in (statements[0] as object) && statements[0]).toEqual(
      'reading' in (statements[0] as object) &&
        expect.objectContaining({ reading: from === 'ours' ? 'ours' : 'document' }),
    )
  })

  it.each(usageChannelCases)('$channel states nothing about other purposes', ({ parts, cells }) => {
    const values = Object.values(cells).flat()
    const others = purposes.filter((purpose) => !Object.hasOwn(cells, purpose))
    for (const { value } of values)
      for (const purpose of others) expect(usage(parts(value)).purposes[purpose].answer).toBe('unstated')
  })

  it.each(usageVectors)('vector %$ of aipref-signals', ({ path, token, answers, licenses = [], ...parts }) => {
    const result = usage(parts, path, token)
    expect(answersOf(result)).toEqual(answers)
    const applying = result.licenses.filter(({ applies }) => applies).map(({ url }) => url)
    expect([...new Set(applying)]).toEqual(licenses)
  })
})

it('reads one file for several crawlers and pages, in any order', () => {
  const robots = parseRobots(
    'User-agent: OneBot\nContent-Usage: train-ai=n\nDisallow: /private\n\nUser-agent: *\nContent-Usage: search=n\n',
    { origin: SITE },
  )
  const ask = (tokens: string, path: string) => {
    const result = usageOf({ robots, url: SITE + path, tokens })
    return [result.crawl?.allowed, answersOf(result)]
  }
  for (let turn = 0; turn < 2; turn++) {
    expect(ask('OneBot', '/')).toEqual([true, { 'train-ai': 'disallowed' }])
    expect(ask('OtherBot', '/')).toEqual([true, { search: 'disallowed' }])
    expect(ask('OneBot', '/private')[0]).toBe(false)
    expect(ask('OtherBot', '/private')[0]).toBe(true)
  }
})

it('results about one file share no object that a caller may change', () => {
  const robots = parseRobots(
    'User-agent: *\nContent-Signals: ai-train=no\nLicense: https://a.test/\nContent-Usage: bots=n',
  )
  const ask = () => usageOf({ robots, url: `${SITE}/`, tokens: 'OneBot' })
  const [first, second] = [ask(), ask()]
  expect(first.problems.length).toBe(2)
  expect(second).toEqual(first)
  for (const list of ['problems', 'licenses'] as const) {
    first[list].forEach((one, i) => {
      expect(second[list][i]).not.toBe(one)
      expect(second[list][i]?.source).not.toBe(one.source)
    })
  }
})

describe('what was not used', () => {
  it.each([
    ['content-usage', 'User-agent: *\nContent-Usage:', 'the line has no preference'],
    ['content-usage', 'User-agent: *\nContent-Usage: /page', 'the line has a path and no preference'],
    ['content-signal', 'User-agent: *\nContent-Signal: /other/ai-train=no', 'the line has a path and no preference'],
    ['content-usage', 'Content-Usage: train-ai=n\nUser-agent: *\nAllow: /', 'outside of the groups'],
    ['content-signal', 'User-agent: *\nContent-Signals: ai-train=no\nAllow: /', 'misspelling of Content-Signal'],
    ['license', 'User-agent: *\nLicense: l.xml', 'no absolute URL'],
  ])('%s: %s', (channel, robots, why) => {
    expect(usage({ robots }).problems).toEqual([
      expect.objectContaining({ source: expect.objectContaining({ channel }), why: expect.stringContaining(why) }),
    ])
  })
})

describe('arguments', () => {
  it('a tdmrep.json may be parsed, with parseTdmrep or with JSON.parse', () => {
    const file = [{ location: '/', 'tdm-reservation': 1 }]
    for (const tdmrep of [file, JSON.stringify(file), parseTdmrep(file)]) {
      const { purposes } = usageOf({ url: SITE, tokens: 'ExampleBot', tdmrep })
      expect(purposes['text-and-data-mining'].answer).toBe('disallowed')
    }
  })

  it('an error names the option', () => {
    const usageWith = (options: object) => () => usageOf({ url: SITE, tokens: 'ExampleBot', ...options })
    expect(usageWith({ tdmrep: 1 })).toThrow('tdmrep: 1 is not a tdmrep.json')
    expect(usageWith({ robots: 'User-agent: *' })).toThrow('robots: "User-agent: *" is not a parsed robots.txt')
    expect(() => usageOf(parseRobots('') as never)).toThrow(
      'options: a parsed robots.txt was given; write usageOf({ robots, url, tok',
    )
  })

  it('credentials of the URL are in no result', () => {
    const link = '<l.xml>; rel="license"; type="application/rsl+xml"'
    const html = '<link rel=license type="application/rsl+xml" href=m.xml><script type="application/rsl+xml"></script>'
    const result = usageOf({ url: 'https://user:secret@site.example/a/', tokens: '*', headers: { link }, html })
    expect(result.licenses.map(({ url }) => url)).toEqual([`${SITE}/a/l.xml`, `${SITE}/a/m.xml`, `${SITE}/a/`])
    expect(JSON.stringify(result)).not.toContain('secret')
  })
})

describe('any input', () => {
  const piece = fc.constantFrom(
    ...[
      'User-agent: *',
      'User-agent: ExampleBot',
      'Allow: /',
      'Disallow: /',
      'Content-Usage: ',
      'Content-Signal:',
      'License: ',
    ],
    ...[
      '\n',
      '\r',
      ' ',
      '/',
      '*',
      '$',
      '#',
      ',',
      '=',
      ';',
      '"',
      '\\',
      ':',
      'train-ai',
      'search',
      'y',
      'n',
      'yes',
      'no',
      'use',
      '%2',
      'é',
      '\0',
    ],
  )
  const text = fc.oneof(
    { weight: 4, arbitrary: fc.array(piece, { maxLength: 40 }).map((all) => all.join('')) },
    { arbitrary: fc.string({ unit: 'binary' }), weight: 1 },
  )

  it('gets an answer that survives JSON, in which each answer follows from its statements', () => {
    fc.assert(
      fc.property(text, text, text, text, fc.webPath(), (robots, usageHeader, signalHeader, tdmrep, path) => {
        const headers = { 'content-usage': usageHeader, 'content-signal': signalHeader, link: usageHeader }
        const result = usage({ robots: `\n${robots}`, headers, html: signalHeader, tdmrep }, path || '/')
        expect(JSON.parse(JSON.stringify(result))).toEqual(result)
        for (const { answer, statements } of Object.values(result.purposes)) {
          const says = (one: string) => statements.some((statement) => statement.answer === one)
          expect(answer).toBe(says('disallowed') ? 'disallowed' : says('allowed') ? 'allowed' : 'unstated')
        }
        for (const {
          readings: [followed, other],
        } of result.conflicts)
          expect(followed).not.toEqual(other)
      }),
      { numRuns: deepSampled(50_000, 300) },
    )
  })
})

const PAGE_START = `# Cases of usageOf

What a site sends, and the answers of \`usageOf\` for \`ExampleBot\`. *Ours* marks our reading, where no document says it. All cases are run in
CI; so are 67 vectors of aipref-signals 0.1.0, of which 64 agree. [What may be done with a page](../usage.md) explains the rest.

`

/** Returns the text of docs/reference/usage-cases.md. */
function casesPage(): string {
  const code = (text: string) => `\`${text.trim().replaceAll('\n', ' ⏎ ')}\``
  const partsOf = ({ robots, headers = {}, html, tdmrep }: UsageParts) =>
    [
      robots && code(robots),
      ...Object.entries(headers).map(([name, value]) =>
        [value]
          .flat()
          .map((one) => code(`${name}: ${one}`))
          .join(', '),
      ),
      html && code(html),
      tdmrep && code(tdmrep),
    ].filter((part) => part !== undefined)
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
    [head, head.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |\n`)
      .join('')
  const cases = usageCases.map(
    ({ name, from, path = '/page', token, answers, conflicts = [], licenses = [], ...parts }) => [
      name,
      from === 'ours' ? '*ours*' : from,
      [
        ...partsOf(parts),
        ...(path === '/page' ? [] : [`for \`${path}\``]),
        ...(token === undefined ? [] : [`as ${token}`]),
      ].join('; '),
      [...Object.entries(answers).map(([purpose, answer]) => `${purpose} ${answer}`), ...licenses].join(', ') ||
        'all unstated',
      conflicts.join(', '),
    ],
  )
  const cells = usageChannelCases.flatMap(({ channel, parts, cells }) =>
    Object.entries(cells).flatMap(([purpose, list]) =>
      list.map(({ value, answer, from }) => [
        channel,
        partsOf(parts(value)).join('; '),
        `${purpose} ${answer}`,
        from === 'ours' ? '*ours*' : from,
      ]),
    ),
  )
  return [
    PAGE_START,
    '## How channels are read\n\n',
    table(['case', 'from', 'the site sends', 'answers', 'conflicts'], cases),
    '\n## Each channel and purpose\n\n',
    table(['channel', 'the site sends', 'answer', 'from'], cells),
  ].join('')
}

describe('docs', () => {
  it('docs/usage.md has the table of channels and purposes, and of conflicts', { tags: 'page' }, async () => {
    const cellOf = (list: readonly UsageCell[] = []) =>
      list.map(({ value, from }) => `\`${value}\`${from === 'ours' ? ' *ours*' : ''}`).join(', ') || '–'
    await expectTables(
      'docs/usage.md',
      {
        head: ['channel', ...purposes.map((purpose) => `\`${purpose}\``)],
        rows: usageChannelCases.map(({ channel, cells }) => [channel, ...purposes.map((one) => cellOf(cells[one]))]),
      },
      {
        head: ['conflict', 'what it is about'],
        rows: Object.entries(conflictKinds).map(([kind, about]) => [`\`${kind}\``, about]),
      },
    )
  })

  it('docs/reference/usage-cases.md has all cases', { tags: 'page' }, async () => {
    await expectPage('docs/reference/usage-cases.md', casesPage())
  })
})
