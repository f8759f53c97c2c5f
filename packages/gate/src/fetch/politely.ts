// politely(fetch): wraps a fetch, so that each request and each redirect hop enters a gate.
import { OptionError } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import {
  callable,
  clientPort,
  describeValue,
  MAX_TIMEOUT_MS,
  markRedirected,
  number,
  oneOf,
  plausibleTimeout,
  redirectChain,
  registerPoliteFetch,
  sentPageOf,
  UNTIL_HEADERS,
} from '@politely/fetcher/internal'
import { versionError } from '../adapter/dispatcher-version.ts'
import { assertGateOptions, type GateOrOptions, resolveGate } from '../adapter/resolve-gate.ts'
import { assertOwnHost } from '../adapter/target.ts'
import { warnOfOtherName } from '../adapter/user-agent.ts'
import { type GatePort, gatePort, type PoliteGate } from '../gate.ts'
import { NO_URLS } from '../options/enter-arguments.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import { isPromise } from '../pace/is-promise.ts'
import { codedBodyOf, expectCodedBody } from '../permit/coded-bodies.ts'
import { failureOf, paceResponseOf, type RequestReport, withBackoff } from '../permit/request-report.ts'
import { robotsTagsOf } from '../permit/sending.ts'
import { isRedirect, MAX_REDIRECTS, type Request, redirected } from '../redirects/redirect.ts'
import { ResponseError } from '../report/errors.ts'
import { fetchInit, fetchInput, type Init, isRequest } from './fetch-input.ts'
import type { FetchLike, FetchResponse } from './fetch-response.ts'
import { warnOfMisplaced, warnOfRetries } from './misplaced-options.ts'
import { checkedCache, initOfCache, type ResponseCache, requestToCache } from './page-cache.ts'
import { isRefusal, refusedResponse } from './refused-response.ts'
import { originOf, rememberOrigin } from './response-usage.ts'
import { discard, isRepeatable, type Retry, type RetryOptions, retryOf, withRetries } from './retry.ts'
import { type SendOnce, signing } from './signing.ts'
import { outsideTimeLimit, withTimeLimit } from './time-limit.ts'

/**
 * An existing gate; or an existing RobotsClient and the options of a new gate; or the options of
 * both. And how to refuse, what a response means, and how long a request may take.
 */
export type PolitelyOptions = GateOrOptions &
  RefusalOptions &
  ResponseOptions &
  TimeoutOptions &
  RepeatOptions &
  CacheOptions

/** The option of `politely` for what a response means. */
export interface ResponseOptions {
  /**
   * Says whether a response asks for fewer requests, for sites that say so in the text of a page
   * with status 200 or 403. Such a response counts like a 429: with `retryAfterMs` (milliseconds),
   * requests pause for this time, and otherwise for a growing one (`backoff`). The function gets a
   * clone of each response except redirects, and may read its body; the wrapped fetch then
   * resolves when the function has. A status or a Retry-After that asks for a pause counts before
   * that. If the function throws, the wrapped fetch rejects with that error. Default: only the status
   * and Retry-After count.
   */
  readonly isRateLimited?: ((response: Response) => RateLimitAnswer | PromiseLike<RateLimitAnswer>) | undefined
}

/** What `isRateLimited` returns: whether the response asks for fewer requests, or for how long. */
export type RateLimitAnswer =
  | boolean
  | {
      /** How long the site asks to wait. Milliseconds. */
      readonly retryAfterMs: number
    }
  | null
  | undefined

/** The options of `politely` for refused requests. */
export interface RefusalOptions {
  /**
   * How a request fails that robots.txt does not allow. `throw` (the default): with a
   * `RobotsDisallowedError`. `response`: with a response of status 403, or 503 with Retry-After if
   * robots.txt is unreachable. A request that cannot wait (`maxWaitMs`, `maxQueuedPerKey`) or
   * is over its `budget` gets a response of status 503 then, too. `refusalOf` tells these responses
   * from responses of a site.
   */
  readonly onDisallowed?: 'throw' | 'response' | undefined
}

