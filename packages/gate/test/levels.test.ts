// @module-tag timers
import { describe, expect, test, vi } from 'vitest'
import type { Pacer, Permit, Reservation } from '../src/index.ts'
import { LocalPacer } from '../src/index.ts'
import { Lane } from '../src/lane/lane.ts'
import { listenTo } from './listen.ts'
import { simulate } from './simulation.ts'
import { HOSTS, lookup, visits } from './visits.ts'

describe('a request waits for the level that is last to have a slot', () => {
  test('a delay that ends while the gate looks at it leaves no request behind', { tags: 'full' }, async () => {
    let aheadMs = 0
    let stepMs = 0
    const now = () => {
      aheadMs += stepMs
      return Date.now() + aheadMs
    }
    const { enter, advance, starts } = await simulate(HOSTS, { lookup, minDelayMs: 0, minDelayPerDomainMs: 10, now })
    for (let round = 0; round < 200; round++) {
      stepMs = (round % 20) / 4 // the clock advances at each reading
      const entered = ['a.one.test', 'b.one.test'].map(async (host) => {
        const permit = await enter(`${round}`, host)
        setTimeout(() => permit.release(), Math.floor(round / 20))
      })
      await advance(1_000)
      expect(starts.splice(0), `round ${round}`).toHaveLength(2)
      await Promise.all(entered)
    }
  })

  test('the delay of a registrable domain applies across its hosts, in order of arrival', async () => {
    const hosts = ['a.one.test', 'b.one.test', 'c.one.test', 'two.test', 'a.one.test']
    expect(await visits(hosts, { minDelayMs: 1_000, minDelayPerDomainMs: 300 })).toEqual([
      ['a.one.test', 0, 'none', undefined],
      ['two.test', 0, 'none', undefined],
      ['b.one.test', 300, 'own-delay', 'domain'],
      ['c.one.test', 600, 'own-delay', 'domain'],
      ['a.one.test', 1_000, 'own-delay', 'origin'],
    ])
  })

  test('the delay of an address applies across its hosts', async () => {
    const hosts = ['a.one.test', 'b.one.test', 'c.one.test', 'two.test']
    expect(await visits(hosts, { minDelayMs: 1_000, minDelayPerAddressMs: 400 })).toEqual([
      ['a.one.test', 0, 'none', undefined],
      ['c.one.test', 0, 'none', undefined],
      ['b.one.test', 400, 'own-delay', 'address'],
      ['two.test', 400, 'own-delay', 'address'],
    ])
  })

  test('the concurrency limit of an address applies across its hosts', async () => {
    const options = { minDelayMs: 0, maxConcurrentPerAddress: 1 }
    expect(await visits(['c.one.test', 'two.test', 'c.one.test'], options, { takesMs: 250 })).toEqual([
      ['c.one.test', 0, 'none', undefined],
      ['two.test', 250, 'concurrency', 'address'],
      ['c.one.test', 500, 'concurrency', 'address'],
    ])
  })

  test('the limits of a domain and of the gate are named too', async () => {
    const options = { minDelayMs: 0, maxConcurrentPerKey: 1, maxConcurrentPerDomain: 2, maxConcurrent: 3 }
    const hosts = ['a.one.test', 'a.one.test', 'b.one.test', 'c.one.test', 'two.test', 'two.test']
    expect((await visits(hosts, options, { takesMs: 100 })).map(([host, at, , level]) => [host, at, level])).toEqual([
      ['a.one.test', 0, undefined],
      ['b.one.test', 0, undefined],
      ['two.test', 0, undefined],
      ['c.one.test', 100, 'domain'],
      ['a.one.test', 100, 'gate'],
      ['two.test', 100, 'origin'],
    ])
  })
})

