// What a PageCache asks of a store of pages.
import type { PastVisit, SitemapHint } from '@politely/core/revisit'

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/** A stored response, apart from its body. JSON-safe. */
export interface PageRecord {
  /** Without a fragment. */
  readonly url: string
  /**
   * The fields of the request that Vary names, in lower case, each with its value; null if it was not
   * sent. Then the fields that may name a user, whose values are hashes.
   */
  readonly varied: readonly (readonly [name: string, value: string | null])[]
  readonly status: number
  readonly statusText: string
  /** As received, or as the last 304 changed them. Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The lines of X-Robots-Tag, as received. */
  readonly robotsTags: readonly string[]
  /** When the last request for it was sent, which may have revalidated it. Milliseconds since 1970. */
  readonly requestedAt: number
  /** When its response arrived. Milliseconds since 1970. */
  readonly receivedAt: number
  /** When the whole body had arrived. Milliseconds since 1970. */
  readonly storedAt: number
  /** Whether the site has shown since that the page has changed. It is then no longer fresh. */
  readonly isOutdated?: true | undefined
}

/** A stored response. */
export interface StoredPage {
  /** Never used again for another response. */
  readonly id: number
  readonly record: PageRecord
  /** The length of the body. Bytes. */
  readonly bodyBytes: number
}

/** How many responses a store keeps of one URL, which differ in their varied fields. Our choice. */
export const MAX_VARIANTS = 20

/** What earlier visits to a URL found, and when the next is due. JSON-safe. */
export interface VisitLog {
  /** Without a fragment. */
  readonly url: string
  /** Oldest first. */
  readonly visits: readonly PastVisit[]
  /** Identifies the content of the last page. Undefined if none arrived. */
  readonly fingerprint?: string | undefined
  /** What a sitemap says of the page. */
  readonly sitemap?: SitemapHint | undefined
  /** Milliseconds since 1970. Undefined: never. */
  readonly dueAt: number | undefined
}

/** Writes one response. The store shows it after `commit`. */
export interface PageWriter {
  /** Adds a chunk of the body. Its bytes do not change afterwards, so the store may keep it. */
  write(chunk: Uint8Array): Awaitable<void>
  /**
   * Makes the response visible. It replaces the response with the same URL and the same varied fields,
   * unless that was received later.
   */
  commit(record: PageRecord): Awaitable<void>
  /** Forgets the response. Does nothing after `commit`. */
  abort(): Awaitable<void>
}

/**
 * Keeps responses and visits. `MemoryPageStore` and `SqlitePageStore` are stores. A full store deletes
 * the URLs that were used longest ago, each with its responses and its visits. Of a URL, it keeps the
 * 20 responses that were received last. A response that is too long for the store is not
 * kept, and the response that it would replace is deleted. `pageStoreCases` of
 * `@politely/testing/cases` tests this contract.
 */
export interface PageStore {
  /** Returns the responses for a URL, the last received first. Counts as a use. */
  find(url: string): Awaitable<readonly StoredPage[]>
  /** Begins to store a response. */
  begin(): Awaitable<PageWriter>
  /**
   * Replaces what is known of a response, its varied fields too, and keeps its body and its URL. If
   * another response for the URL has these varied fields, that is deleted. Does nothing if the
   * response is gone.
   */
  update(id: number, record: PageRecord): Awaitable<void>
  /**
   * Returns the body in chunks, which the caller does not change; undefined if the response is gone. A
   * body that is replaced or deleted while it is read can still be read to its end. A store on disk may
   * limit this to a minute.
   */
  body(id: number): Awaitable<AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined>
  /** Deletes the responses for a URL, and keeps its visits. Returns how many there were. */
  delete(url: string): Awaitable<number>
  /** Deletes the responses and the visits of a URL. Returns how many responses there were. */
  forget(url: string): Awaitable<number>
  /** All responses, in no particular order. Deleting some meanwhile is allowed. */
  pages(): AsyncIterable<StoredPage> | Iterable<StoredPage>
  /** Returns what is known of the visits to a URL. */
  visits(url: string): Awaitable<VisitLog | undefined>
  /** Replaces what is known of the visits to a URL. Counts as a use. */
  setVisits(log: VisitLog): Awaitable<void>
  /** The URLs that are due at this time, or were before, the longest due first; at most `limit`. */
  due(now: number, limit: number): Awaitable<readonly VisitLog[]>
  /** Returns the space of deleted responses to the system. For stores that would keep it. */
  compact?(): Awaitable<void>
  /** Closes the store. */
  close(): Awaitable<void>
}
