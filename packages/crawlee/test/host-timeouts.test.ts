// @module-tag full
// By how much waiting requests extend Crawlee's timeouts. The clock is fake. Timers round up to
// whole milliseconds.

import { AsyncResource } from 'node:async_hooks'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CrawlerBrowserGuard } from '../src/browser-guard.ts'
import type { CrawlerBrowser, CrawlerPage } from '../src/driver.ts'
import { withHostTimeout } from '../src/host-timeouts.ts'
import { enterGate, type GateAccess } from '../src/polite-http-client.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // Unlike real timers, fake timers do not run in the async context that started them.
  const { setInterval } = globalThis
  vi.spyOn(globalThis, 'setInterval').mockImplementation((run, ms) => setInterval(AsyncResource.bind(run), ms))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const TIMEOUT_MS = 1_000
const PAGE = 'https://example.com/'
const { signal } = new AbortController()

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const never = () => new Promise<never>(() => undefined)

/** A gate that admits each request, and returns each verdict, after `waitMs`. */
const slowGate = (waitMs: number) =>
  ({ gate: { enter: () => sleep(waitMs), check: () => sleep(waitMs) } }) as unknown as GateAccess

/**
 * Returns after how many milliseconds `work` times out. Undefined if it has not timed out after ten
 * minutes.
 */
async function timesOutAfter(work: () => Promise<unknown>): Promise<number | undefined> {
  const start = performance.now()
  let after: number | undefined
  withHostTimeout(TIMEOUT_MS, 'timed out', work).catch(() => {
    after = performance.now() - start
  })
  await vi.advanceTimersByTimeAsync(600_000)
  return after
}

/** Adds a page whose `goto` never ends. */
async function addPage(guard: CrawlerBrowserGuard, targetId: string): Promise<{ goto(url: string): Promise<never> }> {
  const session = { send: async () => ({ targetInfo: { targetId } }), detach: async () => undefined }
  const listen = () => undefined
  const page = { goto: never, on: listen, off: listen, once: listen, isClosed: () => false }
  const ofPuppeteer = { createCDPSession: async () => session, evaluateOnNewDocument: async () => undefined }
  await guard.add(Object.assign(page, ofPuppeteer) as unknown as CrawlerPage)
  return page
}

/**
 * Visits a page that times out, and meanwhile checks page requests of a frame: a new one each
 * second. Returns when the visit timed out.
 */
async function visitTimesOutAfter(frameId: string, checkMs: number, checks: number): Promise<number | undefined> {
  const guard = new CrawlerBrowserGuard({} as CrawlerBrowser, slowGate(checkMs))
  const page = await addPage(guard, 'page')
  return timesOutAfter(async () => {
    const visited = page.goto(PAGE)
    for (let i = 0; i < checks; i++) {
      setTimeout(() => void guard.check(`https://${i}.example/`, { signal, redirectedFrom: [] }, frameId), i * 1_000)
    }
    await visited
  })
}

test('time during which several requests wait at the gate extends timeouts once, without a limit', async () => {
  const after = await timesOutAfter(async () => {
    const enter = () => enterGate(slowGate(60_000), PAGE, undefined)
    await Promise.all([enter(), enter(), sleep(30_000).then(enter)])
    await never()
  })
  expect(after).toBeCloseTo(TIMEOUT_MS + 90_000, -1)
})

test.each(['page', 'a frame whose page is unknown'])(
  'time during which several page requests are checked extends timeouts once: %s',
  async (frameId) => {
    expect(await visitTimesOutAfter(frameId, 10_000, 5)).toBeCloseTo(TIMEOUT_MS + 14_000, -1)
  },
)

test.each(['page', 'a frame whose page is unknown'])(
  'our choice: page requests extend a timeout by at most 30 seconds: %s',
  async (frameId) => {
    expect(await visitTimesOutAfter(frameId, 20_000, 500)).toBeCloseTo(TIMEOUT_MS + 30_000, -1)
  },
)
