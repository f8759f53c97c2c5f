// What a site queue takes, yields and spills.
import { type HasHref, OptionError } from '@politely/core'
import { describeValue, NO_URLS, redirectChain, urlText } from '@politely/fetcher/internal'
import type { Refusal } from '../fetch/refused-response.ts'
import type { SourceOptions } from '../options/gate-options.ts'

/** A URL, and what the queue has to know about it. Your own fields are yielded too. */
export interface QueuedUrl extends SourceOptions {
  readonly url: string | HasHref
  /** Of the URLs of one site, those with the highest number come first. Default 0. */
  readonly priority?: number | undefined
}

/** What a source of URLs yields, and what `add` takes. */
export type SiteQueueInput = string | HasHref | QueuedUrl

/** A URL as the queue keeps it and spills it: the object that the source gave, with `url` as a string. */
export type Queued<T> = (T extends { readonly url: unknown } ? Omit<T, 'url'> : SourceOptions) & {
  readonly url: string
}

/** A URL that may be requested now, or a URL that was refused; with the fields that the source gave. */
export type SiteQueueItem<T extends SiteQueueInput = string> = Queued<T> & {
  /**
   * Why the gate refuses the URL; undefined for a URL that may be requested now. `refused.retryAt`
   * says when to try again, if that is known.
   */
  readonly refused: Refusal | undefined
  /**
   * Ends the work on this URL. Another URL may start in its place (`concurrency`), and the gate
   * releases the slot if you made no request. Later calls do nothing. A refused URL doesn't need it.
   */
  done(): void
  /** The same as `done`. */
  [Symbol.dispose](): void
}

/**
 * Your place for the URLs that the queue cannot hold, such as a table of a database. A method may
 * return a promise.
 */
export interface SiteQueueSpill<T extends SiteQueueInput = string> {
  /** Keeps these URLs, of one or several sites. If it fails, the queue keeps them, and ends with its error. */
  add(items: readonly Queued<T>[]): unknown
  /**
   * Removes at most `count` URLs of an origin, and returns them in the order in which they were
   * added. An empty list says that it has none.
   */
  take(origin: string, count: number): Iterable<T | Queued<T>> | PromiseLike<Iterable<T | Queued<T>>>
  /**
   * Returns the origins that have URLs, as `take` gets them. The queue calls it once, before it reads
   * the source, and takes the URLs that an earlier queue left, for example because its process was
   * killed. An invalid URL has the origin `''`. Without this method, such URLs are never yielded.
   */
  origins?(): Iterable<string> | AsyncIterable<string> | PromiseLike<Iterable<string>>
}

/** A URL that the queue holds in memory. */
export interface HeldUrl<T extends SiteQueueInput> {
  readonly item: Queued<T>
  readonly origin: string
  readonly priority: number
  readonly redirectedFrom: readonly string[]
  /** Earlier URLs have smaller numbers. */
  readonly order: number
}

/** The first of two URLs of one site. */
export function byPriority(a: HeldUrl<never>, b: HeldUrl<never>): number {
  return b.priority - a.priority || a.order - b.order
}

/**
 * @param pages For a URL that `add` got: the URLs that led to it, if it has no `redirectedFrom`. It
 * may be relative to the last of them.
 * @throws {OptionError} for a value that is not a URL or an object with a `url`. An invalid URL is valid here.
 */
export function heldUrl<T extends SiteQueueInput>(
  input: T | Queued<T>,
  order: number,
  pages?: readonly string[],
): HeldUrl<T> {
  const isObject = typeof input === 'object' && input !== null && !('href' in input)
  const given = (isObject ? input : { url: input }) as QueuedUrl
  const { priority = 0 } = given
  const redirectedFrom = given.redirectedFrom === undefined ? (pages ?? NO_URLS) : redirectChain(given.redirectedFrom)
  const text = urlText(given.url as string)
  const base = pages && redirectedFrom.at(-1)
  const url = base === undefined ? text : (URL.parse(text, base)?.href ?? text)
  if (typeof priority !== 'number' || Number.isNaN(priority))
    throw new OptionError('priority', `${describeValue(priority)} is not a number; expected one such as 1`)
  return {
    item: (base === undefined ? { ...given, url } : { ...given, url, redirectedFrom }) as unknown as Queued<T>,
    origin: URL.parse(url)?.origin ?? '',
    priority,
    redirectedFrom,
    order,
  }
}
