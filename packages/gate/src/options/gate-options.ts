// The options of a gate and of its methods.
import type { LookupFunction } from 'node:net'
import type { EvidenceSink, Logger, RobotsClient } from '@politely/fetcher'
import type { PacingOptions } from '../pace/pacing-options.ts'

/** Options of a `PoliteGate`. Only `robots` is required. */
export interface PoliteGateOptions extends PacingOptions {
  /** The client that fetches and caches robots.txt. The gate does not close it. */
  readonly robots: RobotsClient
  /**
   * A clock in milliseconds since 1970 that never goes back. For tests and simulations, with fake
   * timers: the gate waits with `setTimeout`. Default:
   * `performance.timeOrigin + performance.now()`, which no change of the system clock affects. The
   * pace then still keeps Visit-time, Request-rate and dates in Retry-After by `Date.now`.
   */
  readonly now?: (() => number) | undefined
  /**
   * A resolver with the signature of `dns.lookup`. Used if `paceBy` is `address`, or with
   * `minDelayPerAddressMs` or `maxConcurrentPerAddress`. Default: `dns.lookup`.
   */
  readonly lookup?: LookupFunction | undefined
  /**
   * Logs long waits (`info`), and what needs attention (`warn`). A wait is long from ten seconds.
   * Warnings are about 429 and 503 responses, delays of over five minutes without `maxDelayMs`, and
   * permits that are not released. `console` is one. Default: the `logger` of `robots`.
   */
  readonly logger?: Logger | undefined
  /**
   * Keeps each decision about a request, and what became of it. A request starts when its decision is
   * kept as safely as the sink promises, and not at all if the sink cannot keep it: `enter` rejects with
   * the error of the sink. `evidenceFiles` of `@politely/evidence` creates such a sink; the caller
   * closes it. Default: the option `evidence` of `robots`.
   */
  readonly evidence?: EvidenceSink | undefined
}

/** Where the URL of a request comes from. */
export interface SourceOptions {
  /**
   * The URLs that led to this one, in order: of the page whose link it is, of the sitemap that
   * lists it, or of redirects. The page alone is enough. A URL that a public host gave must lead to
   * a public address. Default: the redirects that requests through this gate have shown.
   */
  readonly redirectedFrom?: readonly string[] | undefined
}

/** Options of `check` and `when` of a `PoliteGate`. */
export interface WhenOptions extends SourceOptions {
  /** Aborting it rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | null | undefined
}

/** Options of `enter` of a `PoliteGate`. */
export interface EnterOptions extends SourceOptions {
  /**
   * Aborting it rejects the waiting request with the signal's reason. If the request waits in its
   * queue, and the reason is a `DOMException` of `AbortSignal.timeout` or of `abort()`, it rejects
   * with an `AbortedWaitError`, whose `cause` is the reason.
   */
  readonly signal?: AbortSignal | null | undefined
  /**
   * The longest time that this request may wait in its queue. Milliseconds; default: the
   * `maxWaitMs` of the gate. `Infinity` for no limit.
   */
  readonly maxWaitMs?: number | undefined
}
