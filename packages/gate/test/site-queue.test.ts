// `siteQueue`: yields URLs in the order in which their sites' slots come.
import { once } from 'node:events'
import { get } from 'node:http'
import { Readable } from 'node:stream'
import { seededIntegers } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { Agent, fetch as undiciFetch } from 'undici'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type PoliteGate, politely } from '../src/index.ts'
import type { Queued, QueuedUrl, SiteQueueOptions } from '../src/site-queue/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'
import { type Simulation, simulate } from './simulation.ts'
import { lookup } from './site.ts'

afterEach(() => void vi.restoreAllMocks())

/** The path of a URL of the simulation, such as `a/1` for http://a.test:80/1. */
const nameOf = (url: string) => `${new URL(url).hostname.replace('.test', '')}${new URL(url).pathname}`

/** Requests through the gate that take `tookMs` of the simulated time. */
function requestsOf({ gate, start }: Simulation, tookMs = 100) {
  const sent: [name: string, atMs: number][] = []
  const request = async (url: string) => {
    const permit = await gate.enter(url)
    sent.push([nameOf(url), Date.now() - start])
    await new Promise((resolve) => setTimeout(resolve, tookMs))
    permit.release({ status: 200, headers: {} })
  }
  return { request, sent }
}

/** Crawls a source with several consumers. Returns what was sent and what was refused. */
function crawl(
  simulation: Simulation,
  source: Iterable<string | QueuedUrl> | AsyncIterable<string | QueuedUrl>,
  {
    consumers = 1,
    tookMs = 100,
    ...options
  }: Partial<SiteQueueOptions<string | QueuedUrl>> & { readonly consumers?: number; readonly tookMs?: number } = {},
) {
  const { request, sent } = requestsOf(simulation, tookMs)
  const queue = siteQueue(source, { gate: simulation.gate, ...options })
  const yielded: string[] = []
  const refused: [name: string, code: string][] = []
  const work = async () => {
    for await (const { url, refused: refusal, done } of queue) {
      yielded.push(url)
      if (refusal) refused.push([URL.canParse(url) ? nameOf(url) : url, refusal.code])
      else await request(url)
      done()
    }
  }
  return { sent, yielded, refused, ended: Promise.all(Array.from({ length: consumers }, work)) }
}

function pages({ site }: Simulation, host: string, count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, n) => site.at(`${host}.test`, `/${n + from}`))
}

/** Yields URLs, and counts how many were read. */
function counted<T>(urls: Iterable<T>) {
  const counts = { read: 0, closed: 0 }
  async function* source() {
    try {
      for (const url of urls) {
        counts.read++
        yield url
      }
    } finally {
      counts.closed++
    }
  }
  return Object.assign(source(), { counts })
}

/** A spill in memory that counts its calls. */
function spillOf<I extends { readonly url: string } = { readonly url: string }>() {
  const lists = new Map<string, I[]>()
  const calls = { add: 0, take: 0, most: 0 }
  return {
    calls,
    lists,
    async add(items: readonly I[]) {
      calls.add++
      for (const item of items) {
        const { origin } = new URL(item.url)
        const list = lists.get(origin)
        if (list === undefined) lists.set(origin, [item])
        else list.push(item)
      }
      calls.most = Math.max(
        calls.most,
        [...lists.values()].reduce((sum, list) => sum + list.length, 0),
      )
    },
    async take(origin: string, count: number) {
      calls.take++
      return lists.get(origin)?.splice(0, count) ?? []
    },
    origins: (): Iterable<string> => lists.keys(),
  }
}

