// `add` of `siteQueue`: a crawler that follows links.
import { RobotsClient } from '@politely/fetcher'
import { seededIntegers } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { type SiteQueue, type SiteQueueItem, siteQueue } from '../src/site-queue/index.ts'
import { type Simulation, simulate } from './simulation.ts'

afterEach(() => void vi.restoreAllMocks())

const pathOf = (url: string) => new URL(url).pathname

/** Requests a page, and adds its links. The item is done after them. */
function visitor({ gate, site }: Simulation, queue: SiteQueue, links: Readonly<Record<string, readonly string[]>>) {
  const visited: string[] = []
  const visit = async (item: SiteQueueItem) => {
    using _ = item
    const permit = await gate.enter(item.url)
    visited.push(pathOf(item.url))
    await new Promise((resolve) => setTimeout(resolve, 100))
    permit.release({ status: 200, headers: {} })
    await new Promise((resolve) => setTimeout(resolve, 500)) // reads the page
    queue.add((links[pathOf(item.url)] ?? []).map((path) => site.at('a.test', path)))
  }
  return { visited, visit }
}

const LINKS = { '/': ['/', '/1', '/2#top', '/2'], '/1': ['/', '/2#end', '/3'], '/3': ['/1', '/4'] }
const ALL = ['/', '/1', '/2', '/3', '/4']

