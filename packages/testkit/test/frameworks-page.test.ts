// docs/frameworks.md has a table of what each adapter and recipe does. It is generated from the
// rows that their tests run.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adapterCases, adapterRows, type Capability } from '../src/cases/adapter-cases.ts'
import { expectPage, readPage } from '../src/doc-page.ts'
import { withTables } from '../src/doc-table.ts'

const docs = join(import.meta.dirname, '../../../docs')
const capabilities: readonly Capability[] = [...new Set(adapterCases.map(({ capability }) => capability))]

it('docs/frameworks.md contains these rows', { tags: 'page' }, async () => {
  const head = ['', ...capabilities]
  const linksOf = Map.groupBy(adapterRows, ({ cannot }) => capabilities.map((one) => cannot[one] ?? 'yes').join('\n'))
  const rows = [...linksOf].map(([cells, adapters]) => [
    adapters.map(({ name, page }) => `[${name}](${page})`).join(', '),
    ...cells.split('\n'),
  ])
  const page = withTables(readPage('docs/frameworks.md'), [{ head, rows }])
  expect(page.match(/^\| \[/gm)).toHaveLength(rows.length) // and no others
  await expectPage('docs/frameworks.md', page)
})

it.each(adapterRows)('the page of $name exists', ({ page }) => {
  expect(existsSync(join(docs, page.replace(/#.*/, '')))).toBe(true)
})
