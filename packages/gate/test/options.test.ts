// The options, and the errors for invalid ones.
import { OptionError } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { holdRefusingPort } from '@politely/testkit/refusing-port'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { LocalPacer, PoliteGate, type PoliteGateOptions, type PolitelyOptions, politely } from '../src/index.ts'

const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
const gate = new PoliteGate({ robots })

function optionError(make: () => unknown): OptionError {
  try {
    make()
  } catch (error) {
    if (error instanceof OptionError) return error
    throw error
  }
  throw new Error('the option was taken')
}

test.each<[given: Record<string, unknown>, option: string]>([
  [{ minDelayMs: -1 }, 'minDelayMs'],
  [{ minDelayMs: 'x' }, 'minDelayMs'],
  [{ minDelayMs: '1000' }, 'minDelayMs'],
  [{ minDelayMs: Number.NaN }, 'minDelayMs'],
  [{ maxDelayMs: -0.5 }, 'maxDelayMs'],
  [{ maxDelayMs: 5n }, 'maxDelayMs'],
  [{ maxConcurrent: 0 }, 'maxConcurrent'],
  [{ maxConcurrent: 1.5 }, 'maxConcurrent'],
  [{ maxConcurrent: '8' }, 'maxConcurrent'],
  [{ maxConcurrentPerOrigin: 0 }, 'maxConcurrentPerOrigin'],
  [{ maxConcurrentPerDomain: 0 }, 'maxConcurrentPerDomain'],
  [{ maxConcurrentPerDomain: '8' }, 'maxConcurrentPerDomain'],
  [{ maxConcurrentPerOrigin: -2 }, 'maxConcurrentPerOrigin'],
  [{ maxConcurrentPerOrigin: Number.NaN }, 'maxConcurrentPerOrigin'],
  [{ paceBy: 'site' }, 'paceBy'],
  [{ paceBy: 5 }, 'paceBy'],
  [{ pacer: {} }, 'pacer'],
  [{ pacer: null }, 'pacer'],
  [{ lookup: 'dns' }, 'lookup'],
  [{ maxConcurency: 8 }, 'maxConcurency'],
  [{ toString: 8 }, 'toString'],
])('PoliteGate and politely reject %o', (given, option) => {
  const errors = [
    optionError(() => new PoliteGate({ robots, ...given } as PoliteGateOptions)),
    optionError(() => politely(fetch, { userAgent: 'ExampleBot/1.0', ...given } as PolitelyOptions)),
  ]
  for (const error of errors) {
    expect(error).toMatchObject({ name: 'OptionError', code: 'ERR_POLITELY_OPTION', option })
    expect(error.message).toMatch(new RegExp(`^${option}: .+`))
  }
})

test.each<[name: string, make: () => unknown, option: string]>([
  ['missing robots', () => new PoliteGate({} as PoliteGateOptions), 'robots'],
  ['robots of another type', () => new PoliteGate({ robots: {} as RobotsClient }), 'robots'],
  ['an invalid clock', () => new PoliteGate({ robots, now: 5 as unknown as () => number }), 'now'],
  ['a missing fetch', () => politely(undefined as unknown as typeof fetch, { gate }), 'fetch'],
  ['missing options', () => politely(fetch, undefined as unknown as PolitelyOptions), 'options'],
  ['a missing userAgent', () => politely(fetch, {} as PolitelyOptions), 'userAgent'],
  ['an invalid gate', () => politely(fetch, { gate: {} as PoliteGate }), 'gate'],
  ['a gate that is undefined', () => politely(fetch, { gate: undefined as unknown as PoliteGate }), 'gate'],
  ['minDelayMs beside gate', () => politely(fetch, { gate, minDelayMs: 5 }), 'minDelayMs'],
  ['an unknown onDisallowed', () => politely(fetch, { gate, onDisallowed: 'no' as 'throw' }), 'onDisallowed'],
  ['userAgent beside gate', () => politely(fetch, { gate, userAgent: 'OtherBot' }), 'userAgent'],
])('rejects %s', (_, make, option) => {
  expect(optionError(make)).toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
})

test.each([
  { minDelayMs: 0 },
  { minDelayMs: 0.5, maxDelayMs: 0 },
  { minDelayMs: undefined, maxDelayMs: undefined, maxConcurrent: undefined, maxConcurrentPerOrigin: undefined },
  { maxDelayMs: Number.POSITIVE_INFINITY },
  { maxConcurrent: 1, maxConcurrentPerOrigin: 1 },
  { now: () => 0 },
  { paceBy: 'address' as const, lookup: () => {} },
  { pacer: new LocalPacer(() => 0) },
])('PoliteGate accepts %o', (given) => {
  expect(new PoliteGate({ robots, ...given }).robots).toBe(robots)
})

test('passes the clock of politely to the gate', async () => {
  let seconds = 0
  const nowhere = await holdRefusingPort()
  onTestFinished(() => nowhere.close())
  const polite = politely(fetch, { userAgent: 'ExampleBot/1.0', retries: 0, now: () => ++seconds * 1_000 })
  const { waitedMs } = await polite.gate.enter(`http://127.0.0.1:${nowhere.port}/robots.txt`)
  expect(waitedMs).toBeGreaterThanOrEqual(1_000)
  expect(waitedMs % 1_000).toBe(0)
  await polite.close()
})

test('refuses a host at a blocked address, also for /robots.txt', async () => {
  const polite = politely(fetch, { userAgent: 'ExampleBot/1.0', network: 'public-only' })
  for (const path of ['robots.txt', 'page']) {
    const url = `http://127.0.0.1/${path}`
    await expect(polite.gate.enter(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(await polite.gate.when(url)).toMatchObject({ allowed: false, verdict: { because: 'unreachable' } })
    await expect(polite(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  }
  await polite.close()
})

test('types: returns the type of the given fetch, with gate and close', async () => {
  const polite = politely(globalThis.fetch, { gate })
  expectTypeOf(polite).toExtend<typeof globalThis.fetch>()
  expectTypeOf(polite).parameters.toEqualTypeOf<Parameters<typeof globalThis.fetch>>()
  expectTypeOf(polite).returns.toEqualTypeOf<Promise<Response>>()
  expectTypeOf(polite.gate).toEqualTypeOf<PoliteGate>()
  expectTypeOf(polite.close).toEqualTypeOf<() => Promise<void>>()
  expectTypeOf(polite).toExtend<AsyncDisposable>()

  const undici = await import('undici')
  const other = politely(undici.fetch, { gate })
  expectTypeOf(other).toExtend<typeof undici.fetch>()
  expectTypeOf(other).returns.toEqualTypeOf<Promise<import('undici').Response>>()

  const yours = async (url: string, init?: { signal?: AbortSignal }) => new Response(`${url} ${init}`)
  expectTypeOf(politely(yours, { gate })).parameters.toEqualTypeOf<Parameters<typeof yours>>()

  // @ts-expect-error A function that does not return a Response is not a fetch.
  politely(async (url: string) => url, { gate })
  // @ts-expect-error Either a gate or a userAgent is required.
  expect(() => politely(globalThis.fetch, {})).toThrow(OptionError)
})
