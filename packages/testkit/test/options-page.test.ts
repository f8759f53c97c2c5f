// docs/options.md lists the options of all packages. It is made from their docstrings. The defaults
// that the docstrings name are compared with the code.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectPage, readPage } from '../src/doc-page.ts'
import { sectionsOf } from '../src/headings.ts'
import { type OptionRow, optionRowsIn } from '../src/option-docs.ts'
import { explainedAt, type Options, optionPackages, optionTables } from '../src/option-tables.ts'

const root = join(import.meta.dirname, '../../..')

const sources: Readonly<Record<string, string>> = Object.fromEntries(
  optionPackages.map((folder) => {
    const src = join(root, 'packages', folder, 'src')
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    return [folder, files.map((path) => readFileSync(join(src, path), 'utf8')).join('\n')]
  }),
)
const allSources = Object.values(sources).join('\n')

interface Row extends OptionRow {
  readonly options: Options
  /** Where it is explained. */
  readonly at: string
}

const rowsOf = (options: Options): Row[] =>
  optionRowsIn(`${sources[options.from]}\n${allSources}`, options.type).map((row) => ({
    ...row,
    options,
    at: explainedAt(options, row.name),
  }))
const allRows = optionTables.flatMap(({ options }) => options.flatMap(rowsOf))
const titleOfRow = ({ name, options }: Row) => `${options.type}.${name}`

/** Types of options that the page shows otherwise. */
const NOT_LISTED = [
  'GateOrOptions', // a gate, or options that are listed
  'PolitelyOptions', // joins other types
  'WhenOptions', // two of EnterOptions
]

/** The types of options that the entries of all packages export. */
function publicTypes(): string[] {
  return optionPackages.flatMap((folder) => {
    const { exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    const entries = Object.keys(exports).filter((name) => !name.endsWith('.json') && name !== './internal')
    return entries.flatMap((name) => {
      const text = readFileSync(join(root, 'packages', folder, exports[name]['politely-source']), 'utf8')
      return text.match(/\b[A-Z]\w*Options\b/g) ?? []
    })
  })
}

describe('docs/options.md', () => {
  it('lists the options of all packages', { tags: 'page' }, async () => {
    await expectPage('docs/options.md', optionsPage())
  })

  it('has each type of options that a package exports', () => {
    const listed = optionTables.flatMap(({ options }) => options.map(({ type }) => type))
    expect(publicTypes().filter((name) => !listed.includes(name) && !NOT_LISTED.includes(name))).toEqual([])
    expect(publicTypes().length).toBeGreaterThan(20)
  })

  it('says where each option is explained, and the place names the option', () => {
    const elsewhere = allRows.filter(({ name, at }) => !placeOf(at)?.text.includes(name))
    expect(elsewhere.map((row) => `${titleOfRow(row)}: ${row.at}`)).toEqual([])
  })

  it('fails with the file to change if an option is explained nowhere', () => {
    expect(() => explainedAt({ from: 'gate', type: 'ObeyOptions', at: { rules: 'waiting.md' } }, 'delays')).toThrow(
      'packages/testkit/src/option-tables.ts does not say where ObeyOptions.delays is explained; add it there',
    )
  })

  it('has a sentence for each option', () => {
    expect(allRows.filter(({ meaning }) => !meaning.endsWith('.')).map(titleOfRow)).toEqual([])
  })

  it('has the default of each number, boolean and choice', () => {
    const isClosed = ({ type }: Row) => /^(?:ms|bytes|days|number|boolean|`[\w-]+`(?:(?:, | or )`[\w-]+`)+)$/.test(type)
    expect(allRows.filter((row) => isClosed(row) && row.defaultText === undefined).map(titleOfRow)).toEqual([])
  })

  it('has the defaults of the code', async () => {
    const { clientSettingsOf } = await import(join(root, 'packages/fetcher/src/options/options.ts'))
    const { pacingOf } = await import(join(root, 'packages/gate/src/options/pacing.ts'))
    const { policy, ...settings } = clientSettingsOf({ userAgent: 'ExampleBot/1.0' })
    const pacing = pacingOf({})
    const inCode: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      RobotsClientOptions: { ...policy, ...settings },
      PacingOptions: pacing,
      BackoffOptions: pacing.backoff,
      ObeyOptions: pacing.obey,
    }
    const compared = allRows.flatMap((row) => {
      const value = inCode[row.options.type]?.[row.name]
      if (row.defaultText === 'required' || !['number', 'string', 'boolean'].includes(typeof value)) return []
      return [{ option: titleOfRow(row), inDocs: valueOfText(row.defaultText ?? ''), value }]
    })
    expect(compared.filter(({ inDocs, value }) => inDocs !== value)).toEqual([])
    expect(compared.length).toBeGreaterThan(35)
  })
})

function placeOf(at: string): { readonly title: string; readonly text: string } | undefined {
  const [page, anchor] = at.split('#')
  const text = readPage(`docs/${page}`)
  if (page?.endsWith('.ts')) return { title: `\`${basename(page)}\``, text }
  const sections = sectionsOf(text)
  if (anchor !== undefined) return sections.find((section) => section.anchor === anchor)
  return { title: sections[0]?.title ?? '', text }
}

function optionsPage(): string {
  const tables = optionTables.map(
    ({ title, text, options }) => `## ${title}

${text}

| option | type; default | meaning |
|---|---|---|
${[...new Set(options.flatMap(rowsOf).map(lineOf))].join('')}`,
  )
  return `# All options

Each option, its default, and what it does. Its name leads to the page that says more. \`ms\` are milliseconds. A row without a default has none. If you misspell an option,
or write another crawler's name for it, such as \`downloadDelay\`, an \`OptionError\` says what to write.
[Migrating](migrating.md) compares the settings of other crawlers with these.

${tables.join('\n')}`
}

function lineOf({ name, type, defaultText, meaning, options, at }: Row): string {
  const isPlain = /^(?:number|boolean)$/.test(type) && /^(?:[\d.,]+|`(?:true|false)`)/.test(defaultText ?? '')
  const value = isPlain ? defaultText : [type, defaultText].filter(Boolean).join('; ')

  const cells = [`[\`${options.prefix ?? ''}${name}\`](${at})`, value, meaning]
  return `| ${cells.map((cell = '') => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  MiB: 1024 * 1024,
  minute: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
}

/** The value that the text of a default begins with, such as `24 hours`, `no limit` or `` `start` ``. */
function valueOfText(text: string): unknown {
  const [, code, digits, unit = ''] =
    /^(?:what the dialect says, )?(?:`([\w-]+)`|([\d,]+)(?: (MiB|minute|hours|days)\b)?|(?:none|no limit))/.exec(
      text,
    ) ?? []
  if (digits !== undefined) return Number(digits.replace(/,$/, '').replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN)
  if (code === undefined) return Number.POSITIVE_INFINITY
  return code === 'true' || code === 'false' ? code === 'true' : code
}
