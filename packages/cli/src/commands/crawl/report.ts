// What `politely crawl` reports about a URL.
import type { PageOutcome } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { Permit } from '@politely/gate'

/** What happened to one URL. */
export interface PageReport {
  /** Without credentials. */
  readonly url: string
  readonly outcome: 'fetched' | 'refused' | 'failed'
  readonly status: number | undefined
  /** How many requests were sent for it. More than 1 with `--retry`. */
  readonly attempts: number
  /** What became of the request; undefined if it says nothing about the site. */
  readonly page: PageOutcome | undefined
  /** How many links led to the page. */
  readonly depth: number
  /** How many responses asked for fewer requests: 429 or 503. */
  readonly pushbacks: number
  /** How long its requests waited for their turn, with the pauses of --retry. Milliseconds. */
  readonly waitedMs: number
  /** Of the last request that waited; `backoff` if only --retry paused. */
  readonly waitedFor: Permit['waitedFor'] | undefined
  readonly bytes: number
  /** The target of a redirect. */
  readonly location: string | undefined
  /** How many links of the page were left out because of nofollow. */
  readonly nofollow: number
  /** Why the page did not arrive. */
  readonly problem: string | undefined
  readonly verdict: ClientVerdict | undefined
}