/** The option of `politely` for a time limit. */
export interface TimeoutOptions {
  /**
   * The time limit of one request, from its sending to the end of its response body. The wait in the
   * queue does not count. A signature (option `sign`) has as much time once more before that. Each
   * redirect hop has the whole time. When the time is over, the request is aborted: the call, or
   * the reading of the body, rejects with a `DOMException` named `TimeoutError`. Without a
   * response, it is a failure for `backoff`. The given fetch must obey the option `signal`.
   * Milliseconds; default none. Requests for robots.txt have `timeoutMs` instead.
   */
  readonly requestTimeoutMs?: number | undefined
}

/** The option of `politely` for requests that fail. */
export interface RepeatOptions {
  /**
   * Sends a request again after a failure that may pass, each time through the gate: never before
   * the time that the site asks for, and on the `budget`. Only requests that may be sent twice: GET,
   * HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110 §9.2.2), without a stream as the body. The call
   * resolves or rejects as the last attempt did. The pauses between attempts are from one to two
   * seconds, then twice as long each time, at most a minute. Default: nothing is sent again.
   */
  readonly retry?: RetryOptions | undefined
}

/** The option of `politely` for a cache of pages. */
export interface CacheOptions {
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
  const { onDisallowed = 'throw', isRateLimited, requestTimeoutMs, retry, cache, ...others } = options
  callable(
    'isRateLimited',
    isRateLimited,
    'a function that gets a response, such as async (response) => response.status === 403',
  )
  const onRefusal = oneOf('onDisallowed', onDisallowed, ['throw', 'response'])
  const pagesFetch = fetch as unknown as typeof globalThis.fetch
  const timeoutMs = checkedTimeout(requestTimeoutMs)
  const { gate, close } = resolveGate(others, OWN_OPTIONS, {}, pagesFetch)
  if ('retries' in others && !('retry' in options)) warnOfRetries(others.retries)
  const client = clientPort(gate.robots)
  const signer = client.signer()
  const port = gatePort(gate)
  const fetcher: PolitePart = {
    gate,
    port,
    client,
    send: fetch as unknown as Send,
    isRateLimited: isRateLimited as IsRateLimited,
    timeoutMs,
    refuses: onRefusal === 'response',
    retry: retryOf(retry),
    cache: checkedCache(cache),
    sendOnce:
      signer === undefined ? sendWithPermit : signing(signer, { robots: port.robots, timeoutMs }, sendWithPermit),
  }
  const politeFetch = (input: unknown, init?: Init) => fetchPolitely(fetcher, input, init)
  registerPoliteFetch(politeFetch, pagesFetch)
  return Object.assign(politeFetch, { gate, close, [Symbol.asyncDispose]: close }) as unknown as PoliteFetch<F>
}

const OWN_OPTIONS: Readonly<
  Record<keyof (RefusalOptions & ResponseOptions & TimeoutOptions & RepeatOptions & CacheOptions), true>
> = {
  cache: true,
  retry: true,
  onDisallowed: true,
  isRateLimited: true,
  requestTimeoutMs: true,
}

function checkedTimeout(ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined
  const option = 'requestTimeoutMs'
  return plausibleTimeout(option, number(option, ms, { min: 1, max: MAX_TIMEOUT_MS, example: 30_000 }))
}

type Send = (input: unknown, init: Init) => Promise<FetchResponse>
type IsRateLimited = ((response: FetchResponse) => RateLimitAnswer | PromiseLike<RateLimitAnswer>) | undefined

/** What the calls of one wrapped fetch share. */
interface PolitePart {
  readonly gate: PoliteGate
  readonly port: GatePort
  readonly client: ReturnType<typeof clientPort>
  readonly send: Send
  readonly isRateLimited: IsRateLimited
  /** The option `requestTimeoutMs`. */
  readonly timeoutMs: number | undefined
  /** The option `retry`. */
  readonly retry: Retry | undefined
  /** The option `cache`. */
  readonly cache: ResponseCache | undefined
  /** Whether a refused request gets a response. */
  readonly refuses: boolean
  /** Sends one request through the gate: `sendWithPermit`, or what signs for it. */
  readonly sendOnce: SendOnce<PolitePart>
}

