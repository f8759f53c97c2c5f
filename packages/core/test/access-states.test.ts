// The states of an origin and the transitions between them, found by running attempts.
// docs/fetching.md shows the tables.
import { expectTables } from '@politely/testkit/doc-page'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AccessPolicy,
  accessPolicyOf,
  allows,
  decide,
  type Entry,
  entryFrom,
  entryText,
  freshUntil,
  holdsUntil,
  keepUntil,
  plan,
  type State,
  settle,
  stateOf,
  states,
} from '../src/engine.ts'
import { type DialectName, dialects, parseRobots } from '../src/index.ts'
import {
  advance,
  defaultAccessPolicy,
  describeState,
  originAccessOf,
  type Reply,
  startAttempt,
} from '../src/internal.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)
const ORIGIN = 'https://a.test'
const RULES = 'User-agent: *\nDisallow: /page\n'

const replies = {
  '2xx': { kind: 'response', status: 200, headers: { etag: '"1"' }, body: { bytes: RULES, truncated: false } },
  '304': { kind: 'response', status: 304, headers: {} },
  '404': { kind: 'response', status: 404, headers: {} },
  '401': { kind: 'response', status: 401, headers: {} },
  '403': { kind: 'response', status: 403, headers: {} },
  '429': { kind: 'response', status: 429, headers: {} },
  '500': { kind: 'response', status: 500, headers: {} },
  '503': { kind: 'response', status: 503, headers: {} },
  'no response': { kind: 'failure', reason: 'timeout', detail: 'the deadline passed' },
} as const satisfies Record<string, Reply>
type Event = keyof typeof replies

/** The entry after one more attempt. Its request is conditional if the copy has a validator. */
function after(last: Entry | undefined, reply: Reply, now: number, policy: AccessPolicy): Entry {
  const first = advance(startAttempt(`${ORIGIN}/robots.txt`, last?.copy), reply, policy)
  const outcome = first.kind === 'request' ? advance(first, reply, policy) : first // a 4xx repeats a conditional request
  if (outcome.kind === 'request') throw new Error('unexpected redirect')
  return settle(last, ORIGIN, outcome, now, policy)
}

/** An origin in some state: its entry, and the time and policy that put it there. */
interface Situation {
  readonly entry: Entry | undefined
  readonly now: number
  readonly policy: AccessPolicy
}

/** The situation after these attempts, each made when it is due, and `laterMs` more. */
function situationAfter(events: readonly Event[], { laterMs = 0, dialect = 'rfc9309' as DialectName } = {}): Situation {
  const policy = accessPolicyOf(dialects[dialect].access)
  let entry: Entry | undefined
  let now = START
  for (const event of events) {
    now = entry?.nextAttemptAt ?? now
    entry = after(entry, replies[event], now, policy)
  }
  return { entry, now: now + laterMs, policy }
}

/**
 * The situation after six more failed attempts, five days apart. With the one before, they span 30
 * days.
 */
function failingForLong({ entry, now, policy }: Situation): Situation {
  for (let days = 5; days <= 30; days += 5) {
    now += 5 * DAY
    entry = after(entry, replies['500'], now, policy)
  }
  return { entry, now, policy }
}

/** One situation for each state. */
const situations: Readonly<Record<State, Situation>> = {
  unknown: situationAfter([]),
  rules: situationAfter(['2xx']),
  unavailable: situationAfter(['404']),
  'unavailable-with-copy': (() => {
    const draft = situationAfter(['2xx'], { laterMs: HOUR, dialect: 'draft-koster-rep-00' })
    return { ...draft, entry: after(draft.entry, replies['404'], draft.now, draft.policy) }
  })(),
  restricted: situationAfter(['401'], { dialect: 'koster-1996' }),
  lost: situationAfter(['500']),
  'lost-with-copy': situationAfter(['2xx', '500']),
  'long-lost': failingForLong(situationAfter(['500'])),
  'long-lost-with-copy': failingForLong(situationAfter(['2xx', '500'])),
}

/** The state after the next attempt, made when it is due, and the wait until the one after. */
function next({ entry, now, policy }: Situation, event: Event): { readonly to: State; readonly waitMs: number } {
  const at = Math.max(now, entry?.nextAttemptAt ?? now)
  const settled = after(entry, replies[event], at, policy)
  return { to: stateOf(settled, at, policy), waitMs: settled.nextAttemptAt - at }
}

