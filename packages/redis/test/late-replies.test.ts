// What a pacer does with replies that come late, over a server that the test plays, by a clock that the
// test sets.
import type { PaceLimits } from '@politely/core/engine'
import { FleetPacer, type PaceReply, type PaceRequest, type PaceTransport } from '@politely/fleet'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
const TURN = { turnAt: 2_000, turnBefore: 0, turnStepMs: 1_000 }
const NEXT = { turnAt: 5_000, turnBefore: 4_000, turnStepMs: 1_000 }
const DONE: PaceReply = { kind: 'done', epoch: 0, isEpochLost: false }

function slotReply(more: { waitMs?: number; turn?: typeof TURN } = {}): PaceReply {
  const { waitMs, turn } = more
  const delay = { delayMs: 1_000, because: 'own-delay' } as const
  const next = { turn, nextWaitMs: turn && 3_000 }
  return {
    kind: 'slot',
    epoch: 0,
    isEpochLost: false,
    slot: 7,
    waitMs,
    delay,
    hasPushbacks: false,
    ended: undefined,
    ...next,
  }
}

/** @param answer Replies to the call with this number, from 1 on, or throws. */
function startPacer(answer: (request: PaceRequest, n: number) => Promise<PaceReply>) {
  const requests: PaceRequest[] = []
  const transport: PaceTransport = {
    isEpochShared: true,
    channels: { failure: 'test:failure', recovered: 'test:recovered' },
    pace: (_key, request) => answer(request, requests.push(request)),
    circuit: () => Promise.reject(new Error('no circuits')),
    isRejection: () => false,
    timeoutError: () => new Error('timeout'),
  }
  const opsOf = () => requests.map(({ op }) => op)
  return { pacer: new FleetPacer(transport, { timeoutMs: 100 }), requests, opsOf }
}

const after = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(resolve, ms, value))

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a slot whose reply comes after the timeout is given back, but not before its time', async () => {
  const late = slotReply({ waitMs: 400, turn: NEXT })
  const { pacer, opsOf } = startPacer(({ op }) => (op === 'reserve' ? after(120, late) : Promise.resolve(DONE)))
  const reserving = pacer.reserve('k', limits)
  await vi.advanceTimersByTimeAsync(100)
  expect(await reserving).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
  await vi.advanceTimersByTimeAsync(420) // the slot is at 520 ms
  expect(opsOf()).toEqual(['reserve', 'cancelWait'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(opsOf()).toEqual(['reserve', 'cancelWait', 'cancel'])
})

test('a slot whose reply takes too long is reserved again, with the turn of the worker', async () => {
  const { pacer, requests } = startPacer((_request, n) =>
    n === 1 ? after(80, slotReply()) : Promise.resolve(slotReply()),
  )
  const reserving = pacer.reserve('k', limits, 'turn 2000 0 1000', 0, false, 0, undefined, 0)
  await vi.advanceTimersByTimeAsync(80)
  expect(await reserving).toMatchObject({ kind: 'slot', nextTicket: undefined })
  expect(requests).toMatchObject([TURN, { ...TURN, slot: 7 }])
  expect(pacer.counters.repeats).toBe(1)
})

test('if the server fails then, the slot is given back, and the worker keeps its next turn', async () => {
  const { pacer, requests } = startPacer((_request, n) =>
    n === 1
      ? after(80, slotReply({ turn: NEXT }))
      : n === 2
        ? Promise.reject(new Error('away'))
        : Promise.resolve(DONE),
  )
  const reserving = pacer.reserve('k', limits, 'turn 2000 0 1000', 0, false, 0, undefined, 1)
  await vi.advanceTimersByTimeAsync(80)
  expect(await reserving).toMatchObject({ kind: 'wait', because: 'pacer-failure', ticket: 'turn 5000 4000 1000' })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(requests.at(-1)).toMatchObject({ op: 'cancel', slot: 7 })
})

test('replies that always take longer than half of timeoutMs are no failure', async () => {
  const { pacer } = startPacer(() => after(70, slotReply()))
  for (let n = 0; n < 4; n++) {
    const reserving = pacer.reserve('k', limits, undefined, 0, false, 0, undefined, 0)
    await vi.advanceTimersByTimeAsync(300)
    expect(await reserving).toMatchObject({ kind: 'slot' })
  }
  expect(pacer.counters).toMatchObject({ failures: 0, repeats: 1 })
})

test('a call that has failed is made again before the next slot is reserved', async () => {
  const { pacer, opsOf } = startPacer((_request, n) => {
    if (n === 1) return Promise.reject(new Error('away'))
    return n === 2 ? after(50, DONE) : Promise.resolve(slotReply())
  })
  await pacer.end('k', '7', { ...limits, pauseFrom: 'end' }, 10)
  await vi.advanceTimersByTimeAsync(260) // the call is under way again
  const reserving = pacer.reserve('k', limits)
  expect(opsOf()).toEqual(['end', 'end'])
  await vi.advanceTimersByTimeAsync(50)
  expect(await reserving).toMatchObject({ kind: 'slot' })
  expect(opsOf()).toEqual(['end', 'end', 'reserve'])
})
