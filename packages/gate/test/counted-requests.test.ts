// Pacers that count the requests under way of all processes.
import type { PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { gatePort } from '../src/gate.ts'
import { type LeaseTerms, type Pacer, PoliteGate, type Reservation, type Ticket } from '../src/index.ts'
import type { GrantedPermit } from '../src/lane/granted-permit.ts'
import { RemotePacer } from './remote-pacer.ts'
import { lookup, Site } from './site.ts'

const POLL_MS = 250

class CountingPacer extends RemotePacer implements Pacer {
  readonly countsUnderWay = true
  readonly leases = new Set<Ticket>()
  readonly terms: LeaseTerms[] = []

  override async reserve(
    key: string,
    limits: PaceLimits,
    ticket?: Ticket,
    _furtherSlots?: number,
    _seesSending?: boolean,
    allowanceMs?: number,
    lease?: LeaseTerms,
  ): Promise<Reservation> {
    const { max = 0, open = [] } = lease ?? {}
    if (lease !== undefined) this.terms.push(lease)
    const ended = open.filter((one) => !this.leases.has(one))
    if (this.leases.size >= max) return { kind: 'wait', ticket, waitMs: POLL_MS, because: 'concurrency', ended }
    const reply = await super.reserve(key, limits, ticket, 0, false, allowanceMs)
    if (reply.kind === 'slot') this.leases.add(reply.ticket)
    return { ...reply, ended }
  }

  override async cancel(key: string, ticket: Ticket): Promise<void> {
    this.leases.delete(ticket)
    await super.cancel(key, ticket)
  }

  async release(_key: string, ticket: Ticket): Promise<void> {
    this.calls.push(`release ${ticket}`)
    this.leases.delete(ticket)
  }
}

let site: Site
let robots: RobotsClient
const url = () => site.at('a.test', '/page')

beforeEach(async () => {
  site = await Site.open({ '*': '' })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  await robots.check(url())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await robots.close()
  await site.close()
})

const now = () => Date.now()
const advance = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

function twoGates() {
  const pacer = new CountingPacer(now)
  const options = { robots, now, pacer, minDelayMs: 0, maxConcurrentPerKey: 1, circuit: false } as const
  const enter = async (gate: PoliteGate) => (await gate.enter(url())) as GrantedPermit
  return { pacer, one: new PoliteGate(options), other: new PoliteGate(options), enter }
}

test('a request waits until a request of another gate has ended', async () => {
  const { pacer, one, other, enter } = twoGates()
  const first = await enter(one)
  const waiting = enter(other)
  await advance(10 * POLL_MS)
  expect(other.gauges.waiting).toBe(1)
  expect(other.queues()).toMatchObject([{ heldBy: 'concurrency', level: 'origin' }])
  first.release()
  await advance(POLL_MS)
  expect(await waiting).toMatchObject({ waitedFor: 'concurrency', waitedLevel: 'origin' })
  expect(pacer.calls.filter((call) => call.startsWith('release'))).toHaveLength(1)
})

test('a request waits for a request of its own gate no longer than until its end', async () => {
  const { one, enter } = twoGates()
  const first = await enter(one)
  const waiting = enter(one)
  await advance(POLL_MS - 10)
  first.release()
  await advance(0)
  expect((await waiting).waitedMs).toBe(POLL_MS - 10)
})

test('the gate counts nothing itself, and passes its limit and its open slots', async () => {
  const { pacer, one, enter } = twoGates()
  await enter(one)
  pacer.leases.clear()
  await enter(one)
  expect(pacer.terms).toEqual([
    { max: 1, leaseMs: undefined, open: [] },
    { max: 1, leaseMs: undefined, open: [1] },
  ])
})

test('a slot that has ended elsewhere is released here, and the pacer is not told', async () => {
  const { pacer, one, enter } = twoGates()
  const first = await enter(one)
  const onEndedElsewhere = vi.fn()
  first.onEndedElsewhere = onEndedElsewhere
  pacer.leases.clear()
  await enter(one)
  expect(onEndedElsewhere).toHaveBeenCalledOnce()
  expect(one.gauges.underWay).toBe(1)
  first.release()
  expect(pacer.calls.filter((call) => call.startsWith('release'))).toEqual([])
})

test('a gate without waiting requests can ask which requests have ended elsewhere', async () => {
  const { pacer, one, other, enter } = twoGates()
  const first = await enter(one)
  await gatePort(one).findEnded(first.key)
  expect(one.gauges.underWay).toBe(1)
  pacer.leases.clear()
  await gatePort(one).findEnded(first.key)
  expect([one.gauges.underWay, pacer.leases.size, pacer.terms.at(-1)?.max]).toEqual([0, 0, 0])
  await enter(other) // nothing was reserved
  const waiting = enter(one)
  await gatePort(one).findEnded(first.key)
  pacer.leases.clear()
  await advance(POLL_MS)
  expect((await waiting).waitedFor).toBe('concurrency')
})

test('a cancelled slot and a lease that is over are not released', async () => {
  const { pacer, one, enter } = twoGates()
  const first = await enter(one)
  first.giveBack(new Error('not sent'))
  const second = await enter(one)
  second.releaseConcurrency(true)
  pacer.leases.clear()
  const third = await enter(one)
  third.releaseConcurrency()
  for (const permit of [first, second, third]) permit.release()
  expect(pacer.calls.filter((call) => /^(?:release|cancel)/.test(call))).toEqual(['cancel 1', 'release 3'])
})

test('an outer request has its own lease, and learns how long it waits', async () => {
  const { pacer, one } = twoGates()
  const entrance = await gatePort(one).entranceOf(url(), [], true)
  if (!('lane' in entrance)) throw new Error('its robots.txt is known')
  expect(await entrance.tryEnter({ leaseMs: 30_000 })).toMatchObject({ waitedMs: 0 })
  expect(pacer.terms).toMatchObject([{ leaseMs: 30_000 }])
  const wait = { allowed: true, waitMs: POLL_MS, because: 'concurrency', level: 'origin' }
  expect(await entrance.tryEnter()).toMatchObject(wait)
  expect(entrance.knownWait()).toMatchObject({ waitMs: POLL_MS, because: 'concurrency' })
})
