// LocalPacer: its clocks, and the eviction of keys. packages/testing runs the cases of all pacers.
import type { Delay, PaceLimits } from '@politely/core/engine'
import { startClock } from '@politely/testkit/clock'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LocalPacer, type Ticket } from '../src/index.ts'

test('no request starts before a pause is over that its site has asked for', () => {
  const random = seededRandom(7)
  const { now, advance: pass } = startClock()
  const pacer = new LocalPacer(now)
  const times = [0.25, 900, 5_000, 60_000, 4_000_000, Number.POSITIVE_INFINITY]
  const asked = new Map<string, number>()
  const slots: { readonly key: string; readonly ticket: Ticket; readonly delay: Delay }[] = []
  const limits: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
  let [started, waited] = [0, 0]
  for (let n = 0; n < sampled(20_000); n++) {
    const key = pick(random, ['a', 'b', 'c'])
    const ms = pick(random, times)
    const ask = (at: string) => asked.set(at, Math.max(asked.get(at) ?? 0, now() + Math.min(ms, 86_400_000)))
    const roll = random()
    const slot = slots.length > 0 ? pick(random, slots) : undefined
    if (roll < 0.4) {
      const own = pick(random, [limits, { ...limits, ownDelayMs: 1_000 }, { ...limits, pauseFrom: 'end' as const }])
      const reply = pacer.reserve(key, own)
      if (reply.kind === 'wait') waited++
      else {
        started++
        expect(now()).toBeGreaterThanOrEqual(asked.get(key) ?? 0)
        slots.push({ key, ticket: reply.ticket, delay: reply.delay })
        if (slots.length > 20) slots.shift()
      }
    } else if (roll < 0.7) pass(pick(random, [0, 100, 5_000, 60_000, 100_000_000 * random()]))
    else if (roll < 0.75) {
      pacer.pause(key, ms, pick(random, ['retry-after', 'backoff', 'rate-limit']))
      ask(key)
    } else if (slot !== undefined) {
      if (roll < 0.8) pacer.cancel(slot.key, slot.ticket)
      else if (roll < 0.85) pacer.end(slot.key, slot.ticket, { ...limits, delayFactor: 1 }, 2_000 * random())
      else if (roll < 0.88) pacer.sent(slot.key, slot.ticket, slot.delay)
      else if (roll < 0.92) pacer.report(slot.key, slot.ticket, { status: 200, retryAfter: undefined })
      else if (roll < 0.95) pacer.report(slot.key, slot.ticket, { status: 429, retryAfter: undefined })
      else {
        const backoff = { firstMs: pick(random, times), maxMs: pick(random, times), factor: 1 + random() }
        pacer.report(slot.key, slot.ticket, { status: 403, retryAfter: '1', requestedMs: ms, backoff })
        ask(slot.key)
      }
    }
  }
  expect(Math.min(started, waited)).toBeGreaterThan(sampled(1_000))
})

test('counts the delay from the start of the request, not from the reservation of its slot', () => {
  const { now, advance: pass } = startClock()
  const pacer = new LocalPacer(now)
  const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
  const slot = pacer.reserve('k', limits)
  if (slot.kind !== 'slot') throw new Error('the first slot is free')
  pass(40) // such as a garbage collection
  pacer.started('k', slot.ticket, slot.delay)
  pass(960)
  expect(pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 40 })
  pass(40)
  pacer.reserve('k', limits)
  pass(10)
  pacer.started('k', slot.ticket, slot.delay) // no longer the last slot
  expect(pacer.reserve('k', limits)).toMatchObject({ waitMs: 990 })
  pacer.started('never seen', 7, slot.delay)
})

describe('while the system clock is set', () => {
  const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
  const hourMs = 3_600_000

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.UTC(2026, 0, 1, 3) })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([-hourMs, hourMs])('a delay stays as long as asked (by %i ms)', (changeMs) => {
    const pacer = new LocalPacer()
    pacer.reserve('k', limits)
    vi.setSystemTime(Date.now() + changeMs)
    expect(pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    vi.advanceTimersByTime(1_000)
    expect(pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
  })

  test('Visit-time, Request-rate and dates in Retry-After are read in UTC', () => {
    const pacer = new LocalPacer()
    const timed: PaceLimits = {
      ...limits,
      requestRates: [{ requests: 1, periodMs: 60_000, between: { from: 6 * 60, to: 7 * 60 } }],
      visitTimes: [{ from: 5 * 60, to: 7 * 60 }],
    }
    expect(pacer.reserve('k', timed)).toMatchObject({ waitMs: 2 * hourMs, because: 'visit-time' })
    vi.setSystemTime(Date.UTC(2026, 0, 1, 6)) // the computer has slept for three hours
    expect(pacer.estimate('k', timed, 1)).toEqual({ waitMs: 60_000, because: 'request-rate' })
    const slot = pacer.reserve('k', timed)
    if (slot.kind !== 'slot') throw new Error('the site is open')
    expect(slot.delay).toEqual({ delayMs: 60_000, because: 'request-rate' })
    pacer.report('k', slot.ticket, { status: 503, retryAfter: 'Thu, 01 Jan 2026 06:10:00 GMT' })
    expect(pacer.reserve('k', timed)).toMatchObject({ waitMs: 600_000, because: 'retry-after' })
    pacer.end('k', slot.ticket, { ...timed, pauseFrom: 'end' }, 0)
    expect(pacer.reserve('k', { ...timed, visitTimes: [] })).toMatchObject({ waitMs: 600_000 })
  })
})

