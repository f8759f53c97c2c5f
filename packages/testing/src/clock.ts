// The clock of a fake web: the clock of the test's fake timers. A gate waits with `setTimeout` and
// reads the time from a clock, so both must advance together.
import { setImmediate } from 'node:timers' // stays real when the global one is faked
import { OptionError } from '@politely/core'
import { number, withMethods } from '@politely/fetcher/internal'

/** Fake timers, such as `mock.timers` of node:test. */
export interface FakeTimers {
  /** Advances the time by this many milliseconds, and calls the timers that are due. */
  tick(ms: number): unknown
  /** The same, and waits for promises between the timers. */
  tickAsync?(ms: number): Promise<unknown>
}

/** The clock of a fake web. */
export interface FakeClock {
  /**
   * Returns milliseconds since 1970, by the fake `Date`. For the option `now` of a RobotsClient and
   * of a gate.
   */
  readonly now: () => number
  /**
   * Advances the fake timers by this many milliseconds. Requests that wait for less than that are
   * sent, and get their responses.
   * @throws {OptionError} if `setTimeout` or `Date` is not faked.
   */
  advance(ms: number): Promise<void>
}

const REMEDY =
  'call vi.useFakeTimers() or jest.useFakeTimers() before; with node:test, call mock.timers.enable({ apis: ["setTimeout", "Date"] }) before, and write fakeWeb(sites, { timers: mock.timers })'

/** In how many steps at most time advances with timers that do not wait for promises. */
const MAX_STEPS = 10_000

/** How many turns of the event loop a request takes at most until it waits for a timer. */
const TURNS = 10

/** @throws {OptionError} for timers without a method `tick`. */
export function fakeClock(timers: FakeTimers | undefined): FakeClock {
  withMethods('timers', timers, ['tick'], 'fake timers with a method tick, such as mock.timers of node:test')
  const now = () => Date.now()
  return {
    now,
    async advance(ms) {
      number('ms', ms, { min: 0 })
      const faked = timers ?? fakedGlobally()
      if (faked === undefined) throw new OptionError('timers', `setTimeout is not faked; ${REMEDY}`)
      await turns(TURNS)
      const until = now() + ms
      await (faked.tickAsync?.(ms) ?? advanceInSteps(faked, ms))
      await turns(TURNS)
      if (now() < until) throw new OptionError('timers', `Date is not faked; ${REMEDY}`)
    },
  }
}

/**
 * Returns the fake timers of Vitest, Jest or Sinon, if they are in use: they leave their clock as a
 * property of each function that they replace.
 */
function fakedGlobally(): FakeTimers | undefined {
  const { clock } = globalThis.setTimeout as { readonly clock?: FakeTimers }
  return typeof clock?.tickAsync === 'function' ? clock : undefined
}

/** Waits for promises after each step, since a request sets its timers after the previous response. */
async function advanceInSteps(timers: FakeTimers, ms: number): Promise<void> {
  const stepMs = Math.max(1, Math.ceil(ms / MAX_STEPS))
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    timers.tick(Math.min(stepMs, leftMs))
    await turns(1)
  }
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise<void>((resolve) => setImmediate(resolve))
}
