// The started permits of a gate that haven't been released. Warns if a permit is never released:
// after `releaseWarningMs`, and when the process ends while requests wait for it.
//
// One timer serves all permits. It runs while permits are open, and remembers the oldest of them.
// If that permit is still open when the timer fires, it has been open for at least the whole time.
// So the warning comes after one to two times `releaseWarningMs`. The timer doesn't keep the
// process alive, and uses no clock: neither a test's fake clock nor the gate's.
//
// Nor does a request that waits for a concurrency limit keep the process alive. If Node emits
// `beforeExit`, no work is left that could release a permit. So requests that wait for a permit
// never start.
import { escapeControls } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import { MAX_TIMEOUT_MS, type SlowItems } from '@politely/fetcher/internal'
import type { WaitCause } from '../pace/wait-cause.ts'
import { durationRoundedUp } from '../report/duration.ts'
import type { GateLog } from '../report/gate-log.ts'
import type { Grant } from './grant.ts'

/** The part of a lane that says what its requests wait for. */
interface HeldLane {
  readonly key: string
  readonly waiting: number
  readonly heldBy: WaitCause | undefined
}

// Read when this module is loaded, before a test replaces them.
const startTimer = setTimeout
const stopTimer = clearTimeout

/** The objects whose timer runs. They share one listener, since Node warns of more than ten. */
const watching = new Set<OpenPermits>()

function warnOfBlocked(): void {
  for (const permits of [...watching]) permits.warnIfBlocked()
}

export class OpenPermits {
  readonly #log: GateLog
  readonly #warningMs: number
  readonly #requests: SlowItems<Grant>
  #timer: NodeJS.Timeout | undefined
  /** The oldest request when the timer was started. */
  #watched: Grant | undefined
  #isWatching: boolean
  readonly #lanes: () => Iterable<HeldLane>

  /** @param warningMs Infinity for no warning. @param lanes Returns the lanes of the gate. */
  constructor(log: GateLog, warningMs: number, requests: SlowItems<Grant>, lanes: () => Iterable<HeldLane>) {
    this.#lanes = lanes
    this.#log = log
    this.#warningMs = warningMs
    this.#requests = requests
    this.#isWatching = warningMs < Number.POSITIVE_INFINITY
  }

  /** To be called when a request has started. */
  watch(): void {
    if (this.#timer === undefined && this.#isWatching) this.#watch(this.#requests.oldest)
  }

  /** How long the oldest permit has been open, by the gate's clock. Milliseconds. */
  oldestMs(at: number): number {
    const { oldest } = this.#requests
    return oldest === undefined ? 0 : at - oldest.startedAt
  }

  /** Returns when the oldest permit of each pace key started, by the gate's clock. */
  oldestByKey(): ReadonlyMap<string, number> {
    const oldest = new Map<string, number>()
    for (const { lane, startedAt } of this.#requests.started) if (!oldest.has(lane.key)) oldest.set(lane.key, startedAt)
    return oldest
  }

  /** Warns no more. To be called when the gate is closed. */
  stop(): void {
    this.#isWatching = false
    this.#stopWatching()
  }

  /** To be called when the process has nothing left to do. */
  warnIfBlocked(): void {
    const blocked = [...this.#lanes()].filter(({ heldBy }) => heldBy?.because === 'concurrency')
    const { started, oldest } = this.#requests
    const request = [...started].find(({ lane }) => blocked.some(({ key }) => key === lane.key)) ?? oldest
    if (blocked.length === 0 || request === undefined) return
    const count = blocked.reduce((sum, { waiting }) => sum + waiting, 0)
    this.#warn(
      request,
      (url) =>
        `the process ends, but requests still wait (${count}) for permits that have not been released, such as the permit for ${url}`,
    )
  }

  #watch(oldest: Grant | undefined): void {
    this.#watched = oldest
    this.#timer = startTimer(() => this.#check(), Math.min(this.#warningMs, MAX_TIMEOUT_MS)).unref()
    if (watching.size === 0) process.on('beforeExit', warnOfBlocked)
    watching.add(this)
  }

  #stopWatching(): void {
    stopTimer(this.#timer)
    this.#timer = undefined
    this.#watched = undefined
    if (watching.delete(this) && watching.size === 0) process.off('beforeExit', warnOfBlocked)
  }

  #check(): void {
    const { oldest } = this.#requests
    const isSame = oldest === this.#watched
    if (oldest === undefined) this.#stopWatching()
    else if (!isSame) this.#watch(oldest)
    else
      this.#warn(
        oldest,
        (url) =>
          `the permit for ${url} has not been released for ${durationRoundedUp(this.#warningMs)}, and requests may wait for it`,
        '; if requests take longer, write the option releaseWarningMs',
      )
  }

  #warn({ permit }: Grant, problem: (url: string) => string, remedy = ''): void {
    this.stop() // one warning is enough
    const { url = '', enteredAt } = permit ?? {}
    const hint = enteredAt === undefined ? '; NODE_DEBUG=politely shows where the request entered the gate' : ''
    const message = `${problem(escapeControls(withoutCredentials(url)))}; release each permit: read each response to its end, or call permit.release()${remedy}${hint}`
    this.#log.warn(message)
    process.emitWarning(message, {
      type: 'PolitelyWarning',
      code: 'POLITELY_UNRELEASED_PERMIT',
      ...(enteredAt !== undefined && { detail: enteredAt }),
    })
  }
}
