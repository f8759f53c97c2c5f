// The last steps of a page of politely(fetch), after the cache: its attempts and their exchanges.
import { OptionError } from '@politely/core'
import { isPromise } from '@politely/core/internal'
import { describeValue, discard, UNTIL_HEADERS } from '@politely/fetcher/internal'
import { Exchange, type ExchangeRequest, type Sender } from '../adapter/exchange.ts'
import { warnOfQueueTimeout } from '../adapter/queue-timeout.ts'
import type { GrantedPermit } from '../lane/granted-permit.ts'
import { codedBodyOf, expectCodedBody } from '../permit/coded-bodies.ts'
import { paceResponseOf, type RequestReport, withBackoff } from '../permit/request-report.ts'
import { robotsTagsOfPermit } from '../permit/sending.ts'
import { isRedirect } from '../redirects/redirect.ts'
import { ResponseError } from '../report/errors.ts'
import type { CallerTimeout } from './caller-timeout.ts'
import { type Init, isRequest, methodOf, plainHeaders } from './fetch-input.ts'
import type { FetchResponse } from './fetch-response.ts'
import type { ResponseCache } from './page-cache.ts'
import { isRefusal } from './refused-response.ts'
import { rememberOrigin } from './response-usage.ts'
import { type Retry, withRetries } from './retry.ts'
import type { StopClock } from './stop-clock.ts'
import { TimeLimit } from './time-limit.ts'

/**
 * What `isRateLimited` returns: whether the response asks for fewer requests, or for how long.
 * @inline
 */
export type RateLimitAnswer =
  | boolean
  | {
      /** How long the site asks to wait. Milliseconds. */
      readonly retryAfterMs: number
    }
  | null
  | undefined

/** What the calls of one wrapped fetch share. */
export interface PoliteSender extends Sender {
  /** The fetch that `politely` wraps. */
  readonly send: (input: unknown, init: Init) => Promise<FetchResponse>
  readonly isRateLimited: ((response: FetchResponse) => RateLimitAnswer | PromiseLike<RateLimitAnswer>) | undefined
  /** The option `requestTimeoutMs`. */
  readonly timeoutMs: number | undefined
  /** The option `retry`. */
  readonly retry: Retry | undefined
  /** The option `cache`. */
  readonly cache: ResponseCache | undefined
  /** Whether a refused request gets a response. */
  readonly refuses: boolean
  /** Whether the option `callerTimeouts` is `from-sending`. */
  readonly hasCallerTimeouts: boolean
}

/** The request for one page: the first one of a call, or a hop of its redirects. */
export interface PageRequest extends ExchangeRequest {
  readonly polite: PoliteSender
  /** The arguments for the wrapped fetch. */
  readonly input: string | globalThis.Request
  readonly init: Init
  /** Whether the option `retry` may send it again. */
  readonly mayRepeat: boolean
  /** The decision about its last request, with the option `evidence`. */
  decision?: string | undefined
  /** The timeout of the call, if it counts from the sending. Then `signal` is its signal. */
  readonly timeout: CallerTimeout | undefined
}

const TIMEOUT_REMEDY =
  "write politely(fetch, { callerTimeouts: 'from-sending' }), and timeouts of calls will not count the wait"

/**
 * Sends a page, and again after a failure that may pass, if the option `retry` says so.
 * @param init The options to send it with. The cache may have changed its headers.
 */
export function sendPage(page: PageRequest, init: Init): Promise<FetchResponse> {
  const { polite, signal, mayRepeat, timeout } = page
  if (polite.retry === undefined || !mayRepeat) return new PageExchange(page, init).send()
  let pausedAt: number | undefined
  const send = (onEntered: () => Promise<void>) => {
    pausedAt = undefined
    return new PageExchange(page, init, onEntered).send()
  }
  const onPause = () => {
    timeout?.stop()
    pausedAt = performance.now()
  }
  return withRetries(polite.retry, signal, send, onPause).catch((error: unknown) => {
    if (pausedAt !== undefined && signal !== undefined) {
      const sinceMs = performance.now() - pausedAt
      const waitedFor = 'the pause before a retry'
      warnOfQueueTimeout({ url: page.url, signal, error, sinceMs, waitedFor, remedy: TIMEOUT_REMEDY })
    }
    throw error
  })
}

/** One attempt: a request, and a second one if the site asks for a signature. */
class PageExchange extends Exchange {
  readonly #page: PageRequest
  readonly #input: PageRequest['input']
  readonly #init: Init
  readonly #onEntered: (() => Promise<void>) | undefined

  /** @param onEntered Called when the gate has let the request in, if there may be other attempts. */
  constructor(page: PageRequest, init: Init, onEntered?: () => Promise<void>) {
    super(page, page.polite, TIMEOUT_REMEDY)
    this.#page = page
    this.#init = init
    this.#onEntered = onEntered
    this.#input = onEntered !== undefined && isRequest(page.input) ? page.input.clone() : page.input // may be used once
  }

  send(): Promise<FetchResponse> {
    return this.#page.polite.signer === undefined ? this.#sendOnce(this.#onEntered) : this.#sendSigned()
  }