interface CacheMode {
  readonly cache?: string | undefined
}

/** One call of the wrapped fetch: a request for each hop of its redirects, each with a permit. */
async function fetchPolitely(polite: PolitePart, input: unknown, givenInit: Init | undefined): Promise<FetchResponse> {
  const { gate, port, client } = polite
  const read = fetchInput(input)
  // The options may be a Request, whose properties are getters that cannot be spread.
  if (isRequest(givenInit) && read.kind !== 'invalid') {
    fetchInput(givenInit) // throws for an object that only looks like a Request, whose options would be lost below
    const RequestClass = givenInit.constructor as typeof globalThis.Request
    return fetchPolitely(polite, new RequestClass(read.request ?? read.url, givenInit), undefined)
  }
  port.activity.begin() // `drain` waits between two redirect hops, too
  let chain = NO_URLS
  let copy: globalThis.Request | undefined
  try {
    const init = fetchInit(givenInit)
    warnOfMisplaced(init, polite.send === (globalThis.fetch as unknown))
    const { url, request: inputRequest } = read
    // The RobotsClient may use this fetch for robots.txt, which needs no permit.
    if (read.kind === 'local' || client.isOwnRequest(url)) return await polite.send(inputRequest ?? url, init)
    if (init.redirectedFrom !== undefined) chain = redirectChain(init.redirectedFrom)
    const mode = init.redirect ?? inputRequest?.redirect ?? 'follow'
    const signal = (init.signal === undefined ? inputRequest?.signal : init.signal) ?? undefined
    const headers = sentHeaders(init.headers ?? inputRequest?.headers, gate)
    if (headers.host !== undefined && read.kind === 'checked') assertOwnHost(url, [headers.host])
    // The first hop uses the caller's arguments. Only the User-Agent is added. Only `follow` is
    // implemented here. In the other modes fetch makes no second request.
    const firstInit: Init = { ...init, headers, redirect: mode === 'follow' ? 'manual' : mode }
    // The body of a Request is a stream. A copy is kept in case a redirect has to send it again.
    const isSpent = inputRequest?.body && bodyOf(init.body ?? inputRequest.body) === 'spent'
    copy = isSpent && mode === 'follow' ? inputRequest.clone() : undefined
    const mayRepeat =
      polite.retry !== undefined &&
      isRepeatable(init.method ?? inputRequest?.method ?? 'GET', bodyOf(init.body ?? inputRequest?.body ?? null))
    let response = await answer(polite, mayRepeat, url, signal, chain, inputRequest ?? url, firstInit)
    if (mode === 'error' && redirectOf(response) !== undefined)
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') }) // it was stored
    let location = mode === 'follow' ? redirectOf(response) : undefined
    if (location === undefined) return response

    let request = firstRequest(url, inputRequest, init, headers)
    for (let hops = 0; location !== undefined; hops++) {
      await discard(response.body)
      if (hops >= MAX_REDIRECTS)
        throw new TypeError(
          `fetch failed: more than ${MAX_REDIRECTS} redirects, the last from ${withoutCredentials(request.url)}`,
        )
      chain = [...chain, request.url]
      const next = redirected(request, response.status, location)
      if (next.body === 'spent' && copy === undefined)
        throw new TypeError(
          `fetch failed: ${withoutCredentials(request.url)} redirects, and its body was a stream, which cannot be sent again`,
        )
      request =
        next.body === 'spent' && copy ? { ...next, body: { value: await bodyOfCopy(port, copy, signal) } } : next
      const cache = (init as CacheMode).cache ?? (inputRequest as CacheMode | undefined)?.cache
      const nextInit = { ...firstInit, ...initOf(request), signal: signal ?? null, ...(cache && { cache }) }
      const mayRepeatHop = isRepeatable(request.method, request.body)
      response = await answer(polite, mayRepeatHop, request.url, signal, chain, request.url, nextInit)
      location = redirectOf(response)
    }
    markRedirected(response)
    return response
  } catch (error) {
    if (polite.refuses && isRefusal(error)) {
      const origin = { robots: gate.robots, url: error.verdict.url, redirectedFrom: chain }
      return rememberOrigin(refusedResponse(error), origin)
    }
    throw versionError(error) ?? error
  } finally {
    // Not awaited: the copy ends only with the original, which may never be read.
    if (copy?.bodyUsed === false) copy.body?.cancel().catch(() => undefined)
    port.activity.end()
  }
}