/** The state that time alone leads to, for the table; empty if the state does not change. */
function stateInTime({ entry, now, policy }: Situation): string {
  const state = stateOf(entry, now, policy)
  const [first] = [HOUR, DAY, 7 * DAY, 30 * DAY, 400 * DAY].filter((ms) => stateOf(entry, now + ms, policy) !== state)
  return first === undefined ? '' : `\`${stateOf(entry, now + first, policy)}\` after ${formatDuration(first)}`
}

/** The state after 30 more days of failed attempts. */
function stateAfterLongFailure(situation: Situation): State {
  const { entry, now, policy } = failingForLong(situation)
  return stateOf(entry, now, policy)
}

function formatDuration(ms: number): string {
  if (ms % DAY === 0 && ms > DAY) return `${ms / DAY} days`
  if (ms % HOUR === 0) return `${ms / HOUR} h`
  return ms % MINUTE === 0 ? `${ms / MINUTE} min` : `${ms / 1_000} s`
}

const rulesOf = (bytes: string) => parseRobots(bytes).forCrawler('ExampleBot')

const columns: readonly (readonly Event[])[] = [
  ['2xx'],
  ['304'],
  ['404'],
  ['401', '403'],
  ['429', '500', 'no response'],
  ['503'],
]
const knownStates = Object.keys(states) as State[]

describe('the states of an origin', () => {
  test.each(knownStates)('%s can be reached from another state', (state) => {
    const { entry, now, policy } = situations[state]
    expect(stateOf(entry, now, policy)).toBe(state)
    const sources = knownStates.filter(
      (from) => from !== state && leadsFrom({ ...situations[from], policy }).has(state),
    )
    expect(sources.length, 'states that lead to it').toBeGreaterThan(state === 'unknown' ? -1 : 0)
  })

  /**
   * The states that an attempt leads to, when it is due or earlier, and the states that time leads
   * to.
   */
  function leadsFrom({ entry, now, policy }: Situation): Set<State> {
    const ats = [now, Math.max(now, entry?.nextAttemptAt ?? now)]
    return new Set([
      ...ats.flatMap((at) =>
        columns.flat().map((event) => stateOf(after(entry, replies[event], at, policy), at, policy)),
      ),
      stateOf(entry, now + DAY, policy),
      stateAfterLongFailure({ entry, now, policy }),
    ])
  }

  test.each(columns.filter((events) => events.length > 1))(
    '%s and %s lead to the same state and wait from every state',
    (...events) => {
      for (const state of knownStates) {
        const [first, ...others] = events.map((event) => next(situations[state], event))
        for (const other of others) expect(other).toEqual(first)
      }
    },
  )

  test.each(knownStates.filter((state) => state !== 'unknown'))('%s decides as states says', (state) => {
    const { entry, now, policy } = situations[state]
    const { holds, ...access } = originAccessOf(entry as Entry, now, policy)
    const freshness = 'freshness' in access ? `${access.freshness}-rules` : holds
    expect(freshness).toBe(states[state].holds)
  })

  test('docs/fetching.md has the current tables of states and transitions', { tags: 'page' }, async () => {
    const holds = {
      'nothing-yet': 'the check waits for the fetch',
      'fresh-rules': 'the rules, `fresh`',
      'stale-rules': 'the rules of the copy, `stale`',
      'allow-all': 'everything is allowed',
      'disallow-all': 'everything is disallowed',
    } as const
    const tables = [
      {
        head: ['state', 'meaning', 'what decides', 'source'],
        rows: knownStates.map((state) => {
          const { meaning, holds: what, source } = states[state]
          return [`\`${state}\``, meaning, holds[what], source]
        }),
      },
      {
        head: ['from', ...columns.map((events) => events.join(', ')), 'failing for 30 days', 'time alone'],
        rows: knownStates.map((state) => [
          `\`${state}\``,
          ...columns.map(([event]) => {
            const { to, waitMs } = next(situations[state], event as Event)
            return `\`${to}\`, ${formatDuration(waitMs)}`
          }),
          state === 'unknown' ? '' : `\`${stateAfterLongFailure(situations[state])}\``,
          stateInTime(situations[state]),
        ]),
      },
    ]
    await expectTables('docs/fetching.md', ...tables)
  })
})

