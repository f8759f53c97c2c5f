// politely(fetch): wraps a fetch, so that each request and each redirect hop enters a gate.
import { OptionError } from '@politely/core'
import {
  callable,
  describeValue,
  MAX_TIMEOUT_MS,
  number,
  oneOf,
  plausibleTimeout,
  registerPoliteFetch,
} from '@politely/fetcher/internal'
import { senderOf } from '../adapter/exchange.ts'
import { assertGateOptions, type GateOrOptions, resolveGate } from '../adapter/resolve-gate.ts'
import type { PoliteGate } from '../gate.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import type { Init } from './fetch-input.ts'
import type { FetchLike } from './fetch-response.ts'
import { assertNoDispatchers, warnOfRetries } from './misplaced-options.ts'
import { checkedCache, type ResponseCache } from './page-cache.ts'
import { fetchPage } from './page-call.ts'
import type { PoliteSender, RateLimitAnswer } from './page-exchange.ts'
import { type RetryOptions, retryOf } from './retry.ts'

/**
 * An existing gate; or an existing RobotsClient and the options of a new gate; or the options of
 * both. And how to refuse, what a response means, and how long a request may take.
 */
export type PolitelyOptions = GateOrOptions & PoliteFetchOptions

/**
 * The options of `politely` that are not options of a gate.
 * @inline
 */
export interface PoliteFetchOptions {
  /**
   * How a request fails that robots.txt does not allow. `throw` (the default): with a
   * `RobotsDisallowedError`. `response`: with a response of status 403, or 503 with Retry-After if
   * robots.txt is unreachable. A request that cannot wait (`maxWaitMs`, `maxQueuedPerKey`) or
   * is over its `budget` gets a response of status 503 then, too. `refusalOf` tells these responses
   * from responses of a site.
   */
  readonly onDisallowed?: 'throw' | 'response' | undefined
  /**
   * Says whether a response asks for fewer requests. It's for sites that say so in the text of a
   * page with status 200 or 403. Such a response counts like a 429: with `retryAfterMs`
   * (milliseconds), requests pause for this time, and otherwise for a growing one (`backoff`). The
   * function gets a clone of each response except redirects, and may read its body; the wrapped
   * fetch then resolves when the function has. A status or a Retry-After that asks for a pause
   * counts before that. If the function throws, the wrapped fetch rejects with that error. Default:
   * only the status and Retry-After count.
   */
  readonly isRateLimited?: ((response: Response) => RateLimitAnswer | PromiseLike<RateLimitAnswer>) | undefined
  /**
   * The time limit of one request, to the end of its response body. The wait in the queue does not
   * count. A signature (option `sign`) has as much time once more before that. Each redirect hop
   * has the whole time. When the time is over, the request is aborted: the call, or the reading of
   * the body, rejects with a `DOMException` named `TimeoutError`. Without a response, it is a
   * failure for `backoff`. The given fetch must obey the option `signal`. Milliseconds; default
   * none. Requests for robots.txt have `timeoutMs` instead.
   */
  readonly requestTimeoutMs?: number | undefined
  /**
   * What counts towards a timeout in the `signal` of a call. `from-call`: all time since the call, the
   * wait included, as with every fetch. `from-sending`: only the time that a request of the call is
   * under way, from its sending to the end of its response body. The waits for robots.txt, for the slot
   * of each hop and for each attempt of `retry` do not count; `maxWaitMs` limits the wait.
   *
   * The length of the timeout is the time from the call to the abort, if the reason of the signal is
   * named `TimeoutError`, as with `AbortSignal.timeout`. An abort with another reason ends the call at
   * once. The given fetch must obey the option `signal`.
   *
   * @default 'from-call'
   */
  readonly callerTimeouts?: 'from-call' | 'from-sending' | undefined
  /**
   * Sends a request again after a failure that may pass: through the gate, never before the time
   * that the site asks for, and on the `budget`. Only requests that may be sent twice: GET, HEAD,
   * OPTIONS, TRACE, PUT and DELETE (RFC 9110 §9.2.2), without a stream as the body. The call
   * resolves or rejects as the last attempt did. The pauses between attempts are from one to two
   * seconds, then twice as long each time, at most a minute. Default: nothing is sent again.
   */
  readonly retry?: RetryOptions | undefined
  /**
   * Answers requests from what it has stored, as HTTP allows (RFC 9111): a stored response that is
   * fresh needs no slot, no delay and no connection, and is checked against robots.txt like any
   * other. One that is no longer fresh is requested with its ETag or Last-Modified. `PageCache` of
   * `@politely/cache` is such a cache. robots.txt does not use it: it has the option `store`.
   * `close` leaves it open. Default: each request is sent.
   */
  readonly cache?: ResponseCache | undefined
}

