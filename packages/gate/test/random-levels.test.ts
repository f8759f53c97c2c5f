// @module-tag timers
// Random crawls on simulated time, with limits on all levels. Several origins share domains and
// addresses. Requests are aborted at random times, the rules are fetched again, the pacer replies
// late, fails or says wait, two gates share a pacer, some gates close early, and some have a jitter,
// a budget or options for single sites. Some requests wait outside of the gate. Whatever happens, no
// gap is shorter than asked, no limit and no budget is exceeded, the pacer gets the calls that
// `pacer.ts` promises, every request settles, and nothing is left.
import type { Delay, PaceLimits } from '@politely/core/engine'
import { type ClientVerdict, RobotsClient } from '@politely/fetcher'
import { seededIntegers } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { gatePort, type OuterLane } from '../src/gate.ts'
import { LocalPacer, type Pacer, type Permit, PoliteGate, type Reservation, type Ticket } from '../src/index.ts'
import { SharedLimits } from '../src/lane/shared-limit.ts'
import type { PaceBy } from '../src/pace/pacing-options.ts'
import { Site, lookup as siteLookup } from './site.ts'

const SEEDS = Number(process.env.SEEDS ?? sampled(100))
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1)
const REQUESTS = 120
const ARRIVALS_WITHIN_MS = 3_000

/**
 * The registrable domain and the address of each host. Each host under `netlify.app` is a site of
 * its own.
 */
const HOSTS: Readonly<Record<string, readonly [domain: string, address: string]>> = {
  'a.one.test': ['one.test', '192.0.2.1'],
  'b.one.test': ['one.test', '192.0.2.1'],
  'c.one.test': ['one.test', '192.0.2.2'],
  'a.two.test': ['two.test', '192.0.2.2'],
  'b.two.test': ['two.test', '192.0.2.3'],
  'three.test': ['three.test', '192.0.2.1'],
  'four.test': ['four.test', '192.0.2.3'],
  'a.netlify.app': ['netlify.app', '192.0.2.4'],
  'b.netlify.app': ['netlify.app', '192.0.2.4'],
  'c.netlify.app': ['netlify.app', '192.0.2.5'],
}

type Random = (below: number) => number

const { of } = SharedLimits.prototype

/** Waits like an outer queue: outside of the gate, until the request may start. */
async function enterFromOutside(gate: PoliteGate, url: string, signal: AbortSignal): Promise<Permit> {
  let lane: OuterLane | undefined
  try {
    for (;;) {
      signal.throwIfAborted()
      const entrance = await gatePort(gate).entranceOf(url, [], true)
      if ('pending' in entrance) await entrance.pending
      if (!('lane' in entrance)) {
        if ('allowed' in entrance) throw new Error('refused')
        continue
      }
      entrance.lane.attach()
      lane?.detach()
      lane = entrance.lane
      const entered = entrance.knownWait() ?? (await entrance.tryEnter({ signal }))
      if ('release' in entered) return entered
      if (!('waitMs' in entered)) throw new Error('refused')
      await pause(entered.waitMs > 0 ? entered.waitMs : 10)
    }
  } finally {
    lane?.detach()
  }
}

const pause = (ms: number) => new Promise((over) => setTimeout(over, ms))

/**
 * Passes the calls of one gate on to a pacer, some of them late or failing, and notes the calls
 * that break a promise of `pacer.ts`.
 */
class CheckingPacer implements Pacer {
  readonly broken: string[]
  readonly #pacer: Pacer
  readonly #random: Random
  readonly #chaos: number
  readonly #asking = new Set<string>()
  readonly #slots = new Map<string, 'open' | 'closed'>()
  readonly #delays = new Map<string, Delay>()
  /** The times at which slots expire. */
  readonly #expiry = new Map<string, number>()
  readonly #tickets = new Map<string, Ticket>()
  #count = 0

  constructor(pacer: Pacer, random: Random, chaos: number, broken: string[]) {
    this.#pacer = pacer
    this.#random = random
    this.#chaos = chaos
    this.broken = broken
  }

