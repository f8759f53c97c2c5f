// The tables of options in the documentation are written by hand. These tests compare their names
// and defaults with the code.
import { PACING_OPTIONS } from '@politely/fetcher/internal'
import { readPage } from '@politely/testkit/doc-page'
import { describe, expect, test } from 'vitest'
import { pacingOf } from '../src/options/pacing.ts'

type Name = keyof typeof PACING_OPTIONS
const names = (Object.keys(PACING_OPTIONS) as Name[]).toSorted()
const defaults = { ...pacingOf({}), pacer: 'LocalPacer' }

/** Returns the default as the tables show it. */
function defaultOf(name: Name): string {
  const value = defaults[name]
  if (typeof value === 'string' || typeof value === 'boolean') return `\`${value}\``
  if (typeof value === 'object') return 'several' // the text of the row says the default of each field
  return value === undefined || value === Number.POSITIVE_INFINITY ? 'none' : value.toLocaleString('en-US')
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

describe('the table of options in packages/gate/README.md', () => {
  const rows = Array.from(readPage('packages/gate/README.md').matchAll(/^\| `(\w+)` \| (\S+) \|/gm))

  test('has a row with the right default for each option', () => {
    const inPage = rows.map(([, name, value]) => `${name}: ${value}`)
    expect(inPage.toSorted()).toEqual(names.map((name) => `${name}: ${defaultOf(name)}`))
  })
})

describe('the tables of docs/waiting.md', () => {
  const tables = tableRows(readPage('docs/waiting.md'))

  test('name the options that exist', () => {
    expect(optionsIn(tables)).toEqual(names)
  })

  test.each(names)('say what the default of %s is: "`name`, default 5" or "default: none"', (name) => {
    const said = tables.matchAll(new RegExp(`\`${name}\`, default:? (none|several|\`\\w+\`|[\\d,.]*\\d)`, 'g'))
    expect([...new Set(Array.from(said, ([, value]) => value))]).toEqual([defaultOf(name)])
  })
})

test('the tables of "What the workers share" in docs/fleet.md name the options that exist', () => {
  const section =
    readPage('docs/fleet.md')
      .split(/^## /m)
      .find((one) => one.startsWith('What the workers share')) ?? ''
  expect(optionsIn(tableRows(section))).toEqual(names)
})
