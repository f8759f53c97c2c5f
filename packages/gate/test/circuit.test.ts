// @module-tag timers
// The option `circuit`: an origin whose last requests failed gets no requests for a time.
import { describe, expect, test, vi } from 'vitest'
import {
  type Admission,
  type CircuitOptions,
  type CircuitReport,
  LocalPacer,
  type Pacer,
  type PacingOptions,
  type RequestReport,
} from '../src/index.ts'
import { simulate } from './simulation.ts'

const REFUSED: RequestReport = {
  failed: true,
  error: Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
  }),
}
const OK: RequestReport = { status: 200, headers: {} }
const DENIED: RequestReport = { status: 403, headers: {} }
const CIRCUIT: CircuitOptions = { failures: 3, coolMs: 60_000, factor: 2, maxMs: 200_000 }

/** A gate for one or more hosts, and a crawler that notes when each of its requests starts or is rejected. */
async function crawl(options: PacingOptions = {}, hosts: Readonly<Record<string, string>> = { 'a.test': '' }) {
  const simulation = await simulate(hosts, { circuit: CIRCUIT, minDelayMs: 1_000, ...options })
  const { gate, site, start } = simulation
  const ended: string[] = []
  const seconds = () => Math.floor((Date.now() - start + 50) / 1_000)
  /** The request takes `tookMs`, and ends with what `answer` returns then. */
  const visit = async (path: string, answer: () => RequestReport | undefined, tookMs = 0, host = 'a.test') => {
    try {
      const permit = await gate.enter(site.at(host, path))
      ended.push(`${path} starts at ${seconds()}`)
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs))
      permit.release(answer())
    } catch (error) {
      const { code, retryAt } = error as { code: string; retryAt: number }
      ended.push(`${path} ${code} at ${seconds()}, again at ${Math.round((retryAt - start) / 1_000)}`)
    }
  }
  return { ...simulation, ended, visit }
}

const pages = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => `/${first + n}`)

/** A pacer without the methods for circuits. */
function withoutCircuits(): Pacer {
  const local = new LocalPacer(() => Date.now())
  return {
    reserve: (key, limits) => local.reserve(key, limits),
    started: (...args) => local.started(...args),
    sent: (...args) => local.sent(...args),
    cancel: (...args) => local.cancel(...args),
    report: (...args) => local.report(...args),
    pause: (...args) => local.pause(...args),
    end: (...args) => local.end(...args),
    estimate: (...args) => local.estimate(...args),
  }
}

/** A pacer that replies with promises. */
function replyingLater(): Pacer {
  const { reserve, cancel, report, end, estimate } = withoutCircuits()
  const local = new LocalPacer(() => Date.now())
  return {
    reserve: async (...args) => reserve(...args),
    cancel: async (...args) => cancel(...args),
    report: async (...args) => report(...args),
    end: async (...args) => end(...args),
    estimate: async (...args) => estimate(...args),
    admit: async (origin, limits) => local.admit(origin, limits),
    settle: async (...args) => local.settle(...args),
  }
}

