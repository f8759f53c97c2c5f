// Limits the requests that a site receives because others redirect their robots.txt to it. Here a
// site is a registrable domain. The site that receives the requests is the target.
//
// The target didn't ask for these requests. The redirecting site chooses their URLs, and a wildcard
// in its DNS gives it any number of hosts. So each target has two limits:
//
// - Pace, by registrable domain. Requests may start in a small burst, then one at a time, with a
//   delay. The delay is longer if the target's robots.txt is in memory and asks for it.
// - Pause, by origin. After a response with Retry-After, no such request is sent until that time is
//   over, no matter whose robots.txt it was. A pause by domain would be wrong: one tenant of a
//   hosting provider could stop the redirects to all others.
//
// The target's own rules do not apply. A redirect to `https://platform.example/robots/customer.txt`
// is honest, even if the platform disallows that path (RFC 9309 §2.3.1.2).
import type { CrawlerRules } from '@politely/core'
import { delayOf, type Entry, type Outcome, retryAfterMs } from '@politely/core/engine'
import { type Failure, headerOf } from '@politely/core/internal'
import { boundedMap } from '../base/lru-cache.ts'
import { failure } from '../fetch/failure.ts'
import { registrableDomainOf } from '../network/host-name.ts'

/** How many redirected requests to one domain may start at once. Our choice. */
const BURST = 10
/** The delay between further requests, in milliseconds. Our choice. */
const DELAY_MS = 1_000
/**
 * The longest delay that a target's robots.txt can ask for, in milliseconds. Our choice: one host
 * must not stop the redirects to its whole domain.
 */
const MAX_DELAY_MS = 10_000
/**
 * The longest wait, in milliseconds. It is enough for six hundred hosts at the same moment. Our
 * choice.
 */
const MAX_WAIT_MS = 600_000

/**
 * How many times are kept. A bound on memory, since sites choose the names. To evict a name, a site
 * has to redirect to as many others.
 */
const MAX_TIMES = 10_000

export interface TargetRules {
  /** Returns the rules of an origin if they are in memory. */
  readonly rulesOf: (origin: string) => CrawlerRules | undefined
  /** The client's clock: milliseconds since 1970. */
  readonly now: () => number
}

export class RedirectLimits {
  readonly #rulesOf: TargetRules['rulesOf']
  readonly #now: () => number
  /** By registrable domain: when its burst is complete again. By `performance.now()`. */
  readonly #completeAt = boundedMap<number>(MAX_TIMES)
  /** By origin: the end of its pause. By the client's clock. */
  readonly #pausedUntil = boundedMap<number>(MAX_TIMES)

  constructor({ rulesOf, now }: TargetRules) {
    this.#rulesOf = rulesOf
    this.#now = now
  }

  /**
   * Returns how long the next redirected request to a domain has to wait, in milliseconds. 0: it
   * may start now.
   */
  waitMs(domain: string): number {
    return Math.max(0, (this.#completeAt.peek(domain) ?? 0) - (BURST - 1) * DELAY_MS - performance.now())
  }

  /** Counts a redirected request, which starts now. */
  take(url: string): void {
    const [domain, now, delayMs] = [registrableDomainOf(url), performance.now(), this.#delayMs(url)]
    // A target that asks for a delay gets no burst.
    const from = delayMs > DELAY_MS ? now + (BURST - 1) * DELAY_MS : now
    this.#completeAt.set(domain, Math.max(from, this.#completeAt.peek(domain) ?? 0) + delayMs)
  }

  /**
   * Sets a pause of the URL's origin, whose response asked for it. @param until Milliseconds
   * since 1970.
   */
  pause(url: string, until: number): void {
    this.#pausedUntil.set(new URL(url).origin, until)
  }

  /** Keeps the pause that the last response of a failed attempt asks for. */
  pauseAfter(outcome: Outcome, { latest, nextAttemptAt }: Entry): void {
    if (outcome.kind !== 'unreachable' || outcome.headers === undefined) return
    const hasPause = retryAfterMs(headerOf(outcome.headers, 'retry-after'), latest.at) !== undefined
    if (hasPause) this.pause(outcome.url, nextAttemptAt)
  }

  /**
   * Returns why a redirect to this URL is not followed; undefined if it may wait for its turn
   * behind `ahead` others.
   */
  refusalAhead(url: string, ahead: number): Failure | undefined {
    return this.refusal(url, this.waitMs(registrableDomainOf(url)) + ahead * this.#delayMs(url))
  }

  /**
   * Returns why a redirect to this URL is not followed, or no longer after a wait of `waitMs`;
   * undefined if it is.
   */
  refusal(url: string, waitMs: number): Failure | undefined {
    const { origin } = new URL(url)
    const pauseMs = (this.#pausedUntil.peek(origin) ?? 0) - this.#now()
    if (pauseMs > 0) {
      const detail = `${origin} asked for a pause (Retry-After), of which ${Math.ceil(pauseMs / 1000)} s are left`
      return { ...failure('busy-target', detail), retryAfterMs: pauseMs }
    }
    if (waitMs <= MAX_WAIT_MS) return undefined
    const limit = `the wait would be longer than ${MAX_WAIT_MS / 60_000} minutes`
    return failure('busy-target', `too many hosts redirect their robots.txt to ${registrableDomainOf(url)}: ${limit}`)
  }

  /**
   * Returns the delay after a redirected request: ours, or a longer one that the target asks for.
   */
  #delayMs(url: string): number {
    const { crawlDelayMs, requestRates } = this.#rulesOf(new URL(url).origin) ?? {}
    const limits = { ownDelayMs: DELAY_MS, maxDelayMs: MAX_DELAY_MS, crawlDelayMs, requestRates }
    return delayOf(limits, this.#now()).delayMs
  }
}
