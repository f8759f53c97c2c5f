// PostgresPacer with the functions of the schema, in PGlite, with a clock that the test sets.
import type { PaceLimits } from '@politely/core/engine'
import { LocalPacer } from '@politely/gate'
import { circuitCases, pacerCases } from '@politely/testing/cases'
import { leaseCases } from '@politely/testkit/cases/lease-cases'
import { startClock } from '@politely/testkit/clock'
import { comparePacers } from '@politely/testkit/random-pacer-calls'
import { deepSampled } from '@politely/testkit/scope'
import { beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, PostgresPacer } from '../../src/index.ts'
import { openPacer } from '../fake-client.ts'
import { empty, pglite } from './pglite.ts'

/** 100,000 calls in the deep run. */
const SEQUENCES = deepSampled(200, 1)
const CALLS = 500
/** PGlite has one session, in which the calls of all sequences wait. */
const timeoutMs = 600_000

const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

const client = await pglite()

/** The epoch began in 1970, so that first visits need not wait. */
beforeEach(async () => {
  await empty(client)
  const pacer = new PostgresPacer({ client, timeoutMs, now: () => 0 })
  await pacer.cancel('k', '1')
  expect(pacer.counters.failures).toBe(0)
})

test.for([...pacerCases, ...circuitCases])('$name', async ({ run }) => {
  let pacer: PostgresPacer | undefined
  await run({
    open: (now) => {
      pacer = new PostgresPacer({ client, timeoutMs, now })
      return pacer
    },
  })
  expect(pacer?.counters).toMatchObject({ failures: 0, repeats: 0 })
})

test.for(leaseCases)('leases: $name', async ({ run }) => {
  const pacers: PostgresPacer[] = []
  await run({
    open: async (now, leaseMs) => {
      pacers.push(new PostgresPacer({ client, timeoutMs, now, leaseMs }))
      return pacers.at(-1) as PostgresPacer
    },
  })
  expect(pacers.map(({ counters }) => counters.failures)).toEqual(pacers.map(() => 0))
})

test('replies like LocalPacer to random calls', { tags: 'full', timeout: timeoutMs }, async () => {
  const run = (seed: number) => {
    const clock = startClock()
    const pacer = new PostgresPacer({ client, now: clock.now, timeoutMs })
    const local = new LocalPacer(clock.now)
    return comparePacers({ seed, calls: CALLS, key: `random ${seed}`, pacer, local, advance: clock.advance })
  }
  const results = await Promise.all(Array.from({ length: SEQUENCES }, (_, seed) => run(seed)))
  expect(results.filter((result) => result.taken === undefined)).toEqual([])
  expect(results.reduce((sum, { taken = 0 }) => sum + taken, 0)).toBeGreaterThan((SEQUENCES * CALLS) / 50)
})

describe('calls that are joined', () => {
  /** Counts the statements. */
  function counted(): { readonly client: PostgresClient; count: number } {
    const own = {
      count: 0,
      client: {
        query: (text: string, values?: unknown[]) => {
          own.count++
          return client.query(text, values)
        },
      },
    }
    return own
  }

  test('get the reply to their own request, whatever the order of the keys', async () => {
    const statements = counted()
    const pacer = openPacer({ client: statements.client, timeoutMs, now: startClock().now })
    const keys = Array.from({ length: 20 }, (_, n) => `k${(n * 7) % 20}`)
    const delayOf = (key: string) => 1_000 + Number(key.slice(1))
    const replies = await Promise.all(keys.map((key) => pacer.reserve(key, { ...limits, ownDelayMs: delayOf(key) })))
    expect(replies).toMatchObject(keys.map((key) => ({ kind: 'slot', delay: { delayMs: delayOf(key) } })))
    expect(statements.count).toBe(1)
  })

  test('of one key are made in their order', async () => {
    const statements = counted()
    const pacer = openPacer({ client: statements.client, timeoutMs, now: startClock().now })
    const names = ['b', 'a', 'b', 'a']
    const replies = await Promise.all(names.map((key) => pacer.reserve(key, limits)))
    expect(replies.map(({ kind }) => kind)).toEqual(['slot', 'slot', 'wait', 'wait'])
    expect(statements.count).toBe(1)
  })

  test.for<[string, string, PaceLimits, string]>([
    ['a negative delay', 'b', { ...limits, ownDelayMs: -1 }, 'PL001'],
    ['a key with a NUL character', 'b\0', limits, '22P05'],
    ['a key with half of a character', 'b\ud800', limits, '22P02'],
  ])('of which one has %s: only its caller gets the error', async ([, key, ownLimits, code]) => {
    const statements = counted()
    const pacer = openPacer({ client: statements.client, timeoutMs, now: startClock().now })
    const replies = await Promise.allSettled([
      pacer.reserve('a', limits),
      pacer.reserve(key, ownLimits),
      pacer.reserve('c', limits),
    ])
    expect(replies).toMatchObject([{ value: { kind: 'slot' } }, { reason: { code } }, { value: { kind: 'slot' } }])
    expect(statements.count).toBe(4)
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'wait', because: 'own-delay' })
  })
})

test('a reply is exact, and a first visit after a loss waits for the delay', async () => {
  const clock = startClock(1_764_000_000_000.25)
  const pacer = openPacer({ client, timeoutMs, now: clock.now })
  const slot = await pacer.reserve('a', { ...limits, ownDelayMs: 0.1 })
  expect(slot).toEqual({
    kind: 'slot',
    ticket: '1764000000000251',
    delay: { delayMs: 0.1, because: 'own-delay' },
  })
  await client.query('DELETE FROM politely.epoch')
  expect(await pacer.reserve('b', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000, because: 'own-delay' })
  clock.advance(1_000)
  expect(await pacer.reserve('b', limits)).toMatchObject({ kind: 'slot' })
})

test('tells Postgres a pushback again after a loss of all paces', async () => {
  const clock = startClock()
  const pacer = openPacer({ client, timeoutMs, now: clock.now })
  const other = openPacer({ client, timeoutMs, now: clock.now })
  const slot = await pacer.reserve('a', limits)
  await pacer.report('a', `${slot.ticket}`, { status: 429, retryAfter: '60' })
  for (const table of ['pace', 'epoch']) await client.query(`DELETE FROM politely.${table}`)
  clock.advance(10_000)
  await pacer.reserve('b', limits) // shows the new epoch
  await expect.poll(async () => other.estimate('a', limits, 0)).toEqual({ waitMs: 50_000, because: 'retry-after' })
})

test('a database without the schema: the caller sees what to run', async () => {
  const pacer = openPacer({ client, schema: 'nothing' })
  await expect(pacer.reserve('a', limits)).rejects.toMatchObject({
    code: 'ERR_POLITELY_POSTGRES_SCHEMA',
    message: expect.stringContaining('run migrate(client)'),
  })
  await client.exec('CREATE SCHEMA old')
  await expect(openPacer({ client, schema: 'old' }).reserve('a', limits)).rejects.toMatchObject({
    code: 'ERR_POLITELY_POSTGRES_SCHEMA',
    message: expect.stringContaining('older than this package'),
  })
})