describe('an early refresh (refreshAheadMs, our choice)', () => {
  const ahead = (ms: number): AccessPolicy => ({ ...defaultAccessPolicy, refreshAheadMs: ms })

  test.each([
    ['does not start before its time', HOUR, 23 * HOUR - 1, 'answer'],
    ['starts from that time on', HOUR, 23 * HOUR, 'answer-and-refresh'],
    ['starts until the result ends', HOUR, DAY - 1, 'answer-and-refresh'],
    ['is too late at the end of the result: checks wait', HOUR, DAY, 'obtain'],
    ['never starts in the first half', 100 * DAY, DAY / 2 - 1, 'answer'],
    ['starts in the second half', 100 * DAY, DAY / 2, 'answer-and-refresh'],
    ['never starts by default', 0, DAY - 1, 'answer'],
  ] as const)('%s', (_, aheadMs, at, expected) => {
    for (const event of ['2xx', '404', '304'] as const) {
      const entry = after(situationAfter(['2xx']).entry, replies[event], START, defaultAccessPolicy)
      expect(plan(entry, START + at, ahead(aheadMs))).toBe(expected)
    }
  })

  test('never starts during the wait after a failure', () => {
    const entry = after(undefined, replies['500'], START, defaultAccessPolicy)
    expect(plan(entry, START + MINUTE - 1, ahead(HOUR))).toBe('answer')
    expect(plan(entry, START + MINUTE, ahead(HOUR))).toBe('obtain')
  })

  test.each<readonly [state: State, event: Event, dialect: DialectName]>([
    ['rules', '2xx', 'rfc9309'],
    ['unavailable', '404', 'rfc9309'],
    ['restricted', '403', 'koster-1996'],
  ])('leaves the previous result valid to its end if it fails: %s', (state, event, dialect) => {
    const policy = { ...accessPolicyOf(dialects[dialect].access), refreshAheadMs: 2 * HOUR }
    const answer = after(undefined, replies[event], START, policy)
    const end = answer.nextAttemptAt
    let entry = answer
    let at = end - 2 * HOUR
    for (const waitMs of [1, 2, 4, 8, 16, 32].map((minutes) => minutes * MINUTE)) {
      expect(plan(entry, at, policy)).toBe('answer-and-refresh')
      entry = after(entry, replies['500'], at, policy)
      expect(entry.latest).toMatchObject({ kind: 'unreachable', at })
      expect(stateOf(entry, at, policy)).toBe(state)
      expect(originAccessOf(entry, at, policy)).toEqual(originAccessOf(answer, at, policy))
      expect(plan(entry, at + waitMs - 1, policy)).toBe('answer')
      at += waitMs
    }
    expect(entry).toMatchObject({
      failures: 6,
      unreachableSince: end - 2 * HOUR,
      held: { attempt: answer.latest, until: end },
    })
    expect(describeState(entry, at, policy)).toContain('an early refresh found it unreachable (status 500)')
    expect(stateOf(entry, end - 1, policy)).toBe(state)
    // At the end of the result the failure decides.
    expect(stateOf(entry, end, policy)).toBe(state === 'rules' ? 'lost-with-copy' : 'lost')
    expect(plan(entry, end, policy)).toBe('obtain')
    // The next failure drops the held result; the next result resets the failures.
    expect(after(entry, replies['500'], end, policy)).toMatchObject({ held: undefined, failures: 7 })
    expect(after(entry, replies[event], at, policy)).toMatchObject({
      held: undefined,
      failures: 0,
      unreachableSince: undefined,
    })
  })

  test('is not repeated before its Retry-After, also beyond the end of the result', () => {
    const policy = ahead(HOUR)
    const reply: Reply = { kind: 'response', status: 503, headers: { 'retry-after': '7200' } }
    const entry = after(after(undefined, replies['2xx'], START, policy), reply, START + 23 * HOUR, policy)
    expect(stateOf(entry, START + DAY - 1, policy)).toBe('rules')
    expect(plan(entry, START + DAY - 1, policy)).toBe('answer')
    expect(stateOf(entry, START + DAY, policy)).toBe('lost-with-copy')
    expect(plan(entry, START + 25 * HOUR - 1, policy)).toBe('answer')
    expect(plan(entry, START + 25 * HOUR, policy)).toBe('obtain')
  })

  test('leaves the entry in the store until a day after the result ends', () => {
    const policy: AccessPolicy = { ...ahead(HOUR), afterDays: 0 }
    const answer = after(undefined, replies['2xx'], START, policy)
    const entry = after(answer, replies['500'], START + 23 * HOUR, policy)
    expect(keepUntil(answer, START, policy)).toBe(START + 2 * DAY)
    expect(keepUntil(entry, START + 23 * HOUR, policy)).toBe(START + 2 * DAY)
    const lost = after(entry, replies['500'], START + DAY, policy)
    expect(keepUntil(lost, START + DAY, policy)).toBe(START + 2 * DAY + 2 * MINUTE)
  })

  test('does not start in another process whose refreshAheadMs is shorter', () => {
    const entry = after(
      after(undefined, replies['2xx'], START, ahead(HOUR)),
      replies['500'],
      START + 23 * HOUR,
      ahead(HOUR),
    )
    expect(plan(entry, START + 23 * HOUR + 2 * MINUTE, ahead(HOUR))).toBe('answer-and-refresh')
    expect(plan(entry, START + 23 * HOUR + 2 * MINUTE, ahead(0))).toBe('answer')
    expect(plan(entry, START + DAY, ahead(0))).toBe('obtain')
  })

  test('holds no result after the clock was set back, since its age is unknown', () => {
    const entry = after(
      after(undefined, replies['2xx'], START, defaultAccessPolicy),
      replies['500'],
      START - DAY,
      defaultAccessPolicy,
    )
    expect(entry.held).toBeUndefined()
    expect(stateOf(entry, START - DAY, defaultAccessPolicy)).toBe('lost-with-copy')
  })
})

