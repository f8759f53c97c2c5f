// What every pacer must do, ours in a process and others for a fleet: what is asked of it, step by step, and what it must answer.
//
// A pacer may keep a place in line for who waits, or not; so how long a second one in line has to wait is said as "at least".

/** As much of `Pacer` of @politely/gate as is asked here. */
export interface PacerUnderTest {
  reserve(key: string, wishes: PacerLimits, ticket?: PacerTicket): PacerTurn | Promise<PacerTurn>
  cancel(key: string, ticket: PacerTicket): void | Promise<void>
  report(key: string, ticket: PacerTicket, answer: PacerAnswer | undefined): void | Promise<void>
  estimate(key: string, wishes: PacerLimits, ahead: number): PacerEstimate | Promise<PacerEstimate>
}

type PacerTicket = string | number

interface PacerLimits {
  readonly ownDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly crawlDelayMs: number | undefined
  readonly requestRates?: readonly { requests: number; periodMs: number; between: PacerHours | undefined }[]
  readonly visitTimes?: readonly PacerHours[]
}

interface PacerHours {
  readonly from: number
  readonly to: number
}

interface PacerAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

type PacerTurn =
  | { readonly kind: 'slot'; readonly ticket: PacerTicket; readonly delay: { delayMs: number; because: string } }
  | {
      readonly kind: 'wait'
      readonly ticket: PacerTicket | undefined
      readonly waitMs: number
      readonly because: string
    }

interface PacerEstimate {
  readonly waitMs: number
  readonly because: string
}

/** One step. Whoever asks has a name, and its ticket is remembered by it. */
type PacerStep =
  | {
      readonly do: 'reserve'
      readonly who: string
      readonly key?: string
      readonly wishes?: Partial<PacerLimits>
      readonly gets: PacerExpectation
    }
  | { readonly do: 'give back'; readonly who: string; readonly key?: string }
  | {
      readonly do: 'report'
      readonly who: string
      readonly key?: string
      readonly status?: number
      readonly retryAfter?: string
    }
  | {
      readonly do: 'estimate'
      readonly ahead: number
      readonly key?: string
      readonly wishes?: Partial<PacerLimits>
      readonly gets: { readonly waitMs: number; readonly because: string }
    }
  | { readonly do: 'pass'; readonly ms: number }

type PacerExpectation =
  | { readonly kind: 'slot'; readonly delayMs: number; readonly because: string }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly because: string }
  | { readonly kind: 'wait'; readonly atLeastMs: number }

export interface PacerRow {
  readonly name: string
  readonly steps: readonly PacerStep[]
  /** The row begins at midnight, UTC: it needs a clock that the test sets. */
  readonly clock?: 'midnight'
}

const slot = (delayMs = 1_000, because = 'own-delay'): PacerExpectation => ({ kind: 'slot', delayMs, because })
const wait = (waitMs: number, because = 'own-delay'): PacerExpectation => ({ kind: 'wait', waitMs, because })
const waitAtLeast = (atLeastMs: number): PacerExpectation => ({ kind: 'wait', atLeastMs })
const reserve = (who: string, gets: PacerExpectation, wishes: Partial<PacerLimits> = {}, key = 'k'): PacerStep => ({
  do: 'reserve',
  who,
  key,
  wishes,
  gets,
})
const pass = (ms: number): PacerStep => ({ do: 'pass', ms })
const report = (who: string, status: number, retryAfter?: string): PacerStep => ({
  do: 'report',
  who,
  status,
  ...(retryAfter !== undefined && { retryAfter }),
})

const none = { ownDelayMs: 0 }
const morning: PacerHours = { from: 6 * 60, to: 8 * 60 }

