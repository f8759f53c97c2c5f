// The caller's options for pace and concurrency.
import type { PageOutcomeKind } from '@politely/core'
import type { BackoffLimits } from '@politely/core/internal'
import type { Pacer } from './pacer.ts'

/** The options of a gate for pace and concurrency. All have defaults. */
export interface PacingOptions {
  /**
   * The shortest delay between two requests of one pace key, whatever robots.txt says. By default
   * each origin is a pace key; see `paceBy`. Milliseconds; default 1,000. The gate keeps delays
   * between the starts of requests. If it can see when requests are sent, it also keeps them
   * between these moments. With an HTTP client that does not show when it sends, requests may
   * arrive closer together: the first request of a connection also waits for the connection.
   */
  readonly minDelayMs?: number | undefined
  /**
   * The longest delay that you accept. A site that asks for a longer one gets this one, and the
   * permit says so (`because: 'cap'`). Milliseconds; default: no limit. It does not shorten a
   * Retry-After or a visit-time, and must not be less than `minDelayMs`.
   */
  readonly maxDelayMs?: number | undefined
  /**
   * Makes the delay after a request at least this many times its duration. A slow site gets longer
   * pauses (Heritrix's delay-factor, Mercator's rule). The delay is at most `maxDelayMs`, or 30
   * seconds if that is not set. How long a request takes is measured from its start until
   * `release`. From 0 to 100. Default 0: off. With `pauseFrom: 'start'` only factors above 1 have
   * an effect.
   */
  readonly delayFactor?: number | undefined
  /**
   * Makes each delay between two requests longer by a random part of it: with 0.5, a delay of one
   * second lasts from 1 to 1.5 seconds. It never makes a delay shorter. It applies to the delays of
   * domains and addresses too, but not to a Retry-After, a backoff or a Visit-time. From 0 to 1;
   * default 0: none.
   */
  readonly jitter?: number | undefined
  /**
   * Where the delays begin: at the `start` of a request, or at its `end`, that is at `release`.
   * With `end`, at most one request of each pace key is under way, so `maxConcurrentPerKey` can
   * only be 1. Default `start`.
   */
  readonly pauseFrom?: 'start' | 'end' | undefined
  /**
   * The shortest delay between two requests to one registrable domain. Milliseconds; default 0:
   * none.
   */
  readonly minDelayPerDomainMs?: number | undefined
  /**
   * The shortest delay between two requests to one IP address. Milliseconds; default 0: none. If a
   * host has several addresses, the first in alphabetical order counts.
   */
  readonly minDelayPerAddressMs?: number | undefined
  /**
   * How many requests of one pace key may be under way at once. By default each origin is a pace
   * key; see `paceBy`. A request is under way from its start until `release`; with `politely`,
   * until its headers have arrived. Default 2, or 1 with `pauseFrom: 'end'`.
   */
  readonly maxConcurrentPerKey?: number | undefined
  /**
   * How many requests to one site may be under way at once. A site is a registrable domain
   * (`example.co.uk`), or a tenant of a platform (`a.github.io`). This limit keeps a site with many
   * hosts and slow pages from occupying all of `maxConcurrent`. All tenants of a platform together
   * may have four times as many requests under way, but at most half of `maxConcurrent`. Default 8,
   * or `maxConcurrentPerKey` if that is larger.
   */
  readonly maxConcurrentPerDomain?: number | undefined
  /** How many requests to one IP address may be under way at once. Default: no limit. */
  readonly maxConcurrentPerAddress?: number | undefined
  /**
   * How many requests may be under way at once in all. Exempt slow ones don't count
   * (`slowAfterMs`). Default 64.
   */
  readonly maxConcurrent?: number | undefined
  /**
   * After this time a request is slow. If another request then waits for `maxConcurrent`, a slow
   * request no longer counts towards it. So sites whose responses never end cannot occupy all of
   * `maxConcurrent`. The same applies to the limit for all tenants of a platform. A slow request
   * still counts towards the limits for its origin, site and address. At most four times
   * `maxConcurrent` slow requests are exempt. Milliseconds; default 10,000. With `Infinity` no
   * request is exempt, and `maxConcurrent` is never exceeded.
   */
  readonly slowAfterMs?: number | undefined
  /**
   * The longest time that a request may wait in its queue. If it would have to wait longer, as far
   * as that is known, it is rejected at once with a `WaitTooLongError`. If it still waits after this
   * time, it is rejected then. A fetch of robots.txt before the queue does not count; `timeoutMs` of
   * the RobotsClient limits it. `enter` takes the same option for one request. Milliseconds;
   * default: no limit. With 0, only requests that need not wait are sent.
   */
  readonly maxWaitMs?: number | undefined
  /**
   * How many requests of one pace key may wait. A further one is rejected at once with a
   * `QueueFullError`. Default: no limit.
   */
  readonly maxQueuedPerKey?: number | undefined
  /**
   * After this time, an unreleased permit causes a warning. It is the process warning
   * `POLITELY_UNRELEASED_PERMIT` and a log line (`warn`), once for each gate. It may come up to
   * twice as late. It comes earlier if the process ends while requests wait for such permits.
   * Milliseconds; default 300,000: five minutes. `Infinity` for no warning.
   */
  readonly releaseWarningMs?: number | undefined
  /**
   * How often the `logger` gets a line about the crawl's progress (`info`). An idle crawl writes
   * none. Milliseconds; default: none. With 60,000, one line a minute.
   */
  readonly progressMs?: number | undefined
  /**
   * Which responses ask for a pause, and how long it is by default. Default: see `BackoffOptions`.
   */
  readonly backoff?: BackoffOptions | undefined
  /**
   * When an origin rests, because its last requests failed. Default: after 5 requests in a row
   * without a response it rests for half a minute, then longer; see `CircuitOptions`. `false` for
   * never.
   */
  readonly circuit?: CircuitOptions | false | undefined
  /**
   * Whether the headers `RateLimit`, `RateLimit-Policy` and `X-RateLimit-Reset` of a response make
   * requests wait (draft-ietf-httpapi-ratelimit-headers). They never shorten a delay. Default
   * `false`.
   */
  readonly rateLimitHeaders?: boolean | undefined
  /**
   * Whether the fetch of robots.txt counts as a request of the pace: the first page then waits for
   * one delay after it. Default `false`.
   */
  readonly countRobots?: boolean | undefined
  /**
   * How many requests of one pace key may start. A further request is rejected with a
   * `BudgetError`. So are the requests that wait when the last one starts. A redirect counts as a
   * request. A function returns the budget of a pace key, or undefined for no limit. The gate calls
   * it once for each key. The gate remembers the counts of the 1,000,000 keys that were used last,
   * each in about 150 bytes. A key that it has forgotten begins with the whole budget. Default: no
   * limit.
   */
  readonly budget?: number | ((key: string) => number | undefined) | undefined
  /** What of robots.txt is obeyed. Default: everything. Meant for your own site. */
  readonly obey?: ObeyOptions | undefined
  /**
   * Returns options for one site, or undefined for the options of the gate. The gate calls it once
   * for each origin, such as `https://example.com`, and again if it has seen 1,000 other origins
   * since. If it throws, the request is rejected with this error.
   */
  readonly pace?: ((origin: string) => SitePacingOptions | undefined) | undefined
  /**
   * Which requests share a pace and the limit `maxConcurrentPerKey`. A function returns the pace key
   * of a URL, a text of 1 to 500 characters; it is called for each request. The URL has no
   * credentials. In events and `queues()`, the key begins with `key:`. Default `origin`.
   */
  readonly paceBy?: PaceBy | ((url: string) => string) | undefined
  /** Keeps the pace. Default: a `LocalPacer`, which keeps it for this gate only. */
  readonly pacer?: Pacer | undefined
}

