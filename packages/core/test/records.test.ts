import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DocTable, withTables } from '@politely/testkit/doc-table'
import { readingCases, recordsCases } from '@politely/testkit/records-cases'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DayRange, type OtherRecord, parseRobots } from '../src/index.ts'

/** What the crawler is told, as the table writes it. */
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
  const to = agents === undefined ? '' : ` to ${agents.length === 0 ? 'nobody' : agents.join(', ')}`
  return `${field}: ${key}=${value} on line ${line}${to}`
}

const octets = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))

describe('records beside the rules, RFC 9309 §2.2.4', () => {
  it.each(recordsCases)('$name', ({ robots, records, exact }) => {
    expect(parseRobots(octets(robots)).records.map(lineOf)).toEqual(records)
    for (const dialect of ['koster-1996', 'original-1994'] as const) {
      expect(parseRobots(octets(robots), { dialect }).records.map(lineOf)).toEqual(exact ?? records)
    }
  })

  it('an Allow is one of them where the dialect does not know it', () => {
    const records = (dialect: 'original-1994' | 'koster-1996') =>
      parseRobots('User-agent: *\nAllow: /a\n', { dialect }).records.map(lineOf)
    expect(records('original-1994')).toEqual(['unknown: Allow=/a on line 2'])
    expect(records('koster-1996')).toEqual([])
  })

  it('survive JSON', () => {
    const { records } = parseRobots(octets(recordsCases.map(({ robots }) => robots).join('\n')))
    expect(records.length).toBeGreaterThan(20)
    expect(JSON.parse(JSON.stringify(records))).toEqual(records)
  })

  it('take no more room than the file, however many crawlers each speaks to', () => {
    const robots = parseRobots('User-agent: a\n'.repeat(20_000) + 'Noindex: /\n'.repeat(20_000))
    expect(new Set(robots.records.map(({ agents }) => agents)).size).toBe(1)
    expect(robots.forCrawler('b').crawlDelayMs).toBe(undefined)
  })
})

describe.each(['crawl-delay', 'request-rate', 'visit-time'] as const)('what is read in %s', (field) => {
  it.each(readingCases.filter((row) => row.field === field))('$values: $reason', ({ values, reads }) => {
    const robots = parseRobots(octets(`User-agent: *\n${values.map((value) => `${field}: ${value}\n`).join('')}`))
    const rules = robots.forCrawler('ExampleBot')
    expect(readingOf(rules)).toBe(reads)
    const { crawlDelayMs, requestRates, visitTimes } = rules
    const plain = { crawlDelayMs, requestRates, visitTimes }
    expect(JSON.parse(JSON.stringify(plain))).toEqual(plain)
  })
})

it('docs/records.md shows these rows', async () => {
  const path = join(import.meta.dirname, '../../../docs/records.md')
  const tables = (['crawl-delay', 'request-rate', 'visit-time'] as const).map(
    (field): DocTable => ({
      head: [field, 'is read as', 'because'],
      rows: readingCases
        .filter((row) => row.field === field)
        .map(({ values, reads, reason }) => [values.map(shown).join(', '), reads, reason]),
    }),
  )
  await expect(withTables(readFileSync(path, 'utf8'), tables)).toMatchFileSnapshot(path)
})

function shown(value: string): string {
  if (value === '') return '(empty)'
  return value.length > 40 ? `\`1\` and ${value.length - 1} zeros` : `\`${Buffer.from(value, 'latin1')}\``
}