/** Asked with a pause of our own of one second, where a step says nothing else. */
export const pacerRows: readonly PacerRow[] = [
  { name: 'the first one leaves at once', steps: [reserve('a', slot())] },
  {
    name: 'the next one waits for the pause, and then has its slot',
    steps: [reserve('a', slot()), pass(400), reserve('b', wait(600)), pass(600), reserve('b', slot())],
  },
  {
    name: 'who comes back too early waits for the rest',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      pass(300),
      reserve('b', wait(700)),
      pass(700),
      reserve('b', slot()),
    ],
  },
  {
    name: 'a pause that nobody used is not saved up',
    steps: [reserve('a', slot()), pass(60_000), reserve('b', slot()), reserve('c', wait(1_000))],
  },
  {
    name: 'without a pause all leave at once',
    steps: ['a', 'b', 'c'].map((who) => reserve(who, slot(0), none)),
  },
  {
    name: 'keys know nothing of each other',
    steps: [reserve('a', slot(), {}, 'one'), reserve('b', slot(), {}, 'two'), reserve('c', wait(1_000), {}, 'one')],
  },
  {
    name: 'who waits in line, in whatever process, is not passed over: two never have one slot',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      reserve('c', waitAtLeast(1_000)),
      pass(1_000),
      reserve('b', slot()),
      reserve('c', waitAtLeast(1_000)),
    ],
  },
  {
    name: 'the pause is that of who left: a crawl-delay',
    steps: [
      reserve('a', slot(5_000, 'crawl-delay'), { crawlDelayMs: 5_000 }),
      reserve('b', wait(5_000, 'crawl-delay'), { crawlDelayMs: 5_000 }),
    ],
  },
  {
    name: 'a request-rate',
    steps: [
      reserve('a', slot(2_000, 'request-rate'), {
        requestRates: [{ requests: 5, periodMs: 10_000, between: undefined }],
      }),
      reserve('b', wait(2_000, 'request-rate')),
    ],
  },
  {
    name: 'a cap says that it spoke',
    steps: [
      reserve('a', slot(3_000, 'cap'), { crawlDelayMs: 60_000, maxDelayMs: 3_000 }),
      reserve('b', wait(3_000, 'cap')),
    ],
  },
  {
    name: 'visit-time closes, and opens',
    clock: 'midnight',
    steps: [
      reserve('a', wait(6 * 3_600_000, 'visit-time'), { visitTimes: [morning] }),
      pass(6 * 3_600_000),
      reserve('a', slot(), { visitTimes: [morning] }),
    ],
  },
  {
    name: 'a slot that is given back is for the next one, at once',
    steps: [reserve('a', slot()), pass(100), { do: 'give back', who: 'a' }, reserve('b', slot())],
  },
  {
    name: 'who gives up in line holds nobody up',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      { do: 'give back', who: 'b' },
      reserve('c', wait(1_000)),
      pass(1_000),
      reserve('c', slot()),
    ],
  },
  {
    name: 'an answer without words changes nothing',
    steps: [reserve('a', slot()), { do: 'report', who: 'a' }, pass(1_000), reserve('b', slot())],
  },
  {
    name: '429 with Retry-After',
    steps: [
      reserve('a', slot()),
      report('a', 429, '30'),
      reserve('b', wait(30_000, 'retry-after')),
      pass(30_000),
      reserve('b', slot()),
    ],
  },
  {
    name: 'a Retry-After that is shorter than the pause shortens nothing',
    steps: [
      reserve('a', slot(60_000, 'crawl-delay'), { crawlDelayMs: 60_000 }),
      report('a', 503, '1'),
      reserve('b', wait(60_000, 'crawl-delay')),
    ],
  },
  {
    name: '429 and 503 without it: pauses that grow, until an answer of another kind',
    steps: [
      reserve('a', slot()),
      report('a', 429),
      reserve('b', wait(5_000, 'backoff')),
      pass(5_000),
      reserve('b', slot()),
      report('b', 503),
      reserve('c', wait(10_000, 'backoff')),
      pass(10_000),
      reserve('c', slot()),
      report('c', 200),
      pass(1_000),
      reserve('d', slot()),
      report('d', 429),
      reserve('e', wait(5_000, 'backoff')),
    ],
  },
  {
    name: '429 to requests that were under way together is one step',
    steps: [
      reserve('a', slot(0), none),
      reserve('b', slot(0), none),
      reserve('c', slot(0), none),
      report('b', 429),
      pass(200),
      report('a', 429),
      report('c', 429),
      reserve('d', wait(4_800, 'backoff'), none),
      pass(4_800),
      reserve('d', slot(0), none),
      report('d', 429),
      reserve('e', wait(10_000, 'backoff'), none),
    ],
  },
  {
    name: 'a success among them does not end the growth',
    steps: [
      reserve('a', slot(0), none),
      reserve('b', slot(0), none),
      report('a', 429),
      report('b', 200),
      pass(5_000),
      reserve('c', slot(0), none),
      report('c', 429),
      reserve('d', wait(10_000, 'backoff'), none),
    ],
  },
  {
    name: 'who waits already waits for a pause that is asked for meanwhile, too',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      pass(500),
      report('a', 429, '60'),
      pass(500),
      reserve('b', wait(59_500, 'retry-after')),
      pass(59_500),
      reserve('b', slot()),
    ],
  },
  {
    name: 'what is foreseen takes nothing',
    steps: [
      { do: 'estimate', ahead: 0, gets: { waitMs: 0, because: 'none' } },
      { do: 'estimate', ahead: 3, gets: { waitMs: 3_000, because: 'own-delay' } },
      reserve('a', slot()),
      { do: 'estimate', ahead: 0, gets: { waitMs: 1_000, because: 'own-delay' } },
      { do: 'estimate', ahead: 5_000, gets: { waitMs: 5_001_000, because: 'own-delay' } },
      pass(1_000),
      reserve('b', slot()),
      report('b', 429, '30'),
      { do: 'estimate', ahead: 1, gets: { waitMs: 31_000, because: 'own-delay' } },
      { do: 'estimate', ahead: 0, gets: { waitMs: 30_000, because: 'retry-after' } },
    ],
  },
]