/** The wrapped fetch. Its calls have the option `redirectedFrom` too, for a URL that a site gave. */
export type PoliteFetch<F extends FetchLike> = ((
  input: Parameters<F>[0],
  init: Exclude<Parameters<F>[1], null | undefined> & SourceOptions,
) => ReturnType<F>) &
  F &
  AsyncDisposable & {
    readonly gate: PoliteGate
    /**
     * Closes the gate and the RobotsClient that were created for this fetch, and nothing that you
     * passed.
     */
    close(): Promise<void>
  }

/**
 * Wraps a fetch, so that each request and each redirect hop is checked against robots.txt and waits
 * for its slot. `redirect: 'manual'` and `'error'` have the same effect as in fetch. `data:`,
 * `blob:` and `about:` URLs are fetched without a check. For a URL that a page gave, such as a link,
 * write `fetch(url, { redirectedFrom: [page] })`: then a public page cannot lead the crawler to a
 * private address.
 *
 * The wrapped fetch rejects with `RobotsDisallowedError` for a request that robots.txt does not
 * allow; a redirect hop that is not allowed is not sent. It rejects with the same error for an
 * invalid URL, such as a relative URL, and for a scheme that robots.txt does not cover. With
 * `maxWaitMs` it may reject with `WaitTooLongError`, with `maxQueuedPerKey` with `QueueFullError`,
 * with `budget` with `BudgetError`, and after failures of the site with `CircuitOpenError` (option
 * `circuit`). With `requestTimeoutMs` it may reject with a `TimeoutError`.
 *
 * It rejects with `InvalidRequestError` for a request that cannot be checked: a Host header of
 * another site, or a `dispatcher` of another version of undici than the fetch. It rejects with
 * `OptionError` for a value that is not a URL, such as `undefined`. It rejects with `ResponseError`
 * if the given function does not return a Response, since it may follow redirects by itself.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function politely<F extends FetchLike>(fetch: F, options: PolitelyOptions): PoliteFetch<F> {
  if (typeof fetch !== 'function')
    throw new OptionError(
      'fetch',
      `${describeValue(fetch)} is not a function; write politely(globalThis.fetch, { userAgent })`,
    )
  assertGateOptions(options)
  const { onDisallowed = 'throw', isRateLimited, requestTimeoutMs, retry, cache, ...forGate } = options
  const { callerTimeouts = 'from-call', ...others } = forGate
  callable(
    'isRateLimited',
    isRateLimited,
    'a function that gets a response, such as async (response) => response.status === 403',
  )
  const onRefusal = oneOf('onDisallowed', onDisallowed, ['throw', 'response'])
  const counting = oneOf('callerTimeouts', callerTimeouts, ['from-call', 'from-sending'])
  const pagesFetch = fetch as unknown as typeof globalThis.fetch
  const timeoutMs = checkedTimeout(requestTimeoutMs)
  if ('dispatcher' in others) assertNoDispatchers(others.dispatcher)
  const { gate, close } = resolveGate(others, OWN_OPTIONS, {}, pagesFetch)
  if ('retries' in others && !('retry' in options)) warnOfRetries(others.retries)
  const polite: PoliteSender = {
    ...senderOf(gate),
    send: fetch as unknown as PoliteSender['send'],
    isRateLimited: isRateLimited as PoliteSender['isRateLimited'],
    timeoutMs,
    refuses: onRefusal === 'response',
    hasCallerTimeouts: counting === 'from-sending',
    retry: retryOf(retry),
    cache: checkedCache(cache),
  }
  const politeFetch = (input: unknown, init?: Init) => fetchPage(polite, input, init)
  registerPoliteFetch(politeFetch, pagesFetch)
  return Object.assign(politeFetch, { gate, close, [Symbol.asyncDispose]: close }) as unknown as PoliteFetch<F>
}

const OWN_OPTIONS: Readonly<Record<keyof PoliteFetchOptions, true>> = {
  cache: true,
  retry: true,
  onDisallowed: true,
  isRateLimited: true,
  requestTimeoutMs: true,
  callerTimeouts: true,
}

function checkedTimeout(ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined
  const option = 'requestTimeoutMs'
  return plausibleTimeout(option, number(option, ms, { min: 1, max: MAX_TIMEOUT_MS, example: 30_000 }))
}
