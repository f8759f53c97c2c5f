// The guide of the playground: its links open, and show what the guide quotes.
import { readFileSync } from 'node:fs'
import { lintRobots } from '@politely/core'
import { expect, test } from 'vitest'
import { cellReport } from '../src/cell-report.ts'
import { linkHash, MAX_LINK_LENGTH, openLink } from '../src/link.ts'
import { usageReport } from '../src/usage-report.ts'

const page = readFileSync(new URL('../../../docs/playground-guide.md', import.meta.url), 'utf8')
const sections = page.split(/^## /m).filter((section) => section.includes('playground.astro#'))

test('the guide has a link for each of six questions', () => {
  expect(sections).toHaveLength(6)
})

test.each(sections.map((section) => [section.split('\n')[0], section] as const))('%s', async (_, section) => {
  const [, hash = ''] = /playground\.astro(#[^)]+)\)/.exec(section) ?? []
  const opened = await openLink(hash)
  if (opened === undefined || !('state' in opened)) throw new Error(`${hash}: ${opened?.problem}`)
  const { state } = opened
  const said = [
    cellReport(state)?.reason ?? '',
    ...lintRobots(state.robots).map(({ message }) => message),
    ...(usageReport(state)?.answers ?? []).map(({ sources }) => sources),
  ].join('\n')
  const quotes = Array.from(section.matchAll(/: "(.+?)"\.(?: |$)/gm), ([, quote = '']) => quote)
  for (const quote of quotes) expect(said).toContain(quote)
  const isComparison = state.before !== undefined
  expect(quotes.length + Number(isComparison)).toBeGreaterThan(0)
  expect((await linkHash(state)).length).toBeLessThan(MAX_LINK_LENGTH)
})
