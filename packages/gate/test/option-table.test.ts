// The table of options: its defaults, and which values make requests take the long way.
import { expect, test } from 'vitest'
import { LocalPacer, type PacingOptions } from '../src/index.ts'
import { OPTION_TABLE } from '../src/options/option-table.ts'
import { pacingOf } from '../src/options/pacing.ts'
import { sitePacingBy } from '../src/options/site-pacing.ts'
import { RemotePacer } from './remote-pacer.ts'

const needsLongWay = (options: PacingOptions) => sitePacingBy(pacingOf(options))('https://example.com').needsLongWay

test('the defaults of the table are the values of absent options, and need no long way', () => {
  const defaults = Object.entries(OPTION_TABLE).map(([name, row]) => [name, row.default])
  expect(pacingOf({})).toMatchObject(Object.fromEntries(defaults))
  expect(needsLongWay({})).toBe(false)
})

test.each<PacingOptions>([
  { budget: 5 },
  { minDelayPerDomainMs: 1 },
  { minDelayPerAddressMs: 1 },
  { maxConcurrentPerAddress: 5 },
  { pacer: new RemotePacer(() => 0) },
  { jitter: 0.5 },
  { pace: () => ({ jitter: 0.5 }) },
  { budget: 5, pace: () => ({ minDelayMs: 5 }) },
])('%o needs the long way', (options) => {
  expect(needsLongWay(options)).toBe(true)
})

test.each<PacingOptions>([
  { pacer: new LocalPacer() },
  { minDelayMs: 5, delayFactor: 2, maxConcurrentPerKey: 1, maxConcurrentPerDomain: 1, maxConcurrent: 1 },
  { jitter: 0.5, pace: () => ({ jitter: 0 }) },
])('%o does not need the long way', (options) => {
  expect(needsLongWay(options)).toBe(false)
})
