// The pacer of one process, by the rows that every pacer is tried with; and what it forgets.
import type { PaceLimits } from '@politely/core'
import { startClock } from '@politely/testkit/clock'
import { type PacerRow, pacerRows, runPacerCase } from '@politely/testkit/pacer-cases'
import { describe, expect, test } from 'vitest'
import { LocalPacer } from '../src/index.ts'

describe('our choice, a pacer', () => {
  test.each(pacerRows)('$name', async (row) => {
    const { now, pass } = startClock()
    expect(await runPacerCase(row, new LocalPacer(now), pass)).toEqual([])
  })

  test('the rows tell one that is none', async () => {
    const { now, pass } = startClock()
    const pacer = new LocalPacer(now)
    const hasty = {
      reserve: (key: string, wishes: PaceLimits) => pacer.reserve(key, { ...wishes, ownDelayMs: 0 }),
      cancel: pacer.cancel.bind(pacer),
      report: () => {},
      estimate: pacer.estimate.bind(pacer),
    }
    const failed = new Set<string>()
    for (const row of pacerRows) {
      // A key of its own for each row: what was is not forgotten in between.
      const steps = row.steps.map((step) => (step.do === 'pass' ? step : { ...step, key: `${row.name} ${step.key}` }))
      if ((await runPacerCase({ ...row, steps } as PacerRow, hasty, pass)).length > 0) failed.add(row.name)
    }
    expect(failed.size).toBeGreaterThan(12)
  })
})

test('the pause counts from when a request leaves, and not from when its slot was taken', () => {
  const { now, pass } = startClock()
  const pacer = new LocalPacer(now)
  const wishes: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
  const turn = pacer.reserve('k', wishes)
  if (turn.kind !== 'slot') throw new Error('the first slot is free')
  pass(40) // garbage was collected
  pacer.started('k', turn.ticket, turn.delay)
  pass(960)
  expect(pacer.reserve('k', wishes)).toMatchObject({ kind: 'wait', waitMs: 40 })
  pass(40)
  pacer.reserve('k', wishes)
  pass(10)
  pacer.started('k', turn.ticket, turn.delay) // of a slot that is not the last one any more
  expect(pacer.reserve('k', wishes)).toMatchObject({ waitMs: 990 })
  pacer.started('never seen', 7, turn.delay)
})

describe('what is forgotten', () => {
  const wishes: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

  test('keys whose pause is over, as slots are taken: two are looked at for each', () => {
    const { now, pass } = startClock()
    const pacer = new LocalPacer(now)
    for (let n = 0; n < 10_000; n++) pacer.reserve(`old ${n}`, wishes)
    expect(pacer.size).toBe(10_000)
    pass(1_000)
    for (let n = 0; n < 5_100; n++) pacer.reserve('another', { ...wishes, ownDelayMs: 0 })
    expect(pacer.size).toBeLessThanOrEqual(1)
  })

  test('by a crawl of ever new origins: no more are kept than have a pause to keep, and a few', () => {
    const { now, pass } = startClock()
    const pacer = new LocalPacer(now)
    let most = 0
    for (let n = 0; n < 100_000; n++) {
      pacer.reserve(`origin ${n}`, wishes)
      pass(1) // a thousand new ones each second
      most = Math.max(most, pacer.size)
    }
    expect(most).toBeLessThan(3_000)
  })

  test('not those with a pause to keep, nor for five minutes how often a site has pushed back', () => {
    const { now, pass } = startClock()
    const pacer = new LocalPacer(now)
    const busy = { status: 429, retryAfter: undefined }
    const others = () => {
      for (let n = 0; n < 100; n++) pacer.reserve(`other ${now()} ${n}`, { ...wishes, ownDelayMs: 0 })
    }
    const first = pacer.reserve('busy', wishes)
    pacer.report('busy', first.ticket ?? '', busy)
    others()
    expect(pacer.reserve('busy', wishes)).toMatchObject({ kind: 'wait', waitMs: 5_000, because: 'backoff' })
    pass(304_999)
    others()
    const second = pacer.reserve('busy', wishes)
    pacer.report('busy', second.ticket ?? '', busy)
    expect(pacer.reserve('busy', wishes)).toMatchObject({ waitMs: 10_000 })
    pass(310_000)
    others()
    const third = pacer.reserve('busy', wishes)
    pacer.report('busy', third.ticket ?? '', busy)
    expect(pacer.reserve('busy', wishes)).toMatchObject({ waitMs: 5_000 })
  })

  test('an answer to a request from before that is heard as what it is', () => {
    const { now, pass } = startClock()
    const pacer = new LocalPacer(now)
    const busy = { status: 429, retryAfter: undefined }
    const old = [pacer.reserve('k', { ...wishes, ownDelayMs: 0 }), pacer.reserve('k', { ...wishes, ownDelayMs: 0 })]
    pass(1_000)
    for (let n = 0; n < 10; n++) pacer.reserve(`other ${n}`, { ...wishes, ownDelayMs: 0 }) // by now k is forgotten
    const next = pacer.reserve('k', wishes)
    pacer.report('k', next.ticket ?? '', busy)
    for (const { ticket } of old) pacer.report('k', ticket ?? '', busy) // they left before it: no further step
    expect(pacer.reserve('k', wishes)).toMatchObject({ kind: 'wait', waitMs: 5_000 })
    pass(5_000)
    const last = pacer.reserve('k', wishes)
    pacer.report('k', last.ticket ?? '', busy)
    expect(pacer.reserve('k', wishes)).toMatchObject({ waitMs: 10_000 })
  })
})
