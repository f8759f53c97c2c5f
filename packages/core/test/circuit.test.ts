// The circuit of an origin: its states, and what its values cost flaky sites and dead ones.
import { seededRandom } from '@politely/testkit/random-robots'
import { describe, expect, test } from 'vitest'
import { type Circuit, type CircuitLimits, circuitAfter, closedCircuit } from '../src/engine.ts'
import {
  applyFailure,
  applySuccess,
  canForgetCircuit,
  circuitStateOf,
  delayProbe,
  returnProbe,
  startProbe,
} from '../src/internal.ts'

/** The values of a gate whose caller sets none. */
const LIMITS: CircuitLimits = { failures: 5, coolMs: 30_000, maxMs: 3_600_000, factor: 2 }

const failed = (times: number, now = 0, limits = LIMITS): Circuit<string> => {
  let circuit: Circuit<string> = closedCircuit
  for (let n = 0; n < times; n++) circuit = applyFailure(circuit, limits, `failure ${n + 1}`, now)
  return circuit
}

test('opens after so many failures in a row', () => {
  expect(circuitStateOf(failed(4), 0)).toBe('closed')
  expect(circuitStateOf(applyFailure(applySuccess(failed(4)), LIMITS, '', 0), 0)).toBe('closed')
  expect(failed(5, 1_000)).toMatchObject({ failures: 5, periods: 1, retryAt: 31_000, failure: 'failure 5' })
  expect(circuitStateOf(failed(5), 29_999)).toBe('open')
  expect(circuitStateOf(failed(5), 30_000)).toBe('half-open')
})

test('has one probe at a time, which is a lease', () => {
  const probing = startProbe(failed(5), 30_000)
  expect(circuitStateOf(probing, 149_999)).toBe('probing')
  expect(circuitStateOf(probing, 150_000)).toBe('half-open')
  expect(circuitStateOf(returnProbe(probing, probing.lastProbe), 30_000)).toBe('half-open')
  const second = startProbe(probing, 150_000)
  expect(returnProbe(second, probing.lastProbe)).toBe(second) // the first probe is late
  expect(applyFailure(second, LIMITS, 'late', 150_001, probing.lastProbe)).toBe(second)
})

test('counts the failure of a probe once', () => {
  const probing = startProbe(failed(5), 30_000)
  const again = applyFailure(probing, LIMITS, 'again', 30_000, probing.lastProbe)
  expect(again).toMatchObject({ failures: 6, periods: 2, retryAt: 90_000 })
  expect(applyFailure(again, LIMITS, 'repeated', 30_001, probing.lastProbe)).toBe(again)
})

test('rests for longer after each probe that fails, and at most for maxMs', () => {
  let circuit = failed(5)
  const rests: number[] = []
  for (let now = 30_000; rests.length < 9; now = circuit.retryAt) {
    const probing = startProbe(circuit, now)
    circuit = applyFailure(probing, LIMITS, 'again', now, probing.lastProbe)
    rests.push((circuit.retryAt - now) / 1_000)
  }
  expect(rests).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600])
})

test('rests for as long as the site asks, also longer than maxMs', () => {
  expect(applyFailure(failed(4), LIMITS, '', 0, undefined, 7_200_000).retryAt).toBe(7_200_000)
  expect(delayProbe(failed(5), 90_000).retryAt).toBe(90_000)
  expect(delayProbe(failed(5), 10_000).retryAt).toBe(30_000)
  expect(delayProbe(failed(4), 90_000).retryAt).toBe(0)
})

test('does not count failures of requests that started before it opened', () => {
  const open = failed(5)
  expect(applyFailure(open, LIMITS, 'old', 100)).toBe(open)
})

test('closes after a success, and begins again with the first cooling period', () => {
  const probing = startProbe(failed(5), 30_000)
  const closed = applySuccess(probing)
  expect(circuitStateOf(closed, 30_000)).toBe('closed')
  expect(closed).toMatchObject({ failures: 0, periods: 0 })
})

test('numbers its probes by time, so that a late result of the probe of an earlier circuit is ignored', () => {
  const late = startProbe(failed(5), 30_000)
  const again = startProbe(failed(5, 40_000), 70_000)
  expect(applyFailure(again, LIMITS, 'late', 70_001, late.lastProbe)).toBe(again)
  expect(startProbe(again, 0).lastProbe).toBe(again.lastProbe + 1) // even if the clock goes back
})

test('counts at most a day of the time that a site asks for', () => {
  const asked = { kind: 'failure', failure: '', retryAfterMs: Number.POSITIVE_INFINITY } as const
  expect(circuitAfter(failed(4), LIMITS, asked, 0).retryAt).toBe(86_400_000)
  expect(circuitAfter(failed(5), LIMITS, { ...asked, probe: 'robots' }, 0).retryAt).toBe(86_400_000)
})

test('is not forgotten while a probe is under way', () => {
  const limits = { ...LIMITS, coolMs: 1, maxMs: 1 }
  const probing = startProbe(failed(5, 0, limits), 1)
  expect(circuitAfter(probing, limits, { kind: 'failure', failure: '', probe: probing.lastProbe }, 9)).toMatchObject({
    periods: 2,
  })
})

test('is forgotten when its last failure is old', () => {
  expect(canForgetCircuit(closedCircuit, LIMITS, 0)).toBe(true)
  expect(canForgetCircuit(failed(1), LIMITS, 3_599_999)).toBe(false)
  expect(canForgetCircuit(failed(1), LIMITS, 3_600_000)).toBe(true)
  expect(canForgetCircuit(failed(5), LIMITS, 3_629_999)).toBe(false)
})

describe('with the default values, at one request a second', () => {
  /** @returns What share of the requests start, and how many; and when the first one succeeds. */
  function crawl(fails: (second: number) => boolean, seconds: number) {
    let circuit: Circuit<string> = closedCircuit
    let sent = 0
    let servedAt: number | undefined
    for (let second = 0; second < seconds; second++) {
      const now = second * 1_000
      const state = circuitStateOf(circuit, now)
      if (state === 'open') continue
      if (state === 'half-open') circuit = startProbe(circuit, now)
      sent++
      if (fails(second)) circuit = applyFailure(circuit, LIMITS, '', now, circuit.lastProbe)
      else {
        circuit = applySuccess(circuit)
        servedAt ??= second
      }
    }
    return { sent, share: sent / seconds, servedAt }
  }
  const flaky = (part: number) => {
    const random = seededRandom(1)
    return crawl(() => random() < part, 200_000).share
  }

  test('a site that loses a fifth of its requests keeps its rate, and one that loses half is spared', () => {
    expect(flaky(0.05)).toBe(1)
    expect(flaky(0.2)).toBeGreaterThan(0.97)
    expect(flaky(0.5)).toBeLessThan(0.6)
  })

  test('a dead site gets few requests', () => {
    expect(crawl(() => true, 3_600).sent).toBe(11)
    expect(crawl(() => true, 86_400).sent).toBe(34)
  })

  test.each([
    [20, 40],
    [300, 500],
    [3_600, 3_900],
  ])('a site that was down for %s s is found by %s s', (downFor, foundBy) => {
    const { servedAt } = crawl((second) => second < downFor, 10 * 3_600)
    expect(servedAt).toBeLessThanOrEqual(foundBy)
  })
})