describe('the order', () => {
  test('yields the URLs of one site in their order, each when its slot comes', async () => {
    const simulation = await simulate({ 'a.test': 'Crawl-delay: 2' })
    const { sent, ended } = crawl(simulation, pages(simulation, 'a', 3))
    await simulation.advance(10_000)
    await ended
    expect(sent).toEqual([
      ['a/1', 0],
      ['a/2', 2_000],
      ['a/3', 4_000],
    ])
    expect(simulation.gate.counters).toMatchObject({ started: 3, done: 3, abandoned: 0 })
  })

  test('starts other sites while one waits, although its URLs come first', async () => {
    const simulation = await simulate({ 'a.test': 'Crawl-delay: 5', 'b.test': 'Crawl-delay: 2' })
    const { sent, ended } = crawl(simulation, [...pages(simulation, 'a', 3), ...pages(simulation, 'b', 3)])
    await simulation.advance(20_000)
    await ended
    expect(sent).toEqual([
      ['a/1', 0],
      ['b/1', 100],
      ['b/2', 2_100],
      ['b/3', 4_100],
      ['a/2', 5_000],
      ['a/3', 10_000],
    ])
  })

  test('yields URLs with a higher priority first, and equal ones in the order of the source', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [first, low, high, low2, high2] = pages(simulation, 'a', 5) as [string, string, string, string, string]
    const source = [
      first,
      { url: low, priority: -1 },
      { url: new URL(high), priority: 5 },
      { url: low2, priority: -1 },
      { url: high2, priority: 5 },
    ]
    const { sent, ended } = crawl(simulation, source)
    await simulation.advance(10_000)
    await ended
    expect(sent.map(([name]) => name)).toEqual(['a/3', 'a/5', 'a/1', 'a/2', 'a/4'])
  })

  test('yields a URL of a higher priority that arrives while the site waits', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [one, two, three] = pages(simulation, 'a', 3) as [string, string, string]
    async function* source() {
      yield one
      yield two
      await new Promise((resolve) => setTimeout(resolve, 500))
      yield { url: three, priority: 1 }
    }
    const { sent, ended } = crawl(simulation, source())
    await simulation.advance(10_000)
    await ended
    expect(sent.map(([name]) => name)).toEqual(['a/1', 'a/3', 'a/2'])
  })

  test('keeps several requests to a site under way, as the gate allows', async () => {
    const simulation = await simulate({ 'a.test': '' }, { maxConcurrentPerKey: 2 })
    const { sent, ended } = crawl(simulation, pages(simulation, 'a', 4), { consumers: 4, tookMs: 5_000 })
    await simulation.advance(30_000)
    await ended
    expect(sent.map(([, at]) => at)).toEqual([0, 1_000, 5_000, 6_000])
  })

  test('lets other sites go on while a site has reached its concurrency limit', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { maxConcurrentPerKey: 1 })
    const source = [...pages(simulation, 'a', 2), ...pages(simulation, 'b', 1)]
    const { sent, ended } = crawl(simulation, source, { consumers: 2, tookMs: 5_000 })
    await simulation.advance(30_000)
    await ended
    expect(sent).toEqual([
      ['a/1', 0],
      ['b/1', 0],
      ['a/2', 5_000],
    ])
  })

  test('no consumer waits for a site whose delay begins at the end of a request', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { pauseFrom: 'end' })
    const source = [...pages(simulation, 'a', 3), ...pages(simulation, 'b', 3)]
    const { sent, ended } = crawl(simulation, source, { consumers: 2, tookMs: 3_000 })
    await simulation.advance(30_000)
    await ended
    expect(sent.map(([name, at]) => `${name} ${at}`)).toEqual([
      'a/1 0',
      'b/1 0',
      'a/2 4000',
      'b/2 4000',
      'a/3 8000',
      'b/3 8000',
    ])
  })

  test('no consumer waits for the delay of a domain that another host has used', async () => {
    const simulation = await simulate(
      { 'a.site.test': '', 'b.site.test': '', 'c.test': '' },
      { minDelayPerDomainMs: 5_000 },
    )
    const source = ['a.site', 'b.site', 'c', 'c'].map((host, n) => simulation.site.at(`${host}.test`, `/${n}`))
    const { sent, ended } = crawl(simulation, source)
    await simulation.advance(30_000)
    await ended
    expect(sent.map(([name, at]) => `${name} ${at}`)).toEqual(['a.site/0 0', 'c/2 100', 'b.site/1 5000', 'c/3 5100'])
  })

  test('several origins with one pace key share the pace', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { paceBy: () => 'all' })
    const source = [...pages(simulation, 'a', 2), ...pages(simulation, 'b', 2)]
    const { sent, ended } = crawl(simulation, source, { consumers: 4 })
    await simulation.advance(30_000)
    await ended
    expect(sent.map(([, at]) => at)).toEqual([0, 1_000, 2_000, 3_000])
  })

  test('waits for a Retry-After, and visits other sites meanwhile', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' })
    const source = [...pages(simulation, 'a', 2), ...pages(simulation, 'b', 2)]
    const { gate, start, advance } = simulation
    const starts: [string, number][] = []
    const work = async () => {
      for await (const { url } of siteQueue(source, { gate })) {
        starts.push([nameOf(url), Date.now() - start])
        const permit = await gate.enter(url)
        const isFirst = starts.length === 1
        permit.release({ status: isFirst ? 429 : 200, headers: isFirst ? { 'retry-after': '20' } : {} })
      }
    }
    const ended = work()
    await advance(60_000)
    await ended
    expect(starts).toEqual([
      ['a/1', 0],
      ['b/1', 0],
      ['b/2', 1_000],
      ['a/2', 20_000],
    ])
  })
})

