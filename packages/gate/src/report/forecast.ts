// The result of `PoliteGate.when`: when a request could start.
import type { ClientVerdict } from '@politely/fetcher'
import type { CircuitFailure } from '../pace/pacer.ts'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'

/** When a request could start, or why it would be refused. JSON-safe. */
export type Forecast = AllowedForecast | RefusedForecast

/**
 * The request may be made: when it could start.
 * @inline
 */
export type AllowedForecast = {
  readonly allowed: true
  readonly verdict: ClientVerdict
  /**
   * The earliest time at which the request could start. A response of 429 or a change of robots.txt
   * may move it. Milliseconds since 1970, by the gate's clock.
   */
  readonly at: number
  /** The time until then. Milliseconds; 0 if the request could start now. */
  readonly waitMs: number
  /**
   * What the request would wait for last; `none` if it could start now. `concurrency`: its slot is
   * free, but a concurrency limit is reached. It could start when another request ends, which the
   * gate cannot predict; `waitMs` is 0.
   */
  readonly because: WaitReason | 'none'
  /** The level that the request would wait for. Undefined if it could start now. */
  readonly level: WaitLevel | undefined
  /** How many requests with the same pace key wait before it. */
  readonly ahead: number
}

/**
 * robots.txt does not allow the request, the budget of its pace key is used up, or the circuit of its
 * origin is open.
 * @inline
 */
export type RefusedForecast = {
  readonly allowed: false
  readonly verdict: ClientVerdict
  /**
   * When the client will fetch robots.txt again, if it is unreachable now; or the end of the cooling
   * period, if the circuit is open. Undefined for other
   * refusals. Milliseconds since 1970, by the clock of the RobotsClient.
   */
  readonly retryAt: number | undefined
  /**
   * The budget of the pace key, if that is the reason: it is used up, or the requests that wait
   * will use it up. Undefined if robots.txt does not allow the request.
   */
  readonly budget: number | undefined
  /**
   * The outcome of the last request, if the reason is that the circuit of the origin is open. Then
   * `retryAt` is by the gate's clock.
   */
  readonly circuit: CircuitFailure | undefined
}
