// The URLs that a site queue holds, by site. It reads the source, bounds the number of URLs in
// memory, spills the others, and takes them back. URLs that `add` takes can't wait in the source: they
// are held in any number, and the source is read again when there is room.
//
// With a spill, no site may fill the memory: when `maxHeld` is reached, each site keeps its first
// URLs, and all others are spilled in one call. If that would free less than a tenth, the URLs are of
// so many sites that the source can wait.
//
// A queue whose process was killed leaves URLs in its spill. The next queue takes the first ones of
// each site before it reads the source, and the others as it takes back its own.
import { OptionError } from '@politely/core'
import { isPromise } from '@politely/core/internal'
import { describeValue } from '@politely/fetcher/internal'
import { type HeldUrl, heldUrl, type SiteQueueInput, type SiteQueueSpill } from './queue-items.ts'
import type { QueueSite as Site } from './queue-site.ts'
import { QueueSite } from './queue-site.ts'
import type { SeenUrls } from './seen-urls.ts'

/** After so many URLs, other work of the process gets a turn. Our choice. */
const READS_IN_A_ROW = 500
/** How many of its URLs a site keeps in memory when it spills, and how many it takes back. Our choice. */
const SHARE = 4

export interface HeldUrlsOptions<T extends SiteQueueInput> {
  readonly source: Iterable<T> | AsyncIterable<T>
  readonly maxHeld: number
  readonly spill: SiteQueueSpill<T> | undefined
  readonly seen: SeenUrls
  /** Called when a site has a URL in memory and is idle. */
  readonly onReady: (site: Site<T>) => void
  /** Called when nothing is read any more, or a site has gone. */
  readonly onChange: () => void
  /** Called before URLs are spilled. */
  readonly onSpill: () => void
}