/** Returns the Location of a redirect that fetch follows; undefined for another response. */
function redirectOf({ status, headers }: FetchResponse): string | undefined {
  if (status < 300) return undefined
  const location = headers.get('location')
  return isRedirect(status, location) ? location : undefined
}

/**
 * Reads the copy of a body, which may never end. Rejects when the signal is aborted or the gate is
 * closed.
 */
async function bodyOfCopy(
  port: PolitePart['port'],
  copy: globalThis.Request,
  signal: AbortSignal | undefined,
): Promise<ArrayBuffer> {
  const ending = new AbortController()
  const body = copy.body?.pipeThrough(new TransformStream(), { signal: ending.signal })
  try {
    return await port.robots.whileOpen(new Response(body).arrayBuffer(), signal)
  } catch (error) {
    ending.abort(error) // cancels the copy
    throw error
  }
}

/** Answers one request from the option `cache`, or sends it. */
function answer(
  polite: PolitePart,
  mayRepeat: boolean,
  url: string,
  signal: AbortSignal | undefined,
  chain: readonly string[],
  input: string | globalThis.Request,
  init: Init,
): Promise<FetchResponse> {
  const { cache, gate, port } = polite
  const request = cache && requestToCache(url, input, init, signal)
  if (cache === undefined || request === undefined)
    return sendRepeatedly(polite, mayRepeat, url, signal, chain, input, init)
  return cache.respond(request, {
    check: async () => void (await port.robots.requireAllowed(url, signal, chain)),
    checkStored: () => port.robots.requireStored(url, signal),
    send: (headers) =>
      sendRepeatedly(polite, mayRepeat, url, signal, chain, input, initOfCache(init, request, headers)),
    robotsTagsOf: (sent) => sentPageOf(sent)?.robotsTags ?? [],
    codedBodyOf: (sent) => originOf(sent)?.codedBody,
    isRateLimited: (sent) => originOf(sent)?.isRateLimited === true,
    adopt: (response, source) => {
      const sent = isLines(source) ? { robotsTags: source } : sentPageOf(source)
      return rememberOrigin(response, { ...sent, robots: gate.robots, url, redirectedFrom: chain })
    },
  })
}

const isLines = (source: FetchResponse | readonly string[]): source is readonly string[] => Array.isArray(source)

/** Sends one request, and again after a failure that may pass, if the option `retry` says so. */
function sendRepeatedly(
  polite: PolitePart,
  mayRepeat: boolean,
  url: string,
  signal: AbortSignal | undefined,
  chain: readonly string[],
  input: string | globalThis.Request,
  init: Init,
): Promise<FetchResponse> {
  const { retry } = polite
  if (retry === undefined || !mayRepeat) return polite.sendOnce(polite, url, signal, chain, input, init)
  return withRetries(retry, signal, (onEntered) => {
    const prepare = async () => {
      await onEntered()
      return init
    }
    // A Request may be used once.
    return polite.sendOnce(polite, url, signal, chain, isRequest(input) ? input.clone() : input, init, prepare)
  })
}

