// Runs the test cases of pacers. A case is a script, whose steps are separated by ` | `:
//
//   a slot                         `a` calls reserve, and gets a slot with the caller's own delay
//   a slot 5000 crawl-delay        the same with another delay in milliseconds, and its reason
//   b wait 600 backoff             `b` calls reserve, and has to wait so long, for this reason
//   c wait 1000+                   `c` has to wait for at least so long
//   estimate 3 3000 own-delay      a request behind three others would wait so long
//   sent a 20                      `a` was sent 20 ms ago; without a number, now
//   report a 429 retry-after=30    the response to `a`; also pushback=, asks= (ms) and backoff=
//   end a 500                      `a` has ended after 500 ms
//   cancel a                       `a` does not start
//   pause 3000 backoff             the site asks for a pause
//   admit a closed 0               the circuit is closed, after no failure in a row
//   settle a failure,900 open 1 6000   `a` has failed with a Retry-After of 900 ms; the circuit is
//                                  open for the first time, for six seconds
//   admit a probe                  the circuit is half-open, and `a` is its probe
//   +400                           the clock moves
//
// `a@two` is the request `a` of another key or origin. A word such as `/max-2s` is one of LIMITS.
import { AssertionError } from 'node:assert/strict'
import type { Delay, PaceLimits, PauseReason } from '@politely/core/engine'
import type { CircuitReport, CircuitResult, Pacer, Reservation, Ticket, WaitEstimate } from '@politely/gate'
import { type CaseClock, caseClock } from './case-clock.ts'

/** The pacer under test. */
export interface PacerKit {
  /**
   * Returns a pacer that has kept nothing yet. `now` is the clock of the case, in milliseconds
   * since 1970.
   */
  open(now: () => number): Pacer | Promise<Pacer>
  /**
   * Another clock, such as the fake timers of a test runner, or one that waits. Default: a clock
   * that starts at midnight UTC and moves only with `advance`.
   */
  readonly clock?: CaseClock
  /**
   * By how much a wait may differ from the expected one, for a pacer that has its own clock.
   * Milliseconds. Default 0.
   */
  readonly toleranceMs?: number
}

const OWN_LIMITS: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

const LIMITS: Readonly<Record<string, Partial<PaceLimits>>> = {
  '/no-delay': { ownDelayMs: 0 },
  '/from-end': { pauseFrom: 'end' },
  '/factor': { delayFactor: 3 },
  '/crawl-5s': { crawlDelayMs: 5_000 },
  '/crawl-60s': { crawlDelayMs: 60_000 },
  '/max-2s': { maxDelayMs: 2_000 },
  '/max-3s': { maxDelayMs: 3_000 },
  '/rate': { requestRates: [{ requests: 5, periodMs: 10_000, between: undefined }] },
  '/morning': { visitTimes: [{ from: 6 * 60, to: 8 * 60 }] },
}

const CIRCUIT_LIMITS = { failures: 3, coolMs: 60_000, maxMs: 200_000, factor: 2 }
const FAILURE = { kind: 'connection', because: 'refused' } as const

/** The fields of a reply that a step names. `atLeastMs` is the shortest `waitMs`. */
type Fields = Readonly<Record<string, unknown>>

/** What the steps of a case share. */
interface Script {
  readonly pacer: Required<Pacer>
  /** By request. */
  readonly tickets: Map<string, Ticket | undefined>
  readonly delays: Map<string, Delay>
}

interface Step extends Script {
  readonly request: string
  readonly key: string
  readonly limits: PaceLimits
  /** The words after the verb and the request. */
  readonly args: readonly string[]
  /** The ticket of the request. */
  readonly ticket: Ticket
}

/** A reply, and what it should be. */
type Checked = readonly [reply: Reservation | WaitEstimate | CircuitReport, expected: Fields]

const VERBS: Readonly<Record<string, (step: Step) => Promise<Checked | undefined>>> = {
  async reserve({ pacer, request, key, limits, args, tickets, delays }) {
    const [kind, ms = 1_000, because = 'own-delay'] = args.filter((word) => !word.includes('='))
    const allowanceMs = numberOf('allowance', args)
    const reply = await pacer.reserve(key, limits, tickets.get(request), undefined, undefined, allowanceMs)
    if (reply.ticket !== undefined) tickets.set(request, reply.ticket)
    if (reply.kind === 'slot') delays.set(request, reply.delay)
    if (kind === 'slot') return [reply, { kind, delayMs: Number(ms), because }]
    const atLeastMs = Number.parseFloat(`${ms}`)
    return [reply, `${ms}`.endsWith('+') ? { kind, atLeastMs } : { kind, waitMs: Number(ms), because }]
  },
  async estimate({ pacer, key, limits, args: [ahead, waitMs, because] }) {
    return [await pacer.estimate(key, limits, Number(ahead)), { waitMs: Number(waitMs), because }]
  },
  async sent({ pacer, request, key, ticket, delays, args: [agoMs] }) {
    await pacer.sent(key, ticket, delays.get(request) as Delay, numberIn(agoMs))
  },
  async cancel({ pacer, key, ticket }) {
    if (ticket !== undefined) await pacer.cancel(key, ticket)
  },
  async report({ pacer, key, ticket, args }) {
    const [firstMs = 0, maxMs = 0, factor = 0] = textOf('backoff', args)?.split(',').map(Number) ?? []
    const pushback = textOf('pushback', args)
    await pacer.report(key, ticket, {
      status: Number(args[0]),
      retryAfter: textOf('retry-after', args),
      ...(pushback !== undefined && { isPushback: pushback === 'true' }),
      requestedMs: numberOf('asks', args),
      ...(firstMs > 0 && { backoff: { firstMs, maxMs, factor } }),
    })
  },
  async end({ pacer, key, ticket, limits, args: [tookMs] }) {
    await pacer.end(key, ticket, limits, Number(tookMs))
  },
  async pause({ pacer, key, args: [ms, because] }) {
    await pacer.pause(key, Number(ms), because as PauseReason)
  },
  async admit({ pacer, request, key, tickets, args }) {
    const reply = await pacer.admit(originOf(key), CIRCUIT_LIMITS)
    tickets.set(request, reply.probe)
    return [reply, circuitOf(args)]
  },
  async settle({ pacer, request, key, tickets, args: [what = '', ...expected] }) {
    const [kind, retryAfterMs] = what.split(',')
    const failure = { failure: FAILURE, retryAfterMs: numberIn(retryAfterMs) }
    const result = {
      kind,
      ...(kind === 'failure' && failure),
      probe: request === 'robots' ? request : tickets.get(request),
    }
    return [await pacer.settle(originOf(key), CIRCUIT_LIMITS, result as CircuitResult), circuitOf(expected)]
  },
}