test('when, queues and the messages name the level', async () => {
  const { gate, site, enter, advance } = await simulate(HOSTS, {
    lookup,
    minDelayPerDomainMs: 5_000,
    minDelayPerAddressMs: 2_000,
    maxConcurrentPerAddress: 1,
  })
  const messages: unknown[] = []
  const stop = [
    listenTo('politely:gate:wait', gate, ({ because, level }) => messages.push(['wait', because, level])),
    listenTo('politely:gate:start', gate, ({ waitedFor, waitedLevel }) =>
      messages.push(['start', waitedFor, waitedLevel]),
    ),
  ]
  const first = await enter('1', 'a.one.test')
  const when = async (host: string) => {
    const forecast = await gate.when(site.at(host, '/page'))
    return forecast.allowed && [forecast.waitMs, forecast.because, forecast.level]
  }
  expect(await when('a.one.test')).toEqual([5_000, 'own-delay', 'domain'])
  expect(await when('c.one.test')).toEqual([5_000, 'own-delay', 'domain'])
  expect(await when('two.test')).toEqual([0, 'none', undefined])
  const second = enter('2', 'b.one.test')
  await advance(4_999)
  // The address is full, and its limit comes first.
  expect(gate.queues()).toMatchObject([{ waiting: 0 }, { waiting: 1, heldBy: 'concurrency', level: 'address' }])
  first.release()
  expect(gate.queues()).toMatchObject([{ waiting: 1, heldBy: 'own-delay', level: 'domain' }])
  await advance(1)
  ;(await second).release()
  expect(messages).toEqual([
    ['start', 'none', undefined],
    ['wait', 'concurrency', 'address'],
    ['start', 'own-delay', 'domain'],
  ])
  for (const end of stop) end()
})

