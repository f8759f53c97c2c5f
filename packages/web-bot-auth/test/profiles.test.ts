import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { profiles } from '../src/index.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/signed-requests.md'), 'utf8')

test.each(Object.entries(profiles))('docs/signed-requests.md has the source and the dates of %s', (name, profile) => {
  const { source, date, readOn, components } = profile
  const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` | [`))
  for (const text of [source, `| ${date} | ${readOn} |`, components.map((one) => `\`${one}\``).join(', ')])
    expect(row).toContain(text)
})