/** The verbs whose first word is not a request, and those of requests that have a slot. */
const WITHOUT_REQUEST = ['estimate', 'pause']
const WITH_SLOT = ['sent', 'report', 'end']

/** Runs a script. @throws {AssertionError} that shows all replies that differ from it. */
export async function runScript(name: string, steps: string, kit: PacerKit): Promise<void> {
  const { open, clock = caseClock(), toleranceMs = 0 } = kit
  const script: Script = {
    pacer: (await open(clock.now)) as Required<Pacer>,
    tickets: new Map(),
    delays: new Map(),
  }
  const differences: { readonly step: number; readonly expected: unknown; readonly actual: unknown }[] = []
  for (const [step, text] of steps.split(' | ').entries()) {
    if (text.startsWith('+')) {
      await clock.advance(Number(text))
      continue
    }
    const [actual, expected] = (await runStep(text, script)) ?? []
    const differs = (field: string) => !isEqual(field, fieldOf(field, actual), expected?.[field], toleranceMs)
    if (Object.keys(expected ?? {}).some(differs)) differences.push({ step, expected, actual })
  }
  if (differences.length === 0) return
  const [actual, expected] = (['actual', 'expected'] as const).map((side) =>
    differences.map((one) => ({ step: one.step, reply: one[side] })),
  )
  const message = `${name}: ${JSON.stringify(differences)}`
  throw new AssertionError({ message, actual, expected, operator: 'deepEqual' })
}

function runStep(text: string, script: Script): Promise<Checked | undefined> {
  const all = text.split(' ')
  const words = all.filter((word) => !word.startsWith('/'))
  const isReserve = words[1] === 'slot' || words[1] === 'wait'
  const [verb = '', ...rest] = isReserve ? ['reserve', ...words] : words
  const [name = '', ...args] = WITHOUT_REQUEST.includes(verb) ? ['', ...rest] : rest
  const [request = '', key = 'k'] = name.split('@')
  const { pacer, tickets } = script
  const ticket = tickets.get(request) as Ticket
  const call = VERBS[verb]
  if (call === undefined || !(verb in pacer)) throw new Error(`the pacer has no method ${verb}`)
  const hasSlot = ticket !== undefined && script.delays.has(request)
  if (WITH_SLOT.includes(verb) && !hasSlot) throw new Error(`${text}: ${request} has no slot`)
  const limits = Object.assign({}, OWN_LIMITS, ...all.map((word) => LIMITS[word]))
  return call({ ...script, request, key, limits, args, ticket })
}

/** Returns the text of `name=text`, which ends with the step. */
function textOf(name: string, args: readonly string[]): string | undefined {
  return new RegExp(`(?:^| )${name}=(.*?)(?= [a-z-]+=|$)`).exec(args.join(' '))?.[1]
}

function numberOf(name: string, args: readonly string[]): number | undefined {
  return numberIn(textOf(name, args))
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function originOf(key: string): string {
  return `https://${key}.test`
}

/** Returns what `open 1 6000` and so on say of the reply of a circuit. */
function circuitOf([state, ...args]: readonly string[]): Fields {
  const [first, waitMs] = args.map(Number)
  if (state === 'closed') return { state, failures: first, periods: 0, waitMs: 0, isProbe: false }
  if (state === 'open')
    return { state, periods: first, waitMs, isProbe: false, ...(args.includes('refused') && { failure: FAILURE }) }
  return state === 'any' ? {} : { state: 'half-open', isProbe: state === 'probe' }
}

/** Returns a field of a reply, or of its delay. */
function fieldOf(name: string, reply: object | undefined): unknown {
  const { delay, ...fields } = { delay: undefined, ...reply } as Fields
  if (name === 'isProbe') return fields.probe !== undefined
  return { ...fields, ...(delay as object | undefined) }[name === 'atLeastMs' ? 'waitMs' : name]
}

function isEqual(name: string, actual: unknown, expected: unknown, toleranceMs: number): boolean {
  if (name === 'waitMs') return Math.abs(Number(actual) - Number(expected)) <= toleranceMs
  if (name === 'atLeastMs') return Number(actual) >= Number(expected) - toleranceMs
  return JSON.stringify(actual) === JSON.stringify(expected)
}
