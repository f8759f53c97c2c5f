// The sitemaps that an index lists, until the index was read: only then it is known whether its dates
// can be trusted. Bounded like the queue.
import type { SitemapReason } from '../file-result.ts'
import type { FoundEntry } from '../parse/found.ts'
import type { EntryMaker } from './entry-maker.ts'
import { withoutHash } from './foreign-hosts.ts'
import type { Task } from './resume-token.ts'

/** A sitemap of an index, and its date. */
export interface Child {
  readonly task: Task
  readonly lastmod: number | undefined
}

export class Children {
  readonly list: Child[] = []
  readonly #index: Task
  readonly #from: string | undefined
  readonly #maxFiles: number
  #bytesLeft: number

  constructor(index: Task, from: string | undefined, bytesLeft: number, maxFiles: number) {
    this.#index = index
    this.#from = from
    this.#bytesLeft = bytesLeft
    this.#maxFiles = maxFiles
  }

  /** Returns the limit that ends the file, if it is reached. */
  async add(found: FoundEntry, maker: EntryMaker): Promise<SitemapReason | undefined> {
    const loc = maker.urlOf(found)
    if (loc === undefined || (await maker.isPrivate(loc))) return undefined
    const url = withoutHash(loc)
    if (this.list.length >= this.#maxFiles) return 'limit: maxFiles'
    if (url.length > this.#bytesLeft) return 'limit: maxQueueBytes'
    this.#bytesLeft -= url.length
    const from = this.#from !== undefined && { from: this.#from }
    const task = { url, depth: this.#index.depth + 1, parent: this.#index.url, ...from }
    this.list.push({ task, lastmod: maker.dateOf(found) })
    return undefined
  }
}
