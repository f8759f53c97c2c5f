// A pacer of your own: one that answers by promises and keeps places in line, as one for a fleet would; and one that fails.
import type { PaceLimits, PageResponse } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { startClock } from '@politely/testkit/clock'
import { pacerRows, runPacerCase } from '@politely/testkit/pacer-cases'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type FailureMessage, LocalPacer, type Pacer, PoliteGate, type Reservation, type Ticket } from '../src/index.ts'
import { listenTo } from './listen.ts'
import { lookup, Site } from './site.ts'

/**
 * As a fleet's pacer would be: every answer takes a while, and who has to wait is given a moment of its own, one pause after that of
 * who is before it. Pushbacks move all of them.
 */
class FarPacer implements Pacer {
  readonly calls: string[] = []
  readonly #paces: LocalPacer
  readonly #now: () => number
  readonly #lines = new Map<string, { readonly ticket: string; readonly delayMs: number }[]>()
  #tickets = 0

  constructor(now: () => number) {
    this.#now = now
    this.#paces = new LocalPacer(now)
  }

  async reserve(key: string, wishes: PaceLimits, ticket?: Ticket): Promise<Reservation> {
    this.calls.push(`reserve ${ticket ?? ''}`.trim())
    await this.#way()
    const line = this.#lineOf(key)
    const place = line.findIndex((one) => one.ticket === ticket)
    if (place <= 0 && (place === 0 || line.length === 0)) {
      const turn = this.#paces.reserve(key, wishes)
      if (turn.kind === 'slot') {
        line.shift()
        return turn
      }
    }
    const ahead = place === -1 ? line.length : place
    const { waitMs, because } = this.#paces.estimate(key, wishes, ahead)
    if (place !== -1) return { kind: 'wait', ticket, waitMs, because: because === 'none' ? 'own-delay' : because }
    const given = `t${++this.#tickets}`
    line.push({ ticket: given, delayMs: waitMs })
    return { kind: 'wait', ticket: given, waitMs, because: because === 'none' ? 'own-delay' : because }
  }

  async cancel(key: string, ticket: Ticket): Promise<void> {
    this.calls.push(`give back ${ticket}`)
    await this.#way()
    const line = this.#lineOf(key)
    const place = line.findIndex((one) => one.ticket === ticket)
    if (place === -1) this.#paces.cancel(key, ticket)
    else line.splice(place, 1)
  }

  async report(key: string, ticket: Ticket, answer: PageResponse | undefined): Promise<void> {
    this.calls.push(`report ${answer?.status}`)
    await this.#way()
    this.#paces.report(key, ticket, answer)
  }

  async estimate(key: string, wishes: PaceLimits, ahead: number) {
    await this.#way()
    return this.#paces.estimate(key, wishes, ahead + this.#lineOf(key).length)
  }

  get isQuiet(): boolean {
    return [...this.#lines.values()].every((line) => line.length === 0)
  }

  #lineOf(key: string) {
    const line = this.#lines.get(key) ?? []
    this.#lines.set(key, line)
    return line
  }

