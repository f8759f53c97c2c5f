// @module-tag full
// The tables of docs/revisit.md, and what they must show.
import { expectTables } from '@politely/testkit/doc-page'
import { seededRandom } from '@politely/testkit/random-robots'
import { expect, it } from 'vitest'
import { DAY_MS, patterns, YEAR_MS } from '../src/revisit/patterns.ts'
import { adaptive, fixed, nutchAdaptive } from '../src/revisit/policies.ts'
import { type Policy, simulate } from '../src/revisit/simulate.ts'

const pages = patterns(seededRandom(57))
const comparable = pages.filter(({ alwaysDiffers }) => !alwaysDiffers)

const policies: readonly (readonly [name: string, policy: Policy, pages: typeof pages])[] = [
  ['`nextVisit`, default a day', adaptive({ defaultIntervalMs: DAY_MS }), pages],
  ['`nextVisit`, default 3 days', adaptive({ defaultIntervalMs: 3 * DAY_MS }), pages],
  ['`nextVisit`, default a week', adaptive({}), pages],
  ['`nextVisit`, default 30 days', adaptive({ defaultIntervalMs: 30 * DAY_MS }), pages],
  ['Nutch, default: every 30 days', fixed(30 * DAY_MS), pages],
  ['Nutch, adaptive', nutchAdaptive, pages],
  ['Nutch, adaptive, 96 pages', nutchAdaptive, comparable],
]

/** Each policy, and a fixed interval with as many requests. */
const compare = (hasDates: boolean) =>
  policies.map(([name, policy, pagesOf]) => {
    const own = simulate(pagesOf, policy, hasDates)
    // Visits at a fixed interval begin at 0, and the last interval is cut off by half, on average.
    const equal = simulate(pagesOf, fixed(YEAR_MS / (own.requests - 0.5)), hasDates)
    return { name, own, equal }
  })

const withoutDates = compare(false)
const withDates = compare(true)

const tableOf = (title: string, rows: ReturnType<typeof compare>) => {
  const share = (value: number) => `${Math.round(value * 100)} %`
  const days = (ms: number) => `${(ms / DAY_MS).toFixed(1)} days`
  return {
    head: [title, 'requests a page', 'freshness', 'age', 'freshness, fixed interval', 'age, fixed interval'],
    rows: rows.map(({ name, own, equal }) => [
      name,
      Math.round(own.requests).toLocaleString('en'),
      share(own.freshness),
      days(own.ageMs),
      share(equal.freshness),
      days(equal.ageMs),
    ]),
  }
}

it('has a hundred pages', () => {
  expect(pages).toHaveLength(100)
})

it.each([...withoutDates, ...withDates].filter(({ name }) => name.startsWith('`nextVisit`')))(
  '$name has younger copies than a fixed interval with as many requests, and copies as fresh',
  ({ own, equal }) => {
    expect(equal.requests).toBeGreaterThan(own.requests - 1.5)
    expect(own.ageMs).toBeLessThan(equal.ageMs)
    expect(own.freshness).toBeGreaterThan(equal.freshness - 0.03)
  },
)

it('docs/revisit.md has the results', { tags: 'page' }, async () => {
  await expectTables('docs/revisit.md', tableOf('policy, without `Last-Modified`', withoutDates))
})
