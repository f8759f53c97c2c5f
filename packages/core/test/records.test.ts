import { readingCases, recordsCases } from '@politely/testkit/cases/records-cases'
import { expectTables } from '@politely/testkit/doc-page'
import type { DocTable } from '@politely/testkit/doc-table'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DayRange, parseRobots, restoreRules } from '../src/index.ts'
import type { OtherRecord } from '../src/internal.ts'

/** The parsed values in the form of the table. */
function readingOf({ crawlDelayMs, requestRates, visitTimes }: CrawlerRules): string {
  const hours = ({ from, to }: DayRange) => `from ${from} to ${to}`
  const readings = [
    ...(crawlDelayMs === undefined ? [] : [`${crawlDelayMs} ms`]),
    ...requestRates.map(({ requests, periodMs, between }) =>
      [`${requests} in ${periodMs} ms`, ...(between ? [hours(between)] : [])].join(' '),
    ),
    ...visitTimes.map(hours),
  ]
  return readings.length === 0 ? 'nothing' : readings.join(', ')
}

function lineOf({ field, key, value, line, agents }: OtherRecord): string {
  const to = agents === undefined ? '' : ` to ${agents.length === 0 ? 'no crawler' : agents.join(', ')}`
  return `${field}: ${key}=${value} on line ${line}${to}`
}

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))

describe('records of a file (RFC 9309 §2.2.4)', () => {
  it.each(recordsCases)('$name', ({ robots, records, exact }) => {
    expect(parseRobots(bytes(robots)).records.map(lineOf)).toEqual(records)
    for (const dialect of ['koster-1996', 'original-1994'] as const) {
      expect(parseRobots(bytes(robots), { dialect }).records.map(lineOf)).toEqual(exact ?? records)
    }
  })

  it('include Allow in a dialect without Allow', () => {
    const records = (dialect: 'original-1994' | 'koster-1996') =>
      parseRobots('User-agent: *\nAllow: /a\n', { dialect }).records.map(lineOf)
    expect(records('original-1994')).toEqual(['unknown: Allow=/a on line 2'])
    expect(records('koster-1996')).toEqual([])
  })

  it('are JSON-safe', () => {
    const { records } = parseRobots(bytes(recordsCases.map(({ robots }) => robots).join('\n')))
    expect(records.length).toBeGreaterThan(20)
    expect(JSON.parse(JSON.stringify(records))).toEqual(records)
  })

  it('show at most 100 names each, so that their JSON is not much larger than the file', { tags: 'full' }, () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => `bot${i}`)
    const fileOf = (count: number) =>
      names(count)
        .map((name) => `User-agent: ${name}\n`)
        .join('') + 'Noindex: /\n'.repeat(count)
    expect(parseRobots(fileOf(100)).records[0]).toEqual({
      field: 'noindex',
      key: 'Noindex',
      value: '/',
      line: 101,
      agents: names(100),
    })
    const { records } = parseRobots(fileOf(20_000))
    expect(records[0]).toMatchObject({ agents: names(100), moreAgents: 19_900 })
    expect(JSON.stringify(records).length).toBeLessThan(50 * fileOf(20_000).length)
  })

  it('share one array of names, so that a file with many names and records needs little memory', () => {
    const robots = parseRobots('User-agent: a\n'.repeat(20_000) + 'Noindex: /\n'.repeat(20_000))
    expect(new Set(robots.records.map(({ agents }) => agents)).size).toBe(1)
    expect(robots.forCrawler('b').crawlDelayMs).toBe(undefined)
  })
})

describe.each(['crawl-delay', 'request-rate', 'visit-time'] as const)('the values of %s', (field) => {
  it.each(readingCases.filter((row) => row.field === field))(
    '$values, $reason, are parsed as $reads',
    ({ values, reads }) => {
      const robots = parseRobots(bytes(`User-agent: *\n${values.map((value) => `${field}: ${value}\n`).join('')}`))
      const rules = robots.forCrawler('ExampleBot')
      expect(readingOf(rules)).toBe(reads)
      const { crawlDelayMs, requestRates, visitTimes } = rules
      const plain = { crawlDelayMs, requestRates, visitTimes }
      expect(JSON.parse(JSON.stringify(plain))).toEqual(plain)
    },
  )
})