describe('consumers', () => {
  test('a loop that does not await its work is bounded by concurrency', async () => {
    const hosts = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`h${n}.test`, '']))
    const simulation = await simulate(hosts)
    const { request } = requestsOf(simulation, 1_000)
    const source = Object.keys(hosts).map((host) => simulation.site.at(host, '/1'))
    let open = 0
    let most = 0
    const run = async () => {
      for await (const { url, done } of siteQueue(source, { gate: simulation.gate, concurrency: 3 })) {
        most = Math.max(most, ++open)
        void request(url).finally(() => {
          open--
          done()
        })
      }
    }
    const ended = run()
    await simulation.advance(10_000)
    await ended
    expect(most).toBe(3)
    expect(simulation.gate.counters).toMatchObject({ started: 10 })
  })

  test('each URL is yielded once, to one of many consumers', async () => {
    const hosts = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`h${n}.test`, '']))
    const simulation = await simulate(hosts)
    const source = Object.keys(hosts).flatMap((host) => pages(simulation, host.replace('.test', ''), 10))
    const { sent, ended } = crawl(simulation, source, { consumers: 7, maxHeld: 50 })
    await simulation.advance(60_000)
    await ended
    expect(sent.map(([name]) => name).sort()).toEqual(source.map(nameOf).sort())
    expect(simulation.gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
  })

  test('a permit goes to the next request for its URL, whoever enters the gate', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const { gate } = simulation
    const [page] = pages(simulation, 'a', 1) as [string]
    const queue = siteQueue([`${page}#part`], { gate })
    const { value } = await queue.next()
    expect(gate.gauges).toMatchObject({ underWay: 1 })
    const permit = await gate.enter(page)
    expect(permit.waitedMs).toBe(0)
    expect(gate.counters.started).toBe(1)
    permit.release()
    value?.done()
    expect(await queue.next()).toEqual({ done: true, value: undefined })
    expect(gate.counters).toMatchObject({ started: 1, done: 1 })
  })

  test('done gives back the slot of a URL that was not requested, once', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const { gate } = simulation
    const queue = siteQueue(pages(simulation, 'a', 1), { gate })
    const { value } = await queue.next()
    value?.done()
    value?.done()
    expect(gate.gauges).toMatchObject({ underWay: 0 })
    await gate.drain()
    expect(gate.counters).toMatchObject({ started: 1, done: 1 })
  })

  test('two equal URLs get two slots', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [page] = pages(simulation, 'a', 1) as [string]
    const { sent, ended } = crawl(simulation, [page, page], { consumers: 2, tookMs: 3_000 })
    await simulation.advance(10_000)
    await ended
    expect(sent).toEqual([
      ['a/1', 0],
      ['a/1', 1_000],
    ])
    expect(simulation.gate.counters.started).toBe(2)
  })

  test('a fetch of the gate uses the permit of its URL, and nothing waits twice', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { maxConcurrentPerKey: 1 })
    const { gate, start } = simulation
    const sent: string[] = []
    const fetch = politely(
      async (url: string) => {
        sent.push(`${nameOf(url)} ${Date.now() - start}`)
        return new Response('page')
      },
      { gate },
    )
    const queue = siteQueue([...pages(simulation, 'a', 3), ...pages(simulation, 'b', 2)], { gate })
    const work = async () => {
      for await (const { url, done } of queue) {
        await (await fetch(url)).text()
        done()
      }
    }
    const ended = Promise.all([work(), work(), work()])
    await simulation.advance(10_000)
    await ended
    expect(sent).toEqual(['a/1 0', 'b/1 0', 'a/2 1000', 'b/2 1000', 'a/3 2000'])
    expect(gate.counters).toMatchObject({ started: 5, done: 5 })
  })

  test('an aborted request leaves its permit to done', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const fetch = politely(async (_: string) => new Response('page'), { gate: simulation.gate })
    const queue = siteQueue(pages(simulation, 'a', 1), { gate: simulation.gate })
    const { value } = await queue.next()
    await expect(fetch(value?.url ?? '', { signal: AbortSignal.abort('stop') } as never)).rejects.toBe('stop')
    expect(simulation.gate.gauges).toMatchObject({ underWay: 1 })
    value?.done()
    expect(simulation.gate.gauges).toMatchObject({ underWay: 0 })
  })

  test('a redirect within the site waits for its slot, and no URL of the queue is in its way', async () => {
    const simulation = await simulate({ 'a.test': '' }, { maxConcurrentPerKey: 1 })
    const { gate, start, site } = simulation
    const sent: [string, number][] = []
    const fetch = politely(
      async (url: string) => {
        sent.push([nameOf(url), Date.now() - start])
        return url.endsWith('/1')
          ? new Response(null, { status: 302, headers: { location: site.at('a.test', '/moved') } })
          : new Response('page')
      },
      { gate },
    )
    const work = async () => {
      for await (const { url, done } of siteQueue(pages(simulation, 'a', 2), { gate })) {
        await fetch(url)
        done()
      }
    }
    const ended = work()
    await simulation.advance(10_000)
    await ended
    expect(sent).toEqual([
      ['a/1', 0],
      ['a/moved', 1_000],
      ['a/2', 2_000],
    ])
  })

  test('yields the fields of the source, and gives redirectedFrom to the gate', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [page] = pages(simulation, 'a', 1) as [string]
    const redirectedFrom = [simulation.site.at('a.test', '/list')]
    const given = { url: new URL(page), depth: 3, priority: 2, redirectedFrom }
    const queue = siteQueue([given], { gate: simulation.gate })
    const { value } = await queue.next()
    expect(value).toMatchObject({ url: page, depth: 3, priority: 2, redirectedFrom, refused: undefined })
    expect(value?.depth.toFixed()).toBe('3') // its type is known
    expect((await simulation.gate.enter(page)).url).toBe(page)
    expect(given.url).toBeInstanceOf(URL)
  })
})

