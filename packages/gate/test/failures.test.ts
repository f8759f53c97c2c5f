// Code of the caller's that throws, or answers nonsense: the request fails, or the failure is counted, and no slot is lost.
import { RobotsClient } from '@politely/fetcher'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FailureMessage,
  LocalPacer,
  type Pacer,
  PacerError,
  PoliteGate,
  type PoliteGateOptions,
  ResponseError,
  type ResponseLike,
} from '../src/index.ts'
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

/** One slot in all: a lost one stops everything. */
const narrow = (options: Partial<PoliteGateOptions> = {}) =>
  new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1, maxConcurrentPerOrigin: 1, ...options })

async function isFree(gate: PoliteGate): Promise<void> {
  await gate.drain()
  expect(gate.queues()).toEqual([])
}

const badAnswers: readonly [name: string, answer: unknown, said: string][] = [
  [
    'a number',
    5,
    '5 is not a response; expected an object with `status` and `headers`; write permit.release(response)',
  ],
  ['null', null, 'null is not a response'],
  ['a text', 'ok', '"ok" is not a response'],
  ['a status alone', { status: 200 }, '`headers` is undefined; expected a Headers object'],
  ['headers alone', { headers: {} }, '`status` is undefined; expected an integer such as 200'],
  ['a status that is text', { status: '200', headers: {} }, '`status` is "200"; expected an integer'],
  ['NaN', { status: Number.NaN, headers: {} }, '`status` is NaN; expected an integer'],
  ['headers that are text', { status: 200, headers: 'x' }, '`headers` is "x"; expected'],
  ['headers whose get throws', { status: 200, headers: { get: fail } }, 'the header retry-after cannot be read'],
  ['headers whose get returns a number', { status: 429, headers: { get: () => 5 } }, 'is 5; expected a string'],
  [
    'a header that is a number',
    { status: 429, headers: { 'retry-after': 5 } },
    'the header retry-after cannot be read',
  ],
]

describe.each(badAnswers)('a pass that is given %s', (_, answer, said) => {
  test('by leave: throws, and frees the slot', async () => {
    const gate = narrow()
    const permit = await gate.enter(url())
    const leave = () => permit.release(answer as ResponseLike)
    expect(leave).toThrow(ResponseError)
    expect(leave).not.toThrow() // it is over
    await isFree(gate)
    ;(await gate.enter(url())).release()
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })

  test('by answered: throws, and the pass stays good', async () => {
    const gate = narrow()
    const permit = await gate.enter(url())
    expect(() => permit.report(answer as ResponseLike)).toThrow(said)
    expect(() => permit.report(answer as ResponseLike)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_RESPONSE' }),
    )
    permit.release({ status: 429, headers: {} })
    expect(gate.counters.pushbacks).toBe(1)
    await isFree(gate)
  })
})

const pacerWith = (some: Partial<Record<keyof Pacer, unknown>>): Pacer => {
  const pacer = new LocalPacer(now)
  return {
    reserve: (key, wishes) => pacer.reserve(key, wishes),
    started: (key, ticket, delay) => pacer.started(key, ticket, delay),
    cancel: (key, ticket) => pacer.cancel(key, ticket),
    report: (key, ticket, answer) => pacer.report(key, ticket, answer),
    estimate: (key, wishes, ahead) => pacer.estimate(key, wishes, ahead),
    ...(some as Partial<Pacer>),
  }
}

describe.each(['started', 'report', 'cancel'] as const)('a pacer whose %s fails', (method) => {
  test.each([
    ['by throwing', fail],
    ['by a promise', () => Promise.reject(broken)],
    // biome-ignore lint/suspicious/noThenProperty: a pacer may answer by promises of another library
    ['by a thenable', () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(broken) })],
  ])('%s: that is counted and published, and no slot is lost', async (_, failing) => {
    const waits =
      method === 'cancel' ? { reserve: () => ({ kind: 'wait', ticket: 't', waitMs: 1e6, because: 'backoff' }) } : {}
    const gate = narrow({ pacer: pacerWith({ [method]: failing, ...waits }) })
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
    await isFree(gate)
  })
})

const delay = { delayMs: 0, because: 'own-delay' }
const badTurns: readonly [name: string, turn: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['an empty object', {}],
  ['an unknown kind', { kind: 'go', ticket: 1, delay }],
  ['a slot without a delay', { kind: 'slot', ticket: 1 }],
  ['a slot without a ticket', { kind: 'slot', delay }],
  ['a delay of NaN', { kind: 'slot', ticket: 1, delay: { ...delay, delayMs: Number.NaN } }],
  ['a negative delay', { kind: 'slot', ticket: 1, delay: { ...delay, delayMs: -1 } }],
  ['an unknown reason', { kind: 'slot', ticket: 1, delay: { ...delay, because: 'moon' } }],
  ['a wait without a time', { kind: 'wait', ticket: 1, because: 'backoff' }],
  ['a wait for ever', { kind: 'wait', ticket: 1, waitMs: Number.POSITIVE_INFINITY, because: 'backoff' }],
  ['a wait without a reason', { kind: 'wait', ticket: 1, waitMs: 5 }],
]

test.each(badTurns)('a pacer whose reserve returns %s: the request fails, and no slot is lost', async (_, turn) => {
  for (const reserve of [() => turn, async () => turn]) {
    const gate = narrow({ pacer: pacerWith({ reserve }) })
    for (let n = 0; n < 2; n++) {
      const error = await gate.enter(url()).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(PacerError)
      expect(error).toMatchObject({ code: 'ERR_POLITELY_PACER' })
    }
    await isFree(gate)
  }
})

test('a pacer that says wait, and for no time, is asked again later, not at once', async () => {
  let asked = 0
  const reserve = () => {
    if (++asked > 3) return { kind: 'slot', ticket: 1, delay }
    return { kind: 'wait', ticket: 1, waitMs: 0, because: 'backoff' }
  }
  const gate = narrow({ pacer: pacerWith({ reserve }) })
  ;(await gate.enter(url())).release()
  expect(asked).toBe(4)
  await isFree(gate)
})

test.each([
  ['throws', fail, broken],
  ['returns nothing', () => undefined, { code: 'ERR_POLITELY_PACER' }],
  ['returns NaN', () => ({ waitMs: Number.NaN, because: 'none' }), { code: 'ERR_POLITELY_PACER' }],
])('a pacer whose estimate %s: the forecast fails', async (_, estimate, expected) => {
  const gate = narrow({ pacer: pacerWith({ estimate }) })
  await expect(gate.when(url())).rejects.toMatchObject(expected)
})

test.each([
  ['when the turn has come', 3],
  ['when the request starts', 4],
])('a clock that throws %s: the request fails, and no slot is lost', async (_, call) => {
  let calls = Number.NEGATIVE_INFINITY
  const reserve = () => ({ kind: 'slot', ticket: 1, delay })
  const gate = narrow({ pacer: pacerWith({ reserve }), now: () => (++calls === call ? fail() : Date.now()) })
  ;(await gate.enter(url())).release()
  calls = 0
  await expect(gate.enter(url())).rejects.toBe(broken)
  ;(await gate.enter(url())).release()
  await isFree(gate)
  expect(gate.counters).toMatchObject({ started: 2, done: 2 })
})

test('listeners of channels that throw cost no slot', async () => {
  const gate = narrow()
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
    await isFree(gate)
    await new Promise((turn) => setImmediate(turn))
    expect(new Set(uncaught)).toEqual(new Set([broken]))
  } finally {
    for (const stop of stops) stop()
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
  }
})
