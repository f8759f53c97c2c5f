// One call of a fetch that `politely` wraps: reads its arguments, and follows its redirects.
//
// A page passes these files in this order, and comes back to none:
//
// 1. `page-call.ts` makes a `PageRequest` of the arguments.
// 2. `cached-page.ts` asks the cache, which answers it or sends it.
// 3. `page-exchange.ts` sends it: `retry.ts` counts the attempts, and each attempt is an exchange
//    (`adapter/exchange.ts`), which enters the gate.
//
// A redirect begins again with a new `PageRequest`, at step 2. An attempt after a failure, and the
// second request if the site asks for a signature, are parts of step 3.
import { withoutCredentials } from '@politely/fetcher'
import { discard, markRedirected, NO_URLS, redirectChain } from '@politely/fetcher/internal'
import { versionError } from '../adapter/dispatcher-version.ts'
import { assertOwnHost } from '../adapter/target.ts'
import { warnOfOtherName } from '../adapter/user-agent.ts'
import { isRedirect, MAX_REDIRECTS, type Request, redirected } from '../redirects/redirect.ts'
import { answerPage } from './cached-page.ts'
import { CallerTimeout } from './caller-timeout.ts'
import { type FetchInput, fetchInit, fetchInput, type Init, isRequest, plainHeaders } from './fetch-input.ts'
import type { FetchResponse } from './fetch-response.ts'
import { warnOfMisplaced } from './misplaced-options.ts'
import type { PageRequest, PoliteSender } from './page-exchange.ts'
import { isRefusal, refusedResponse } from './refused-response.ts'
import { rememberOrigin } from './response-usage.ts'
import { isRepeatable } from './retry.ts'