/** What a step was answered, beside what it should be. */
export interface PacerOutcome {
  readonly step: number
  readonly expected: PacerExpectation | { readonly waitMs: number; readonly because: string }
  readonly answered: unknown
}

/**
 * Plays a row, and says what was answered otherwise than it should be: nothing, by a pacer that is one. `toleranceMs` is for those whose
 * clock the test does not set.
 */
export async function runPacerCase(
  { steps }: PacerRow,
  pacer: PacerUnderTest,
  passTime: (ms: number) => void | Promise<void>,
  toleranceMs = 0,
): Promise<readonly PacerOutcome[]> {
  const wrong: PacerOutcome[] = []
  const tickets = new Map<string, PacerTicket>()
  const isNear = (given: number, wanted: number) => Math.abs(given - wanted) <= toleranceMs
  for (const [n, step] of steps.entries()) {
    if (step.do === 'pass') {
      await passTime(step.ms)
      continue
    }
    const { key = 'k' } = step
    const ticket = 'who' in step ? tickets.get(step.who) : undefined
    if (step.do === 'give back') {
      if (ticket !== undefined) await pacer.cancel(key, ticket)
    } else if (step.do === 'report') {
      if (ticket === undefined) throw new Error(`step ${n}: ${step.who} has no slot`)
      const answer = step.status === undefined ? undefined : { status: step.status, retryAfter: step.retryAfter }
      await pacer.report(key, ticket, answer)
    } else {
      const wishes = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined, ...step.wishes }
      if (step.do === 'estimate') {
        const answered = await pacer.estimate(key, wishes, step.ahead)
        const { gets } = step
        if (!isNear(answered.waitMs, gets.waitMs) || answered.because !== gets.because) {
          wrong.push({ step: n, expected: gets, answered })
        }
        continue
      }
      const turn = await pacer.reserve(key, wishes, ticket)
      if (turn.ticket !== undefined) tickets.set(step.who, turn.ticket)
      if (!fits(turn, step.gets, isNear)) wrong.push({ step: n, expected: step.gets, answered: turn })
    }
  }
  return wrong
}

function fits(turn: PacerTurn, gets: PacerExpectation, isNear: (given: number, wanted: number) => boolean): boolean {
  if (turn.kind === 'slot') {
    return gets.kind === 'slot' && turn.delay.delayMs === gets.delayMs && turn.delay.because === gets.because
  }
  if (gets.kind === 'slot') return false
  if ('atLeastMs' in gets) return turn.waitMs >= gets.atLeastMs || isNear(turn.waitMs, gets.atLeastMs)
  return isNear(turn.waitMs, gets.waitMs) && turn.because === gets.because
}
