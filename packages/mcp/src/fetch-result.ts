// The results of the tool fetch_url. They are JSON.
import type { ClientVerdict } from '@politely/fetcher'
import type { ReadFailure } from './page-reader.ts'

/**
 * A part of a page.
 * @inline
 */
export type FetchedPart = {
  readonly fetched: true
  /** A sentence for the model: the status, the media type, and how to get the next part. */
  readonly message: string
  /** The final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly mediaType: string
  /** The part of the page. The site has written it, so don't trust it. */
  readonly text: string
  /** The `start_index` of the next part, if the page is longer. */
  readonly nextIndex?: number
}

/**
 * The tool has not fetched the page.
 * @inline
 */
export type NotFetched = {
  readonly fetched: false
  /** Sentences for the model: why, what to do, and when to try again. */
  readonly message: string
  /** `robots.txt`: a rule disallows the page, or robots.txt is unreachable. */
  readonly reason: ReadFailure['reason'] | 'robots.txt'
  /** The verdict, with long texts and lists shortened, if `reason` is `robots.txt`. */
  readonly verdict?: ClientVerdict
  /** The status of the response, if `reason` is `status`. */
  readonly status?: number
  /** Milliseconds until a retry may succeed, if known. */
  readonly retryAfterMs?: number
}

/** The result of the tool. A page that was not fetched is a result too, not an error. */
export type FetchToolResult = FetchedPart | NotFetched