describe('refusals', () => {
  test('yields what robots.txt disallows, and invalid URLs, with the error', async () => {
    const simulation = await simulate({ 'a.test': 'Disallow: /cart' })
    const { site } = simulation
    const source = [site.at('a.test', '/cart'), 'no url', 'mailto:me@example.com', site.at('a.test', '/1')]
    const { sent, refused, ended } = crawl(simulation, source)
    await simulation.advance(5_000)
    await ended
    expect(sent).toEqual([['a/1', 0]])
    expect(refused.map(([, code]) => code)).toEqual(Array(3).fill('ERR_POLITELY_DISALLOWED'))
    expect(refused.map(([name]) => name)).toContain('no url')
  })

  test('yields what the budget refuses', async () => {
    const simulation = await simulate({ 'a.test': '' }, { budget: 2 })
    const { sent, refused, ended } = crawl(simulation, pages(simulation, 'a', 4))
    await simulation.advance(10_000)
    await ended
    expect(sent.map(([name]) => name)).toEqual(['a/1', 'a/2'])
    expect(refused).toEqual([
      ['a/3', 'ERR_POLITELY_BUDGET'],
      ['a/4', 'ERR_POLITELY_BUDGET'],
    ])
  })

  test('yields the URLs of an open circuit with the time of the next attempt', async () => {
    const simulation = await simulate(
      { 'a.test': '', 'b.test': '' },
      { circuit: { failures: 1, coolMs: 10_000, outcomes: ['denied'] }, minDelayMs: 0 },
    )
    const { gate, start, advance } = simulation
    const seen: [name: string, at: number, retryAt: number | undefined][] = []
    const work = async () => {
      for await (const { url, refused } of siteQueue([...pages(simulation, 'a', 4), ...pages(simulation, 'b', 2)], {
        gate,
      })) {
        seen.push([nameOf(url), Date.now() - start, refused?.retryAt && refused.retryAt - start])
        if (!refused) (await gate.enter(url)).release({ status: url.includes('a.test') ? 403 : 200, headers: {} })
      }
    }
    const ended = work()
    await advance(60_000)
    await ended
    expect(seen.map(([name]) => name)).toEqual(['a/1', 'b/1', 'b/2', 'a/2', 'a/3', 'a/4'])
    expect(seen.slice(3)).toEqual([
      ['a/2', 10_000, undefined],
      ['a/3', 11_000, 30_000],
      ['a/4', 11_000, 30_000],
    ])
  })

  test('a refused URL does not count towards concurrency', async () => {
    const simulation = await simulate({ 'a.test': 'Disallow: /' })
    const queue = siteQueue(pages(simulation, 'a', 3), { gate: simulation.gate, concurrency: 1 })
    const names: string[] = []
    for await (const { url, refused } of queue) if (refused) names.push(nameOf(url))
    expect(names).toEqual(['a/1', 'a/2', 'a/3'])
  })
})

