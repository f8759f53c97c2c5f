// Measures the processor time of the gate when no request has to wait, its memory per origin, and
// whether it frees that memory.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { Agent, request } from 'undici'
import { measureInProcess } from '../../held-bytes.ts'
import { median } from '../../median.ts'
import { nowNs } from '../../rounds.ts'
import type { Row, Sheet } from '../../sheet.ts'
import type { Plan } from '../plan.ts'
import { gateHostileDomain } from './gate-hostile-domain.ts'
import { gateSchedule } from './gate-schedule.ts'

export async function gate(plan: Plan): Promise<readonly Sheet[]> {
  return [await overhead(plan), await idleOrigins(plan), ...(await gateSchedule(plan)), await gateHostileDomain(plan)]
}

/** The duration of one measurement. */
const MEASUREMENT_NS = 150e6
/** Rounds that are not counted. V8 still optimizes the code during these. */
const WARM_UP_ROUNDS = 4

/**
 * Every variant requests the same short page. In polite variants robots.txt is cached and there is
 * no delay.
 */
async function overhead({ turns }: Plan): Promise<Sheet> {
  const server = createServer((received, response) => {
    response.end(received.url === '/robots.txt' ? 'User-agent: *\nDisallow: /private\n' : 'page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const open = new PoliteGate({ robots, minDelayMs: 0 })
  const agent = new Agent()
  const gated = politeAgent({ gate: open })
  const polite = politely(fetch, { gate: open })
  // A fetch that does nothing shows the cost of politely itself.
  const nothing = async (_url: string) => new Response('page')
  const politeNothing = politely(nothing, { gate: open })
  const { signal } = new AbortController()
  const variants: readonly (readonly [name: string, once: () => Promise<unknown>, against: string | undefined])[] = [
    ['fetch', async () => (await fetch(url)).text(), undefined],
    ['politely(fetch)', async () => (await polite(url)).text(), 'fetch'],
    ['undici.request', async () => (await request(url, { dispatcher: agent })).body.text(), undefined],
    [
      'undici.request, politeAgent',
      async () => (await request(url, { dispatcher: gated })).body.text(),
      'undici.request',
    ],
    ['no request at all', async () => (await nothing(url)).text(), undefined],
    ['politely(no request at all)', async () => (await politeNothing(url)).text(), 'no request at all'],
    ['robots.check alone', () => robots.check(url), undefined],
    ['enter and release alone', async () => (await open.enter(url)).release(), 'robots.check alone'],
    [
      'enter and release with a signal',
      async () => (await open.enter(url, { signal })).release(),
      'robots.check alone',
    ],
    ['when', () => open.when(url), 'robots.check alone'],
  ]
  const samples = variants.map(() => [] as number[])
  try {
    // Does not force garbage collection between measurements, because it also discards compiled
    // code that has not run for a while.
    for (let round = 0; round < WARM_UP_ROUNDS + turns; round++) {
      for (let turn = 0; turn < variants.length; turn++) {
        const index = (turn + round) % variants.length
        const ns = await cpuNsPerCall((variants[index] as (typeof variants)[number])[1])
        if (round >= WARM_UP_ROUNDS) samples[index]?.push(ns)
      }
    }
    const micros = new Map(variants.map(([name], n) => [name, median(samples[n] ?? []) / 1_000]))
    const rows = variants.map(([name, , against]): Row => {
      const own = micros.get(name) ?? Number.NaN
      const bare = against === undefined ? undefined : micros.get(against)
      return { name, cells: [own, bare === undefined ? null : own - bare, bare === undefined ? null : own / bare] }
    })
    const more = (name: string, bare: string) => (micros.get(name) ?? Number.NaN) - (micros.get(bare) ?? Number.NaN)
    return {
      workload: 'gate, overhead',
      over: 'own',
      title: 'gate: processor time of one request after another, to a server in the same process; nothing has to wait',
      columns: [
        { name: 'each', unit: 'µs' },
        { name: 'more', unit: 'µs' },
        { name: 'against bare', unit: '×' },
      ],
      rows,
      findings: [
        {
          what: 'gate: overhead of politely',
          value: more('politely(no request at all)', 'no request at all'),
          unit: 'µs',
          target: null,
        },
        {
          what: 'gate: overhead of politeAgent',
          value: more('undici.request, politeAgent', 'undici.request'),
          unit: 'µs',
          target: null,
        },
      ],
      notes: [],
    }
  } finally {
    await gated.close()
    await agent.close()
    await robots.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/**
 * Returns the processor time of this process for each call, so that other work on the machine does
 * not count.
 */
async function cpuNsPerCall(once: () => Promise<unknown>): Promise<number> {
  const start = nowNs()
  const before = process.cpuUsage()
  let count = 0
  for (; nowNs() - start < MEASUREMENT_NS; count++) await once()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / count
}

export interface IdleOrigins {
  readonly origins: number
  readonly heldBytes: number
  /** Bytes in use after the gate has evicted all of them. */
  readonly heldBytesAfterEviction: number
  readonly entries: number
}

/**
 * This workload has this many times the origins of the workload memory, because the state of a pace
 * is small.
 */
const ORIGINS_FACTOR = 10

async function idleOrigins({ origins }: Plan): Promise<Sheet> {
  const script = new URL('./gate-memory-child.ts', import.meta.url)
  const found = await measureInProcess<IdleOrigins>(script, [origins * ORIGINS_FACTOR])
  const { heldBytes, heldBytesAfterEviction, entries } = found
  return {
    workload: 'gate, idle origins',
    over: 'own',
    title: 'gate: memory of origins after one request, including their names',
    columns: [
      { name: 'of', unit: 'origins' },
      { name: 'held', unit: 'bytes/origin' },
      { name: 'entries', unit: 'origins' },
      { name: 'held in total', unit: 'bytes' },
    ],
    rows: [
      { name: 'while a delay runs', cells: [found.origins, heldBytes / found.origins, found.origins, heldBytes] },
      {
        name: 'after the delay',
        cells: [found.origins, heldBytesAfterEviction / found.origins, entries, heldBytesAfterEviction],
      },
    ],
    findings: [
      { what: 'gate: an idle origin', value: heldBytes / found.origins, unit: 'bytes', target: null },
      {
        what: 'gate: an evicted origin',
        value: heldBytesAfterEviction / found.origins,
        unit: 'bytes',
        target: { atMost: 10 },
      },
    ],
    notes: [],
  }
}
