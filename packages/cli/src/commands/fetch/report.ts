// What `politely fetch` reports about a URL.
import type { CacheReport } from '@politely/cache'
import type { PageOutcome } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { StartMessage } from '@politely/gate'

/** What happened to one URL. */
export interface FetchReport {
  /** Without credentials. */
  readonly url: string
  /** `fetched`, or the kind of problem. */
  readonly outcome: 'fetched' | 'refused' | 'wait-too-long' | 'failed'
  /** What became of the last request; undefined if it says nothing about the site. */
  readonly page: PageOutcome | undefined
  /** The verdict about the last URL. */
  readonly verdict: ClientVerdict | undefined
  /** What the cache of `--cache` did for the page. */
  readonly cache?: CacheReport | undefined
  /** Every request that was sent, in order: a redirect is a hop. None for a page that was stored. */
  readonly requests: readonly SentRequest[]
  readonly contentType: string | undefined
  /** The size of the page after decoding. */
  readonly bytes: number
  /** From the start of the last request, or of the check if none was sent, to the end of the body. Milliseconds. */
  readonly tookMs: number | undefined
  /**
   * How long the next request to the site has to wait, if the response asked for it: by a Retry-After,
   * or by a status such as 429. Milliseconds.
   */
  readonly waitMs?: number | undefined
  /** What the wait is for. */
  readonly waitFor?: 'retry-after' | 'backoff' | undefined
  /** Why the page did not arrive, or may not be requested now. */
  readonly problem: string | undefined
}

export interface SentRequest {
  readonly url: string
  readonly status: number | undefined
  /** How long the request waited for its turn. Milliseconds. */
  readonly waitedMs: number
  readonly waitedFor: StartMessage['waitedFor']
}
