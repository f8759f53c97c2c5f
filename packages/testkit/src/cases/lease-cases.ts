// What a pacer that counts the requests under way of all processes does: the same for each server.
// A case opens several pacers over one server, by one clock.
import { expect } from 'vitest'
import { startClock } from '../clock.ts'

type Ticket = string | number

interface Limits {
  readonly ownDelayMs: number
  readonly maxDelayMs: undefined
  readonly crawlDelayMs: undefined
}

/** What the cases use of a pacer. */
interface CountingPacer {
  reserve(key: string, limits: Limits, ...more: unknown[]): Promise<Reply>
  cancel(key: string, ticket: Ticket): Promise<void>
  release(key: string, ticket: Ticket): Promise<void>
  renew(key: string, ticket: Ticket, leaseMs: number): Promise<boolean>
  report(key: string, ticket: Ticket, response: object, onceMs?: number): Promise<void>
  estimate(key: string, limits: Limits, ahead: number): Promise<{ readonly waitMs: number }>
}

interface Reply {
  readonly kind: 'slot' | 'wait'
  readonly ticket?: Ticket | undefined
  readonly waitMs?: number
  readonly because?: string
  readonly ended?: readonly Ticket[] | undefined
}

interface LeaseKit {
  /** Opens a pacer whose server knows the key `k` for long. @param leaseMs Undefined for none. */
  open(now: () => number, leaseMs: number | undefined): Promise<CountingPacer>
}

interface LeaseCase {
  readonly name: string
  run(kit: LeaseKit): Promise<void>
}

const LEASE_MS = 60_000
const DELAY_MS = 100
const LIMITS: Limits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
const BACKOFF = { firstMs: 10_000, maxMs: 100_000, factor: 2 }
const PUSHBACK = { status: 429, retryAfter: undefined, isPushback: true, requestedMs: undefined, backoff: BACKOFF }

/** Two pacers, and a clock that the test sets. */
async function twoPacers(kit: LeaseKit) {
  const clock = startClock()
  const [one, other] = [await kit.open(clock.now, LEASE_MS), await kit.open(clock.now, LEASE_MS)]
  /** Asks for a slot, after the delay of the last slot. */
  const reserve = async (pacer: CountingPacer, max: number, open: readonly Ticket[] = [], leaseMs?: number) => {
    clock.advance(DELAY_MS)
    const reply = await pacer.reserve('k', LIMITS, undefined, 0, false, 0, { max, leaseMs, open })
    return { ...reply, ticket: reply.ticket ?? '' }
  }
  return { clock, one, other, reserve }
}

const full = { kind: 'wait', because: 'concurrency' }

