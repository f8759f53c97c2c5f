// Failures of the caller's code: a pacer, a clock, a channel subscriber or a response that throws
// or is invalid. The request fails, or the failure is counted. In no case does a request count
// towards the concurrency limits for ever.
import { RobotsClient } from '@politely/fetcher'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FailureMessage,
  LocalPacer,
  type Pacer,
  PacerError,
  PoliteGate,
  type PoliteGateOptions,
  politely,
  ResponseError,
} from '../src/index.ts'
import type { ResponseLike } from '../src/permit/request-report.ts'
import { listenTo } from './listen.ts'
import { lookup, Site } from './site.ts'

let site: Site
let robots: RobotsClient
const url = () => site.at('a.test', '/page')

beforeAll(async () => {
  site = await Site.open({ '*': '' })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
})
afterAll(async () => {
  await robots.close()
  await site.close()
})

const now = () => Date.now()
const broken = new Error('broken')
const fail = (): never => {
  throw broken
}

/** A gate that admits one request at a time: if one is never released, the next test step hangs. */
const oneAtATime = (options: Partial<PoliteGateOptions> = {}) =>
  new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1, maxConcurrentPerKey: 1, ...options })

async function expectIdle(gate: PoliteGate): Promise<void> {
  await gate.drain()
  expect(gate.queues()).toEqual([])
}

test('run rejects a value that is not a function, and the permit can still be released', async () => {
  const gate = oneAtATime()
  const permit = await gate.enter(url())
  expect(() => permit.run(undefined as never)).toThrow(
    "send: undefined is not a function; write permit.run(() => fetch(permit.url, { redirect: 'manual' }))",
  )
  permit.release()
  await expectIdle(gate)
})

const invalidResponses: readonly [name: string, response: unknown, message: string][] = [
  [
    'a number',
    5,
    '5 is not a response; expected an object with `status` and `headers`; write permit.release(response)',
  ],
  ['null', null, 'null is not a response'],
  ['a string', 'ok', '"ok" is not a response'],
  ['a status alone', { status: 200 }, '`headers` is undefined; expected a Headers object'],
  ['headers alone', { headers: {} }, '`status` is undefined; expected an integer such as 200'],
  ['a status that is a string', { status: '200', headers: {} }, '`status` is "200"; expected an integer'],
  ['NaN', { status: Number.NaN, headers: {} }, '`status` is NaN; expected an integer'],
  ['headers that are a string', { status: 200, headers: 'x' }, '`headers` is "x"; expected'],
  ['headers whose get throws', { status: 200, headers: { get: fail } }, 'the header retry-after cannot be read'],
  ['headers whose get returns a number', { status: 429, headers: { get: () => 5 } }, 'is 5; expected a string'],
  [
    'a response after a redirect',
    { status: 200, headers: {}, redirected: true, url: 'https://a.test/cart' },
    "redirected to https://a.test/cart, which was not checked; write redirect: 'manual'",
  ],
  [
    'a header that is a number',
    { status: 429, headers: { 'retry-after': 5 } },
    'the header retry-after cannot be read',
  ],
]

describe.each(invalidResponses)('a permit that is given %s instead of a response', (_, response, message) => {
  test('throws from release, and is released', async () => {
    const gate = oneAtATime()
    const permit = await gate.enter(url())
    const release = () => permit.release(response as ResponseLike)
    expect(release).toThrow(ResponseError)
    expect(release).not.toThrow() // it is released already
    await expectIdle(gate)
    ;(await gate.enter(url())).release()
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })

  test('throws from report, and stays valid', async () => {
    const gate = oneAtATime()
    const permit = await gate.enter(url())
    expect(() => permit.report(response as ResponseLike)).toThrow(message)
    expect(() => permit.report(response as ResponseLike)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_RESPONSE' }),
    )
    permit.release({ status: 429, headers: {} })
    expect(gate.counters.pushbacks).toBe(1)
    await expectIdle(gate)
  })
})