describe('the policy of the reader limits an entry that another process wrote (our choice)', () => {
  const long: AccessPolicy = { ...defaultAccessPolicy, ttlMs: 7 * DAY }
  const FAR = START + 9_999 * DAY
  const lost = after(situationAfter(['2xx']).entry, replies['500'], START + HOUR, defaultAccessPolicy)
  const answer = (kind: 'success' | 'unavailable', at = START) => ({
    ...after(undefined, replies['2xx'], at, long).latest,
    kind,
  })

  test.each([
    ['a success', answer('success'), 'lost-with-copy', 'rules'],
    ['an allowing 404', answer('unavailable'), 'lost-with-copy', 'unavailable'],
    ['a 404 from the far future', answer('unavailable', FAR), 'lost-with-copy', 'unavailable'],
  ] as const)('a held result without an end: %s', (_, attempt, then, before) => {
    const policy: AccessPolicy = { ...defaultAccessPolicy, maxTtlMs: DAY }
    const entry = entryFrom(entryText({ ...lost, nextAttemptAt: FAR, held: { attempt, until: FAR } })) as Entry
    const end = Math.min(attempt.at, entry.latest.at) + DAY
    expect(stateOf(entry, end - 1, policy)).toBe(before)
    expect(stateOf(entry, end, policy)).toBe(then)
    expect(decide(entry, rulesOf(RULES), `${ORIGIN}/page`, end, policy)).toMatchObject({
      verdict: { allowed: false, because: 'rule' },
      access: { outcome: 'unreachable', nextAttemptAt: entry.latest.at + DAY, copy: { freshness: 'stale' } },
    })
    expect(describeState(entry, end, policy)).not.toContain('an early refresh')
    expect(plan(entry, entry.latest.at + DAY, policy)).toBe('obtain')
    expect(keepUntil(entry, end, policy)).toBeLessThanOrEqual(end + 31 * DAY)
    const { held } = after(entry, replies['500'], end - 1, policy)
    expect(held).toEqual({ attempt, until: end })
  })

  test('an entry from the far future is kept for a time counted from now', () => {
    const entry = after(undefined, replies['2xx'], FAR, long)
    expect(keepUntil(entry, START, defaultAccessPolicy)).toBe(START + 37 * DAY)
    expect(plan(entry, START, defaultAccessPolicy)).toBe('obtain')
    expect(holdsUntil(entry, START, defaultAccessPolicy)).toBe(0)
  })

  test('a copy that was confirmed in the far future is not obeyed after a 404 (draft of 2019)', () => {
    const { entry, now, policy } = situations['unavailable-with-copy']
    const { copy } = entry as Entry & { copy: object }
    const early = { ...(entry as Entry), copy: { ...copy, confirmedAt: FAR } } as Entry
    expect(stateOf(early, now, policy)).toBe('unavailable')
    expect(after(early, replies['404'], now + DAY, policy).copy).toBeUndefined()
  })
  test.each([
    ['2xx', DAY],
    ['404', DAY],
    ['500', HOUR],
  ] as const)('%s in an entry with an attempt due in 400 days', (event, maxMs) => {
    const policy: AccessPolicy = { ...defaultAccessPolicy, maxTtlMs: event === '500' ? MINUTE : DAY }
    const entry = { ...after(undefined, replies[event], START, long), nextAttemptAt: START + 400 * DAY }
    expect(plan(entry, START + maxMs - 1, policy)).toBe('answer')
    expect(plan(entry, START + maxMs, policy)).toBe('obtain')
    expect(holdsUntil(entry, START, policy)).toBe(event === '500' ? 0 : START + maxMs)
  })
})

