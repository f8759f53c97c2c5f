// What politely(fetch) asks of a cache of pages. PageCache of @politely/cache is one.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
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
