// The frontier: which URLs are known, and which are still to be crawled. Shared by all workers, on
// the server of the jobs.
//
// Each origin has a list of pending URLs (the "back queue" of the crawler Mercator), and one BullMQ
// job while it has any. The job takes one URL at a time. Every step is atomic, so that a worker
// may be killed between any two of them:
//
//   take      moves the next URL from `pending` to `taken`, or returns a URL that a
//             killed worker has left in `taken`.
//   finish    adds the links of the page, and removes its URL from `taken`.
//
// The job of an origin ends when `take` finds no URL. An origin whose job has ended gets a job of a
// new generation, because BullMQ ignores a new job with the id of one that exists, and the old one
// exists a moment longer.
import { createHash } from 'node:crypto'
import type { FrontierCalls } from './backend.ts'

/** The job of an origin that has URLs. */
export interface OriginJob {
  readonly origin: string
  readonly generation: number
  /** How often the next URL was requested without success. */
  readonly failures?: number
}

/** A URL, and the page that it was found on. */
export interface Found {
  readonly url: string
  /** The origin of the page. Undefined for the first URL of a crawl. */
  readonly page: string | undefined
}

export interface Progress {
  /** URLs that were added, each once. */
  readonly found: number
  /** URLs that were finished: fetched, refused by robots.txt, or failed. */
  readonly done: number
}

export class Frontier {
  readonly #calls: FrontierCalls

  constructor(calls: FrontierCalls) {
    this.#calls = calls
  }

  /**
   * Returns the next URL of an origin. Undefined if its list is empty, or if a later job has the
   * origin: then the job ends.
   */
  async take({ origin, generation }: OriginJob): Promise<Found | undefined> {
    const entry = await this.#calls.take(origin, generation)
    if (entry === undefined) return undefined
    const [url = '', page] = entry.split(' ')
    return { url, page }
  }

  /**
   * Adds the links of a page that were never added before, and then marks its URL as done.
   * @param addJobs Adds the jobs of origins that need one. The URL is done only after that: if the
   * worker is killed before, the page is fetched again.
   */
  async finish(
    found: Found,
    links: readonly string[],
    addJobs: (origins: OriginJob[]) => Promise<unknown>,
  ): Promise<void> {
    const { origin } = new URL(found.url)
    const idle = await this.#finish(
      found,
      links.map((url) => ({ url, page: origin })),
    )
    if (idle.length === 0) return
    await addJobs(idle)
    await this.#finish(found, [])
  }

  /** Adds the first URL of a crawl, and its job. */
  async start(url: string, addJobs: (origins: OriginJob[]) => Promise<unknown>): Promise<void> {
    await addJobs(await this.#finish(undefined, [{ url, page: undefined }]))
  }

  progress(): Promise<Progress> {
    return this.#calls.progress()
  }

  async #finish(found: Found | undefined, links: readonly Found[]): Promise<OriginJob[]> {
    const finished = found && { origin: new URL(found.url).origin, entry: entryOf(found) }
    const added = links.map((link) => ({
      origin: new URL(link.url).origin,
      entry: entryOf(link),
      hash: hashOf(link.url),
    }))
    return [...(await this.#calls.finish(finished, added))]
  }
}

/** How a URL is kept: a URL has no spaces. */
function entryOf({ url, page }: Found): string {
  return page === undefined ? url : `${url} ${page}`
}

/** 16 bytes for each known URL, however long it is. */
function hashOf(url: string): Buffer {
  return createHash('sha256').update(url).digest().subarray(0, 16)
}