describe('a crawl of links', () => {
  test('visits each page once, and ends for all consumers when nothing is left', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue([simulation.site.at('a.test', '/')], { gate: simulation.gate })
    const { visited, visit } = visitor(simulation, queue, LINKS)
    const work = async () => {
      for await (const item of queue) await visit(item)
    }
    const ended = Promise.all([work(), work(), work()])
    await simulation.advance(10_000)
    await ended
    expect(visited).toEqual(ALL)
    expect(simulation.gate.gauges).toMatchObject({ underWay: 0, yielded: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([undefined, 2])('works without awaiting the visits, with a concurrency of %s', async (concurrency) => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue([simulation.site.at('a.test', '/')], { gate: simulation.gate, concurrency })
    const { visited, visit } = visitor(simulation, queue, LINKS)
    const ended = (async () => {
      for await (const item of queue) void visit(item)
    })()
    await simulation.advance(10_000)
    await ended
    expect(visited).toEqual(ALL)
  })

  test.each(['before the loop', 'after the loop has begun'])('needs no source: add is called %s', async (when) => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue({ gate: simulation.gate })
    const { visited, visit } = visitor(simulation, queue, LINKS)
    const work = async () => {
      for await (const item of queue) await visit(item)
    }
    const home = simulation.site.at('a.test', '/')
    if (when === 'before the loop') expect(queue.add(home)).toBe(1)
    const ended = work()
    if (when !== 'before the loop') expect(queue.add(new URL(home) as never)).toBe(1)
    await simulation.advance(10_000)
    await ended
    expect(visited).toEqual(ALL)
  })

  test('without a URL it ends', async () => {
    const { gate } = await simulate({})
    for await (const _ of siteQueue({ gate })) expect.unreachable()
  })

  const seeds = Array.from({ length: sampled(40) }, (_, n) => n + 1)
  test.each(seeds)('random pages, consumers and spills: each page once, seed %i', async (seed) => {
    const below = seededIntegers(seed)
    const simulation = await simulate(
      { 'a.test': '' },
      { minDelayMs: below(2) * 300, maxConcurrentPerKey: 1 + below(4) },
    )
    const count = 2 + below(60)
    const links: Record<string, string[]> = {}
    for (let page = 0; page < count; page++) {
      const known = `/${below(page + 1)}` // a page before this one links to it, so that all are found
      links[known] = [...(links[known] ?? []), `/${page + 1}`, `/${below(count)}`]
    }
    const spilled: { readonly url: string }[] = []
    const spill = {
      add: async (items: readonly { readonly url: string }[]) => void spilled.push(...items),
      take: async (_: string, most: number) => spilled.splice(0, most),
      origins: () => [],
    }
    const queue = siteQueue([simulation.site.at('a.test', '/0')], {
      gate: simulation.gate,
      maxHeld: 1 + below(20),
      ...(below(2) > 0 && { spill }),
      ...(below(2) > 0 && { concurrency: 1 + below(4) }),
    })
    const { visited, visit } = visitor(simulation, queue, links)
    const isAwaited = below(2) > 0
    const work = async () => {
      for await (const item of queue) {
        const visiting = visit(item)
        if (isAwaited) await visiting
      }
    }
    const ended = Promise.all(Array.from({ length: 1 + below(4) }, work))
    await simulation.advance(200_000)
    await ended
    expect(visited.sort()).toEqual(Array.from({ length: count + 1 }, (_, n) => `/${n}`).sort())
    expect(spilled).toEqual([])
    expect(simulation.gate.counters).toMatchObject({ started: count + 1, done: count + 1 })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('what add takes', () => {
  /** A queue of a client that refuses private addresses, and what it yields. */
  async function collect(add: (queue: SiteQueue<never>) => void) {
    const robots = new RobotsClient({
      userAgent: 'ExampleBot/1.0',
      fetch: async () => new Response(null, { status: 404 }),
    })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    onTestFinished(async () => {
      gate.close()
      await robots.close()
    })
    const queue = siteQueue<never>({ gate })
    add(queue)
    const items: SiteQueueItem[] = []
    for await (using item of queue) items.push(item)
    return items
  }

  test('relative URLs are of the page, which a link to a private address cannot escape', async () => {
    const page = 'https://www.example.org/list/'
    const items = await collect((queue) => {
      const links = ['1', '/2#top', { url: '../2', depth: 3 }, 'http://127.0.0.1/', new URL('https://example.com/')]
      expect(queue.add(links as never[], { redirectedFrom: [page] })).toBe(4)
    })
    expect(items.map(({ url }) => url).sort()).toEqual([
      'http://127.0.0.1/',
      'https://example.com/',
      'https://www.example.org/2#top',
      'https://www.example.org/list/1',
    ])
    for (const { url, refused, redirectedFrom } of items) {
      expect(redirectedFrom).toEqual([page])
      expect(refused?.verdict.access?.reason).toBe(url === 'http://127.0.0.1/' ? 'blocked-address' : undefined)
    }
  })

  test('any text, whatever literal the source was', async () => {
    const { gate } = await simulate({})
    const queue = siteQueue(['mailto:1', new URL('https://a.test/1')], { gate })
    expect(queue.add('mailto:2')).toBe(1)
    expect(queue.add(['mailto:2', 'mailto:3', new URL('https://a.test/2')])).toBe(2)
  })

  test('invalid links of a page are yielded with the refusal, once', async () => {
    const items = await collect((queue) => {
      expect(queue.add(['mailto:me@example.com', 'javascript:go()', 'https://[::', '/1'] as never[])).toBe(4)
      expect(queue.add('mailto:me@example.com' as never)).toBe(0)
    })
    expect(items.map(({ refused }) => refused?.verdict.because)).toEqual(Array(4).fill('invalid-url'))
  })

  test.each([
    ['urls', 12, undefined],
    ['urls', Promise.resolve(['https://a.test/']), undefined],
    ['urls', (async function* () {})(), undefined],
    ['url', [undefined], undefined],
    ['redirectedFrom', [], { redirectedFrom: 'https://a.test/' }],
    ['from', [], { from: 'https://a.test/' }],
  ])('an invalid %s is an error: %j %j', async (option, urls, options) => {
    const { gate } = await simulate({})
    expect(() => siteQueue({ gate }).add(urls as never, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
    )
  })
})

describe('the set of seen URLs', () => {
  test('is exact up to maxSeen: one more is an error that says what to write', async () => {
    const { gate } = await simulate({})
    const queue = siteQueue({ gate, maxSeen: 2 })
    expect(queue.add(['https://a.test/1', 'https://a.test/2'])).toBe(2)
    expect(queue.add('https://a.test/1')).toBe(0)
    expect(() => queue.add('https://a.test/3')).toThrow(
      expect.objectContaining({
        code: 'ERR_POLITELY_OPTION',
        option: 'maxSeen',
        message: expect.stringContaining('pass a set of your own as seen'),
      }),
    )
  })

  test('is begun by add, which does not read the source', async () => {
    const simulation = await simulate({ 'a.test': '' })
    let read = 0
    function* source() {
      read++
      yield simulation.site.at('a.test', '/1')
    }
    const queue = siteQueue(source(), { gate: simulation.gate })
    queue.add(simulation.site.at('a.test', '/2'))
    await simulation.advance(1_000)
    expect(read).toBe(0)
    expect((await queue.next()).value?.url).toMatch(/2$/)
    expect(read).toBe(1)
    await queue.return?.()
  })

  test('may be your own, without a limit', async () => {
    const { gate } = await simulate({})
    const seen = new Set(['https://a.test/1'])
    const queue = siteQueue({ gate, seen })
    expect(queue.add(['https://a.test/1#part', 'HTTPS://A.test:443/2'])).toBe(1)
    expect([...seen]).toEqual(['https://a.test/1', 'https://a.test/2'])
    const remote = { has: async () => false, add: () => undefined }
    expect(() => siteQueue({ gate, seen: remote as never }).add('https://a.test/')).toThrow(/seen: .* promise/)
  })

  test('has the URLs of the source: those that are read later are yielded once too', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue() // it holds one URL, and says that others wait
    const simulation = await simulate({ 'a.test': '' })
    const urls = ['/', '/1', '/2'].map((path) => simulation.site.at('a.test', path))
    const queue = siteQueue(urls, { gate: simulation.gate, maxHeld: 1 })
    const { visited, visit } = visitor(simulation, queue, { '/': ['/', '/2', '/3'] })
    const ended = (async () => {
      for await (const item of queue) await visit(item)
    })()
    await simulation.advance(10_000)
    await ended
    expect(visited.sort()).toEqual(['/', '/1', '/2', '/3'])
  })

  test('that would lack URLs of a long source is an error, unless the options say that it is needed', async () => {
    const { gate } = await simulate({})
    const source = Array.from({ length: 20_000 }, (_, n) => `mailto:${n}`)
    for (const options of [{}, { maxSeen: 100_000 }]) {
      await using queue = siteQueue(source, { gate, maxHeld: 30_000, ...options })
      void queue.next()
      for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve)) // it is read
      const add = () => queue.add('mailto:7')
      if ('maxSeen' in options) expect(add()).toBe(0)
      else expect(add).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'maxSeen' }))
    }
  })
})