  get leftovers(): readonly string[] {
    const open = [...this.#slots].filter(([, state]) => state === 'open').map(([slot]) => `open slot ${slot}`)
    return [...open, ...Array.from(this.#tickets, ([key, ticket]) => `ticket ${ticket} of ${key}`), ...this.#asking]
  }

  reserve(key: string, limits: PaceLimits, ticket?: Ticket): Reservation | Promise<Reservation> {
    if (this.#asking.has(key)) this.broken.push(`reserve of ${key} while another is under way`)
    if (this.#tickets.get(key) !== ticket) this.broken.push(`reserve of ${key} with ${ticket}`)
    const answer = (): Reservation => {
      this.#asking.delete(key)
      const chance = this.#chaos === 0 ? 100 : this.#random(100)
      if (chance < this.#chaos) throw new Error('the pacer fails')
      const reservation: Reservation =
        chance < 2 * this.#chaos
          ? { kind: 'wait', ticket: undefined, waitMs: this.#random(40) - 5, because: 'backoff' }
          : (this.#pacer.reserve(key, limits) as Reservation)
      if (reservation.kind === 'slot') {
        this.#tickets.delete(key)
        this.#slots.set(`${key} ${reservation.ticket}`, 'open')
        // Says nothing of the delay after the slot; replies `wait` to the next request instead.
        const isSilent = this.#chaos > 0 && this.#random(3) === 0
        this.#delays.set(`${key} ${reservation.ticket}`, reservation.delay)
        const startWithinMs = this.#chaos > 0 && this.#random(4) === 0 ? this.#random(6) : undefined
        if (startWithinMs !== undefined) this.#expiry.set(`${key} ${reservation.ticket}`, Date.now() + startWithinMs)
        const delay = isSilent ? ({ delayMs: 0, because: 'own-delay' } as const) : reservation.delay
        return { ...reservation, delay, startWithinMs }
      }
      this.#tickets.delete(key)
      if (this.#random(3) === 0) return reservation
      const position = this.#random(2) === 0 ? (ticket ?? `t${++this.#count}`) : `t${++this.#count}`
      this.#tickets.set(key, position)
      return { ...reservation, ticket: position }
    }
    this.#asking.add(key)
    if (this.#chaos === 0 || this.#random(3) === 0) return answer()
    if (this.#random(2) === 0) return Promise.resolve().then(answer)
    return pause(this.#random(6)).then(answer)
  }

  started(key: string, ticket: Ticket): void {
    const lateMs = Date.now() - (this.#expiry.get(`${key} ${ticket}`) ?? Number.POSITIVE_INFINITY)
    if (lateMs > 0) this.broken.push(`${key} ${ticket} starts ${lateMs} ms after it has expired`)
    this.#pacer.started?.(key, ticket, this.#delays.get(`${key} ${ticket}`) as Delay)
  }

  cancel(key: string, ticket: Ticket): void | Promise<void> {
    if (this.#tickets.get(key) === ticket) {
      if (this.#asking.has(key)) this.broken.push(`cancel of ticket ${ticket} while it is used`)
      this.#tickets.delete(key)
      return
    }
    this.#close('cancel', key, ticket)
    this.#pacer.cancel(key, ticket)
    return this.#fails() ? Promise.reject(new Error('cancel fails')) : undefined
  }

  report(key: string, ticket: Ticket, response: Parameters<Pacer['report']>[2]): void | Promise<void> {
    if (this.#slots.get(`${key} ${ticket}`) !== 'open') this.broken.push(`report of ${key} ${ticket}`)
    return this.#pacer.report(key, ticket, response)
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void | Promise<void> {
    this.#close('end', key, ticket)
    this.#pacer.end(key, ticket, limits, tookMs)
    if (this.#fails()) throw new Error('end fails')
  }

  estimate(key: string, limits: PaceLimits, ahead: number) {
    return this.#pacer.estimate(key, limits, ahead)
  }

  #fails(): boolean {
    return this.#chaos > 0 && this.#random(5) === 0
  }

  #close(call: string, key: string, ticket: Ticket): void {
    const slot = `${key} ${ticket}`
    if (this.#slots.get(slot) !== 'open') this.broken.push(`${call} of ${slot}: ${this.#slots.get(slot) ?? 'unknown'}`)
    this.#slots.set(slot, 'closed')
  }
}

let site: Site
let robots: RobotsClient
const verdicts = new Map<string, ClientVerdict>()

beforeAll(async () => {
  site = await Site.open({ '*': 'User-agent: *\nDisallow: /refused\n' })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup: siteLookup, network: 'any' })
  for (const host of Object.keys(HOSTS))
    for (const path of ['/page', '/refused']) verdicts.set(site.at(host, path), await robots.check(site.at(host, path)))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})
afterAll(async () => {
  await robots.close()
  await site.close()
})

async function crawl(seed: number): Promise<readonly string[]> {
  const random = seededIntegers(seed)
  const pick = <T>(...values: readonly T[]) => values[random(values.length)] as T
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 0, 1) })
  const now = () => Date.now()
  const chaos = pick(0, 0, 5, 20)
  const pauseFrom = pick('start' as const, 'start' as const, 'end' as const)
  const delayFactor = pick(0, 0, 0, 2)
  const byDomain = (url: string) => (HOSTS[new URL(url).hostname] as readonly [string, string])[0]
  const paceBy = pick<PaceBy | typeof byDomain>('origin', 'origin', 'host', 'domain', 'address', byDomain)
  const jitter = pick(0, 0, 0.5)
  const budget = pick(undefined, undefined, undefined, 5, 20)
  const hasOwnPace = pick(false, true)
  const limits = {
    minDelayMs: pick(0, 20, 50, 100),
    minDelayPerDomainMs: pick(0, 20, 30, 70),
    minDelayPerAddressMs: pick(0, 20, 30, 70),
    maxConcurrentPerKey: pauseFrom === 'end' ? 1 : pick(1, 2, 3),
    maxConcurrentPerDomain: pick(1, 2, 8),
    maxConcurrentPerAddress: pick(1, 2, 3, 100),
    maxConcurrent: pick(1, 2, 5, 64),
    slowAfterMs: pick(10, 100, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
  }
  /** Slow requests may exceed the limit of the gate and of a platform, but not without end. */
  const excess = limits.slowAfterMs < Number.POSITIVE_INFINITY ? 5 : 1
  const maxPerPlatform =
    excess *
    Math.max(
      limits.maxConcurrentPerDomain,
      Math.min(4 * limits.maxConcurrentPerDomain, Math.floor(limits.maxConcurrent / 2)),
    )
  /** Some hosts have a delay of their own. */
  const minDelayOf = (host: string) => (hasOwnPace && host.startsWith('a.') ? 150 : limits.minDelayMs)
  const isLookupSync = random(2) === 0
  const refetches = pick(0, 0, 4)
  const wrong: string[] = []
  const local = new LocalPacer(now)
  const shared = new Map<string, SharedLimits>()
  vi.spyOn(SharedLimits.prototype, 'of').mockImplementation(function (this: SharedLimits, key) {
    shared.set(key.key, this)
    return of.call(this, key)
  })
  const isRefused = () => refetches > 0 && random(40) === 0
  vi.spyOn(robots, 'checkNow').mockImplementation((url) => {
    if (refetches > 0 && random(100) < refetches * 5) return undefined
    return verdicts.get(isRefused() ? `${url}`.replace('/page', '/refused') : `${url}`)
  })
  vi.spyOn(robots, 'check').mockImplementation(async (url, { signal } = {}) => {
    await pause(random(60))
    signal?.throwIfAborted()
    return verdicts.get(isRefused() ? `${url}`.replace('/page', '/refused') : `${url}`) as ClientVerdict
  })
  const pacers: CheckingPacer[] = []
  const gates = Array.from({ length: pick(1, 1, 2) }, () => {
    const pacer = new CheckingPacer(local, random, chaos, wrong)
    pacers.push(pacer)
    return new PoliteGate({
      robots,
      now,
      pacer,
      delayFactor,
      pauseFrom,
      paceBy,
      jitter,
      budget,
      pace: hasOwnPace ? (origin) => ({ minDelayMs: minDelayOf(new URL(origin).hostname) }) : undefined,
      ...limits,
      lookup: (host, _options, callback) => {
        const reply = () => callback(null, [{ address: HOSTS[host]?.[1] ?? '', family: 4 }])
        if (isLookupSync) reply()
        else setTimeout(reply, random(20))
      },
    })
  })

  const delaysOf = (host: string) => ({
    origin: minDelayOf(host),
    domain: limits.minDelayPerDomainMs,
    address: limits.minDelayPerAddressMs,
  })
  const notBefore = new Map<string, number>()
  const underWay = new Map<string, number>()
  const add = (key: string, change: number, max: number) => {
    const count = (underWay.get(key) ?? 0) + change
    underWay.set(key, count)
    if (count > max) wrong.push(`${count} requests under way: ${key}`)
  }
  const delay = (key: string, until: number) => notBefore.set(key, Math.max(until, notBefore.get(key) ?? 0))
  const begin = Date.now()
  const queueKeyOf = (host: string) => {
    const [domain, address] = HOSTS[host] as readonly [string, string]
    return paceBy === 'domain' || paceBy === byDomain ? domain : paceBy === 'address' ? address : host
  }
  const keysOf = (host: string) => {
    const [domain, address] = HOSTS[host] as readonly [string, string]
    return [
      ['origin', queueKeyOf(host)],
      ['domain', domain],
      ['address', address],
    ] as const
  }
  const count = (gate: number, host: string, change: number) => {
    const max = {
      origin: limits.maxConcurrentPerKey,
      domain: limits.maxConcurrentPerDomain,
      address: limits.maxConcurrentPerAddress,
    }
    for (const [level, key] of keysOf(host)) {
      if (key === 'netlify.app' && level === 'domain') {
        add(`gate ${gate} site ${host}`, change, max.domain)
        add(`gate ${gate} platform`, change, maxPerPlatform)
      } else add(`gate ${gate} ${level} ${key}`, change, max[level])
    }
    add(`gate ${gate}`, change, excess * limits.maxConcurrent)
    if (pauseFrom === 'end') add(`pause from end ${queueKeyOf(host)}`, change, 1)
  }
  let settled = 0
  const order = new Map<string, number>()
  const call = async (n: number) => {
    const host = pick(...Object.keys(HOSTS))
    const arrivesAt = pick(0, random(ARRIVALS_WITHIN_MS), random(ARRIVALS_WITHIN_MS))
    const [abortsAfter, takes] = [random(1_500), pick(0, random(30), random(30), random(300))]
    const aborts = random(3) === 0
    const gateNumber = random(gates.length)
    const isOutside = random(3) === 0
    await pause(arrivesAt)
    const controller = new AbortController()
    if (aborts) void pause(abortsAfter).then(() => controller.abort(new Error('abort')))
    let permit: Permit
    try {
      const gate = gates[gateNumber] as PoliteGate
      const url = site.at(host, '/page')
      permit = isOutside
        ? await enterFromOutside(gate, url, controller.signal)
        : await gate.enter(url, { signal: controller.signal })
    } catch {
      settled++
      return
    }
    const at = now()
    for (const [level, key] of keysOf(host)) {
      const early = (notBefore.get(`${level} ${key}`) ?? 0) - at
      if (early > 0) wrong.push(`${early} ms too early: ${level} ${key} at ${at - begin}`)
      delay(`${level} ${key}`, at + delaysOf(host)[level])
    }
    // The order of arrival is known if no lookup and no fetch of robots.txt comes before it.
    if (!isOutside && chaos === 0 && refetches === 0 && isLookupSync && arrivesAt === 0 && !aborts) {
      const key = `${gateNumber} ${queueKeyOf(host)}`
      if (n < (order.get(key) ?? 0)) wrong.push(`request ${n} of ${key} after a later one`)
      order.set(key, n)
    }
    add(`budget of gate ${gateNumber} for ${queueKeyOf(host)}`, 1, budget ?? Number.POSITIVE_INFINITY)
    count(gateNumber, host, 1)
    if (takes > 0 || random(2) === 0) await pause(takes)
    count(gateNumber, host, -1)
    const slowMs = delayFactor * (now() - at)
    if (pauseFrom === 'end') delay(`origin ${queueKeyOf(host)}`, now() + Math.max(slowMs, minDelayOf(host)))
    else delay(`origin ${queueKeyOf(host)}`, at + slowMs)
    if (random(2) === 0) permit.release({ status: 200, headers: {} })
    else permit.release()
    settled++
  }
  const calls = Array.from({ length: REQUESTS }, (_, n) => call(n))
  if (random(4) === 0) void pause(random(4_000)).then(() => gates[0]?.close())
  await vi.advanceTimersByTimeAsync(60_000)
  if (settled < REQUESTS) await vi.advanceTimersByTimeAsync(600_000)
  if (settled < REQUESTS) wrong.push(`${REQUESTS - settled} requests have not settled`)
  else await Promise.all(calls)
  for (const gate of gates) {
    for (const queue of gate.queues()) wrong.push(`queue left: ${JSON.stringify(queue)}`)
    const { started, done } = gate.counters
    if (started !== done) wrong.push(`${started} started, ${done} done`)
  }
  if (vi.getTimerCount() > 0) wrong.push(`${vi.getTimerCount()} timers left`)
  for (const [key, all] of shared) if (all.get(key) !== undefined) wrong.push(`limit left: ${key}`)
  for (const { leftovers } of pacers) wrong.push(...leftovers)
  if (wrong.length > 0)
    wrong.unshift(
      JSON.stringify({
        chaos,
        pauseFrom,
        paceBy: String(paceBy),
        jitter,
        budget,
        hasOwnPace,
        delayFactor,
        ...limits,
        isLookupSync,
        refetches,
        gates: gates.length,
      }),
    )
  return wrong
}

test('random crawls keep every promise', async () => {
  const failures: Record<string, readonly string[]> = {}
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const wrong = await crawl(seed)
    vi.restoreAllMocks()
    vi.useRealTimers()
    if (wrong.length > 0) failures[`seed ${seed}`] = wrong.slice(0, 6)
  }
  expect(failures).toEqual({})
})
