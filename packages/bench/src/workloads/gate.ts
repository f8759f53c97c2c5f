// What does the gate cost when nothing has to wait, what does it hold, and does it let go when it should?
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politeAgent, politely } from '@politely/gate'
import { Agent, request } from 'undici'
import { measuredIn } from '../held-memory.ts'
import { median } from '../median.ts'
import { nowNs } from '../rounds.ts'
import type { Row, Sheet } from '../sheet.ts'
import { gateHostileDomain } from './gate-hostile-domain.ts'
import { gateSchedule } from './gate-schedule.ts'
import type { Plan } from './plan.ts'

export async function gate(plan: Plan): Promise<readonly Sheet[]> {
  return [await overhead(plan), await idleOrigins(plan), ...(await gateSchedule(plan)), await gateHostileDomain(plan)]
}

/** One measurement lasts so long. */
const TURN_NS = 150e6
/** So many rounds are not counted: until then the compiler changes its mind about what is worth it. */
const WARMING = 4

/** Every way asks the same server for the same short page; the polite ones with robots.txt known and no pause. */
async function overhead({ turns }: Plan): Promise<Sheet> {
  const server = createServer((asked, response) => {
    response.end(asked.url === '/robots.txt' ? 'User-agent: *\nDisallow: /private\n' : 'page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const open = new PoliteGate({ robots, minDelayMs: 0 })
  const agent = new Agent()
  const gated = politeAgent({ gate: open })
  const polite = politely(fetch, { gate: open })
  // What politely itself takes is seen best around a fetch that takes next to nothing.
  const nothing = async (_url: string) => new Response('page')
  const politeNothing = politely(nothing, { gate: open })
  const { signal } = new AbortController()
  const ways: readonly (readonly [name: string, once: () => Promise<unknown>, against: string | undefined])[] = [
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
    ['enter and leave alone', async () => (await open.enter(url)).release(), 'robots.check alone'],
    ['the same with a signal', async () => (await open.enter(url, { signal })).release(), 'robots.check alone'],
    ['when', () => open.when(url), 'robots.check alone'],
  ]
  const seen = ways.map(() => [] as number[])
  try {
    // No garbage is collected by force in between: with it goes code that was not run for a while.
    for (let round = 0; round < WARMING + turns; round++) {
      for (let turn = 0; turn < ways.length; turn++) {
        const who = (turn + round) % ways.length
        const ns = await nsForEach((ways[who] as (typeof ways)[number])[1])
        if (round >= WARMING) seen[who]?.push(ns)
      }
    }
    const micros = new Map(ways.map(([name], n) => [name, median(seen[n] ?? []) / 1_000]))
    const rows = ways.map(([name, , against]): Row => {
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
          what: 'gate: politely, more than no request at all',
          value: more('politely(no request at all)', 'no request at all'),
          unit: 'µs',
          target: null,
        },
        {
          what: 'gate: politeAgent, more than undici.request',
          value: more('undici.request, politeAgent', 'undici.request'),
          unit: 'µs',
          target: null,
        },
      ],
      asides: [],
    }
  } finally {
    await gated.close()
    await agent.close()
    await robots.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Of the processor, in this process: what others do on the machine meanwhile does not count. */
async function nsForEach(once: () => Promise<unknown>): Promise<number> {
  const start = nowNs()
  const before = process.cpuUsage()
  let count = 0
  for (; nowNs() - start < TURN_NS; count++) await once()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / count
}

export interface IdleOrigins {
  readonly origins: number
  readonly heldBytes: number
  /** When all of them have been forgotten. */
  readonly heldAfterBytes: number
  readonly remembered: number
}

/** Ten times as many as their rules are held of: a pace is small. */
const SHARE = 10

async function idleOrigins({ origins }: Plan): Promise<Sheet> {
  const script = new URL('./gate-memory-child.ts', import.meta.url)
  const found = await measuredIn<IdleOrigins>(script, [origins * SHARE])
  const { heldBytes, heldAfterBytes, remembered } = found
  return {
    workload: 'gate, idle origins',
    over: 'own',
    title: 'gate: origins that were asked once, the text of their names included',
    columns: [
      { name: 'of', unit: 'origins' },
      { name: 'held', unit: 'bytes/origin' },
      { name: 'remembered', unit: 'origins' },
      { name: 'held in all', unit: 'bytes' },
    ],
    rows: [
      { name: 'with a pause to keep', cells: [found.origins, heldBytes / found.origins, found.origins, heldBytes] },
      { name: 'when it is over', cells: [found.origins, heldAfterBytes / found.origins, remembered, heldAfterBytes] },
    ],
    findings: [
      { what: 'gate: an idle origin', value: heldBytes / found.origins, unit: 'bytes', target: null },
      {
        what: 'gate: an origin that is forgotten',
        value: heldAfterBytes / found.origins,
        unit: 'bytes',
        target: { atMost: 10 },
      },
    ],
    asides: [],
  }
}