describe('the source', () => {
  test('is not read before the first call of next', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const source = counted(pages(simulation, 'a', 3))
    siteQueue(source, { gate: simulation.gate })
    await simulation.advance(1_000)
    expect(source.counts.read).toBe(0)
  })

  test('is read no further than maxHeld beyond the yielded URLs', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '', 'c.test': '' })
    const source = counted(Array.from({ length: 60 }, (_, n) => simulation.site.at(`${'abc'[n % 3]}.test`, `/${n}`)))
    const queue = siteQueue(source, { gate: simulation.gate, maxHeld: 5 })
    for (let yielded = 1; yielded <= 20; yielded++) {
      const next = queue.next()
      await simulation.advance(1_000)
      ;(await next).value?.done()
      await simulation.advance(0)
      expect(source.counts.read).toBe(yielded + 5)
    }
    await queue.return?.()
  })

  test('an error is thrown after all held URLs, to every consumer', async () => {
    const simulation = await simulate({ 'a.test': '' })
    async function* source() {
      yield* pages(simulation, 'a', 3)
      throw new Error('the disk is full')
    }
    const { request, sent } = requestsOf(simulation)
    const queue = siteQueue(source(), { gate: simulation.gate })
    const work = async () => {
      for await (const { url } of queue) await request(url)
    }
    const ended = Promise.allSettled([work(), work()])
    await simulation.advance(10_000)
    const error = new Error('the disk is full')
    expect(await ended).toEqual(Array(2).fill({ status: 'rejected', reason: error }))
    expect(sent).toHaveLength(3)
    await expect(queue.next()).rejects.toEqual(error)
  })

  test('an item that is not a URL is an error, and the source is closed', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const source = counted([...pages(simulation, 'a', 1), 12 as never, ...pages(simulation, 'a', 1, 2)])
    const { ended, sent } = crawl(simulation, source)
    const failed = expect(ended).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'url' })
    await simulation.advance(5_000)
    await failed
    expect(sent).toHaveLength(1)
    expect(source.counts).toEqual({ read: 2, closed: 1 })
  })

  test.each([
    ['priority', { url: 'https://a.test/', priority: 'high' }],
    ['redirectedFrom[0]', { url: 'https://a.test/', redirectedFrom: ['/list'] }],
    ['url', { loc: 'https://a.test/' }],
  ])('an invalid %s is an error', async (option, item) => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue([item as never], { gate: simulation.gate })
    await expect(queue.next()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
  })

  test('break closes it, aborts what waits, and gives back unused slots', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' })
    const source = counted([...pages(simulation, 'a', 10), ...pages(simulation, 'b', 10)])
    const { gate } = simulation
    for await (const _ of siteQueue(source, { gate, maxHeld: 5 })) break
    expect(source.counts).toMatchObject({ closed: 1 })
    await gate.drain()
    expect(gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('break ends the queue for the other consumers', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue(pages(simulation, 'a', 10), { gate: simulation.gate })
    const seen: string[] = []
    const other = (async () => {
      for await (const { url } of queue) seen.push(url)
    })()
    const breaking = (async () => {
      for await (const _ of queue) break
    })()
    await simulation.advance(1_000)
    await Promise.all([other, breaking])
    expect(seen.length).toBeLessThan(2)
    expect(await queue.next()).toEqual({ done: true, value: undefined })
  })

  test('abort rejects next with the reason, also while the source hangs', async () => {
    const simulation = await simulate({ 'a.test': '' })
    let isClosed = false
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: async () => {
          isClosed = true
          return { done: true as const, value: undefined }
        },
      }),
    }
    const controller = new AbortController()
    const queue = siteQueue(source, { gate: simulation.gate, signal: controller.signal })
    const pending = [queue.next(), queue.next()]
    const failed = Promise.all(pending.map((next) => expect(next).rejects.toBe('enough')))
    controller.abort('enough')
    await failed
    await expect(queue.next()).rejects.toBe('enough')
    expect(isClosed).toBe(true)
  })

  test('an aborted signal lets nothing start', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const source = counted(pages(simulation, 'a', 1))
    const queue = siteQueue(source, { gate: simulation.gate, signal: AbortSignal.abort('no') })
    await expect(queue.next()).rejects.toBe('no')
    expect(source.counts.read).toBe(0)
    expect(simulation.gate.counters.started).toBe(0)
  })

  test('a closed gate ends the queue with its error', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const source = counted(pages(simulation, 'a', 100))
    const { sent, ended } = crawl(simulation, source, { maxHeld: 10, spill: spillOf() })
    const failed = expect(ended).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    await simulation.advance(1_500)
    simulation.gate.close()
    await simulation.advance(1_500)
    await failed
    expect(sent).toHaveLength(2)
    expect(source.counts.closed).toBe(1)
  })

  test('an empty source ends at once', async () => {
    const simulation = await simulate({ 'a.test': '' })
    for await (const _ of siteQueue([], { gate: simulation.gate })) expect.unreachable()
  })
})

