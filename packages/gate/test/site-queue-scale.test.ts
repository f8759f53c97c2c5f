// `siteQueue` with many URLs in the worst order, site after site, compared with an oracle that knows
// all URLs at the start. `SITE_QUEUE_URLS=1000000 npm run test:all -- FILE`
// prints the figures for a million URLs.
import { RobotsClient } from '@politely/fetcher'
import { isFullRun } from '@politely/testkit/scope'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'

const URLS = Number(process.env.SITE_QUEUE_URLS ?? (isFullRun ? 100_000 : 5_000))
const URLS_OF_A_SITE = 50
const SITES = URLS / URLS_OF_A_SITE
const MAX_HELD = Math.max(500, URLS / 100)
const CONSUMERS = 64
const TOOK_MS = 500
const DELAY_MS = 1_000

/** Keeps how many URLs of each site it has, and the number of its first URL. */
class CountingSpill {
  readonly #sites = new Map<string, { first: number; count: number }>()
  size = 0
  calls = 0

  add(items: readonly { readonly url: string }[]): void {
    this.calls++
    for (const { url } of items) {
      const { origin, pathname } = new URL(url)
      const number = Number(pathname.slice(1))
      const site = this.#sites.get(origin) ?? { first: number, count: 0 }
      expect(number).toBe(site.first + site.count) // they come in the order of the source
      site.count++
      this.#sites.set(origin, site)
      this.size++
    }
  }

  origins(): string[] {
    return []
  }

  async take(origin: string, count: number): Promise<string[]> {
    this.calls++
    const site = this.#sites.get(origin) ?? { first: 0, count: 0 }
    const taken = Math.min(count, site.count)
    const urls = Array.from({ length: taken }, (_, n) => `${origin}/${site.first + n}`)
    site.first += taken
    site.count -= taken
    this.size -= taken
    if (site.count === 0) this.#sites.delete(origin)
    return urls
  }
}

test('holds no more than maxHeld URLs, and takes little longer than an oracle', { timeout: 1_800_000 }, async () => {
  const robots = new RobotsClient({
    userAgent: 'ExampleBot/1.0',
    fetch: async () => new Response(null, { status: 404 }),
    network: 'any',
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 0, 1) })
  onTestFinished(async () => {
    vi.useRealTimers()
    await robots.close()
  })
  const gate = new PoliteGate({ robots, now: () => Date.now(), minDelayMs: DELAY_MS })
  const spill = new CountingSpill()
  let read = 0
  let yielded = 0
  let mostHeld = 0
  const memory: number[] = []
  function* source() {
    for (; read < URLS; ) {
      mostHeld = Math.max(mostHeld, read - yielded - spill.size)
      yield `https://site${Math.floor(read / URLS_OF_A_SITE)}.example/${read++ % URLS_OF_A_SITE}`
    }
  }
  const start = Date.now()
  const queue = siteQueue(source(), { gate, maxHeld: MAX_HELD, spill })
  const work = async () => {
    for await (const { url, done } of queue) {
      if (++yielded % (URLS / 10) === 0) memory.push(Math.round(process.memoryUsage().heapUsed / 1e6))
      const permit = await gate.enter(url)
      await new Promise((resolve) => setTimeout(resolve, TOOK_MS))
      permit.release({ status: 200, headers: {} })
      done()
    }
  }
  let isOver = false
  const ended = Promise.all(Array.from({ length: CONSUMERS }, work)).then(() => {
    isOver = true
  })
  const began = performance.now()
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve)) // robots.txt comes without a timer
  }
  await ended
  const seconds = (Date.now() - start) / 1_000
  const oracle = Math.max((URLS * TOOK_MS) / CONSUMERS, (URLS_OF_A_SITE - 1) * DELAY_MS + TOOK_MS) / 1_000
  if (process.env.SITE_QUEUE_URLS !== undefined)
    process.stderr.write(
      `${URLS} URLs of ${SITES} sites, maxHeld ${MAX_HELD}: ${seconds} s, at best ${oracle} s (${((100 * oracle) / seconds).toFixed(2)} %); most held ${mostHeld}; heap ${memory.join(', ')} MB; calls of the spill ${spill.calls}; took ${Math.round((performance.now() - began) / 1_000)} s\n`,
    )
  expect(yielded).toBe(URLS)
  expect(gate.counters).toMatchObject({ started: URLS, done: URLS, abandoned: 0 })
  expect(mostHeld).toBeLessThanOrEqual(MAX_HELD)
  expect(oracle / seconds).toBeGreaterThanOrEqual(0.95)
})