  async #sendSigned(): Promise<FetchResponse> {
    const response = await this.#sendOnce(this.#onEntered)
    if (!this.isChallenge(this.#method, response)) return response
    try {
      return await this.#sendOnce(() => discard(response.body))
    } catch (error) {
      if (isRefusal(error)) return response // the circuit has opened, for example
      throw error
    }
  }

  /** Sends one request with a permit, and releases the permit however the request ends. */
  async #sendOnce(onEntered: (() => Promise<void>) | undefined): Promise<FetchResponse> {
    const { polite, url, signal, redirectedFrom, timeout } = this.#page
    const { timeoutMs, cache, send } = polite // workerd's fetch must not be called as a method
    timeout?.stop()
    const entering = this.enter()
    const permit = isPromise(entering) ? await entering : entering
    const decision = (permit as Partial<GrantedPermit>).receipt?.id
    if (decision !== undefined) this.#page.decision = decision
    if (cache !== undefined && (this.#init.method ?? 'GET') === 'GET') expectCodedBody(permit)
    let limit: TimeLimit | undefined
    try {
      if (onEntered !== undefined) await onEntered()
      const signing = polite.signer === undefined ? undefined : this.sign(this.#method, 'requestTimeoutMs', timeoutMs)
      const signature = isPromise(signing) ? await signing : signing
      const signed =
        signature === undefined
          ? this.#init
          : { ...this.#init, headers: Object.assign(plainHeaders(this.#init.headers), signature) }
      timeout?.start()
      if (timeoutMs !== undefined) limit = new TimeLimit(url, timeoutMs, signal)
      const init: Init & { readonly [UNTIL_HEADERS]?: boolean } =
        limit === undefined ? signed : { ...signed, signal: limit.signal }
      const response = await this.run(() => send(this.#input, init))
      limit?.responded(response, init[UNTIL_HEADERS] === true)
      assertResponse(response)
      const report = polite.isRateLimited === undefined ? response : await this.#judged(response, polite.isRateLimited)
      rememberOrigin(response, {
        robots: polite.gate.robots,
        url,
        redirectedFrom,
        robotsTags: robotsTagsOfPermit(permit),
        codedBody: cache && codedBodyOf(permit),
        isRateLimited: 'rateLimited' in report,
        pauseDuring: outsideOf(limit, timeout),
        decision,
        decisions: polite.port.decisions,
      })
      this.end(report)
      return response
    } catch (thrown) {
      limit?.end()
      timeout?.stop()
      const error = limit?.error ?? thrown // node-fetch, for example, throws its own error
      if (error instanceof ResponseError) this.end()
      else this.fail(error)
      throw error
    }
  }

  get #method(): string {
    return methodOf(this.#init.method ?? (isRequest(this.#input) ? this.#input.method : 'GET'))
  }

  /**
   * Asks the caller what a response means.
   * @throws {OptionError} if `isRateLimited` returns another value than it may; also whatever it
   * throws.
   */
  async #judged(
    response: FetchResponse,
    isRateLimited: NonNullable<PoliteSender['isRateLimited']>,
  ): Promise<RequestReport> {
    const { status, headers } = response
    const { pacing, now } = this.#page.polite.port
    // The site may never end the body that the function reads. A pause begins now.
    if (withBackoff(paceResponseOf(response), pacing.backoff, now()).isPushback) this.responded(response)
    if (isRedirect(status, headers.get('location'))) return response
    const { clone } = response as Partial<Response>
    const copy = typeof clone === 'function' ? (clone.call(response) as FetchResponse) : undefined
    try {
      const answer: unknown = await isRateLimited(copy ?? response)
      if (answer === true) return { rateLimited: true, status, headers }
      if (!answer) return response
      const { retryAfterMs } = Object(answer) as { readonly retryAfterMs?: unknown }
      if (typeof retryAfterMs === 'number' && retryAfterMs >= 0)
        return { rateLimited: true, retryAfterMs, status, headers }
      const returned =
        retryAfterMs === undefined ? describeValue(answer) : `{ retryAfterMs: ${describeValue(retryAfterMs)} }`
      throw new OptionError('isRateLimited', `returned ${returned}; expected true, false or { retryAfterMs: 60_000 }`)
    } catch (error) {
      this.end(response)
      void discard(response.body) // the caller does not get it
      throw error
    } finally {
      void discard(copy?.body)
    }
  }
}

/** Returns a function that runs work outside of both time limits. */
function outsideOf(limit: TimeLimit | undefined, timeout: CallerTimeout | undefined): StopClock['outside'] | undefined {
  if (limit === undefined || timeout === undefined) return (limit ?? timeout)?.outside
  return (work) => limit.outside(() => timeout.outside(work))
}

/**
 * A function that is not a fetch may follow redirects by itself. @throws {ResponseError} for a
 * result that is not a Response.
 */
function assertResponse(response: unknown): void {
  const { status, headers, body } = (response ?? {}) as {
    readonly [P in keyof FetchResponse]?: FetchResponse[P] | null
  }
  const missing =
    (!Number.isInteger(status) && 'no `status`') ||
    (typeof headers?.get !== 'function' && 'no `headers.get`') ||
    (body === undefined && 'no `body`')
  if (missing !== false)
    throw new ResponseError(
      `fetch: the wrapped function does not return a Response (it has ${missing}), so redirects cannot be checked`,
      'write politely(globalThis.fetch, …), or politeHttpAgent for a client that uses node:http, such as axios',
    )
}