  /** There and back. */
  async #way(): Promise<void> {
    for (let hops = 0; hops < 3; hops++) await this.#now()
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

describe('one that answers by promises, and keeps places in line', () => {
  test.each(pacerRows)('is one by the rows: $name', async (row) => {
    const clock = startClock()
    expect(await runPacerCase(row, new FarPacer(clock.now), clock.pass)).toEqual([])
  })

  function fleet(size: number) {
    const pacer = new FarPacer(now)
    const gates = Array.from({ length: size }, () => new PoliteGate({ robots, now, pacer, minDelayMs: 1_000 }))
    const start = now()
    const left: number[] = []
    const visit = async (gate: PoliteGate, signal?: AbortSignal) => {
      const one = await gate.enter(url(), signal && { signal })
      left.push(now() - start)
      one.release()
    }
    return { pacer, gates, left, visit }
  }

  test('the gates of a fleet keep one pace, and none is left out', async () => {
    const { pacer, gates, left, visit } = fleet(3)
    const all = gates.flatMap((gate) => [visit(gate), visit(gate), visit(gate)])
    await advance(20_000)
    await Promise.all(all)
    expect(left.length).toBe(9)
    for (const [n, at] of left.entries()) expect(at - (left[n - 1] ?? -1_000)).toBeGreaterThanOrEqual(1_000)
    expect(left.at(-1)).toBeLessThanOrEqual(9_000)
    expect(gates.map(({ counters }) => counters.started)).toEqual([3, 3, 3])
    expect(pacer.isQuiet).toBe(true)
  })

  test('who gives up gives the place in line back', async () => {
    const { pacer, gates, left, visit } = fleet(2)
    const [one, two] = gates as [PoliteGate, PoliteGate]
    await visit(one)
    const controller = new AbortController()
    const gone = expect(visit(one, controller.signal)).rejects.toThrow()
    await advance(1)
    const other = visit(two)
    await advance(1)
    controller.abort()
    await gone
    await advance(2_000)
    await other
    expect(left).toEqual([0, 2_000]) // it comes back when it was told to
    expect(pacer.isQuiet).toBe(true)
    expect(pacer.calls).toContain('give back t1')
  })

  test('who comes after it in the same gate takes its place in line', async () => {
    const { pacer, gates, left, visit } = fleet(1)
    const [gate] = gates as [PoliteGate]
    await visit(gate)
    const controller = new AbortController()
    const gone = expect(visit(gate, controller.signal)).rejects.toThrow()
    const next = visit(gate)
    await advance(500)
    controller.abort()
    await gone
    await advance(500)
    await next
    expect(left).toEqual([0, 1_000])
    expect(pacer.calls.filter((call) => call.startsWith('give back'))).toEqual([])
  })

  test('an abort while the pacer is asked gives the slot back that it then gives', async () => {
    const { pacer, gates, left, visit } = fleet(1)
    const [gate] = gates as [PoliteGate]
    const controller = new AbortController()
    const gone = expect(visit(gate, controller.signal)).rejects.toThrow()
    while (pacer.calls.length === 0) await Promise.resolve()
    controller.abort()
    await gone
    await advance()
    expect(pacer.calls).toEqual(['reserve', 'give back 1'])
    await visit(gate)
    expect(left).toEqual([0])
    await gate.drain()
    expect(gate.queues()).toEqual([])
  })

  test('a pushback that one gate is told of holds for the others', async () => {
    const { gates, left, visit } = fleet(2)
    const [one, two] = gates as [PoliteGate, PoliteGate]
    const first = await one.enter(url())
    const waiting = visit(two)
    await advance(500)
    first.release({ status: 429, headers: { 'retry-after': '10' } })
    await advance(10_000)
    await waiting
    expect(left).toEqual([10_500])
  })

  test('close gives back what is kept for who waits', async () => {
    const { pacer, gates, visit } = fleet(1)
    const [gate] = gates as [PoliteGate]
    await visit(gate)
    const waiting = expect(visit(gate)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    await advance(1)
    gate.close()
    await waiting
    await advance()
    expect(pacer.isQuiet).toBe(true)
    expect(gate.queues()).toEqual([])
  })

  test('one that wants to know hears when a request leaves, and not when it gives up', async () => {
    const pacer = new LocalPacer(now)
    const left = vi.spyOn(pacer, 'started')
    const gate = new PoliteGate({ robots, now, pacer, minDelayMs: 1_000 })
    await gate.enter(url())
    const delay = { delayMs: 1_000, because: 'own-delay' }
    expect(left.mock.calls).toEqual([[site.at('a.test', ''), 1, delay]])
    const controller = new AbortController()
    const gone = expect(gate.enter(url(), { signal: controller.signal })).rejects.toThrow()
    await advance(1)
    controller.abort()
    await gone
    expect(left).toHaveBeenCalledTimes(1)
  })

  test('each slot is reported once, with an answer or without', async () => {
    const { pacer, gates } = fleet(1)
    const [gate] = gates as [PoliteGate]
    const one = await gate.enter(url())
    one.report({ status: 200, headers: {} })
    one.release({ status: 429, headers: {} })
    await advance(1_000)
    const two = await gate.enter(url())
    two.release()
    two.release()
    expect(pacer.calls.filter((call) => call.startsWith('report'))).toEqual(['report 200', 'report undefined'])
  })
})

describe('one that fails', () => {
  const broken = new Error('the line is dead')
  const failing = (some: Partial<Pacer>): Pacer => {
    const pacer = new LocalPacer(now)
    return {
      reserve: (key, wishes) => pacer.reserve(key, wishes),
      cancel: (key, ticket) => pacer.cancel(key, ticket),
      report: (key, ticket, answer) => pacer.report(key, ticket, answer),
      estimate: (key, wishes, ahead) => pacer.estimate(key, wishes, ahead),
      ...some,
    }
  }

  test.each([
    [
      'by throwing',
      () => {
        throw broken
      },
    ],
    ['by a promise', () => Promise.reject(broken)],
  ] as const)(
    'when a slot is asked for, %s: that request fails, nobody leaves, and no place is lost',
    async (_, reserve) => {
      const gate = new PoliteGate({ robots, now, pacer: failing({ reserve }), maxConcurrent: 1 })
      for (let n = 0; n < 3; n++) await expect(gate.enter(url())).rejects.toBe(broken)
      await gate.drain()
      expect(gate.queues()).toEqual([])
      expect(gate.counters).toMatchObject({ started: 0, abandoned: 3 })
    },
  )

  test.each([
    [
      'by throwing',
      () => {
        throw broken
      },
    ],
    ['by a promise', () => Promise.reject(broken)],
  ] as const)('when it is told of an answer, %s: that is counted, and told', async (_, report) => {
    const gate = new PoliteGate({ robots, now, pacer: failing({ report }) })
    const told: FailureMessage[] = []
    const stop = listenTo('politely:gate:failure', gate, (message) => told.push(message))
    ;(await gate.enter(url())).release({ status: 200, headers: {} })
    await advance()
    stop()
    expect(told).toMatchObject([{ key: site.at('a.test', ''), error: broken }])
    expect(gate.counters.failures).toBe(1)
  })

  test('when it is asked for a forecast: so does that', async () => {
    const gate = new PoliteGate({ robots, now, pacer: failing({ estimate: () => Promise.reject(broken) }) })
    await expect(gate.when(url())).rejects.toBe(broken)
  })
})