/** Sends one request with a permit, and releases the permit however the request ends. */
async function sendWithPermit(
  polite: PolitePart,
  url: string,
  signal: AbortSignal | undefined,
  chain: readonly string[],
  input: string | globalThis.Request,
  init: Init,
  prepare?: () => Promise<Init>,
): Promise<FetchResponse> {
  const { gate, port, send, isRateLimited, timeoutMs, cache } = polite
  const entered = port.enter(url, signal, chain)
  const permit = isPromise(entered) ? await entered : entered
  let report: RequestReport | undefined
  let isSent = false
  if (cache !== undefined && (init.method ?? 'GET') === 'GET') expectCodedBody(permit)
  try {
    const sentInit = prepare === undefined ? init : await prepare()
    isSent = true
    const sending = permit.run(() =>
      timeoutMs === undefined
        ? send(input, sentInit)
        : withTimeLimit(url, timeoutMs, signal, hasUntilHeaders(init), (limit) =>
            send(input, { ...sentInit, signal: limit }),
          ),
    )
    const response = await sending
    assertResponse(response)
    report = response
    if (isRateLimited !== undefined) {
      // The site may never end the body that the function reads. The pause begins now.
      if (isPushback(response, port)) permit.report(response)
      report = await reportOf(response, isRateLimited)
    }
    return rememberOrigin(response, {
      robots: gate.robots,
      url,
      redirectedFrom: chain,
      robotsTags: robotsTagsOf(permit),
      codedBody: cache && codedBodyOf(permit),
      isRateLimited: 'rateLimited' in report,
      pauseDuring: timeoutMs === undefined ? undefined : (work) => outsideTimeLimit(response, work),
    })
  } catch (error) {
    if (isSent && !(error instanceof ResponseError)) report ??= failureOf(signal, error)
    throw error
  } finally {
    permit.release(report)
  }
}

function isPushback(response: FetchResponse, { pacing, now }: PolitePart['port']): boolean {
  return withBackoff(paceResponseOf(response), pacing.backoff, now()).isPushback === true
}

function hasUntilHeaders(init: Init): boolean {
  return (init as { readonly [UNTIL_HEADERS]?: boolean })[UNTIL_HEADERS] === true
}

/**
 * Asks the caller what a response means.
 * @throws {OptionError} if `isRateLimited` returns another value than it may; also whatever it
 * throws.
 */
async function reportOf(response: FetchResponse, isRateLimited: NonNullable<IsRateLimited>): Promise<RequestReport> {
  const { status, headers } = response
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
    void discard(response.body) // the caller does not get it
    throw error
  } finally {
    void discard(copy?.body)
  }
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

/** Returns the headers of a request, by their names in lower case, with a User-Agent. */
function sentHeaders(given: Init['headers'] | undefined, gate: PoliteGate): Record<string, string> {
  const headers = simpleHeaders(given) ?? Object.fromEntries(new Headers(given))
  if (headers['user-agent'] === undefined) headers['user-agent'] = gate.robots.userAgent
  else warnOfOtherName(gate, headers['user-agent'])
  return headers
}

const SIMPLE_NAME = /^[a-z][a-z0-9-]*$/
const SIMPLE_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * Reads the headers that most callers write: a plain object with simple names and values. Returns
 * undefined for others, which `Headers` has to combine, normalise or reject.
 */
function simpleHeaders(given: Init['headers'] | undefined): Record<string, string> | undefined {
  if (given === undefined) return {}
  if (typeof given !== 'object' || Object.getPrototypeOf(given) !== Object.prototype) return undefined
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    const isSimple = SIMPLE_NAME.test(lower) && typeof value === 'string' && SIMPLE_VALUE.test(value)
    if (!isSimple || Object.hasOwn(headers, lower)) return undefined
    headers[lower] = value
  }
  return headers
}

function firstRequest(
  url: string,
  inputRequest: globalThis.Request | undefined,
  init: Init,
  headers: Record<string, string>,
): Request {
  const method = (init.method ?? inputRequest?.method ?? 'GET').toUpperCase()
  return { url, method, headers: new Headers(headers), body: bodyOf(init.body ?? inputRequest?.body ?? null) }
}

function bodyOf(body: unknown): Request['body'] {
  if (body === null) return 'none'
  // Streams and generators can be read only once; strings, buffers, blobs and forms any number of
  // times.
  return typeof body === 'object' && Symbol.asyncIterator in body ? 'spent' : { value: body }
}

function initOf({ method, headers, body }: Request): Init {
  return {
    method,
    headers: [...headers],
    body: typeof body === 'string' ? null : (body.value as NonNullable<Init['body']>),
  }
}