export class HeldUrls<T extends SiteQueueInput> {
  readonly #options: HeldUrlsOptions<T>
  readonly #sites = new Map<string, Site<T>>()
  #iterator: Iterator<T> | AsyncIterator<T> | undefined
  #order = 0
  #held = 0
  /** URLs that are to be spilled. They count as held. */
  #leaving: HeldUrl<T>[] = []
  #isReading = false
  /** Whether `next` of the source, rather than `add` of the spill, is awaited. */
  #isPulling = false
  #isDrained = false
  /** With a spill, the source is read again only when a tenth of the memory is free. */
  #resumesAt: number
  /** How many held URLs `add` leaves in memory. */
  #spillsAt: number
  #adding: Promise<void> | undefined
  #crowding: Site<T> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(options: HeldUrlsOptions<T>) {
    this.#options = options
    this.#resumesAt = options.maxHeld - 1
    this.#spillsAt = options.maxHeld
  }

  /** Whether all URLs of the source have been returned by `shift`. */
  get isOver(): boolean {
    return this.#isDrained && !this.#isReading && this.#sites.size === 0
  }

  /** The first error of the source or of the spill. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** The site that has at least half of all held URLs while the source has to wait, if there is one. */
  get crowdingSite(): string | undefined {
    const { maxHeld } = this.#options
    const isFull = !this.#isDrained && this.#held >= maxHeld
    return isFull && this.#crowding !== undefined && this.#crowding.inMemory * 2 >= maxHeld
      ? this.#crowding.origin
      : undefined
  }

  /** Reads the source while there is room. */
  read(): void {
    if (this.#isReading || this.#isDrained || this.#held > this.#resumesAt) return
    this.#isReading = true
    void this.#readAll()
  }

  /**
   * Takes a URL that was found on the way. @param pages See `heldUrl`.
   * @returns Whether it is new. After an error, which ends the queue soon, no URL is.
   */
  add(input: T, pages: readonly string[]): boolean {
    if (this.#failure !== undefined) return false
    const url = heldUrl<T>(input, this.#order, pages)
    if (!this.#options.seen.isNew(url.item.url)) return false
    this.#order++
    this.#hold(url)
    if (this.#held >= this.#spillsAt && this.#options.spill !== undefined) void this.#spillExcess()
    return true
  }

  /** Removes the next URL of a site and returns it. */
  shift(site: Site<T>): HeldUrl<T> | undefined {
    return this.#change(site, () => site.shift())
  }

  /** Counts what is held of a site after a change. */
  #change<R>(site: Site<T>, change: () => R): R {
    const before = site.held
    const result = change()
    this.#held += site.held - before
    return result
  }

  /** The work on a URL that `shift` returned is done: the site goes on, or is dropped. */
  goOn(site: Site<T>): void {
    if (site.inMemory > 0) this.#options.onReady(site)
    else if (site.hasSpilled) void this.#takeBack(site)
    else this.#drop(site)
  }

  #drop(site: Site<T>): void {
    site.attach(undefined)
    this.#sites.delete(site.origin)
  }

  /** Drops all URLs. Closes the source, unless that waits for its next URL for ever. */
  async end(): Promise<void> {
    for (const site of this.#sites.values()) this.#drop(site)
    this.#leaving = []
    await this.#close()
  }

  async #readAll(): Promise<void> {
    const { source, maxHeld, spill } = this.#options
    try {
      if (spill?.origins !== undefined && this.#iterator === undefined) await this.#takeEarlier(await spill.origins())
      if (this.#isDrained) return
      this.#iterator ??= Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
      for (let count = 1; !this.#isDrained; count++) {
        if (this.#held >= maxHeld && !(await this.#makeRoom())) break
        if (this.#isDrained) break
        if (count % READS_IN_A_ROW === 0) await new Promise<void>((resolve) => setImmediate(resolve))
        this.#isPulling = true
        const read = this.#iterator.next()
        const { done, value } = isPromise(read) ? await read : read // a list is read at once, so that priorities count
        this.#isPulling = false
        if (done) this.#isDrained = true
        else if (!this.#isDrained) {
          const url = heldUrl<T>(value, this.#order++)
          if (this.#options.seen.isNewInSource(url.item.url)) this.#hold(url)
        }
      }
    } catch (error) {
      const isOfSource = this.#isPulling
      this.#isPulling = false
      await this.#fail(error, isOfSource)
    } finally {
      this.#isReading = false
      this.#options.onChange()
    }
  }

  /** Takes the first URLs of each site that an earlier queue has left in the spill. */
  async #takeEarlier(given: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const origins: unknown[] = [] // an open cursor would keep some databases from `take`
    for await (const origin of given) origins.push(origin)
    for (const origin of origins) {
      if (this.#isDrained) return
      if (typeof origin !== 'string')
        throw new OptionError(
          'spill',
          `its method origins has returned ${describeValue(origin)}; expected origins such as "https://example.com"`,
        )
      const site = this.#siteOf(origin)
      this.#change(site, () => site.addEarlier())
      if (site.inMemory === 0 && site.state === 'idle' && !site.isTaking) await this.#takeBack(site)
    }
  }

  #hold(url: HeldUrl<T>): void {
    const site = this.#siteOf(url.origin)
    if (site.isBehindSpill(url)) {
      site.spill(url)
      this.#leaving.push(url)
      this.#held++
    } else this.keep(site, url)
  }

  /** Adds a URL to those in memory: also one that `shift` has returned, and that can't enter yet. */
  keep(site: Site<T>, url: HeldUrl<T>): void {
    this.#change(site, () => site.add(url))
    if (site.inMemory * 2 >= this.#options.maxHeld) this.#crowding = site
    if (site.state === 'idle' && !site.isTaking) this.#options.onReady(site)
  }

  #siteOf(origin: string): Site<T> {
    const known = this.#sites.get(origin)
    if (known !== undefined) return known
    const site: Site<T> = new QueueSite(origin)
    this.#sites.set(origin, site)
    return site
  }

  /** Spills what does not fit. Returns whether there is room now. */
  async #makeRoom(): Promise<boolean> {
    const { maxHeld, spill } = this.#options
    if (spill === undefined) return false
    const least = Math.max(1, Math.floor(maxHeld / 10))
    this.#resumesAt = maxHeld - least
    const share = Math.min(SHARE, least)
    // The first URLs of a site that has spilled others come before those.
    const sites = [...this.#sites.values()].filter(({ inMemory, hasSpilled }) => !hasSpilled && inMemory > share)
    const excess = sites.reduce((sum, { inMemory }) => sum + inMemory - share, 0)
    if (excess >= least)
      for (const site of sites)
        for (const url of site.truncate(share)) {
          site.spill(url)
          this.#leaving.push(url) // it counts as held until it is in the spill
        }
    await this.#addToSpill()
    return this.#held < maxHeld
  }

  async #spillExcess(): Promise<void> {
    const { maxHeld } = this.#options
    this.#spillsAt = Number.POSITIVE_INFINITY // one call at a time
    await this.#makeRoom()
    // If most URLs are the first of their sites, there is little to spill: not after each of them.
    this.#spillsAt = Math.max(maxHeld, this.#held + Math.ceil(maxHeld / 10))
    this.#options.onChange()
  }

  /** Spills the URLs that are to leave. One call of `add` at a time. */
  async #addToSpill(): Promise<void> {
    while (this.#adding !== undefined) await this.#adding
    const urls = this.#leaving
    if (urls.length === 0) return
    this.#options.onSpill()
    this.#leaving = []
    const adding = (async () => {
      try {
        await this.#options.spill?.add(urls.map(({ item }) => item))
        for (const { origin } of urls) this.#siteOf(origin).leaving--
      } catch (error) {
        // They stay in memory, and are yielded before the error is thrown.
        for (const url of urls) {
          const site = this.#siteOf(url.origin)
          site.leaving--
          this.#change(site, () => site.unspill(1))
          this.keep(site, url)
        }
        await this.#fail(error, false)
      } finally {
        this.#held -= urls.length
        this.#adding = undefined
      }
    })()
    this.#adding = adding
    await adding
  }

  async #takeBack(site: Site<T>): Promise<void> {
    const { spill, maxHeld, seen } = this.#options
    site.isTaking = true
    const taken: HeldUrl<T>[] = []
    const { hasEarlier } = site
    if (!hasEarlier && site.spilled === site.leaving) await this.#addToSpill()
    const inSpill = site.spilled - site.leaving
    try {
      const count = Math.min(hasEarlier ? SHARE : inSpill, SHARE, Math.max(1, maxHeld - this.#held + 1))
      if (count > 0)
        for (const item of (await spill?.take(site.origin, count)) ?? []) taken.push(heldUrl<T>(item, this.#order++))
      if (hasEarlier) for (const { item } of taken) seen.isNewInSource(item.url)
      this.#change(site, () => (taken.length === 0 ? site.unspillAll(inSpill) : site.unspill(taken.length)))
    } catch (error) {
      this.#change(site, () => site.unspillAll(inSpill))
      await this.#fail(error, false)
    }
    site.isTaking = false
    for (const url of taken) this.keep(this.#siteOf(url.origin), url)
    if (site.state === 'idle') this.goOn(site)
    this.#options.onChange()
  }

  /** Reads no more. The URLs in memory are yielded first. */
  async #fail(error: unknown, isOfSource: boolean): Promise<void> {
    this.#failure ??= { error }
    // As by `for await`: a source that has thrown isn't closed, and the first error counts.
    if (isOfSource) this.#isDrained = true
    else await this.#close().catch(() => undefined)
  }

  /**
   * Closes the source. An async generator with a pending `next()` settles `return()` only after it,
   * so the close is then not awaited.
   */
  async #close(): Promise<void> {
    if (this.#isDrained) return
    this.#isDrained = true
    const isPulling = this.#isPulling
    const closing = Promise.resolve(this.#iterator?.return?.())
    if (isPulling) void closing.catch(() => undefined)
    else await closing
  }
}
