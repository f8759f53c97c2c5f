// What the server says while its pacer or its store fails: in /readyz, /metrics and the log.
import type { Store } from '@politely/fetcher'
import { RobotsClient } from '@politely/fetcher'
import { LocalPacer, PoliteGate } from '@politely/gate'
import type { PacerOutage } from '@politely/gate/internal'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PolitelyServer } from '../src/index.ts'

/** A pacer whose server may be away. */
class RemotePacer extends LocalPacer {
  isAway: boolean
  probes = 0
  outage: (PacerOutage & { failures: number }) | undefined

  constructor(isAway = false) {
    super()
    this.isAway = isAway
  }

  async probe(): Promise<void> {
    this.probes++
    const error = new Error('connect ECONNREFUSED redis://user:secret@127.0.0.1:1')
    if (!this.isAway) this.outage = undefined
    else if (this.outage === undefined) this.outage = { since: Date.now(), failures: 1, error, grants: false }
    else this.outage.failures++
  }
}

async function start(pacer: LocalPacer, store?: Store) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: Date.UTC(2026, 10, 29) })
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line) }
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', store, logger })
  const gate = new PoliteGate({ robots, pacer })
  const server = new PolitelyServer({ gate, logger, pacerName: 'Redis at 127.0.0.1:1' })
  onTestFinished(async () => {
    await server.close()
    gate.close()
    await robots.close()
    vi.useRealTimers()
  })
  const origin = await server.listen({ port: 0 })
  return {
    gate,
    lines,
    pass: (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000),
    ready: async () => {
      const response = await fetch(`${origin}/readyz`)
      return [response.status, await response.json()]
    },
    /** The outages of the pacer and of the store, in seconds. */
    metrics: async () => {
      const text = await (await fetch(`${origin}/metrics`)).text()
      return ['pacer', 'store'].map((part) =>
        Number(new RegExp(`^politely_server_${part}_outage_seconds(?:\\{.*\\})? (\\S+)`, 'm').exec(text)?.[1]),
      )
    },
  }
}

test('is ready at once with a pacer of this process', async () => {
  const { ready, metrics, lines } = await start(new LocalPacer())
  expect([await ready(), await metrics(), lines]).toEqual([[200, { status: 'ok' }], [0, 0], []])
})

test('is degraded while the pacer fails, and tells of it once when it begins and once when it ends', async () => {
  const pacer = new RemotePacer()
  const { gate, ready, metrics, pass, lines } = await start(pacer)
  expect(await ready()).toEqual([200, { status: 'ok' }])
  pacer.isAway = true
  await pass(6) // one of the probes of an idle server
  expect(await ready()).toEqual([200, { status: 'ok', degraded: 'pacer-failure', since: '2026-11-29T00:00:05.000Z' }])
  await pass(30)
  expect(await metrics()).toEqual([31, 0])
  expect(gate.gauges.pacerOutageMs).toBeGreaterThan(0)
  pacer.isAway = false
  await pass(3)
  expect([await ready(), await metrics(), gate.gauges.pacerOutageMs]).toEqual([[200, { status: 'ok' }], [0, 0], 0])
  expect(lines).toEqual([
    'the pacer has failed (Redis at 127.0.0.1:1: connect ECONNREFUSED redis://127.0.0.1:1); no permit is granted until it is back',
    'the pacer is back after 32 s (32 failed calls)',
  ])
})

test('is not ready before the pacer has answered for the first time', async () => {
  const pacer = new RemotePacer(true)
  const { ready, metrics, pass, lines } = await start(pacer)
  const detail = 'the server waits for the first answer of its pacer'
  expect(await ready()).toMatchObject([503, { type: 'urn:politely:problem:overloaded', status: 503, detail }])
  await pass(10)
  expect(await metrics()).toEqual([10, 0])
  pacer.isAway = false
  await pass(2)
  expect(await ready()).toEqual([200, { status: 'ok' }])
  expect(lines).toEqual([
    'waits for Redis at 127.0.0.1:1: connect ECONNREFUSED redis://127.0.0.1:1; no permit is granted until it answers',
    'Redis at 127.0.0.1:1 answers after 11 s (11 failed calls)',
  ])
})

test('is degraded while the store fails', async () => {
  let isAway = false
  const call = async () => {
    if (isAway) throw new Error('disk full')
    return undefined
  }
  const { gate, ready, metrics, pass, lines } = await start(new LocalPacer(), { get: call, set: call, delete: call })
  expect(await ready()).toEqual([200, { status: 'ok' }])
  isAway = true
  await pass(6)
  await pass(30)
  const [status, { since, ...body }] = (await ready()) as [number, { since: string }]
  expect([status, body]).toEqual([200, { status: 'ok', degraded: 'store-failure' }])
  expect(Date.parse(since)).toBeGreaterThan(Date.UTC(2026, 10, 28, 23, 59))
  expect((await metrics())[1]).toBeGreaterThan(0)
  isAway = false
  await pass(6)
  expect([await ready(), await metrics(), gate.robots.gauges.storeOutageMs]).toEqual([
    [200, { status: 'ok' }],
    [0, 0],
    0,
  ])
  expect(lines).toEqual([
    'the store failed to get https://politely.invalid: Error: disk full; until it works again, robots.txt is fetched without it',
    expect.stringMatching(/^the store works again after 1 s \(\d+ failed calls\)$/),
  ])
})