test.each([
  ['nothing', undefined, 'no `status`'],
  ['a text', 'page', 'no `status`'],
  ['headers without get', { status: 200, headers: {}, body: null }, 'no `headers.get`'],
  ['the result of axios', { status: 200, headers: new Headers(), data: 'page' }, 'no `body`'],
])('politely rejects a function that returns %s, and the permit is released', async (_, result, missing) => {
  const gate = oneAtATime()
  const polite = politely((async () => result) as unknown as typeof fetch, { gate })
  await expect(polite(url())).rejects.toMatchObject({
    code: 'ERR_POLITELY_RESPONSE',
    message: `fetch: the wrapped function does not return a Response (it has ${missing}), so redirects cannot be checked; write politely(globalThis.fetch, …), or politeHttpAgent for a client that uses node:http, such as axios`,
  })
  await expectIdle(gate)
})

const pacerWith = (some: Partial<Record<keyof Pacer, unknown>>): Pacer => {
  const pacer = new LocalPacer(now)
  return {
    reserve: (key, limits) => pacer.reserve(key, limits),
    started: (key, ticket, delay) => pacer.started(key, ticket, delay),
    cancel: (key, ticket) => pacer.cancel(key, ticket),
    report: (key, ticket, response) => pacer.report(key, ticket, response),
    end: (key, ticket, limits, tookMs) => pacer.end(key, ticket, limits, tookMs),
    estimate: (key, limits, ahead) => pacer.estimate(key, limits, ahead),
    ...(some as Partial<Pacer>),
  }
}

describe.each(['started', 'report', 'end', 'cancel'] as const)('a pacer whose %s fails', (method) => {
  test.each([
    ['by throwing', fail],
    ['by rejecting', () => Promise.reject(broken)],
    // biome-ignore lint/suspicious/noThenProperty: a pacer may return promises of another library
    ['by rejecting a thenable', () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(broken) })],
  ])('%s: the failure is counted and published, and the permit is released', async (_, failing) => {
    const waits =
      method === 'cancel' ? { reserve: () => ({ kind: 'wait', ticket: 't', waitMs: 1e6, because: 'backoff' }) } : {}
    const gate = oneAtATime({ pacer: pacerWith({ [method]: failing, ...waits }) })
    const published: FailureMessage[] = []
    const stop = listenTo('politely:gate:failure', gate, (message) => published.push(message))
    if (method === 'cancel') {
      await expect(gate.enter(url(), { signal: AbortSignal.timeout(5) })).rejects.toThrow()
    } else {
      for (let n = 0; n < 2; n++) (await gate.enter(url())).release({ status: 200, headers: {} })
    }
    await new Promise((turn) => setImmediate(turn))
    stop()
    expect(published[0]).toMatchObject({ error: broken })
    expect(gate.counters.failures).toBe(published.length)
    await expectIdle(gate)
  })
})

const delay = { delayMs: 0, because: 'own-delay' }
const invalidReservations: readonly [name: string, reservation: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['an empty object', {}],
  ['an unknown kind', { kind: 'go', ticket: 1, delay }],
  ['a slot without a delay', { kind: 'slot', ticket: 1 }],
  ['a slot without a ticket', { kind: 'slot', delay }],
  ['a delay of NaN', { kind: 'slot', ticket: 1, delay: { ...delay, delayMs: Number.NaN } }],
  ['a negative delay', { kind: 'slot', ticket: 1, delay: { ...delay, delayMs: -1 } }],
  ['an unknown reason', { kind: 'slot', ticket: 1, delay: { ...delay, because: 'moon' } }],
  ['a slot that expires at an unknown time', { kind: 'slot', ticket: 1, delay, startWithinMs: Number.NaN }],
  ['a slot that has expired', { kind: 'slot', ticket: 1, delay, startWithinMs: -1 }],
  ['a wait without a time', { kind: 'wait', ticket: 1, because: 'backoff' }],
  ['a wait for ever', { kind: 'wait', ticket: 1, waitMs: Number.POSITIVE_INFINITY, because: 'backoff' }],
  ['a wait without a reason', { kind: 'wait', ticket: 1, waitMs: 5 }],
]