test('an aborted request frees all of its levels, and the next one starts in its place', async () => {
  const { gate, enter, starts, advance } = await simulate(HOSTS, {
    lookup,
    minDelayPerDomainMs: 1_000,
    minDelayPerAddressMs: 1_000,
  })
  ;(await enter('1', 'a.one.test')).release()
  const controller = new AbortController()
  const aborted = expect(enter('2', 'b.one.test', controller.signal)).rejects.toThrow()
  const third = enter('3', 'b.one.test')
  await advance(500)
  controller.abort()
  await aborted
  await advance(500)
  ;(await third).release()
  expect(starts).toEqual([
    ['1', 0],
    ['3', 1_000],
  ])
  await advance(1_000)
  expect(gate.queues()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('gives back the slots of the other levels if one of them has none', async () => {
  const local = new LocalPacer(() => Date.now())
  const calls: string[] = []
  const pacer: Pacer = {
    reserve: async (key, limits) => {
      if (key === 'domain:one.test' && calls.length < 3) {
        calls.push(`wait ${key}`)
        return { kind: 'wait', ticket: undefined, waitMs: 50, because: 'backoff' } // as if another process had the slot
      }
      calls.push(`reserve ${key.replace(/:\d+$/, '')}`)
      return local.reserve(key, limits)
    },
    cancel: (key, ticket) => {
      calls.push(`cancel ${key}`)
      local.cancel(key, ticket)
    },
    report: () => {},
    end: (key) => void calls.push(`end ${key.replace(/:\d+$/, '')}`),
    estimate: (key, limits, ahead) => local.estimate(key, limits, ahead),
  }
  const { enter, advance } = await simulate(HOSTS, {
    lookup,
    pacer,
    minDelayPerDomainMs: 1_000,
    minDelayPerAddressMs: 1_000,
  })
  const permit = enter('1', 'a.one.test')
  await advance(100)
  const { waitedFor, waitedLevel, release } = await permit
  expect([waitedFor, waitedLevel]).toEqual(['backoff', 'domain'])
  release.call(await permit)
  expect(calls).toEqual([
    'reserve address:192.0.2.1',
    'wait domain:one.test',
    'cancel address:192.0.2.1',
    'reserve address:192.0.2.1',
    'reserve domain:one.test',
    'reserve http://a.one.test',
    'end address:192.0.2.1',
    'end domain:one.test',
    'end http://a.one.test',
  ])
})

test('reserves all slots again if one expires before the last one is reserved', async () => {
  const calls: string[] = []
  let slots = 0
  let replyMs = 50
  const pacer: Pacer = {
    reserve: async (key, _limits, _ticket, furtherSlots) => {
      await new Promise((over) => setTimeout(over, replyMs))
      calls.push(`reserve ${key.replace(/:\d+$/, '')} with ${furtherSlots} to follow`)
      return { kind: 'slot', ticket: ++slots, delay: { delayMs: 1_000, because: 'own-delay' }, startWithinMs: 20 }
    },
    cancel: (_, ticket) => {
      calls.push(`cancel ${ticket}`)
      replyMs = 10
    },
    report: () => {},
    end: (_, ticket) => void calls.push(`end ${ticket}`),
    estimate: () => ({ waitMs: 0, because: 'none' }),
  }
  const { enter, advance, starts } = await simulate(HOSTS, { lookup, pacer, minDelayPerDomainMs: 1_000 })
  const permit = enter('1', 'a.one.test')
  await advance(200)
  ;(await permit).release()
  expect(calls).toEqual([
    'reserve domain:one.test with 1 to follow',
    'reserve http://a.one.test with 0 to follow',
    'cancel 1',
    'cancel 2',
    'reserve domain:one.test with 1 to follow',
    'reserve http://a.one.test with 0 to follow',
    'end 3',
    'end 4',
  ])
  expect(starts).toEqual([['1', 121]]) // after the replies of 50, 50, 10 and 10 ms, and the shortest wait
})

test('a queue keeps its position in the line of a domain when its slots have expired', async () => {
  let asked = 0
  const { pacer } = pacerWith((key, local) => {
    const reply = local()
    if (reply.kind === 'wait' || !key.startsWith('domain')) return new Promise((over) => setTimeout(over, 5, reply))
    return { ...reply, startWithinMs: ++asked === 1 ? 4 : 5 }
  })
  const seen = await visits(['a.one.test', 'b.one.test', 'c.one.test'], { pacer, minDelayPerDomainMs: 1_000 })
  expect(seen.map(([host, at]) => [host, at])).toEqual([
    ['a.one.test', 11],
    ['b.one.test', 1_016],
    ['c.one.test', 2_021],
  ])
})

/** A LocalPacer some of whose calls of `reserve` get other replies. */
function pacerWith(reserve: (key: string, local: () => Reservation) => ReturnType<Pacer['reserve']>) {
  const local = new LocalPacer(() => Date.now())
  const cancelled: string[] = []
  const pacer: Pacer = {
    reserve: (key, limits) => reserve(key, () => local.reserve(key, limits)),
    cancel: (key, ticket) => {
      cancelled.push(`${key} ${ticket}`)
      local.cancel(key, ticket)
    },
    report: () => {},
    end: () => {},
    estimate: (key, limits, ahead) => local.estimate(key, limits, ahead),
  }
  return { pacer, cancelled }
}

test('a queue keeps its position in the line of a domain while the pacer says wait', async () => {
  let asked = 0
  const { pacer } = pacerWith((key, local) =>
    key === 'domain:one.test' && ++asked === 2
      ? { kind: 'wait', ticket: undefined, waitMs: 500, because: 'own-delay' } // as if another process had the slot
      : local(),
  )
  const seen = await visits(['a.one.test', 'b.one.test', 'c.one.test'], { pacer, minDelayPerDomainMs: 1_000 })
  expect(seen.map(([host, at]) => [host, at])).toEqual([
    ['a.one.test', 0],
    ['b.one.test', 1_500],
    ['c.one.test', 2_500],
  ])
})

test('requests to an address without a delay do not wait for the reply of the pacer to another one', async () => {
  const { pacer } = pacerWith(async (_, local) => {
    await new Promise((over) => setTimeout(over, 100))
    return local()
  })
  const seen = await visits(['c.one.test', 'two.test'], { pacer, maxConcurrentPerAddress: 2 })
  expect(seen.map(([host, at]) => [host, at])).toEqual([
    ['c.one.test', 100],
    ['two.test', 100],
  ])
})

test('gives up the position of a domain when no request waits, even if one is under way', async () => {
  let asked = 0
  const { pacer, cancelled } = pacerWith((key, local) =>
    key === 'domain:one.test' && ++asked === 2
      ? { kind: 'wait', ticket: 'position', waitMs: 500, because: 'own-delay' }
      : local(),
  )
  const { enter, advance } = await simulate(HOSTS, { pacer, minDelayPerDomainMs: 1_000 })
  const first = await enter('1', 'a.one.test')
  const controller = new AbortController()
  const second = expect(enter('2', 'b.one.test', controller.signal)).rejects.toThrow()
  await advance(1_100)
  controller.abort()
  await second
  expect(cancelled).toEqual(['domain:one.test position'])
  first.release()
})

test('keeps the limit of an address if a request lets another one of its domain go first', async () => {
  let asked = 0
  const { pacer } = pacerWith((key) =>
    key === 'domain:one.test' && ++asked === 1
      ? { kind: 'wait', ticket: undefined, waitMs: 1_000, because: 'own-delay' }
      : { kind: 'slot', ticket: asked, delay: { delayMs: 0, because: 'own-delay' } },
  )
  const { enter, advance, starts } = await simulate(HOSTS, {
    lookup,
    pacer,
    minDelayPerDomainMs: 1_000,
    maxConcurrentPerAddress: 1,
  })
  // The second one arrives when the wait of the first one is over, just before its timer.
  let second: Promise<Permit> | undefined
  setTimeout(() => {
    second = enter('2', 'b.one.test')
  }, 1_000)
  const first = enter('1', 'a.one.test')
  await advance(2_000)
  expect(starts).toEqual([['1', 1_000]])
  ;(await first).release()
  ;(await second)?.release()
  expect(starts.length).toBe(2)
})

test('gives back the slots of all levels if the clock throws after they were reserved', async () => {
  let isBroken = false
  const { pacer, cancelled } = pacerWith((key, local) => {
    isBroken = key.startsWith('http:')
    return local()
  })
  const now = () => {
    if (!isBroken) return Date.now()
    isBroken = false
    throw new Error('the clock is broken')
  }
  const { enter } = await simulate(HOSTS, { pacer, now, minDelayPerDomainMs: 1_000 })
  await expect(enter('1', 'a.one.test')).rejects.toThrow('the clock is broken')
  expect(cancelled.length).toBe(2)
})

test('a request whose levels have slots at different times does not starve beside others that use each of them', async () => {
  const addresses: Readonly<Record<string, string>> = { 'victim.d.test': 'x' }
  const names = ['x1.test', 'x2.test', 'x3.test', 'd1.d.test', 'd2.d.test', 'd3.d.test', 'victim.d.test']
  const { enter, starts, advance } = await simulate(Object.fromEntries(names.map((name) => [name, ''])), {
    minDelayMs: 0,
    minDelayPerAddressMs: 1_000,
    minDelayPerDomainMs: 1_000,
    lookup: (host, _options, callback) => {
      const address = addresses[host] ?? (host.endsWith('.d.test') ? `of ${host}` : 'x')
      callback(null, [{ address, family: 4 }])
    },
  })
  const visit = (host: string) => void enter(host, host).then((permit) => permit.release())
  for (let n = 0; n < 20; n++) for (const host of ['x1.test', 'x2.test', 'x3.test']) visit(host)
  await advance(500)
  for (let n = 0; n < 20; n++) for (const host of ['d1.d.test', 'd2.d.test', 'd3.d.test']) visit(host)
  await advance(100)
  visit('victim.d.test')
  await advance(60_000)
  const at = starts.find(([name]) => name === 'victim.d.test')?.[1] ?? Number.POSITIVE_INFINITY
  expect(at).toBeLessThan(8_000)
})

test('a full gate does not make every start try all queues that wait for a domain', { tags: 'full' }, async () => {
  const advance = vi.spyOn(Lane.prototype, 'advance')
  const hosts = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`h${n}.d.test`, '']))
  const simulation = await simulate(
    { ...hosts, 'other.test': '' },
    {
      minDelayMs: 0,
      minDelayPerDomainMs: 10,
      maxConcurrent: 1,
    },
  )
  const { enter, starts } = simulation
  const visit = (host: string) => enter(host, host).then((permit) => void setTimeout(() => permit.release(), 5))
  const all = [...Object.keys(hosts).map(visit), ...Array.from({ length: 200 }, () => visit('other.test'))]
  await simulation.advance(20_000)
  await Promise.all(all)
  expect(starts.length).toBe(400)
  expect(advance.mock.calls.length).toBeLessThan(400 * 20)
})