describe('eviction', () => {
  const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

  test('checks two keys for each slot, and evicts those whose delay is over', () => {
    const { now, advance: pass } = startClock()
    const pacer = new LocalPacer(now)
    for (let n = 0; n < 10_000; n++) pacer.reserve(`old ${n}`, limits)
    expect(pacer.size).toBe(10_000)
    pass(1_000)
    for (let n = 0; n < 5_100; n++) pacer.reserve('another', { ...limits, ownDelayMs: 0 })
    expect(pacer.size).toBeLessThanOrEqual(1)
  })

  test('keeps few keys beyond those with a delay to keep, in a crawl of ever new origins', () => {
    const { now, advance: pass } = startClock()
    const pacer = new LocalPacer(now)
    let most = 0
    for (let n = 0; n < 100_000; n++) {
      pacer.reserve(`origin ${n}`, limits)
      pass(1) // a thousand new keys each second
      most = Math.max(most, pacer.size)
    }
    expect(most).toBeLessThan(3_000)
  })

  test('keeps keys with a delay to keep, and keys that were pushed back for five minutes after that', () => {
    const { now, advance: pass } = startClock()
    const pacer = new LocalPacer(now)
    const busy = { status: 429, retryAfter: undefined }
    const others = () => {
      for (let n = 0; n < 100; n++) pacer.reserve(`other ${now()} ${n}`, { ...limits, ownDelayMs: 0 })
    }
    const first = pacer.reserve('busy', limits)
    pacer.report('busy', first.ticket ?? '', busy)
    others()
    expect(pacer.reserve('busy', limits)).toMatchObject({ kind: 'wait', waitMs: 5_000, because: 'backoff' })
    pass(304_999)
    others()
    const second = pacer.reserve('busy', limits)
    pacer.report('busy', second.ticket ?? '', busy)
    expect(pacer.reserve('busy', limits)).toMatchObject({ waitMs: 10_000 })
    pass(310_000)
    others()
    const third = pacer.reserve('busy', limits)
    pacer.report('busy', third.ticket ?? '', busy)
    expect(pacer.reserve('busy', limits)).toMatchObject({ waitMs: 5_000 })
  })

  test('keeps a key whose site has asked for a pause until the pause is over, even if no request ever starts', () => {
    const { now, advance: pass } = startClock()
    const pacer = new LocalPacer(now)
    for (let n = 0; n < 100; n++) pacer.pause(`${n}`, 1_000, 'retry-after')
    expect(pacer.size).toBe(100)
    pass(1_000)
    for (let n = 100; n < 300; n++) pacer.pause(`${n}`, 1_000, 'retry-after')
    expect(pacer.size).toBe(200)
  })

  test('recognises a late response to a request from before the eviction', () => {
    const { now, advance: pass } = startClock()
    const pacer = new LocalPacer(now)
    const busy = { status: 429, retryAfter: undefined }
    const old = [pacer.reserve('k', { ...limits, ownDelayMs: 0 }), pacer.reserve('k', { ...limits, ownDelayMs: 0 })]
    pass(1_000)
    for (let n = 0; n < 10; n++) pacer.reserve(`other ${n}`, { ...limits, ownDelayMs: 0 }) // by now k has been evicted
    const next = pacer.reserve('k', limits)
    pacer.report('k', next.ticket ?? '', busy)
    for (const { ticket } of old) pacer.report('k', ticket ?? '', busy) // they started before it: no further step
    expect(pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 5_000 })
    pass(5_000)
    const last = pacer.reserve('k', limits)
    pacer.report('k', last.ticket ?? '', busy)
    expect(pacer.reserve('k', limits)).toMatchObject({ waitMs: 10_000 })
  })
})
