// Compares `delayFactor` and `maxConcurrentPerKey` with Scrapy's AutoThrottle, on simulated time.
// docs/pace-options.md shows these numbers.
import { expectTables } from '@politely/testkit/doc-page'
import { expect, test } from 'vitest'
import type { PacingOptions } from '../src/index.ts'
import { simulate } from './simulation.ts'

interface Answer {
  readonly tookMs: number
  readonly status: number
}
/** Answers a request that starts at this time, in milliseconds since the first one. */
type AnswerAt = (atMs: number) => Answer

const MINUTE_MS = 60_000
const MINUTES = 5
const MIN_DELAY_MS = 1_000
/** AUTOTHROTTLE_START_DELAY, AUTOTHROTTLE_MAX_DELAY and CONCURRENT_REQUESTS_PER_DOMAIN. */
const START_DELAY_MS = 5_000
const MAX_DELAY_MS = 60_000
const CONCURRENT = 8

const slow: AnswerAt = () => ({ tookMs: 2_000, status: 200 })
const fast: AnswerAt = () => ({ tookMs: 50, status: 200 })
const failing: AnswerAt = () => ({ tookMs: 100, status: 500 })
const unavailable: AnswerAt = () => ({ tookMs: 100, status: 503 })
const slowThenFailing: AnswerAt = (at) => (at < 2 * MINUTE_MS ? slow(at) : failing(at))
const slowThenUnavailable: AnswerAt = (at) => (at < 2 * MINUTE_MS ? slow(at) : unavailable(at))

/** The requests of the fifth minute by scrapy/extensions/throttle.py. */
function byScrapy(answer: AnswerAt, target: number): number {
  const starts: number[] = []
  let delayMs = START_DELAY_MS
  let underWay: (Answer & { readonly endsAt: number })[] = []
  for (let at = 0; at < MINUTES * MINUTE_MS; at += 10) {
    const ended = underWay.filter(({ endsAt }) => endsAt <= at)
    underWay = underWay.filter(({ endsAt }) => endsAt > at)
    for (const { tookMs, status } of ended) {
      const targetMs = tookMs / target
      const mean = Math.max(targetMs, (delayMs + targetMs) / 2)
      const next = Math.min(Math.max(MIN_DELAY_MS, mean), MAX_DELAY_MS)
      if (status === 200 || next > delayMs) delayMs = next
    }
    if (underWay.length >= CONCURRENT || at - (starts.at(-1) ?? Number.NEGATIVE_INFINITY) < delayMs) continue
    starts.push(at)
    const { tookMs, status } = answer(at)
    underWay.push({ tookMs, status, endsAt: at + tookMs })
  }
  return inLastMinute(starts)
}

/** The requests of the fifth minute by a gate, while requests wait all the time. */
async function byGate(answer: AnswerAt, options: PacingOptions): Promise<number> {
  const { enter, advance, gate, starts } = await simulate({ 'one.test': '' }, { minDelayMs: MIN_DELAY_MS, ...options })
  const crawl = async (): Promise<void> => {
    const permit = await enter('page', 'one.test')
    const { tookMs, status } = answer(starts.at(-1)?.[1] ?? 0)
    setTimeout(() => {
      permit.release({ status, headers: {} })
      crawl().catch(() => undefined) // the gate is closed
    }, tookMs)
  }
  for (let n = 0; n < 2 * CONCURRENT; n++) crawl().catch(() => undefined)
  await advance(MINUTES * MINUTE_MS - 1)
  gate.close()
  return inLastMinute(starts.map(([, at]) => at))
}

const inLastMinute = (starts: readonly number[]) =>
  starts.filter((at) => at >= (MINUTES - 1) * MINUTE_MS && at < MINUTES * MINUTE_MS).length

/** As many requests at a time as the target: `delayFactor` is 1 / target, or the limit is the target. */
const OPTIONS: Readonly<Record<number, PacingOptions>> = {
  0.5: { delayFactor: 2, maxConcurrentPerKey: 1 },
  1: { delayFactor: 1, maxConcurrentPerKey: 1 },
  2: { maxConcurrentPerKey: 2 },
}

const cases: readonly [site: string, answer: AnswerAt, scrapy: readonly number[], gate: readonly number[]][] = [
  ['200 after 2 s', slow, [15, 30, 60], [15, 30, 60]],
  ['200 after 50 ms', fast, [60, 60, 60], [60, 60, 60]],
  ['500 after 100 ms', failing, [12, 12, 12], [60, 60, 60]],
  ['503 after 100 ms, or 500 if `backoff.statuses` has it', unavailable, [12, 12, 12], [0, 0, 0]],
  ['200 after 2 s for two minutes, then 500 after 100 ms', slowThenFailing, [15, 30, 60], [60, 60, 60]],
  ['200 after 2 s for two minutes, then 503 after 100 ms', slowThenUnavailable, [15, 30, 60], [1, 1, 1]],
]

test.each(cases)('requests in the fifth minute to a site that answers %s', async (_, answer, scrapy, gate) => {
  const targets = Object.keys(OPTIONS).map(Number).toSorted()
  expect(targets.map((target) => byScrapy(answer, target))).toEqual(scrapy)
  const found: number[] = []
  for (const target of targets) found.push(await byGate(answer, OPTIONS[target] as PacingOptions))
  expect(found).toEqual(gate)
})

test('writes these cases as a table into docs/pace-options.md', { tags: 'page' }, async () => {
  const rows = cases.map(([site, , scrapy, gate]) => [site, scrapy.join(', '), gate.join(', ')])
  await expectTables('docs/pace-options.md', { head: ['the site answers', 'AutoThrottle', 'Politely'], rows })
})
