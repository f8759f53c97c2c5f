// What politely(fetch) asks of a cache of pages. PageCache of @politely/cache is one.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { type Init, isRequest } from './fetch-input.ts'
import type { FetchResponse } from './fetch-response.ts'

/** A cache of pages, such as `PageCache` of `@politely/cache`: the option `cache` of `politely`. */
export interface ResponseCache {
  /**
   * Answers one request, or one hop of a redirect, from what is stored or by sending it. The body of a
   * redirect that is followed is cancelled unread.
   */
  respond(request: CachedRequest, exchange: CacheExchange): Promise<FetchResponse>
}

/** A request that a cache may answer. */
export interface CachedRequest {
  /** An http: or https: URL, without a fragment. */
  readonly url: string
  /** In upper case. */
  readonly method: string
  /** All headers that the request is sent with, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly hasBody: boolean
  /**
   * Whether the site must send the page again, whatever is stored: the mode `reload` of fetch
   * (WHATWG Fetch §2.2.5). Default false.
   */
  readonly isReload?: boolean | undefined
  /** Aborts this call only. Other calls may wait for the same response. */
  readonly signal: AbortSignal | undefined
}

/** What a cache may do for one request. */
export interface CacheExchange {
  /**
   * Checks the URL against robots.txt, which is fetched if it is due. Takes no slot and no budget.
   * Rejects with `RobotsDisallowedError` if the URL may not be requested.
   */
  check(): Promise<void>
  /**
   * Checks the URL against the robots.txt that the RobotsClient has in memory or in its store, however
   * old. Resolves with false if it has none. Rejects like `check`.
   */
  checkStored(): Promise<boolean>
  /**
   * Sends the request through the gate, with these headers instead of its own: it is checked, waits
   * for its slot, and its response counts for the pace. A request with a body can be sent once only.
   */
  send(headers: Readonly<Record<string, string>>): Promise<FetchResponse>
  /** The lines of X-Robots-Tag of a response that `send` returned, as received, to be stored with it. */
  robotsTagsOf(sent: FetchResponse): readonly string[]
  /**
   * Shows whether the body of a response that `send` returned is whole: by its coded bytes or, if the
   * end of the connection ends it, by that. Undefined if its length or its last chunk shows it, or if
   * nothing does. `problem` returns why it is not whole; call it when the body has ended, with the
   * length and the `crc32` of what was decoded. Call `stop` if the answer is not needed.
   */
  codedBodyOf(sent: FetchResponse):
    | {
        problem(decoded: { readonly bytes: number; readonly crc32: number }): Promise<string | undefined>
        stop(): void
      }
    | undefined
  /** Whether the caller's `isRateLimited` said so of a response that `send` returned. */
  isRateLimited(sent: FetchResponse): boolean
  /**
   * Makes `usageOf` know a response that the cache made, and returns it. Needed for every response
   * that is not the very object that `send` returned, such as one whose body the cache copies.
   * @param source What `send` returned, if the response is a copy of it. Otherwise, for a stored
   * response, its lines of X-Robots-Tag.
   */
  adopt(response: Response, source: FetchResponse | readonly string[]): Response
}

/**
 * Returns the value of an option `cache`, for adapters that have one.
 * @throws {OptionError} for a value that is not a cache of pages.
 */
export function checkedCache(cache: unknown): ResponseCache | undefined {
  if (cache === undefined) return undefined
  const { respond, get } = Object(cache) as { readonly respond?: unknown; readonly get?: unknown }
  if (typeof respond === 'function') return cache as ResponseCache
  const problem =
    typeof get === 'function'
      ? 'is not a cache of pages; write a store of robots.txt as `store`, and as `cache` new PageCache() of @politely/cache'
      : `${describeValue(cache)} is not a cache of pages; write new PageCache() of @politely/cache`
  throw new OptionError('cache', problem)
}

/** The cache mode of fetch (WHATWG Fetch §2.2.5), as the directives of a request that mean the same. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  'no-store': 'no-store',
  reload: 'no-cache',
  'no-cache': 'max-age=0',
  'force-cache': 'max-stale',
  'only-if-cached': 'only-if-cached, max-stale',
}

/** The headers of the first hop are an object with names in lower case already. */
function headersOf(headers: Init['headers']): Record<string, string> {
  if (headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype)
    return { ...(headers as Record<string, string>) }
  return Object.fromEntries(new Headers(headers))
}

/**
 * Returns the options with the headers of a cache. If these make a request conditional, fetch would
 * add Cache-Control: no-cache, and servers then send the page again (WHATWG Fetch §4.6, step 14). The
 * mode `no-cache` adds max-age=0 instead.
 */
export function initOfCache(init: Init, request: CachedRequest, headers: Readonly<Record<string, string>>): Init {
  const isNew = (name: string) => headers[name] !== undefined && request.headers[name] === undefined
  const isConditional = isNew('if-none-match') || isNew('if-modified-since')
  return isConditional ? ({ ...init, headers, cache: 'no-cache' } as Init) : { ...init, headers }
}

/** Returns a request as a cache sees it; undefined for one that no cache can answer. */
export function requestToCache(
  url: string,
  input: string | globalThis.Request,
  init: Init,
  signal: AbortSignal | undefined,
): CachedRequest | undefined {
  if (!/^https?:/.test(url)) return undefined
  const request = isRequest(input) ? input : undefined
  // fetch refuses a URL with a password, and compares the bytes that it receives itself with a hash.
  const { integrity = request?.integrity } = init as { readonly integrity?: string }
  if (integrity || /^https?:\/\/[^/?#]*@/.test(url)) return undefined
  const headers = headersOf(init.headers)
  const { cache: mode = request?.cache ?? 'default' } = init as { readonly cache?: string }
  const directives = [DIRECTIVES[mode], headers['cache-control']].filter((one) => one !== undefined)
  if (directives.length > 0) headers['cache-control'] = directives.join(', ')
  return {
    url: url.split('#', 1)[0] as string,
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    headers,
    hasBody: (init.body ?? request?.body ?? null) !== null,
    ...(mode === 'reload' && { isReload: true }),
    signal,
  }
}