export const leaseCases: readonly LeaseCase[] = [
  {
    name: 'two workers together have no more requests under way than the limit',
    run: async (kit) => {
      const { one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 2)
      expect(first.kind).toBe('slot')
      expect(await reserve(other, 2)).toMatchObject({ kind: 'slot' })
      expect(await reserve(one, 2)).toMatchObject({ ...full, waitMs: 250 })
      expect(await reserve(one, 1, [first.ticket])).toMatchObject({ ...full, waitMs: 1_000 })
      expect(await reserve(one, 1, [first.ticket], 60_000)).toMatchObject({ ...full, waitMs: 250 })
      await one.release('k', first.ticket)
      expect(await reserve(other, 2)).toMatchObject({ kind: 'slot' })
      expect(await reserve(other, 2)).toMatchObject(full)
      expect(await reserve(other, Number.POSITIVE_INFINITY)).toMatchObject({ kind: 'slot' })
    },
  },
  {
    name: 'an end that another worker tells reaches the worker of the request with its next call',
    run: async (kit) => {
      const { one, other, reserve } = await twoPacers(kit)
      const [first, second] = [await reserve(one, 9), await reserve(one, 9)]
      const open = [first.ticket, second.ticket]
      expect(await reserve(one, 1, open)).toMatchObject({ ...full, ended: undefined })
      await other.release('k', second.ticket)
      expect(await reserve(one, 1, open)).toMatchObject({ ...full, ended: [second.ticket] })
      await other.release('k', first.ticket)
      expect(await reserve(one, 1, open)).toMatchObject({ kind: 'slot', ended: open })
    },
  },
  {
    name: 'a worker may have 9,000 requests under way, more than Lua has values in a call',
    run: async (kit) => {
      const { one, reserve } = await twoPacers(kit)
      const open = Array.from({ length: 9_000 }, (_, n) => `${1_000 + n}`)
      const { kind, ended } = await reserve(one, Number.POSITIVE_INFINITY, open)
      expect({ kind, ended: ended?.length }).toEqual({ kind: 'slot', ended: 9_000 })
    },
  },
  {
    name: 'the request of a dead worker counts until its lease is over',
    run: async (kit) => {
      const { clock, one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 1, [], 2_000)
      clock.advance(2_000 - DELAY_MS - 90)
      expect(await reserve(other, 1)).toMatchObject({ ...full, waitMs: 90 })
      clock.advance(90 - DELAY_MS)
      expect(await reserve(other, 1)).toMatchObject({ kind: 'slot' })
      expect(await reserve(one, 1, [first.ticket])).toMatchObject({ ...full, ended: [first.ticket] })
    },
  },
  {
    name: 'a renewed lease ends later, and a lease that is over cannot be renewed',
    run: async (kit) => {
      const { clock, one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 1, [], 2_000)
      clock.advance(1_900)
      expect(await other.renew('k', first.ticket, 5_000)).toBe(true)
      clock.advance(4_800)
      expect(await reserve(other, 1)).toMatchObject(full)
      clock.advance(100)
      expect(await one.renew('k', first.ticket, 5_000)).toBe(false)
      expect(await reserve(other, 1)).toMatchObject({ kind: 'slot' })
    },
  },
  {
    name: 'a cancelled slot no longer counts',
    run: async (kit) => {
      const { one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 1)
      await one.cancel('k', first.ticket)
      expect(await reserve(other, 1)).toMatchObject({ kind: 'slot' })
    },
  },
  {
    name: 'a request keeps its turn while the limit is reached',
    run: async (kit) => {
      const { clock, one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 1)
      const lease = { max: 1, open: [] }
      const wait = await other.reserve('k', LIMITS, undefined, 0, false, 0, lease)
      expect(wait).toMatchObject({ kind: 'wait', waitMs: DELAY_MS, because: 'own-delay' })
      clock.advance(DELAY_MS)
      const atLimit = await other.reserve('k', LIMITS, wait.ticket, 0, false, 0, lease)
      expect(atLimit).toMatchObject({ ...full, ticket: wait.ticket })
      await one.release('k', first.ticket)
      expect(await other.reserve('k', LIMITS, wait.ticket, 0, false, 0, lease)).toMatchObject({ kind: 'slot' })
    },
  },
  {
    name: 'after a second at the limit, a worker gets the next slot before a worker that comes then',
    run: async (kit) => {
      const { clock, one, other, reserve } = await twoPacers(kit)
      let { ticket: underWay } = await reserve(one, 1)
      const wait = await reserve(other, 1)
      for (const ms of [900, 100]) {
        clock.advance(ms)
        const again = { max: 1, open: [] }
        expect(await other.reserve('k', LIMITS, wait.ticket, 0, false, 0, again)).toMatchObject(full)
        await one.release('k', underWay)
        const { ticket, kind, because } = await one.reserve('k', LIMITS, undefined, 0, false, 0, again)
        if (ms === 900) underWay = ticket ?? ''
        else expect({ kind, because }).toEqual({ kind: 'wait', because: 'own-delay' })
      }
      clock.advance(250 - DELAY_MS)
      expect(await reserve(other, 1)).toMatchObject({ kind: 'wait', because: 'own-delay' })
      expect(await other.reserve('k', LIMITS, wait.ticket, 0, false, 0, { max: 1, open: [] })).toMatchObject({
        kind: 'slot',
      })
    },
  },
  {
    name: 'a worker without leases keeps the same pace, and its requests do not count',
    run: async (kit) => {
      const { clock, one, reserve } = await twoPacers(kit)
      const old = await kit.open(clock.now, undefined)
      const first = await reserve(one, 1)
      expect(await reserve(old, 1)).toMatchObject({ kind: 'slot' })
      expect(await reserve(one, 1)).toMatchObject(full)
      await one.release('k', first.ticket)
      expect(await reserve(one, 1)).toMatchObject({ kind: 'slot' })
    },
  },
  {
    name: 'a pushback that is reported again does not make the pause longer, within its time',
    run: async (kit) => {
      const { clock, one, other, reserve } = await twoPacers(kit)
      const first = await reserve(one, 9)
      const waitMs = async () => (await one.estimate('k', LIMITS, 0)).waitMs
      await one.report('k', first.ticket, PUSHBACK, 30_000)
      expect(await waitMs()).toBe(10_000)
      clock.advance(1_000)
      const retryAfter = { ...PUSHBACK, requestedMs: 50_000 }
      for (const pacer of [other, one]) await pacer.report('k', first.ticket, retryAfter, 30_000)
      expect(await waitMs()).toBe(9_000)
      expect(await reserve(other, 9)).toMatchObject({ kind: 'wait', waitMs: 9_000 - DELAY_MS })
      clock.advance(30_000)
      await other.report('k', first.ticket, retryAfter, 30_000)
      expect(await waitMs()).toBe(50_000)
    },
  },
]