describe.each<[string, () => Pacer | undefined]>([
  ['a local pacer', () => undefined],
  ['a pacer without circuits', withoutCircuits],
  ['a pacer that replies later', replyingLater],
])('with %s', (_, pacerOf) => {
  const options = () => ({ pacer: pacerOf() })

  test('a dead site gets one request for each cooling period', async () => {
    const { gate, ended, visit, advance } = await crawl(options())
    const all = pages(1, 9).map((path) => visit(path, () => REFUSED))
    await advance(10_000)
    expect(ended).toEqual(['/1 starts at 0', '/2 starts at 1', '/3 starts at 2'])
    expect(gate.queues()).toMatchObject([{ waiting: 6, underWay: 0, heldBy: 'circuit', level: 'origin' }])
    expect(gate.gauges).toMatchObject({ openCircuits: 1, waiting: 6 })
    await advance(55_000)
    await Promise.all(all)
    expect(ended.splice(0)).toEqual([
      '/1 starts at 0',
      '/2 starts at 1',
      '/3 starts at 2',
      '/4 starts at 62',
      ...pages(5, 9).map((path) => `${path} ERR_POLITELY_CIRCUIT at 62, again at 182`),
    ])
    await visit('/10', () => REFUSED)
    expect(ended.splice(0)).toEqual(['/10 ERR_POLITELY_CIRCUIT at 65, again at 182'])
    await advance(130_000)
    await visit('/11', () => REFUSED)
    await visit('/12', () => REFUSED)
    expect(ended.splice(0)).toEqual(['/11 starts at 195', '/12 ERR_POLITELY_CIRCUIT at 195, again at 395'])
    expect(gate.counters).toMatchObject({ circuitsOpened: 1, circuitRefused: 7, started: 5 })
    expect(gate.queues()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a site that is back is found by the next probe, and the order stays', async () => {
    const { gate, ended, visit, advance } = await crawl(options())
    let isBack = false
    const all = pages(1, 7).map((path) => visit(path, () => (isBack ? OK : REFUSED)))
    await advance(30_000)
    isBack = true
    await advance(60_000)
    await Promise.all(all)
    expect(ended).toEqual([
      '/1 starts at 0',
      '/2 starts at 1',
      '/3 starts at 2',
      '/4 starts at 62',
      '/5 starts at 63',
      '/6 starts at 64',
      '/7 starts at 65',
    ])
    expect(gate.counters.waits.circuit).toBeGreaterThan(0)
    expect(gate.gauges.openCircuits).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('the cooling period replaces the pause after a 503', async () => {
    const circuit = { ...CIRCUIT, coolMs: 10_000, outcomes: ['server-error'], whenOpen: 'wait' } as const
    const { ended, visit, advance } = await crawl({ ...options(), circuit, backoff: { firstMs: 20_000, factor: 2 } })
    const all = pages(1, 7).map((path) => visit(path, () => (path < '/7' ? { status: 503, headers: {} } : OK)))
    await advance(300_000)
    await Promise.all(all)
    // The circuit opens at 60. Each cooling period is twice as long as the period before.
    const times = ended.map((line) => line.replace(' starts at', ''))
    expect(times).toEqual(['/1 0', '/2 20', '/3 60', '/4 70', '/5 90', '/6 130', '/7 210'])
  })
})

test('requests that rested start before requests that arrived later', async () => {
  const { ended, visit, advance } = await crawl()
  const first = pages(1, 3).map((path) => visit(path, () => REFUSED))
  await advance(5_000)
  await Promise.all(first)
  const rested = pages(4, 7).map((path) => visit(path, () => OK, 500))
  await advance(57_200)
  const later = pages(8, 9).map((path) => visit(path, () => OK))
  await advance(10_000)
  await Promise.all([...rested, ...later])
  expect(ended.slice(3)).toEqual(pages(4, 9).map((path, n) => `${path} starts at ${62 + n}`))
})

test('with whenOpen: wait, no request is rejected', async () => {
  const { ended, visit, advance } = await crawl({ circuit: { ...CIRCUIT, whenOpen: 'wait' } })
  let isBack = false
  const all = pages(1, 6).map((path) => visit(path, () => (isBack ? OK : REFUSED)))
  await advance(100_000)
  isBack = true
  await advance(100_000)
  await Promise.all(all)
  expect(ended.slice(3)).toEqual(['/4 starts at 62', '/5 starts at 182', '/6 starts at 183'])
})

test('an aborted probe gives its turn to the next request', async () => {
  const { ended, visit, advance, gate, site } = await crawl()
  const first = pages(1, 3).map((path) => visit(path, () => REFUSED))
  await advance(5_000)
  await Promise.all(first)
  const aborting = new AbortController()
  const aborted = gate.enter(site.at('a.test', '/aborted'), { signal: aborting.signal }).then(
    (permit) => permit.release(), // aborted by its crawler: nothing to report
    () => undefined,
  )
  const next = pages(5, 6).map((path) => visit(path, () => OK))
  await advance(60_000)
  await Promise.all([aborted, ...next])
  expect(ended.slice(3)).toEqual(['/5 starts at 63', '/6 starts at 64'])
})

test('a probe that is lost is replaced after two minutes', async () => {
  const { ended, visit, advance, gate, site } = await crawl()
  const first = pages(1, 3).map((path) => visit(path, () => REFUSED))
  await advance(5_000)
  await Promise.all(first)
  const lost = gate.enter(site.at('a.test', '/lost'))
  const next = visit('/next', () => OK)
  await advance(62_000)
  await lost
  await advance(121_000)
  await next
  expect(ended.slice(3)).toEqual(['/next starts at 182'])
})

test('requests to another origin of the same pace key go on', async () => {
  const { ended, visit, advance } = await crawl({ paceBy: () => 'all' }, { 'a.test': '', 'b.test': '' })
  const dead = pages(1, 5).map((path) => visit(path, () => REFUSED))
  const well = pages(6, 8).map((path) => visit(path, () => OK, 0, 'b.test'))
  await advance(10_000)
  await Promise.all(well)
  expect(ended).toEqual([...pages(1, 3), ...pages(6, 8)].map((path, n) => `${path} starts at ${n}`))
  await advance(60_000)
  await Promise.all(dead)
})

test('outcomes that the option names open the circuit, others close it', async () => {
  const { ended, visit, advance, gate } = await crawl({ circuit: { ...CIRCUIT, outcomes: ['denied'] } })
  const all = pages(1, 5).map((path) => visit(path, () => (path === '/2' ? REFUSED : DENIED)))
  await advance(20_000)
  expect(ended).toHaveLength(5)
  expect(gate.gauges.openCircuits).toBe(1)
  await Promise.all(all)
  const later = visit('/6', () => DENIED)
  await advance(1_000)
  await advance(60_000)
  await later
})

test('a body over the limit of the caller does not count', async () => {
  const { gate, enter, advance } = await simulate(
    { 'a.test': '' },
    { circuit: { failures: 1 }, backoff: { failures: true }, minDelayMs: 0 },
  )
  const error = Object.assign(new Error('Response content exceeded max size'), {
    code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  })
  for (let n = 0; n < 3; n++) (await enter(`${n}`, 'a.test')).release({ failed: true, error })
  await advance()
  expect(gate.counters).toMatchObject({ started: 3, circuitsOpened: 0, pushbacks: 0 })
})

test('with circuit: false, nothing stops', async () => {
  const { ended, visit, advance, gate } = await crawl({ circuit: false })
  const all = pages(1, 20).map((path) => visit(path, () => REFUSED))
  await advance(30_000)
  await Promise.all(all)
  expect(ended).toHaveLength(20)
  expect(gate.gauges.openCircuits).toBe(0)
})

test('one site may have its own circuit', async () => {
  const { ended, visit, advance } = await crawl(
    { pace: (origin) => (origin.includes('a.test') ? { circuit: { failures: 1 } } : { circuit: false }) },
    { 'a.test': '', 'b.test': '' },
  )
  const all = [
    ...pages(1, 2).map((path) => visit(path, () => REFUSED)),
    ...pages(3, 6).map((path) => visit(path, () => REFUSED, 0, 'b.test')),
  ]
  await advance(10_000)
  expect(ended).toHaveLength(5)
  await advance(60_000)
  await Promise.all(all)
})

test('the failure of all origins at once opens nothing', async () => {
  const timeout: RequestReport = { failed: true, error: Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }) }
  const hosts = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.test`, '']))
  const { visit, advance, gate } = await crawl({}, hosts)
  const all = Object.keys(hosts).flatMap((host) => pages(1, 10).map((path) => visit(path, () => timeout, 0, host)))
  await advance(15_000)
  await Promise.all(all)
  expect(gate.counters).toMatchObject({ started: 40, circuitsOpened: 0 })
})

test('the error says how many requests failed, why, and when to try again', async () => {
  const { gate, site, visit, advance, start } = await crawl()
  const all = pages(1, 5).map((path) => visit(path, () => REFUSED))
  await advance(70_000)
  await Promise.all(all)
  const url = site.at('a.test', '/page')
  await expect(gate.enter(url.replace('//', '//user:password@'))).rejects.toMatchObject({
    name: 'CircuitOpenError',
    code: 'ERR_POLITELY_CIRCUIT',
    outcome: 'connection',
    because: 'refused',
    failures: 4,
    retryAt: start + 182_000,
    message: `${url} does not start: the last 4 requests to ${new URL(url).origin} failed, and after the last there was no usable response (refused); try again at ${new Date(start + 182_000).toISOString().replace('.000', '')}`,
  })
  expect(await gate.when(url)).toMatchObject({
    allowed: false,
    retryAt: start + 182_000,
    circuit: { kind: 'connection', because: 'refused' },
  })
})

test('no timer is left when the requests that rest are aborted, or the gate is closed', async () => {
  const { visit, advance, gate, site } = await crawl()
  const all = pages(1, 3).map((path) => visit(path, () => REFUSED))
  await advance(5_000)
  await Promise.all(all)
  const aborting = new AbortController()
  const aborted = ['/4', '/5'].map((path) => gate.enter(site.at('a.test', path), { signal: aborting.signal }))
  await advance(1_000)
  expect(vi.getTimerCount()).toBe(1)
  aborting.abort()
  await Promise.allSettled(aborted)
  expect(vi.getTimerCount()).toBe(0)
  const closed = gate.enter(site.at('a.test', '/6'))
  closed.catch(() => undefined)
  await advance(1_000)
  expect(vi.getTimerCount()).toBe(1)
  gate.close()
  await expect(closed).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  expect(vi.getTimerCount()).toBe(0)
  await gate.drain()
})

test('a probe whose slot comes later gives its turn back, and takes it again with the slot', async () => {
  const local = replyingLater()
  const calls: string[] = []
  let isProbe = false
  const pacer: Pacer = {
    ...local,
    reserve: async (...args) => {
      if (!isProbe) return local.reserve(...args)
      isProbe = false
      return { kind: 'wait', ticket: undefined, waitMs: 150_000, because: 'retry-after' }
    },
    admit: async (...args) => {
      const admission = await local.admit?.(...args)
      isProbe = admission?.probe !== undefined && calls.length === 0
      if (admission?.probe !== undefined) calls.push('probe')
      return admission as Admission
    },
    settle: async (...args) => {
      if (args[2].probe !== undefined) calls.push(args[2].kind)
      return local.settle?.(...args) as Promise<CircuitReport>
    },
  }
  const { ended, visit, advance } = await crawl({ pacer })
  const all = pages(1, 5).map((path) => visit(path, () => (path > '/3' ? OK : REFUSED)))
  await advance(100_000)
  expect(calls).toEqual(['probe', 'unknown'])
  await advance(150_000)
  await Promise.all(all)
  expect(calls).toEqual(['probe', 'unknown', 'probe', 'success'])
  expect(ended.slice(3)).toEqual(['/4 starts at 212', '/5 starts at 213'])
})

test('a clock that throws after the reply of admit rejects one request, and stops no other', async () => {
  let isBroken = false
  const now = () => {
    if (isBroken) throw new Error('no clock')
    return Date.now()
  }
  const local = replyingLater()
  const pacer: Pacer = {
    ...local,
    admit: async (...args) => {
      const admission = await local.admit?.(...args)
      isBroken = args[0].includes('a.test') && admission?.state === 'open' && !hasBroken
      hasBroken ||= isBroken
      return admission as Admission
    },
  }
  let hasBroken = false
  const { ended, visit, advance, gate, site } = await crawl({ pacer, now } as PacingOptions)
  const all = pages(1, 3).map((path) => visit(path, () => REFUSED))
  await advance(5_000)
  await Promise.all(all)
  const broken = gate.enter(site.at('a.test', '/4'))
  broken.catch(() => {
    isBroken = false
  })
  await advance(0)
  await expect(broken).rejects.toThrow('no clock')
  const next = visit('/5', () => OK)
  await advance(60_000)
  await next
  expect(ended.at(-1)).toBe('/5 starts at 62')
})