/**
 * Which requests share a pace.
 * - `origin` (the default): requests with the same scheme, host and port, like the scope of
 *   robots.txt.
 * - `host`: requests to the same host, on any port.
 * - `domain`: requests to the same registrable domain, such as `example.co.uk` and all hosts under
 *   it. A host without a registrable domain is its own key.
 * - `address`: requests to hosts with the same IP address. If a host has several addresses, the
 *   first in alphabetical order counts.
 * @inline
 */
export type PaceBy = 'origin' | 'host' | 'domain' | 'address'

/**
 * The options that can differ for one site. An option that is absent is the option of the gate.
 * @inline
 */
export type SitePacingOptions = Pick<
  PacingOptions,
  'minDelayMs' | 'maxDelayMs' | 'delayFactor' | 'jitter' | 'maxConcurrentPerKey' | 'obey' | 'circuit'
>

/** The checked option `backoff`, with defaults applied. */
export interface Backoff extends BackoffLimits {
  readonly statuses: readonly number[]
  readonly jitter: number
  readonly failures: boolean
}

/** Which responses ask for a pause, and how long it is. */
export interface BackoffOptions {
  /**
   * The statuses of responses that ask for a pause. A response with a Retry-After does so whatever
   * its status. From 100 to 599; default 429, 430, 503 and 529.
   */
  readonly statuses?: readonly number[] | undefined
  /** The first pause, if the response names none. Milliseconds; default 5,000. */
  readonly firstMs?: number | undefined
  /** The longest pause, if the response names none. Milliseconds; default 300,000. */
  readonly maxMs?: number | undefined
  /** Each further pause is this many times as long. From 1 to 100; default 2. */
  readonly factor?: number | undefined
  /**
   * Makes each pause longer by a random part of it, even one from a Retry-After. From 0 to 1;
   * default 0: none.
   */
  readonly jitter?: number | undefined
  /** Whether a failure without a response, such as a timeout, asks for a pause. Default `false`. */
  readonly failures?: boolean | undefined
}

