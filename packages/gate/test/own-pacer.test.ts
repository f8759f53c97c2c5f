// Pacers of the caller's own: one that returns promises and keeps a queue, as a pacer for a fleet
// would; and one that fails.
import { RobotsClient } from '@politely/fetcher'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type FailureMessage, LocalPacer, type Pacer, PoliteGate } from '../src/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'
import { listenTo } from './listen.ts'
import { RemotePacer } from './remote-pacer.ts'
import { lookup, Site } from './site.ts'

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

describe('a pacer that returns promises and keeps a queue', () => {
  function fleet(size: number) {
    const pacer = new RemotePacer(now)
    const gates = Array.from({ length: size }, () => new PoliteGate({ robots, now, pacer, minDelayMs: 1_000 }))
    const start = now()
    const starts: number[] = []
    const visit = async (gate: PoliteGate, signal?: AbortSignal) => {
      const one = await gate.enter(url(), signal && { signal })
      starts.push(now() - start)
      one.release()
    }
    return { pacer, gates, starts, visit }
  }

  test('keeps one pace for the gates of a fleet, and serves all of them', async () => {
    const { pacer, gates, starts, visit } = fleet(3)
    const all = gates.flatMap((gate) => [visit(gate), visit(gate), visit(gate)])
    await advance(20_000)
    await Promise.all(all)
    expect(starts.length).toBe(9)
    for (const [n, at] of starts.entries()) expect(at - (starts[n - 1] ?? -1_000)).toBeGreaterThanOrEqual(1_000)
    expect(starts.at(-1)).toBeLessThanOrEqual(9_000)
    expect(gates.map(({ counters }) => counters.started)).toEqual([3, 3, 3])
    expect(pacer.isIdle).toBe(true)
  })

  test('cancels the ticket of a request that is aborted', async () => {
    const { pacer, gates, starts, visit } = fleet(2)
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
    expect(starts).toEqual([0, 2_000]) // the gate calls `reserve` again after the time that the pacer named
    expect(pacer.isIdle).toBe(true)
    expect(pacer.calls).toContain('cancel t1')
  })

  test('gets the number of requests that wait, and its ticket for the next of them back', async () => {
    const calls: unknown[] = []
    class TurnPacer extends RemotePacer {
      override async reserve(...args: Parameters<Pacer['reserve']>) {
        const [key, limits, ticket] = args
        const reply = await super.reserve(key, limits)
        calls.push([ticket, args[7]])
        return reply.kind === 'slot' ? { ...reply, nextTicket: 'next', nextAfterMs: 1_500 } : reply
      }
    }
    const pacer = new TurnPacer(now)
    const gate = new PoliteGate({ robots, now, pacer, minDelayMs: 1_000 })
    const starts: number[] = []
    const from = now()
    const gone = new AbortController()
    const enter = async (signal?: AbortSignal) => {
      const permit = await gate.enter(url(), { signal })
      starts.push(now() - from)
      permit.release()
    }
    const all = [enter(), enter(), expect(enter(gone.signal)).rejects.toThrow()]
    await advance(1_600)
    expect(calls).toEqual([
      [undefined, 0],
      ['next', 1],
    ])
    gone.abort()
    await Promise.all(all)
    expect(starts).toEqual([0, 1_500])
    expect(pacer.calls.filter((call) => call.startsWith('cancel'))).toEqual(['cancel next'])
  })

  test('is told that a request waits while a queue outside of the gate has more for the key', async () => {
    const waiting: unknown[] = []
    class CountingPacer extends RemotePacer {
      override async reserve(...args: Parameters<Pacer['reserve']>) {
        waiting.push(args[7])
        const [key, limits] = args
        return { ...(await super.reserve(key, limits)), nextTicket: 'next' }
      }
    }
    const pacer = new CountingPacer(now)
    const gate = new PoliteGate({ robots, now, pacer, minDelayMs: 0 })
    for await (const { done } of siteQueue([url(), `${url()}?2`], { gate })) done()
    expect(waiting).toEqual([1, 1])
    expect(pacer.calls.filter((call) => call.startsWith('cancel'))).toEqual(['cancel next'])
  })

  test('passes the ticket of an aborted request to the next request in the queue', async () => {
    const { pacer, gates, starts, visit } = fleet(1)
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
    expect(starts).toEqual([0, 1_000])
    expect(pacer.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
  })

  test('cancels a slot that the pacer reserves after the request was aborted', async () => {
    const { pacer, gates, starts, visit } = fleet(1)
    const [gate] = gates as [PoliteGate]
    const controller = new AbortController()
    const gone = expect(visit(gate, controller.signal)).rejects.toThrow()
    while (pacer.calls.length === 0) await Promise.resolve()
    controller.abort()
    await gone
    await advance()
    expect(pacer.calls).toEqual(['reserve', 'cancel 1'])
    await visit(gate)
    expect(starts).toEqual([0])
    await gate.drain()
    expect(gate.queues()).toEqual([])
  })

  test('does not report what an aborted request waited for as the reason of a later one', async () => {
    const { gates } = fleet(1)
    const [gate] = gates as [PoliteGate]
    const first = await gate.enter(url())
    const controller = new AbortController()
    const gone = expect(gate.enter(url(), { signal: controller.signal })).rejects.toThrow()
    await advance(500)
    expect(gate.queues()).toMatchObject([{ waiting: 1, heldBy: 'own-delay' }])
    controller.abort()
    await gone
    await advance(1_000) // the delay is over, and the queue still exists, since the first request is under way
    const later = await gate.enter(url())
    expect(later.waitedFor).toBe('none')
    expect(gate.counters.waits['own-delay']).toBe(0)
    later.release()
    first.release()
  })

  test('applies a pushback at one gate to the others', async () => {
    const { gates, starts, visit } = fleet(2)
    const [one, two] = gates as [PoliteGate, PoliteGate]
    const first = await one.enter(url())
    const waiting = visit(two)
    await advance(500)
    first.release({ status: 429, headers: { 'retry-after': '10' } })
    await advance(10_000)
    await waiting
    expect(starts).toEqual([10_500])
  })

  test('close cancels the tickets of the requests that wait', async () => {
    const { pacer, gates, visit } = fleet(1)
    const [gate] = gates as [PoliteGate]
    await visit(gate)
    const waiting = expect(visit(gate)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    await advance(1)
    gate.close()
    await waiting
    await advance()
    expect(pacer.isIdle).toBe(true)
    expect(gate.queues()).toEqual([])
  })

  test('calls `started` when a request starts, and not when it is aborted', async () => {
    const pacer = new LocalPacer(now)
    const started = vi.spyOn(pacer, 'started')
    const gate = new PoliteGate({ robots, now, pacer, minDelayMs: 1_000 })
    await gate.enter(url())
    const delay = { delayMs: 1_000, because: 'own-delay' }
    expect(started.mock.calls).toEqual([[site.at('a.test', ''), 1, delay]])
    const controller = new AbortController()
    const gone = expect(gate.enter(url(), { signal: controller.signal })).rejects.toThrow()
    await advance(1)
    controller.abort()
    await gone
    expect(started).toHaveBeenCalledTimes(1)
  })

  test('reports the first response of a slot, and ends each slot once', async () => {
    const { pacer, gates } = fleet(1)
    const [gate] = gates as [PoliteGate]
    const one = await gate.enter(url())
    one.report({ status: 200, headers: {} })
    one.release({ status: 429, headers: {} })
    await advance(1_000)
    const two = await gate.enter(url())
    await advance(300)
    two.release()
    two.release()
    expect(pacer.calls.filter((call) => !call.startsWith('reserve'))).toEqual(['report 200', 'end 0', 'end 300'])
  })
})

describe('a pacer that fails', () => {
  const broken = new Error('the pacer is unreachable')
  const failing = (overrides: Partial<Pacer>): Pacer => {
    const pacer = new LocalPacer(now)
    return {
      reserve: (key, limits) => pacer.reserve(key, limits),
      cancel: (key, ticket) => pacer.cancel(key, ticket),
      report: (key, ticket, response) => pacer.report(key, ticket, response),
      end: (key, ticket, limits, tookMs) => pacer.end(key, ticket, limits, tookMs),
      estimate: (key, limits, ahead) => pacer.estimate(key, limits, ahead),
      ...overrides,
    }
  }

  test.each([
    [
      'by throwing',
      () => {
        throw broken
      },
    ],
    ['by rejecting', () => Promise.reject(broken)],
  ] as const)('in `reserve`, %s: the request is rejected, and the next one is admitted', async (_, reserve) => {
    const gate = new PoliteGate({ robots, now, pacer: failing({ reserve }), maxConcurrent: 1 })
    for (let n = 0; n < 3; n++) await expect(gate.enter(url())).rejects.toBe(broken)
    await gate.drain()
    expect(gate.queues()).toEqual([])
    expect(gate.counters).toMatchObject({ started: 0, abandoned: 3 })
  })

  test.each([
    [
      'by throwing',
      () => {
        throw broken
      },
    ],
    ['by rejecting', () => Promise.reject(broken)],
  ] as const)('in `report`, %s: the failure is counted and published', async (_, report) => {
    const gate = new PoliteGate({ robots, now, pacer: failing({ report }) })
    const published: FailureMessage[] = []
    const stop = listenTo('politely:gate:failure', gate, (message) => published.push(message))
    ;(await gate.enter(url())).release({ status: 200, headers: {} })
    await advance()
    stop()
    expect(published).toMatchObject([{ key: site.at('a.test', ''), error: broken }])
    expect(gate.counters.failures).toBe(1)
  })

  describe('is told', () => {
    let isAway: boolean
    const log: string[] = []
    const record = (line: string) => void log.push(line)
    const open = (overrides: Partial<Pacer>) => {
      const emitted: unknown[][] = []
      const emit = vi.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => void emitted.push(args))
      onTestFinished(() => emit.mockRestore())
      isAway = true
      log.length = 0
      const gate = new PoliteGate({ robots, now, pacer: failing(overrides), minDelayMs: 0, logger: { warn: record } })
      return { gate, emitted }
    }
    const CHECK = '; check the address of its server, and that it runs'
    const warning = (text: string, hint = CHECK) => [text + hint, { type: 'PolitelyWarning', code: 'POLITELY_PACER' }]
    const local = new LocalPacer(now)
    const cause = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:6379')]), { message: '' })

    test('when requests wait for it, and when it works again', async () => {
      const { gate, emitted } = open({
        failureOf: () => (isAway ? cause : undefined),
        reserve: async (key, limits) =>
          isAway
            ? { kind: 'wait', ticket: undefined, waitMs: 100, because: 'pacer-failure' }
            : local.reserve(key, limits),
      })
      const entered = Promise.all([gate.enter(url()), gate.enter(url())])
      await advance(1_000)
      const line = 'the pacer fails: connect ECONNREFUSED ::1:6379; requests wait until it answers'
      expect(log).toEqual([line])
      isAway = false
      await advance(1_000)
      for (const permit of await entered) permit.release()
      expect(log).toEqual([line, 'the pacer works again'])
      isAway = true
      const again = gate.enter(url())
      await advance(100)
      expect(log.slice(2)).toEqual([line])
      isAway = false
      await advance(1_000)
      ;(await again).release()
      expect(emitted).toEqual([warning(line)])
    })

    test('when it goes on without its server', async () => {
      const { gate, emitted } = open({ failureOf: () => (isAway ? cause : undefined) })
      for (isAway of [true, true, false]) (await gate.enter(url())).release()
      const line = 'the pacer fails: connect ECONNREFUSED ::1:6379; until it answers, this process keeps the pace alone'
      expect(log).toEqual([line, 'the pacer works again'])
      expect(emitted).toEqual([warning(line)])
    })

    test('once, while it fails for one of several keys', async () => {
      const { gate } = open({
        reserve: (key, limits) => {
          if (key.includes('a.test')) throw broken
          return local.reserve(key, limits)
        },
      })
      for (let n = 0; n < 3; n++) {
        await expect(gate.enter(url())).rejects.toBe(broken)
        ;(await gate.enter(site.at('b.test', '/'))).release()
      }
      expect(log).toEqual(['the pacer fails: the pacer is unreachable; the request is rejected'])
      await advance(11_000)
      ;(await gate.enter(site.at('b.test', '/'))).release()
      expect(log.slice(1)).toEqual(['the pacer works again'])
    })

    test('when it loses what no request waits for', async () => {
      const { gate, emitted } = open({ report: () => Promise.reject(broken) })
      for (let n = 0; n < 2; n++) (await gate.enter(url())).release({ status: 200, headers: {} })
      await advance()
      const line =
        'the pacer fails: the pacer is unreachable; what it should have kept, such as the pause of a site, may be lost'
      expect(log).toEqual([line])
      expect(emitted).toEqual([warning(line, '')]) // it may have no server
    })

    test.each([
      ['a connection', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'refused', CHECK],
      [
        'credentials',
        new Error('no answer of postgres://user:secret@db.test/x'),
        'no answer of postgres://db.test/x',
        '',
      ],
      ['a mistake in memory', new TypeError('slots.get is not a function'), 'slots.get is not a function', ''],
    ])('of %s', async (_, error, text, hint) => {
      const { gate, emitted } = open({
        end: () => {
          throw error
        },
      })
      ;(await gate.enter(url())).release({ status: 200, headers: {} })
      const line = `the pacer fails: ${text}; what it should have kept, such as the pause of a site, may be lost`
      expect(log).toEqual([line])
      expect(emitted).toEqual([warning(line, hint)])
    })
  })

  test('in `estimate`: `when` rejects', async () => {
    const gate = new PoliteGate({ robots, now, pacer: failing({ estimate: () => Promise.reject(broken) }) })
    await expect(gate.when(url())).rejects.toBe(broken)
  })
})