describe('the end', () => {
  test('waits for a URL that is not done, and says so', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const { gate, site, advance } = await simulate({ 'a.test': '' })
    const url = site.at('a.test', '/')
    const queue = siteQueue({ gate })
    queue.add(url)
    const items: SiteQueueItem[] = []
    const ended = (async () => {
      for await (const item of queue) {
        items.push(item)
        ;(await gate.enter(item.url)).release()
      }
    })()
    await advance(30_000)
    const text = `siteQueue has yielded nothing for 30 s: its last URL is not done, and no request for ${url} is under way; unless your own work on it takes so long, call done() when it ends, also after an error, or write using item = …`
    expect(emitted.mock.calls).toEqual([[text, { type: 'PolitelyWarning', code: 'POLITELY_SITE_QUEUE_DONE' }]])
    items[0]?.done()
    await ended
  })

  test('a loop in whose body the last URL is, however long, is no mistake', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const { gate, site, advance } = await simulate({ 'a.test': '' })
    const queue = siteQueue({ gate })
    queue.add(site.at('a.test', '/'))
    const work = async () => {
      for await (using item of queue) {
        ;(await gate.enter(item.url)).release()
        await new Promise((resolve) => setTimeout(resolve, 300_000))
      }
    }
    const ended = Promise.all([work(), work()])
    await advance(300_000)
    await ended
    expect(emitted).not.toHaveBeenCalled()
  })

  test.each(['for await', 'next'])('comes without done and add, if the request is awaited: %s', async (how) => {
    const { gate, site } = await simulate({ 'a.test': '' }, { minDelayMs: 0 })
    const queue = siteQueue([site.at('a.test', '/1'), site.at('a.test', '/2')], { gate })
    const request = async (url: string) => (await gate.enter(url)).release()
    if (how === 'for await') for await (const { url } of queue) await request(url)
    else for (let next = await queue.next(); !next.done; next = await queue.next()) await request(next.value.url)
    expect(gate.gauges).toMatchObject({ underWay: 0, yielded: 0 })
  })

  test.each(['not awaited', 'not made', 'of a reader without a loop'])(
    'does not wait for a request that is %s, if nothing calls done or add',
    async (how) => {
      const { gate, site } = await simulate({ 'a.test': '', 'b.test': '' }, { minDelayMs: 0 })
      const queue = siteQueue([site.at('a.test', '/1'), site.at('b.test', '/2')], { gate })
      const urls: string[] = []
      const start = (url: string) => {
        urls.push(url)
        if (how !== 'not made') void gate.enter(url)
      }
      if (how !== 'of a reader without a loop') for await (const { url } of queue) start(url)
      else for (let next = await queue.next(); !next.done; next = await queue.next()) start(next.value.url)
      expect(urls).toHaveLength(2)
    },
  )

  test('a done of a limited queue that comes late may follow the first add', async () => {
    const simulation = await simulate({ 'a.test': '' })
    const queue = siteQueue([simulation.site.at('a.test', '/')], { gate: simulation.gate, concurrency: 2 })
    const visited: string[] = []
    const visit = async (item: SiteQueueItem) => {
      visited.push(pathOf(item.url))
      ;(await simulation.gate.enter(item.url)).release()
      await new Promise((resolve) => setTimeout(resolve, 500))
      queue.add([simulation.site.at('a.test', '/1')])
      item.done()
    }
    const ended = (async () => {
      for await (const item of queue) void visit(item)
    })()
    await simulation.advance(10_000)
    await ended
    expect(visited).toEqual(['/', '/1'])
  })

  test('comes with a warning if a queue without add waits for a forgotten done', async () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const { gate, site, advance } = await simulate({ 'a.test': '' })
    for (const _ of [1, 2]) {
      const queue = siteQueue([site.at('a.test', '/')], { gate, concurrency: 2 })
      const ended = (async () => {
        for await (const item of queue) void item.url
      })()
      await advance(60_000)
      await ended
      expect(() => queue.add('https://a.test/')).toThrow(/write \{ maxSeen: 1000000 \}/)
    }
    expect(emitted.mock.calls).toEqual([
      [expect.any(String), expect.objectContaining({ code: 'POLITELY_SITE_QUEUE_DONE' })],
    ])
  })

  test('add throws after it, and does nothing after a break', async () => {
    const { gate, site } = await simulate({ 'a.test': '' }, { minDelayMs: 0 })
    const url = site.at('a.test', '/')
    const queue = siteQueue([url], { gate })
    for await (using _ of queue);
    expect(() => queue.add(url)).toThrow(/^queue: has ended .* call add before done\(\)/)
    const left = siteQueue([url], { gate })
    for await (using _ of left) break
    expect(left.add('https://a.test/')).toBe(0)
  })
})