test('draft of 2019, §2.3.1.3, a copy that the site removed a day ago is not obeyed when the site becomes unreachable', () => {
  const { entry: known, now, policy: draft } = situations['unavailable-with-copy']
  const policy = { ...draft, ttlMs: MINUTE }
  const entry = after(known, replies['404'], now, policy)
  expect(stateOf(after(entry, replies['500'], now + HOUR, policy), now + HOUR, policy)).toBe('lost-with-copy')
  expect(stateOf(after(entry, replies['500'], now + DAY, policy), now + DAY, policy)).toBe('lost')
})

describe('random histories', () => {
  const events = Object.keys(replies) as Event[]
  const failing = ['429', '500', '503', 'no response'] as const
  const rules = { known: parseRobots(RULES).forCrawler('x'), none: parseRobots('').forCrawler('x') }
  const urls = [`${ORIGIN}/page`, `${ORIGIN}/other`, `${ORIGIN}/robots.txt`, 'mailto:a@b.test', '']
  const names = Object.keys(dialects) as DialectName[]

  test('keep a held result to its end, a fresh copy decisive until freshUntil, allows equal to decide, and entries intact in JSON', () => {
    let failedRefreshes = 0
    const seen = new Set<State>()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const roll = seededRandom(seed)
        const policy: AccessPolicy = {
          ...accessPolicyOf(dialects[pick(roll, names)].access),
          refreshAheadMs: pick(roll, [0, HOUR, 100 * DAY]),
          maxTtlMs: pick(roll, [HOUR, 7 * DAY]),
          afterDays: pick(roll, [0.1, 30]),
        }
        const later = pick(roll, [events, failing])
        let entry: Entry | undefined
        let now = START
        for (let i = 0; i < 12; i++) {
          now += pick(roll, [0, MINUTE, HOUR, 13 * HOUR, DAY, 31 * DAY, -2 * MINUTE])
          const event = i === 0 && later === failing ? pick(roll, ['2xx', '500'] as const) : pick(roll, later)
          const last = entry
          const until = last === undefined ? 0 : holdsUntil(last, now, policy)
          entry = after(last, replies[event], now, policy)
          seen.add(stateOf(entry, now, policy))
          if (last !== undefined && entry.latest.kind === 'unreachable' && now < until) {
            failedRefreshes++
            for (const at of [now, (now + until) / 2, until - 1]) {
              expect(originAccessOf(entry, at, policy)).toEqual(originAccessOf(last, at, policy))
              expect(plan(entry, at, policy)).not.toBe('obtain')
            }
          }
          const { latest, held } = entry
          const freshEnd = freshUntil(entry, policy)
          expect(freshEnd > 0).toBe(latest.kind === 'success' && held === undefined)
          for (const at of freshEnd > 0 ? [latest.at, (latest.at + freshEnd) / 2, freshEnd - 1] : []) {
            expect(plan(entry, at, policy)).toBe('answer')
            const known = (url: string) => rules.known.isAllowed(url)
            expect(urls.map((url) => allows(entry as Entry, rules.known, url, at, policy))).toEqual(urls.map(known))
          }
          if (freshEnd > 0) expect(plan(entry, freshEnd, policy)).not.toBe('answer')
          expect(entryFrom(entryText(entry), ORIGIN)).toEqual(entry)
          for (const at of [now, now + HOUR, now + 31 * DAY]) {
            const own = entry.copy === undefined ? rules.none : rules.known
            const decided = (url: string) => decide(entry as Entry, own, url, at, policy).verdict.allowed
            expect(urls.map((url) => allows(entry as Entry, own, url, at, policy))).toEqual(urls.map(decided))
            expect(describeState(entry, at, policy)).toMatch(/^\P{Cc}+$/u)
          }
        }
      }),
      { numRuns: sampled(2_000) },
    )
    expect(failedRefreshes).toBeGreaterThan(sampled(1_000))
    expect([...seen].sort()).toEqual(knownStates.filter((state) => state !== 'unknown').sort())
  })
})