test.each(invalidReservations)('rejects the request if the pacer returns %s from reserve', async (_, reservation) => {
  for (const reserve of [() => reservation, async () => reservation]) {
    const gate = oneAtATime({ pacer: pacerWith({ reserve }) })
    for (let n = 0; n < 2; n++) {
      const error = await gate.enter(url()).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(PacerError)
      expect(error).toMatchObject({ code: 'ERR_POLITELY_PACER' })
    }
    await expectIdle(gate)
  }
})

test('calls the pacer again later, not at once, if it asks for a wait of 0', async () => {
  let calls = 0
  const reserve = () => {
    if (++calls > 3) return { kind: 'slot', ticket: 1, delay }
    return { kind: 'wait', ticket: 1, waitMs: 0, because: 'backoff' }
  }
  const gate = oneAtATime({ pacer: pacerWith({ reserve }) })
  ;(await gate.enter(url())).release()
  expect(calls).toBe(4)
  await expectIdle(gate)
})

test.each([
  ['throws', fail, broken],
  ['returns nothing', () => undefined, { code: 'ERR_POLITELY_PACER' }],
  ['returns NaN', () => ({ waitMs: Number.NaN, because: 'none' }), { code: 'ERR_POLITELY_PACER' }],
])('rejects `when` if the estimate of the pacer %s', async (_, estimate, expected) => {
  const gate = oneAtATime({ pacer: pacerWith({ estimate }) })
  await expect(gate.when(url())).rejects.toMatchObject(expected)
})

test('calls the pacer again later, not at once, if its slots have always expired', async () => {
  let lateMs = 0
  const now = () => {
    lateMs += 0.001
    return performance.now() + lateMs
  }
  const open = new Set<number>()
  let calls = 0
  const end = new AbortController()
  const pacer = pacerWith({
    reserve: () => {
      open.add(++calls)
      if (calls === 2) setTimeout(() => end.abort()) // never runs if the calls follow at once
      return { kind: 'slot', ticket: calls, delay, startWithinMs: 0 }
    },
    cancel: (_: string, ticket: number) => void open.delete(ticket),
  })
  const gate = oneAtATime({ pacer, now })
  await expect(gate.enter(url(), { signal: end.signal })).rejects.toThrow()
  expect(calls).toBeGreaterThan(1)
  expect(open.size).toBe(0)
  await expectIdle(gate)
})

const slot = { kind: 'slot', ticket: 1, delay }
test.each([
  ['before the pacer is called', 3, () => slot],
  ['when the pacer has replied', 4, () => slot],
  ['when the promise of the pacer has resolved', 4, async () => slot],
  ['when a slot that expires is given', 4, () => ({ ...slot, startWithinMs: 1_000 })],
  ['when the request starts', 5, () => slot],
] as const)('rejects the request if the clock throws %s, and admits the next one', async (_, call, reserve) => {
  let calls = Number.NEGATIVE_INFINITY
  const gate = oneAtATime({ pacer: pacerWith({ reserve }), now: () => (++calls === call ? fail() : Date.now()) })
  ;(await gate.enter(url())).release()
  calls = 0
  await expect(gate.enter(url())).rejects.toBe(broken)
  ;(await gate.enter(url())).release()
  await expectIdle(gate)
  expect(gate.counters).toMatchObject({ started: 2, done: 2 })
})

test('releases the permits of requests whose channel subscribers throw', async () => {
  const gate = oneAtATime()
  const uncaught: unknown[] = []
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => uncaught.push(error))
  const stops = (['wait', 'start', 'done', 'refuse', 'abandon'] as const).map((name) =>
    listenTo(`politely:gate:${name}`, gate, fail),
  )
  try {
    const first = await gate.enter(url())
    const second = gate.enter(url())
    const third = expect(gate.enter(url(), { signal: AbortSignal.timeout(5) })).rejects.toThrow()
    await third
    first.release({ status: 200, headers: {} })
    ;(await second).release()
    await expectIdle(gate)
    await new Promise((turn) => setImmediate(turn))
    expect(new Set(uncaught)).toEqual(new Set([broken]))
  } finally {
    for (const stop of stops) stop()
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
  }
})