/**
 * When the circuit of an origin opens, and for how long. While it is closed, requests start. While it
 * is open, none starts. After the cooling period it is half-open: one request may start, the probe.
 * If the probe fails, the circuit opens again, for longer. A success closes it. Each origin has its
 * circuit, whatever `paceBy` says. A failed attempt to fetch robots.txt counts as a failure, and a
 * successful one as a success.
 *
 * Nothing counts that isn't the fault of the site: your own aborts, blocked addresses, and failures
 * without a response of three origins or more if no other origin answers meanwhile.
 */
export interface CircuitOptions {
  /** After how many failures in a row it opens. Default 5. */
  readonly failures?: number | undefined
  /**
   * Which outcomes are failures (`outcomeOf`). Default `['connection']`: requests without a
   * response. A crawler that wants to stop at a site that refuses it adds `denied`, `challenge`,
   * `payment-required`, `login`, `rate-limited` or `server-error`.
   */
  readonly outcomes?: readonly PageOutcomeKind[] | undefined
  /**
   * The first cooling period. It is longer if the site asks for more (Retry-After). Milliseconds;
   * default 30,000: half a minute.
   */
  readonly coolMs?: number | undefined
  /**
   * The longest cooling period, unless the site asks for more. Milliseconds; default 3,600,000: an
   * hour.
   */
  readonly maxMs?: number | undefined
  /** Each further period is this many times as long. From 1 to 100; default 2. */
  readonly factor?: number | undefined
  /**
   * What happens to requests while the circuit is open. `fail`: those of the first cooling period
   * wait for the probe. If it fails, they are rejected with a `CircuitOpenError`, and later ones at
   * once. `wait`: they wait until the circuit closes. Default `fail`.
   */
  readonly whenOpen?: 'fail' | 'wait' | undefined
}

/**
 * What of robots.txt is obeyed. A weaker value than the default is counted (`disobeyedRules` and
 * `ignoredDelays`), logged once for each origin (`warn`), and causes the process warning
 * `POLITELY_DISOBEY` once.
 */
export interface ObeyOptions {
  /**
   * Whether a request that robots.txt disallows is refused. With `false` it starts, also while
   * robots.txt is unreachable. The `verdict` of its permit still says `allowed: false`. Invalid URLs
   * and blocked addresses are always refused. Default `true`.
   */
  readonly rules?: boolean | undefined
  /**
   * Whether Crawl-delay, Request-rate and Visit-time apply. Your own delays, Retry-After and backoff
   * always apply. Default `true`.
   */
  readonly delays?: boolean | undefined
}
