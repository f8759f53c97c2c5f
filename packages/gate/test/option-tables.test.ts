// The tables of options in the documentation. packages/gate/README.md has one that is made from the
// docstrings. The others are written by hand, and these tests compare their names and defaults with the code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectTables, readPage } from '@politely/testkit/doc-page'
import { optionRowsIn } from '@politely/testkit/option-docs'
import { describe, expect, test } from 'vitest'
import { PACING_OPTIONS } from '../src/options/option-table.ts'
import { pacingOf } from '../src/options/pacing.ts'

type Name = keyof typeof PACING_OPTIONS
const names = (Object.keys(PACING_OPTIONS) as Name[]).toSorted()
const defaults = { ...pacingOf({}), pacer: 'LocalPacer' }

/** The pages about requests that wait. */
const PAGES = ['waiting.md', 'pace-options.md', 'polite-fetch.md', 'undici-and-node-http.md', 'pacers.md'] as const

/** Returns the default of an option as the tables show it. */
const defaultOf = (name: Name): string => defaultText(defaults[name])

function defaultText(value: unknown): string {
  if (Array.isArray(value) || value instanceof Set) return [...value].join(', ')
  if (typeof value === 'string' || typeof value === 'boolean') return `\`${value}\``
  if (typeof value === 'object') return 'several' // the text of the row says the default of each field
  return value === undefined || value === Number.POSITIVE_INFINITY ? 'none' : Number(value).toLocaleString('en-US')
}

/** Names that only an option of a gate can have. */
const LIKE_AN_OPTION = /^(?:min|max)(?:Delay|Concurrent)/

/** The rows of all tables of a text. */
const tableRows = (text: string) => (text.match(/^\|.*$/gm) ?? []).join('\n')

/**
 * The options in backticks, and the names that look like one; `maxConcurrent: 2` counts too.
 * Without repetitions.
 */
function optionsIn(text: string): string[] {
  const inCode = Array.from(text.matchAll(/`(\w+)(?:: [^`]+)?`/g), ([, name = '']) => name)
  const isOption = (name: string) => Object.hasOwn(PACING_OPTIONS, name) || LIKE_AN_OPTION.test(name)
  return [...new Set(inCode.filter(isOption))].toSorted()
}

test('packages/gate/README.md lists the options', { tags: 'page' }, async () => {
  const source = readFileSync(join(import.meta.dirname, '../src/pace/pacing-options.ts'), 'utf8')
  const rows = optionRowsIn(source, 'PacingOptions')
  expect(rows.map(({ name }) => name).toSorted()).toEqual(names)
  await expectTables('packages/gate/README.md', {
    head: ['option', 'default', 'type or unit', 'what it does'],
    rows: rows.map(({ name, type, meaning }) => [`\`${name}\``, defaultOf(name as Name), type, meaning]),
  })
})

/** Options to which neither Scrapy nor StormCrawler has a counterpart: the table leaves them out. */
const WITHOUT_COUNTERPART = [
  'minDelayPerDomainMs',
  'minDelayPerAddressMs',
  'maxConcurrentPerDomain',
  'slowAfterMs',
  'releaseWarningMs',
  'rateLimitHeaders',
  'backoff.firstMs',
  'backoff.maxMs',
  'backoff.factor',
  'backoff.jitter',
  'circuit.outcomes',
  'circuit.coolMs',
  'circuit.maxMs',
  'circuit.factor',
  'circuit.whenOpen',
]

describe('the table of options in docs/pace-options.md', () => {
  const [table = ''] = /^\| option \| default \|.*\n(?:\|.*\n)+/m.exec(readPage('docs/pace-options.md')) ?? []
  const [, , ...rows] = table.trimEnd().split('\n')
  const cells = rows.map((row) => row.slice(2, -2).split(' | '))

  test('has a row with the right default for each option, and for each field of `backoff`, `circuit` and `obey`', () => {
    const { backoff, circuit = {}, obey } = defaults
    const fields = Object.entries({ backoff, circuit, obey }).flatMap(([option, values]) =>
      Object.entries(values).map(([field, value]) => [`${option}.${field}`, defaultText(value)] as const),
    )
    const options = names.filter((name) => !['backoff', 'circuit', 'obey'].includes(name))
    const inCode = [...options.map((name) => [name, defaultOf(name)] as const), ...fields]
    expect(inCode.map(([name]) => name)).toEqual(expect.arrayContaining(WITHOUT_COUNTERPART))
    const compared = inCode.filter(([name]) => !WITHOUT_COUNTERPART.includes(name))
    expect(cells.map(([name = '', value]) => `${name.slice(1, -1)}: ${value}`).toSorted()).toEqual(
      compared.map(([name, value]) => `${name}: ${value}`).toSorted(),
    )
  })

  test('names a setting of Scrapy and of StormCrawler in each row, or `none`', () => {
    expect(cells.filter((row) => row.length !== 4)).toEqual([])
    expect(cells.flatMap((row) => row.slice(2)).filter((cell) => !/^none|`/.test(cell))).toEqual([])
  })
})

describe.each(PAGES)('the tables of docs/%s', (page) => {
  const tables = tableRows(readPage(`docs/${page}`))

  test('name only options that exist', () => {
    expect(optionsIn(tables).filter((name) => !names.includes(name as Name))).toEqual([])
  })

  test('say the right default of an option, where they say it: "`name`, default 5" or "default: none"', () => {
    const said = tables.matchAll(/`(\w+)`, default:? (none|several|`\w+`|[\d,.]*\d)/g)
    expect(Array.from(said).filter(([, name, value]) => value !== defaultOf(name as Name))).toEqual([])
  })
})

test('the tables of "What the workers share" in docs/fleet.md name the options that exist', () => {
  const section =
    readPage('docs/fleet.md')
      .split(/^## /m)
      .find((one) => one.startsWith('What the workers share')) ?? ''
  expect(optionsIn(tableRows(section))).toEqual(names)
})
