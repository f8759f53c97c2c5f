// Warns about a wait that never ends: the program has replaced `setTimeout` by fake timers, and does
// not advance them.
//
// A test that advances the time ends its waits at once. So a wait is suspect after `PATIENCE_MS` of
// real time. A probe then shows whether the timers stand still: a fake timer that is due at once.
import { setTimeout as startTimer, clearTimeout as stopTimer } from 'node:timers' // stay real when the global ones are faked

const PATIENCE_MS = 1_500
const PROBE_MS = 500

let isWatching = false
let hasWarned = false

/**
 * Watches a wait that begins now, if `setTimeout` is faked. If the timers stand still, emits a
 * process warning, once for the process. Of several waits at a time it watches one.
 * @param subject What waits, for the warning.
 * @returns Call it when the wait has ended. Undefined if there is nothing to watch.
 */
export function watchFakeTimers(subject: () => string): (() => void) | undefined {
  const { setTimeout: faked, clearTimeout: stopFaked } = globalThis
  if (faked === startTimer || isWatching || hasWarned) return undefined
  isWatching = true
  let probe: NodeJS.Timeout | undefined
  let timer = startTimer(() => {
    let isDue = false
    probe = faked(() => {
      isDue = true
    }, 0)
    timer = startTimer(() => {
      stop()
      if (!isDue && globalThis.setTimeout === faked) warn(subject())
    }, PROBE_MS)
  }, PATIENCE_MS)
  const stop = () => {
    isWatching = false
    stopTimer(timer)
    stopFaked(probe)
  }
  return stop
}

function warn(subject: string): void {
  hasWarned = true
  process.emitWarning(
    `${subject}, but setTimeout is faked, and its time stands still; write const response = fetch(url); await vi.advanceTimersByTimeAsync(5_000); await response (Jest: jest.advanceTimersByTimeAsync; Sinon: clock.tickAsync; fakeWeb: web.clock.advance); if Date is faked and performance is not, add the option now: () => Date.now()`,
    { type: 'PolitelyWarning', code: 'POLITELY_FAKE_TIMERS' },
  )
}
