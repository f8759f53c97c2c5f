// usageOf: what may be done with the page of a response that politely(fetch) returned.
import { OptionError } from '@politely/core'
import { isOfClass } from '@politely/core/internal'
import type { ClientUsage, PageResponse, RobotsClient, UsageOptions } from '@politely/fetcher'
import {
  type BodyCheck,
  clientPort,
  describeValue,
  redirectChain,
  rememberSentPage,
  type SentPage,
  sentPageOf,
} from '@politely/fetcher/internal'
import { refusalOf } from './refused-response.ts'

/** Where a response comes from. */
export interface ResponseOrigin extends SentPage {
  /** The RobotsClient that has checked the request. */
  readonly robots: RobotsClient
  /** The URL of the response, after redirects. */
  readonly url: string
  /** The URLs that led to it. */
  readonly redirectedFrom: readonly string[]
  /** Its coded body, for a cache. */
  readonly codedBody?: BodyCheck | undefined
  /** Whether the caller's `isRateLimited` said so. */
  readonly isRateLimited?: boolean | undefined
}

/** Remembers where a response comes from, until it is garbage-collected. Returns the response. */
export function rememberOrigin<R extends object>(response: R, origin: ResponseOrigin): R {
  return rememberSentPage(response, origin)
}

/** Returns where a response comes from, if a fetch of `politely` sent it. */
export function responseOriginOf(response: unknown): ResponseOrigin | undefined {
  return sentPageOf(response) as ResponseOrigin | undefined
}

/**
 * Returns what may be done with the page of a response that a fetch of `politely` returned: whether
 * the site lets the crawler index it, train on it and so on. The same as `usage` of the
 * RobotsClient of this fetch, with the URL after redirects. Fetches robots.txt and tdmrep.json of the
 * origin if they are not cached or are stale, and nothing else.
 *
 * Of HTML, the head is read from a clone, so the caller can read the body afterwards or at the same
 * time. While these files are fetched, the time limit of the response (`requestTimeoutMs`) stands
 * still. For a refusal (`onDisallowed: 'response'`), `page.reading` is `not-the-page`.
 *
 * @example
 * ```ts
 * import { politely, usageOf } from '@politely/gate'
 *
 * const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const response = await fetch('https://example.com/about')
 * const { purposes } = await usageOf(response)
 * if (purposes['train-ai'].answer === 'disallowed') console.log('not for training')
 * await fetch.close()
 * ```
 *
 * @throws {OptionError} for a value that no fetch of `politely` returned, such as a clone; for an
 * HTML response whose body was read already; for the refusal of an invalid URL; and for an invalid
 * option.
 * @throws {ClientClosedError} after the fetch or its RobotsClient was closed.
 */
export async function usageOf(response: object, options: UsageOptions = {}): Promise<ClientUsage> {
  const origin = responseOriginOf(response)
  if (origin === undefined) throw new OptionError('response', explainUnknown(response))
  const { robots, url, redirectedFrom: chain } = origin
  const sources = { redirectedFrom: [...chain, ...redirectChain(options?.redirectedFrom)] }
  const lookup = chain.length === 0 ? options : { ...options, ...sources }
  const refusal = refusalOf(response)
  // A fetch may request pages from another server, such as a proxy, which `response.url` names.
  if (refusal === undefined) return clientPort(robots).usageOf(url, response as PageResponse, lookup)
  const usage = await robots.usage(url, undefined, lookup)
  return { ...usage, page: { reading: 'not-the-page', why: `the request was refused: ${refusal.message}` } }
}

function explainUnknown(value: unknown): string {
  if (isOfClass('Robots', value))
    return 'a parsed robots.txt is not a response; write usageOf({ robots, url, tokens: "ExampleBot" }) of @politely/core/usage'
  if (typeof value !== 'object' || value === null || !('headers' in value))
    return `${describeValue(value)} is not a response; write usageOf(await fetch(url))`
  return 'no fetch of politely returned it; pass the response itself and not a clone, or write client.usage(url, response) with a RobotsClient'
}
