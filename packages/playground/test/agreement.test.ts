// CONFORMANCE.md has the numbers that the page shows beside verdicts.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agreements } from '../src/agreement.ts'

test('CONFORMANCE.md has the same numbers', () => {
  const page = readFileSync(new URL('../../../CONFORMANCE.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `([\w-]+)` \| ([\d,]+) \| ([\d.]+) % \|/gm)
  const table = Array.from(rows, ([, dialect, count = '', percent]) => {
    const cases = Number(count.replaceAll(',', ''))
    return [dialect, { cases, same: Math.round((cases * Number(percent)) / 100) }]
  })
  expect(agreements).toEqual(Object.fromEntries(table))
})