describe('a forgotten done', () => {
  async function start(options: Partial<SiteQueueOptions> = {}, hosts: readonly string[] = ['a', 'b', 'c']) {
    const logged: string[] = []
    const warn = (line: string) => void (line.startsWith('siteQueue') && logged.push(line))
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const simulation = await simulate(Object.fromEntries(hosts.map((host) => [`${host}.test`, ''])), {
      logger: { warn },
    })
    const urls = hosts.map((host) => simulation.site.at(`${host}.test`, '/1'))
    const queue = siteQueue(urls, { gate: simulation.gate, concurrency: 1, ...options })
    const { request } = requestsOf(simulation, 100)
    const warnings = () => {
      expect(emitted.mock.calls.map(([text]) => text)).toEqual(logged)
      return emitted.mock.calls
    }
    return { ...simulation, queue, request, urls, warnings }
  }

  test('after a request: a warning names the URL, once, and done() lets the queue go on', async () => {
    const { queue, request, urls, gate, advance, warnings } = await start()
    const dones: (() => void)[] = []
    const loop = (async () => {
      for await (const { url, done } of queue) {
        dones.push(done)
        void request(url)
      }
    })()
    await advance(30_099)
    expect(warnings()).toEqual([])
    expect(gate.gauges).toMatchObject({ underWay: 0, yielded: 1 })
    await advance(1)
    const text = `siteQueue has yielded nothing for 30 s: its only place (concurrency) is taken, and no request for ${urls[0]} is under way; unless your own work on it takes so long, call done() when it ends, also after an error, or write using item = …`
    expect(warnings()).toEqual([[text, { type: 'PolitelyWarning', code: 'POLITELY_SITE_QUEUE_DONE' }]])
    dones[0]?.()
    await advance(100_000)
    dones[1]?.()
    await advance(1_000)
    dones[2]?.()
    await loop
    expect(warnings()).toHaveLength(1)
    expect(gate.gauges).toMatchObject({ yielded: 0 })
  })

  test('without a request, with several places', async () => {
    const { queue, advance, warnings } = await start({ concurrency: 2 })
    const loop = (async () => {
      for await (const _ of queue);
    })()
    await advance(30_000)
    expect(warnings()).toEqual([
      [expect.stringContaining('all of its 2 places (concurrency) are taken'), expect.anything()],
    ])
    await queue.return?.()
    await loop
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each<[string, (gate: PoliteGate, url: string) => Promise<() => void>]>([
    [
      'a request that takes minutes',
      async (gate, url) => {
        const permit = await gate.enter(url)
        return () => permit.release()
      },
    ],
    [
      'the target of a redirect that takes minutes',
      async (gate, url) => {
        ;(await gate.enter(url)).release()
        const permit = await gate.enter(url.replace('a.test', 'b.test'), { redirectedFrom: [url] })
        return () => permit.release()
      },
    ],
    [
      'a retry that waits for minutes',
      async (gate, url) => {
        ;(await gate.enter(url)).release({ status: 429, headers: { 'retry-after': '300' } })
        void gate.enter(url).then((permit) => permit.release())
        return () => undefined
      },
    ],
  ])('%s is none', async (_, send) => {
    const { queue, gate, advance, warnings } = await start()
    const { value } = await queue.next()
    const next = queue.next()
    const end = await send(gate, value?.url as string)
    await advance(200_000)
    expect(warnings()).toEqual([])
    end()
    await advance(20_000)
    value?.done()
    await advance(2_000)
    expect(await next).toMatchObject({ done: false })
    expect(warnings()).toEqual([])
    await queue.return?.()
  })

  test.each(['undici', 'node:http'])('a page that %s downloads for minutes is none, until it ends', async (client) => {
    const { queue, gate, site, advance, warnings } = await start()
    const released = Promise.withResolvers<void>()
    site.pages.set('/1', async (_, response) => {
      response.write('slow ')
      await released.promise
      response.end('page')
    })
    const agent = new Agent({ connect: { lookup } })
    onTestFinished(() => agent.destroy())
    const viaHttp = async (url: string) => {
      const [response] = await once(get(url, { lookup }), 'response')
      return new Response(Readable.toWeb(response) as ReadableStream, { status: 200 })
    }
    const politeFetch =
      client === 'undici'
        ? politely((url: string, init?: object) => undiciFetch(url, { ...init, dispatcher: agent }), { gate })
        : politely(viaHttp, { gate })
    const { value } = await queue.next()
    const next = queue.next()
    const response = await politeFetch(value?.url as string)
    await advance(200_000)
    expect(warnings()).toEqual([])
    released.resolve()
    expect(await response.text()).toBe('slow page')
    await advance(70_000)
    expect(warnings()).toHaveLength(1)
    value?.done()
    await advance(2_000)
    expect(await next).toMatchObject({ done: false })
    await queue.return?.()
  })

  test('a loop that does something else meanwhile is none', async () => {
    const { queue, advance, warnings } = await start()
    await queue.next()
    await advance(200_000)
    expect(warnings()).toEqual([])
    await queue.return?.()
  })
})

describe('a second loop', () => {
  test.each(['break', 'the end'])('throws after %s', async (how) => {
    const { gate, site } = await simulate({ 'a.test': '' })
    const queue = siteQueue([site.at('a.test', '/1')], { gate })
    for await (const { done } of queue) {
      if (how === 'break') break
      done()
    }
    const again = async () => {
      for await (const _ of queue) expect.unreachable()
    }
    await expect(again()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'queue' })
  })

  test('await using ends the queue, and closes its source', async () => {
    const hosts = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const simulation = await simulate(Object.fromEntries(hosts.map((host) => [`${host}.test`, ''])))
    const source = counted(hosts.flatMap((host) => pages(simulation, host, 1)))
    {
      await using queue = siteQueue(source, { gate: simulation.gate, maxHeld: 3 })
      await queue.next()
    }
    expect(source.counts.read).toBeLessThan(7)
    expect(source.counts.closed).toBe(1)
    expect(simulation.gate.gauges).toMatchObject({ underWay: 0, yielded: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('spill', () => {
  test('without it a full queue of one site stalls, and says so once', async () => {
    const warn = vi.fn()
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { logger: { warn } })
    const source = [...pages(simulation, 'a', 12), ...pages(simulation, 'b', 1)]
    const { sent, ended } = crawl(simulation, source, { maxHeld: 4, consumers: 3 })
    await simulation.advance(20_000)
    await ended
    expect(sent.findIndex(([name]) => name === 'b/1')).toBeGreaterThan(7) // b had to wait
    expect(warn).toHaveBeenCalledOnce()
    expect(warn.mock.lastCall?.[0]).toMatch(/^siteQueue waits for http:\/\/a\.test:\d+: .* write the option spill/)
    expect(emitted).toHaveBeenCalledOnce()
    expect(emitted.mock.lastCall?.[1]).toEqual({ type: 'PolitelyWarning', code: 'POLITELY_SITE_QUEUE' })
  })

  test('says nothing while other sites can go on, or when the source has ended', async () => {
    const warn = vi.fn()
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { logger: { warn } })
    const { ended } = crawl(simulation, pages(simulation, 'a', 4), { maxHeld: 5 })
    await simulation.advance(20_000)
    await ended
    expect(warn).not.toHaveBeenCalled()
  })

  test('other sites start although all URLs of one site come first, and each site keeps its order', async () => {
    const warn = vi.fn()
    const simulation = await simulate({ 'a.test': '', 'b.test': '' }, { logger: { warn } })
    const spill = spillOf()
    const source = counted([...pages(simulation, 'a', 60), ...pages(simulation, 'b', 3)])
    const { sent, ended } = crawl(simulation, source, { maxHeld: 10, spill })
    await simulation.advance(70_000)
    await ended
    expect(sent.slice(0, 6).map(([name]) => name)).toEqual(['a/1', 'b/1', 'a/2', 'b/2', 'a/3', 'b/3'])
    expect(sent.filter(([name]) => name.startsWith('a/')).map(([name]) => name)).toEqual(
      Array.from({ length: 60 }, (_, n) => `a/${n + 1}`),
    )
    expect(sent.at(-1)?.[1]).toBe(59_000)
    expect(spill.calls.most).toBeGreaterThan(40)
    expect([...spill.lists.values()].flat()).toEqual([])
    expect(warn).not.toHaveBeenCalled()
  })

  test('a URL of a higher priority does not wait for spilled ones', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [urgent] = pages(simulation, 'a', 1, 99) as [string]
    const source = [...pages(simulation, 'a', 30), { url: urgent, priority: 1, note: 'urgent' }]
    const { sent, ended } = crawl(simulation, source, { maxHeld: 5, spill: spillOf() })
    await simulation.advance(60_000)
    await ended
    expect(sent.findIndex(([name]) => name === 'a/99')).toBeLessThan(3)
    expect(sent).toHaveLength(31)
  })

  test('gets objects with the url as a string, and the fields of the source', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const spill = spillOf<Queued<{ url: URL; depth: number }>>()
    const source = pages(simulation, 'a', 30).map((url, depth) => ({ url: new URL(url), depth }))
    const queue = siteQueue(source, { gate: simulation.gate, maxHeld: 5, spill })
    void queue.next()
    await simulation.advance(100)
    const [items = []] = spill.lists.values()
    expect(items[0]).toEqual({ url: expect.stringMatching(/^http:/), depth: expect.any(Number) })
    await queue.return?.()
  })

  test.each([
    ['add', 1],
    ['add', 2],
    ['take', 1],
    ['take', 2],
  ] as const)('an error of %s, in call %i, is thrown after all URLs in memory', async (method, call) => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' })
    const memory = spillOf()
    let calls = 0
    const failing = (...args: unknown[]) => {
      if (++calls === call) throw new Error('no space left')
      return (memory[method] as (...given: unknown[]) => unknown)(...args)
    }
    const spill: typeof memory = { ...memory, [method]: failing }
    const urls = [...pages(simulation, 'a', 40), ...pages(simulation, 'b', 3)]
    const source = counted(urls)
    const { sent, ended } = crawl(simulation, source, { maxHeld: 10, spill })
    const failed = expect(ended).rejects.toThrow('no space left')
    await simulation.advance(100_000)
    await failed
    const left = [...memory.lists.values()].flat().map(({ url }) => nameOf(url))
    const seen = sent.map(([name]) => name)
    expect(new Set(seen).size).toBe(seen.length)
    expect([...seen, ...left].sort()).toEqual(urls.slice(0, source.counts.read).map(nameOf).sort())
  })

  test('a spill that has lost its URLs does not hold up the queue', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const spill = {
      add: () => undefined,
      take: () => [],
      origins: async () => [simulation.site.at('a.test').slice(0, -1)],
    }
    const { sent, ended } = crawl(simulation, pages(simulation, 'a', 40), { maxHeld: 10, spill })
    await simulation.advance(100_000)
    await ended
    expect(sent.length).toBeGreaterThan(0)
  })

  test('URLs that an earlier queue has left are yielded, before those of the source', async () => {
    const simulation = await simulate({ 'a.test': '', 'b.test': '' })
    const spill = spillOf()
    const earlier = [...pages(simulation, 'a', 60), ...pages(simulation, 'b', 20)]
    const first = siteQueue(earlier, { gate: simulation.gate, maxHeld: 10, spill })
    void first.next()
    await simulation.advance(100)
    const left = [...spill.lists.values()].flat().map(({ url }) => nameOf(url)) // as if the process were killed now
    expect(left.length).toBeGreaterThan(60)
    await first.return?.()
    const { sent, ended } = crawl(simulation, pages(simulation, 'a', 20, 101), { maxHeld: 10, spill })
    await simulation.advance(200_000)
    await ended
    const names = sent.map(([name]) => name)
    expect(names.slice(0, left.length).sort()).toEqual(left.sort())
    expect(names.slice(left.length)).toEqual(pages(simulation, 'a', 20, 101).map(nameOf))
    expect([...spill.lists.values()].flat()).toEqual([])
  })

  test('URLs that an earlier queue has left count as seen', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const [one = '', two = ''] = pages(simulation, 'a', 2)
    const spill = spillOf()
    await spill.add([{ url: one }])
    const queue = siteQueue({ gate: simulation.gate, spill })
    const yielded: string[] = []
    const ended = (async () => {
      for await (using item of queue) {
        yielded.push(nameOf(item.url))
        queue.add([{ url: one }, { url: two }])
      }
    })()
    await simulation.advance(10_000)
    await ended
    expect(yielded).toEqual(['a/1', 'a/2'])
  })

  test('without origins, the first spilled URLs lead to one warning', async () => {
    const warn = vi.fn()
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const simulation = await simulate({ 'a.test': '' }, { logger: { warn } })
    const { add, take } = spillOf()
    for (const urls of [9, 40, 40]) {
      const { ended } = crawl(simulation, pages(simulation, 'a', urls), { maxHeld: 10, spill: { add, take } })
      await simulation.advance(100_000)
      await ended
      expect(warn).toHaveBeenCalledTimes(urls === 9 ? 0 : 1)
    }
    expect(warn.mock.lastCall?.[0]).toContain('write origins')
    expect(emitted).toHaveBeenCalledOnce()
    expect(emitted.mock.lastCall?.[1]).toEqual({ type: 'PolitelyWarning', code: 'POLITELY_SITE_QUEUE_SPILL' })
  })

  test.each<[string, () => never]>([
    [
      'no space left',
      () => {
        throw new Error('no space left')
      },
    ],
    ['expected origins', () => [{ origin: 'https://a.test' }] as never],
  ])('an error of origins is thrown: %s', async (message, origins) => {
    const simulation = await simulate({ 'a.test': '' })
    const source = counted(pages(simulation, 'a', 3))
    const { ended } = crawl(simulation, source, { spill: { ...spillOf(), origins } })
    await expect(ended).rejects.toThrow(message)
    expect(source.counts.read).toBe(0)
  })
})