describe('request-rates and visit-times, of which 24 are kept for a crawler (our choice)', () => {
  const bound = (lines: readonly string[]) =>
    parseRobots(['User-agent: *', ...lines].join('\n')).forCrawler('ExampleBot')
  const numbered = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i))
  const hour = (i: number) => String(i % 24).padStart(2, '0')
  const periods = (rules: CrawlerRules) => rules.requestRates.map(({ periodMs }) => periodMs / 1_000)
  const first = (count: number) => numbered(count, String).map((i) => Number(i) + 1)

  it.each([
    ['keep 24 of 24', 24, [], first(24)],
    ['keep the first 24 of 500', 500, [], first(24)],
    ['replace the 24th by the strictest rate without hours', 30, ['1/77', '1/99', '2/99', '1/88'], [...first(23), 99]],
    ['keep the first of several equally strict rates without hours', 24, ['2/198', '1/99'], [...first(23), 198]],
    ['do not replace the 24th by a rate with hours', 30, ['1/99 0000-2400'], first(24)],
  ] as const)('%s', (_, count, others, expected) => {
    const lines = numbered(count, (i) => `Request-rate: 1/${i + 1} ${hour(i)}00-${hour(i)}59`)
    const rules = bound([...lines, ...others.map((rate) => `Request-rate: ${rate}`)])
    expect(periods(rules)).toEqual(expected)
    expect(periods(restoreRules(rules.toJSON()) as CrawlerRules)).toEqual(expected)
  })

  it('keep the strictest of many rates without hours', () => {
    expect(periods(bound([...numbered(60, (i) => `Request-rate: 1/${i + 1}`), 'Request-rate: 1/5']))).toEqual([
      ...first(23),
      60,
    ])
    expect(periods(bound(numbered(60, (i) => `Request-rate: 1/${60 - i}`)))).toEqual(
      numbered(24, (i) => String(60 - i)).map(Number),
    )
  })

  it('keep the first valid visit-times', () => {
    const times = bound(
      numbered(500, (i) => `Visit-time: ${hour(i)}00-${hour(i)}${String(i % 59).padStart(2, '0')}`),
    ).visitTimes
    expect(times).toHaveLength(24)
    expect(times[23]).toEqual({ from: 0, to: 24 } satisfies DayRange)
  })

  it('are limited to 24 of each in a file of 500 KiB, and counted in memoryBytes', () => {
    const file = Array.from({ length: 25_000 }, (_, i) =>
      i % 2 ? `Request-rate: 1/${i} ${hour(i)}00-${hour(i)}59` : `Visit-time: ${hour(i)}00-${hour(i)}59`,
    )
    const rules = bound(file)
    const { requestRates, visitTimes } = rules
    expect([requestRates.length, visitTimes.length]).toEqual([24, 24])
    const plain = bound([])
    expect(rules.memoryBytes - plain.memoryBytes).toBeGreaterThan(24 * (100 + 40))
    expect(rules.memoryBytes).toBeLessThan(10_000)
  })
})

it('docs/records.md has the current tables', { tags: 'page' }, async () => {
  const tables = (['crawl-delay', 'request-rate', 'visit-time'] as const).map(
    (field): DocTable => ({
      head: [field, 'parsed as', 'reason'],
      rows: readingCases
        .filter((row) => row.field === field)
        .map(({ values, reads, reason }) => [values.map(shown).join(', '), reads, reason]),
    }),
  )
  await expectTables('docs/records.md', ...tables)
})

function shown(value: string): string {
  if (value === '') return '(empty)'
  return value.length > 40 ? `\`1\` and ${value.length - 1} zeros` : `\`${Buffer.from(value, 'latin1')}\``
}
