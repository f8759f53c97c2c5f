// When a request could leave, asked without waiting.
import type { ClientVerdict } from '@politely/fetcher'
import type { WaitReason } from './queue.ts'

/** The answer of `PoliteGate.when`. JSON-safe. */
export type Forecast = AllowedForecast | RefusedForecast

export interface AllowedForecast {
  readonly allowed: true
  readonly verdict: ClientVerdict
  /** The earliest moment, as things stand: an answer of 429 or a change of rules moves it. Milliseconds since 1970, by the gate's clock. */
  readonly at: number
  /** The same from now on. Milliseconds; 0 for at once. */
  readonly waitMs: number
  /**
   * Who has the last word on it; `none` where nobody asks it to wait. `concurrency`: it also has to wait for a place, and nobody knows
   * when a request ends.
   */
  readonly because: WaitReason | 'none'
  /** How many of its key wait before it. */
  readonly ahead: number
}

export interface RefusedForecast {
  readonly allowed: false
  readonly verdict: ClientVerdict
  /** When robots.txt will be asked for again, where it is unreachable now. Milliseconds since 1970, by the RobotsClient's clock. */
  readonly retryAt: number | undefined
}

/** When it makes sense to ask again about a URL that is refused. */
export function retryAtOf(verdict: ClientVerdict): number | undefined {
  return verdict.because === 'unreachable' ? verdict.access.nextAttemptAt : undefined
}
