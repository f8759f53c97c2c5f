// Test cases that every pacer must pass that has `admit` and `settle`. A case is a list of calls and
// of replies, of which only the listed fields count.
import type { Admission, CircuitResult } from '@politely/gate'
import { caseClock } from './case-clock.ts'
import { expectNone, type PacerKit } from './pacer-cases.ts'

/** `isProbe`: whether the reply has a ticket. */
type Expected = Partial<Omit<Admission, 'probe'>> & { readonly isProbe?: boolean }

type CircuitStep =
  | { readonly do: 'admit'; readonly request: string; readonly origin: string; readonly expected: Expected }
  | {
      readonly do: 'settle'
      readonly request: string
      readonly origin: string
      readonly result: CircuitResult
      readonly expected: Expected
    }
  | { readonly do: 'advance'; readonly ms: number }

/** One requirement for a pacer with `admit` and `settle`. */
export interface CircuitCase {
  /** A sentence about the circuit of an origin. */
  readonly name: string
  /** Rejects with an `AssertionError` if the pacer does not do what the name says. */
  run(kit: PacerKit): Promise<void>
}

interface CircuitRow {
  readonly name: string
  readonly steps: readonly CircuitStep[]
}

const LIMITS = { failures: 3, coolMs: 60_000, maxMs: 200_000, factor: 2 }
const FAILURE = { kind: 'connection', because: 'refused' } as const
const SITE = 'https://a.test'

const admit = (request: string, expected: Expected, origin = SITE): CircuitStep => ({
  do: 'admit',
  request,
  origin,
  expected,
})
const settle = (request: string, kind: CircuitResult['kind'], expected: Expected, retryAfterMs?: number) => {
  const result = kind === 'failure' ? { kind, failure: FAILURE, retryAfterMs } : { kind }
  return { do: 'settle', request, origin: SITE, result, expected } as const
}
const advance = (ms: number): CircuitStep => ({ do: 'advance', ms })

const closed = (failures: number): Expected => ({ state: 'closed', failures, periods: 0, waitMs: 0, isProbe: false })
const open = (periods: number, waitMs: number): Expected => ({ state: 'open', periods, waitMs, isProbe: false })
const probe: Expected = { state: 'half-open', isProbe: true }
const noProbe: Expected = { state: 'half-open', isProbe: false }

/** Three requests fail, and the circuit opens for a minute. */
const opening = [1, 2, 3].map((n) => settle('a', 'failure', n < 3 ? closed(n) : open(1, 60_000)))

const rows: readonly CircuitRow[] = [
  {
    name: 'opens after three failures in a row, for this origin only',
    steps: [
      admit('a', closed(0)),
      settle('a', 'failure', closed(1)),
      settle('a', 'success', closed(0)),
      ...opening,
      advance(20_000),
      admit('b', { ...open(1, 40_000), failure: FAILURE }),
      admit('c', closed(0), 'https://b.test'),
      settle('d', 'failure', open(1, 40_000)), // it started before the circuit opened
    ],
  },
  {
    name: 'admits one probe, and is closed by its success',
    steps: [
      ...opening,
      advance(60_000),
      admit('b', probe),
      admit('c', noProbe),
      settle('b', 'success', closed(0)),
      admit('c', closed(0)),
    ],
  },
  {
    name: 'opens for twice the time after each probe that fails, up to the limit',
    steps: [
      ...opening,
      advance(60_000),
      admit('b', probe),
      settle('b', 'failure', open(2, 120_000)),
      advance(120_000),
      admit('c', probe),
      settle('c', 'failure', open(3, 200_000)),
    ],
  },
  {
    name: 'opens for as long as the site asks, if that is longer',
    steps: [...opening, advance(60_000), admit('b', probe), settle('b', 'failure', open(2, 500_000), 500_000)],
  },
  {
    name: 'admits another probe after an aborted one, and two minutes after a lost one',
    steps: [
      ...opening,
      advance(60_000),
      admit('b', probe),
      settle('b', 'unknown', {}),
      admit('c', probe),
      advance(119_999),
      admit('d', noProbe),
      advance(1),
      admit('d', probe),
      settle('c', 'failure', noProbe), // too late
      settle('d', 'failure', open(2, 120_000)),
    ],
  },
  {
    name: 'is closed by the success of a request that started before',
    steps: [...opening, advance(1_000), settle('x', 'success', closed(0)), admit('b', closed(0))],
  },
  {
    name: 'counts an attempt to fetch robots.txt once, whatever number of workers tell it',
    steps: [
      settle('robots', 'failure', closed(1), 60_000),
      advance(100),
      settle('robots', 'failure', closed(1), 59_900),
      settle('a', 'failure', closed(2)),
      advance(59_900),
      settle('robots', 'failure', open(1, 60_000)), // the next attempt
    ],
  },
  {
    name: 'takes a failed attempt to fetch robots.txt for the probe',
    steps: [
      ...opening,
      settle('robots', 'failure', open(1, 90_000), 90_000),
      advance(90_000),
      settle('robots', 'failure', open(2, 120_000)),
    ],
  },
  {
    name: 'forgets failures that are as old as the limit',
    steps: [...opening.slice(0, 2), advance(200_000), admit('b', closed(0)), settle('b', 'failure', closed(1))],
  },
]

/** In the cases, `robots` is a request for robots.txt. */
const robotsOr = (request: string) => (request === 'robots' ? 'robots' : undefined)

/** What every pacer with `admit` and `settle` must do. */
export const circuitCases: readonly CircuitCase[] = rows.map((row) => ({
  name: row.name,
  run: (kit) => run(row, kit),
}))

async function run({ name, steps }: CircuitRow, { open, clock = caseClock(), toleranceMs = 0 }: PacerKit) {
  const pacer = await open(clock.now)
  const { admit, settle } = pacer
  if (admit === undefined || settle === undefined) throw new Error('the pacer has no methods admit and settle')
  const mismatches: { step: number; expected: Expected; actual: Admission }[] = []
  const tickets = new Map<string, Admission['probe']>()
  for (const [n, step] of steps.entries()) {
    if (step.do === 'advance') {
      await clock.advance(step.ms)
      continue
    }
    const { request, origin, expected } = step
    const actual: Admission =
      step.do === 'admit'
        ? await admit.call(pacer, origin, LIMITS)
        : await settle.call(pacer, origin, LIMITS, {
            ...step.result,
            probe: tickets.get(request) ?? robotsOr(request),
          })
    if (step.do === 'admit') tickets.set(request, actual.probe)
    const found: Expected = { ...actual, isProbe: actual.probe !== undefined }
    const isWrong = (field: string) => {
      const [one, other] = [expected, found].map((fields) => fields[field as keyof Expected])
      if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) > toleranceMs
      return JSON.stringify(one) !== JSON.stringify(other)
    }
    if (Object.keys(expected).some(isWrong)) mismatches.push({ step: n, expected, actual })
  }
  expectNone(name, mismatches)
}
