// Which URLs a site queue has had, so that it yields each of them once. Only for a queue with `add`: a
// source may give a URL twice.
//
// The queue learns that it needs this from the first call of `add`. By then some URLs of the source
// have been read, such as the home page that all others link to. So it notes these, up to a limit.
import { OptionError } from '@politely/core'
import { isPromise } from '@politely/core/internal'
import { requestName } from '../permit/reserved-permits.ts'

/** Our choice: about 130 MB, for URLs of 75 characters. */
export const DEFAULT_MAX_SEEN = 1_000_000
/** How many URLs are noted before the first call of `add`. They are in memory anyway. Our choice. */
const MAX_NOTED = 20_000

/** Your set of URLs, such as a `Set`, a Bloom filter or a table. */
export interface SeenSet {
  has(url: string): boolean
  add(url: string): unknown
}

export class SeenUrls {
  readonly #maxSeen: number
  #set: SeenSet | undefined
  /** The URLs of the source before the first call of `add`. Undefined if there were too many. */
  #noted: string[] | undefined = []

  /**
   * @param set Where the URLs are kept. Undefined for a `Set` that begins with the first call of `add`.
   * @param maxSeen The limit of a `Set` of the queue; Infinity for your own set.
   */
  constructor(set: SeenSet | undefined, maxSeen: number) {
    this.#set = set
    this.#maxSeen = maxSeen
  }

  /** Whether the URLs are kept, so that `add` was called or will be. */
  get isKept(): boolean {
    return this.#set !== undefined
  }

  /** @throws {OptionError} if the queue has read too many URLs without knowing that they must be kept. */
  keep(): void {
    if (this.isKept) return
    const noted = this.#noted
    if (noted === undefined)
      throw new OptionError(
        'maxSeen',
        `${MAX_NOTED} URLs of the source were read before the first call of add, so the queue does not know all of them; write { maxSeen: ${DEFAULT_MAX_SEEN} } or { seen: new Set() } in the options of siteQueue`,
      )
    this.#noted = undefined
    const set = new Set<string>()
    this.#set = set
    for (const url of noted) set.add(requestName(url))
  }

  /** @throws {OptionError} if it is one URL too many. */
  isNew(url: string): boolean {
    this.keep()
    const set = this.#set as SeenSet
    const name = requestName(url)
    const isKnown: unknown = set.has(name)
    if (isPromise(isKnown))
      throw new OptionError('seen', 'its method has returned a promise; expected true or false at once')
    if (isKnown) return false
    if (set instanceof Set && set.size >= this.#maxSeen)
      throw new OptionError(
        'maxSeen',
        `the queue has seen ${this.#maxSeen} URLs and keeps no more; raise it, or pass a set of your own as seen, such as a Bloom filter`,
      )
    set.add(name)
    return true
  }

  isNewInSource(url: string): boolean {
    if (this.isKept) return this.isNew(url)
    if (this.#noted?.push(url) === MAX_NOTED) this.#noted = undefined
    return true
  }
}