describe('random crawls', () => {
  const seeds = Array.from({ length: sampled(100) }, (_, n) => n + 1)
  test.each(seeds)('yield each URL once, in the order of its site, and leave nothing behind: seed %i', async (seed) => {
    const below = seededIntegers(seed)
    const hosts = Array.from({ length: 1 + below(8) }, (_, n) => `h${n}`)
    const simulation = await simulate(
      Object.fromEntries(hosts.map((host) => [`${host}.test`, below(2) ? `Crawl-delay: ${1 + below(3)}` : ''])),
      { minDelayMs: below(2) * 500, maxConcurrentPerKey: 1 + below(3), maxConcurrent: 2 + below(10), logger: {} },
    )
    const pause = () => (below(3) === 0 ? undefined : new Promise<void>((resolve) => setTimeout(resolve, below(300))))
    const spill = spillOf()
    const slowSpill = {
      add: async (items: Parameters<typeof spill.add>[0]) => {
        await pause()
        await spill.add(items)
        await pause()
      },
      take: async (origin: string, count: number) => {
        await pause()
        const taken = await spill.take(origin, below(3) === 0 ? 1 : count) // it may return fewer
        await pause()
        return taken
      },
      async *origins() {
        await pause()
        yield* spill.origins()
      },
    }
    const sources = [() => 0, () => below(hosts.length)]
    const hostOf = sources[below(2)] as () => number
    const urls = Array.from({ length: 1 + below(150) }, (_, n) =>
      simulation.site.at(`${hosts[n < 60 ? hostOf() : below(hosts.length)]}.test`, `/${n}`),
    )
    const hasSpill = below(3) > 0
    const earlier = hasSpill ? below(2) * below(urls.length) : 0
    await spill.add(urls.slice(0, earlier).map((url) => ({ url })))
    async function* source() {
      for (const url of urls.slice(earlier)) {
        if (below(20) === 0) await pause()
        yield url
      }
    }
    const { yielded, ended } = crawl(simulation, source(), {
      consumers: 1 + below(6),
      tookMs: below(1_500),
      maxHeld: 1 + below(40),
      ...(hasSpill && { spill: slowSpill }),
      ...(below(2) > 0 && { concurrency: 1 + below(5) }),
    })
    await simulation.advance(1_000_000)
    await ended
    expect(yielded).toHaveLength(urls.length)
    for (const host of hosts) {
      const isOfHost = (url: string) => url.includes(`/${host}.`)
      expect(yielded.filter(isOfHost)).toEqual(urls.filter(isOfHost))
    }
    expect([...spill.lists.values()].flat()).toEqual([])
    expect(simulation.gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
    expect(simulation.gate.counters).toMatchObject({ started: urls.length, done: urls.length, abandoned: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('options', () => {
  test.each([
    ['source', 'https://example.com/', {}],
    ['gate', [], { gate: undefined }],
    ['gate', [], { gate: {} }],
    ['concurrency', [], { concurrency: 0 }],
    ['concurrency', [], { concurrency: 1.5 }],
    ['maxHeld', [], { maxHeld: 0 }],
    ['maxHeld', [], { maxHeld: Number.POSITIVE_INFINITY }],
    ['spill', [], { spill: { add: () => undefined } }],
    ['spill', [], { spill: { ...spillOf(), origins: [] } }],
    ['signal', [], { signal: new AbortController() }],
    ['maxHold', [], { maxHold: 5 }],
  ])('rejects an invalid %s: %j %j', async (option, source, options) => {
    const { gate } = await simulate({})
    expect(() => siteQueue(source, { gate, ...options } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
    )
  })

  test('names the gate of a fetch', async () => {
    const { gate } = await simulate({})
    const fetch = politely(globalThis.fetch, { gate })
    expect(() => siteQueue([], { gate: fetch as never })).toThrow(/write fetch\.gate/)
  })
})