/** Answers one call: a request for the page, and one for each hop of its redirects. */
export async function fetchPage(
  polite: PoliteSender,
  input: unknown,
  givenInit: Init | undefined,
): Promise<FetchResponse> {
  const { gate, port, client } = polite
  let read = fetchInput(input)
  let given = givenInit
  // The options may be a Request, whose properties are getters that cannot be spread.
  if (isRequest(given) && read.kind !== 'invalid') {
    fetchInput(given) // throws for an object that only looks like a Request, whose options would be lost below
    const RequestClass = given.constructor as typeof globalThis.Request
    read = fetchInput(new RequestClass(read.request ?? read.url, given))
    given = undefined
  }
  const { url, request } = read
  const init = fetchInit(given)
  const { send } = polite // workerd's fetch must not be called as a method
  warnOfMisplaced(init, send === (globalThis.fetch as unknown))
  port.activity.begin() // `drain` waits between two redirect hops, too
  let page: PageRequest | undefined
  let copy: globalThis.Request | undefined
  try {
    // The RobotsClient may use this fetch for robots.txt, which needs no permit.
    if (read.kind === 'local' || client.isOwnRequest(url)) return await send(request ?? url, init)
    const mode = init.redirect ?? request?.redirect ?? 'follow'
    page = firstPage(polite, read, init, mode)
    // The body of a Request is a stream. A copy is kept in case a redirect has to send it again.
    if (mode === 'follow' && request?.body && isStream(init.body ?? request.body)) copy = request.clone()
    for (let hops = 0; ; hops++) {
      const response = await answerPage(page)
      const location = redirectOf(response)
      if (location === undefined || mode === 'manual') {
        if (hops > 0) markRedirected(response)
        page.timeout?.returned(response)
        return response
      }
      page.timeout?.stop()
      if (mode === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') }) // it was stored
      await discard(response.body)
      if (hops >= MAX_REDIRECTS)
        throw new TypeError(
          `fetch failed: more than ${MAX_REDIRECTS} redirects, the last from ${withoutCredentials(page.url)}`,
        )
      page = await nextPage(page, redirected(requestOf(page), response.status, location), copy)
    }
  } catch (error) {
    page?.timeout?.end()
    if (polite.refuses && isRefusal(error)) {
      const origin = { robots: gate.robots, url: error.verdict.url, redirectedFrom: page?.redirectedFrom ?? NO_URLS }
      return rememberOrigin(refusedResponse(error), origin)
    }
    throw versionError(error) ?? error
  } finally {
    // Not awaited: the copy ends only with the original, which may never be read.
    if (copy?.bodyUsed === false) void discard(copy.body)
    port.activity.end()
  }
}

/**
 * The first request uses the caller's arguments. Only the User-Agent is added. Only the mode
 * `follow` is implemented here. In the other modes fetch makes no second request.
 * @param init Is changed.
 */
function firstPage(
  polite: PoliteSender,
  { url, kind, request }: FetchInput,
  init: Init,
  mode: NonNullable<Init['redirect']>,
): PageRequest {
  const { gate, retry } = polite
  const redirectedFrom = redirectChain(init.redirectedFrom)
  const headers = plainHeaders(init.headers ?? request?.headers)
  if (headers['user-agent'] === undefined) headers['user-agent'] = gate.robots.userAgent
  else warnOfOtherName(gate, headers['user-agent'])
  if (headers.host !== undefined && kind === 'checked') assertOwnHost(url, [headers.host])
  const callersSignal = (init.signal === undefined ? request?.signal : init.signal) ?? undefined
  const mayRepeat =
    retry !== undefined &&
    isRepeatable(init.method ?? request?.method ?? 'GET', isStream(init.body ?? request?.body ?? null))
  init.headers = headers
  init.redirect = mode === 'follow' ? 'manual' : mode
  const timeout =
    polite.hasCallerTimeouts && callersSignal?.aborted === false
      ? new CallerTimeout(callersSignal, polite.port.now)
      : undefined
  const signal = timeout?.signal ?? callersSignal
  if (timeout !== undefined) init.signal = timeout.signal
  return { polite, url, signal, redirectedFrom, input: request ?? url, init, mayRepeat, timeout }
}

/** Returns the next hop. @param copy Has the body of the first request, if that was a stream. */
async function nextPage(page: PageRequest, next: Request, copy: globalThis.Request | undefined): Promise<PageRequest> {
  const { polite, url, signal, redirectedFrom, input, init, timeout } = page
  if (next.body === 'spent' && copy === undefined)
    throw new TypeError(
      `fetch failed: ${withoutCredentials(url)} redirects, and its body was a stream, which cannot be sent again`,
    )
  const spent = next.body === 'spent' && copy ? await bodyOfCopy(polite.port, copy, signal) : null
  const body = typeof next.body === 'string' ? spent : (next.body.value as NonNullable<Init['body']>)
  const { method } = next
  const cache = init.cache ?? (isRequest(input) ? input.cache : undefined)
  return {
    polite,
    url: next.url,
    signal,
    redirectedFrom: [...redirectedFrom, url],
    input: next.url,
    init: { ...init, method, headers: [...next.headers], body, signal: signal ?? null, ...(cache && { cache }) },
    mayRepeat: isRepeatable(method, false),
    timeout,
  }
}

/** Returns the Location of a redirect that fetch follows; undefined for another response. */
function redirectOf({ status, headers }: FetchResponse): string | undefined {
  if (status < 300) return undefined
  const location = headers.get('location')
  return isRedirect(status, location) ? location : undefined
}

/** Returns what a redirect may change. */
function requestOf({ url, input, init }: PageRequest): Request {
  const request = isRequest(input) ? input : undefined
  const value = init.body ?? request?.body ?? null
  const body = value === null ? 'none' : isStream(value) ? 'spent' : { value }
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase()
  return { url, method, headers: new Headers(init.headers), body }
}

/**
 * Returns whether a body can be read only once: streams and generators. Strings, buffers, blobs and
 * forms can be read any number of times.
 */
function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/**
 * Reads the copy of a body, which may never end. Rejects when the signal is aborted or the gate is
 * closed.
 */
async function bodyOfCopy(
  port: PoliteSender['port'],
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
