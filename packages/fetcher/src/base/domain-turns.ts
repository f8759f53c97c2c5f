// Limits how many items are under way at once, and gives waiting items their turns.
//
// There are three limits: for all items, for each site, and for each platform. A wildcard in DNS
// gives a site any number of hosts, so they share a limit. A platform such as `github.io` has any
// number of sites, and one owner may have many of them, so they share a limit too. Otherwise one
// owner's slow items could take up everything.
//
// A waiting item is ready if its site and its platform are below their limits. Sites with ready
// items take turns. A platform takes turns like one site, and its sites take turns within it.
//
// A few owners with slow items must not stop all others. So an item that takes long may be exempted
// from the limits of its platform and of all. From then on its site is slow: it gets only one more
// item at a time, until one of its items ends in time.
//
// Nor can a site starve others by redirects to them:
//
// - Items that came to a site by a redirect wait in a separate queue, which takes turns with the
//   normal queue.
// - An item that left its own site counts there until it ends, so that no site sends others more
//   items than it may have itself. Such items don't keep redirected items from starting there:
//   otherwise, sites that redirect to each other would block each other.
import { Fifo } from './fifo.ts'
import type { Site } from './site.ts'

/**
 * The queue of a waiting item. Items in the background start only when no other waiting item may
 * start.
 */
export type QueueName = (typeof QUEUE_NAMES)[number]

/** How an item ended: `exempt` from some limits; `slow`, but not exempt; or `in-time`. */
export type TurnOutcome = 'exempt' | 'slow' | 'in-time'

const QUEUE_NAMES = ['normal', 'redirected', 'background'] as const
/**
 * A platform may have this many times as many items as one of its sites, but not more than half of
 * all. Our choice.
 */
const SITES_PER_PLATFORM = 4
/** There may be this many exempt items for each item that a limit admits. Our choice. */
const MAX_EXEMPT_FACTOR = 4
/** How many slow sites are remembered. Our choice. */
const MAX_SLOW_SITES = 10_000

type Queues<T> = Readonly<Record<QueueName, T>>

/** The items of a site or a platform that count towards its limit. */
interface Counts {
  /** For a site with its exempt items, for a platform without them. */
  underWay: number
  /** How many of its items are under way or waiting in another site. */
  away: number
  /** How many of its items are exempt from the limits for the platform and for all. */
  exempt: number
}

class SiteItems<T> implements Site, Counts {
  readonly name: string
  readonly platform: string | undefined
  readonly turns: DomainTurns<T>
  readonly platformItems: Platform<T> | undefined
  underWay = 0
  away = 0
  exempt = 0
  /** Whether one of its items became exempt, and none has ended in time since. */
  isSlow = false
  /** How many callers of `hold` have not called `letGo`. */
  holders = 0
  /** Whether it was deleted. A caller may still have it, and another object may count for its site. */
  isDeleted = false
  /**
   * First come, first served. A queue is created with its first item: most sites never have one
   * that waits.
   */
  readonly waiting: Partial<Record<QueueName, Fifo<T>>> = {}
  /** Whether it has such a queue. */
  hasQueues = false

  constructor({ name, platform }: Site, turns: DomainTurns<T>, platformItems: Platform<T> | undefined) {
    this.name = name
    this.platform = platform
    this.turns = turns
    this.platformItems = platformItems
  }
}

interface Platform<T> extends Counts {
  readonly name: string
  /** How many sites with items it has. */
  sites: number
  /** Sites that have waiting items and are below their own limit. */
  readonly ready: Queues<Fifo<SiteItems<T>>>
}

export class DomainTurns<T> {
  readonly #max: number
  readonly #maxPerSite: number
  readonly #maxPerPlatform: number
  /** Sites with items under way or waiting, and sites that are held, by name. */
  readonly #sites = new Map<string, SiteItems<T>>()
  /** The platforms of these sites. */
  readonly #platforms = new Map<string, Platform<T>>()
  /**
   * Sites without a platform that have waiting items and are below their own limit, and platforms
   * with such sites.
   */
  readonly #ready: Queues<Fifo<SiteItems<T> | Platform<T>>> = createQueues(() => new Fifo())
  /** Platforms that have reached their limit and have ready sites. */
  readonly #full = new Set<Platform<T>>()
  /** The names of slow sites. */
  readonly #slow = new Set<string>()
  /** How many items are under way and not exempt. */
  #underWay = 0
  #exempt = 0
  /** Whose turn it is. */
  #nextQueue: 'normal' | 'redirected' = 'normal'

  constructor(max: number, maxPerSite: number, maxPerPlatform?: number) {
    this.#max = max
    this.#maxPerSite = maxPerSite
    const most = Math.min(SITES_PER_PLATFORM * maxPerSite, Math.floor(max / 2))
    this.#maxPerPlatform = maxPerPlatform ?? Math.max(maxPerSite, most)
  }

  /** How many items are under way, also exempt ones. */
  get underWay(): number {
    return this.#underWay + this.#exempt
  }

  /** Whether an item waits only because of the limit for all or for a platform. */
  get isBlocked(): boolean {
    return this.#full.size > 0 || this.#isFull
  }

  /**
   * Returns the same site in a form that the other methods find without a look-up. Each call needs
   * one call of `letGo`.
   */
  hold(site: Site): Site {
    const items = this.#itemsOf(site)
    items.holders++
    return items
  }

  /** The caller no longer uses what `hold` returned. */
  letGo(site: Site): void {
    const items = this.#find(site)
    if (items === undefined) return
    items.holders--
    this.#update(items)
  }

  /** How many items of this site wait in a queue. */
  waiting(site: Site, queue: QueueName = 'normal'): number {
    return this.#find(site)?.waiting[queue]?.size ?? 0
  }

  /** Whether an item of this site became exempt, and none has ended in time since. */
  isSlow(site: Site): boolean {
    return this.#find(site)?.isSlow ?? this.#slow.has(site.name)
  }

  /**
   * Returns which limit an item of this site would have to wait for; undefined if it could start
   * now.
   */
  fullLimit(site: Site): 'all' | 'domain' | undefined {
    if (this.#underWay >= this.#max) return 'all'
    const items = this.#find(site)
    if (items !== undefined && !this.#hasRoom(items, 'redirected')) return 'domain'
    const { platform } = site
    if (platform === undefined) return undefined
    const platformItems = items === undefined ? this.#platforms.get(platform) : items.platformItems
    return (platformItems?.underWay ?? 0) >= this.#maxPerPlatform ? 'domain' : undefined
  }

  /** Counts an item as under way. */
  start(site: Site): void {
    const items = this.#itemsOf(site)
    items.underWay++
    if (items.platformItems !== undefined) items.platformItems.underWay++
    this.#underWay++
    this.#update(items)
  }

  /**
   * Counts an item of this site as ended.
   * @param outcome Undefined if the item has not begun its work.
   */
  end(site: Site, outcome?: TurnOutcome): void {
    const items = this.#find(site)
    if (items === undefined) return
    items.underWay--
    if (outcome === 'exempt') this.#countExempt(items, -1)
    else {
      this.#underWay--
      if (items.platformItems !== undefined) items.platformItems.underWay--
    }
    if (outcome === 'in-time' && items.isSlow) {
      items.isSlow = false
      this.#slow.delete(items.name)
    }
    this.#update(items)
  }

  /**
   * Exempts an item that is under way from the limits for its platform and for all. It still counts
   * towards the limit of its site. Returns false if no other item waits for one of these two
   * limits, or if there are too many exempt items already.
   */
  exempt(site: Site): boolean {
    const items = this.#find(site)
    if (items === undefined) return false
    const platform = items.platformItems
    if (!this.#isFull && (platform === undefined || !this.#full.has(platform))) return false
    if (this.#exempt >= MAX_EXEMPT_FACTOR * this.#max) return false
    if (platform !== undefined && platform.exempt >= MAX_EXEMPT_FACTOR * this.#maxPerPlatform) return false
    this.#countExempt(items, 1)
    this.#addSlow(items)
    this.#underWay--
    if (platform !== undefined) platform.underWay--
    this.#update(items)
    return true
  }

  /** Counts an item that is under way in its own site as away. */
  leave(site: Site, outcome?: TurnOutcome): void {
    this.#countAway(site, 1)
    this.end(site, outcome)
  }

  /** Counts an item of this site, which is not under way, as away. */
  beginAway(site: Site): void {
    this.#update(this.#countAway(site, 1))
  }

  /** Counts an item as away no more: it ended, or returned to its own site. */
  endAway(site: Site): void {
    this.#update(this.#countAway(site, -1))
  }

  /** Adds an item to a queue of a site. */
  add(site: Site, item: T, queue: QueueName = 'normal'): void {
    const items = this.#itemsOf(site)
    items.waiting[queue] ??= new Fifo()
    items.hasQueues = true
    items.waiting[queue].add(item)
    this.#update(items)
  }

  /** Removes an item from the queues of a site. */
  delete(site: Site, item: T): void {
    const items = this.#find(site)
    if (items === undefined) return
    for (const queue of QUEUE_NAMES) items.waiting[queue]?.delete(item)
    this.#update(items)
  }

  /** Removes and returns the item whose turn it is; undefined if none may start. */
  next(): T | undefined {
    if (this.#underWay >= this.#max) return undefined
    const other = this.#nextQueue === 'normal' ? 'redirected' : 'normal'
    return this.#take(this.#nextQueue) ?? this.#take(other) ?? this.#take('background')
  }

  get #isFull(): boolean {
    return this.#underWay >= this.#max && QUEUE_NAMES.some((queue) => this.#ready[queue].first !== undefined)
  }

  #take(queue: QueueName): T | undefined {
    const first = this.#ready[queue].first
    const items = first !== undefined && 'sites' in first ? first.ready[queue].first : first
    const item = items?.waiting[queue]?.first
    if (first === undefined || items === undefined || item === undefined) return undefined
    items.waiting[queue]?.delete(item)
    // Moves the site, and its platform, behind the others.
    items.platformItems?.ready[queue].delete(items)
    this.#ready[queue].delete(first)
    this.#nextQueue = queue === 'normal' ? 'redirected' : 'normal'
    this.#update(items)
    return item
  }

  #find(site: Site): SiteItems<T> | undefined {
    const isCurrent = site instanceof SiteItems && site.turns === this && !site.isDeleted
    return isCurrent ? site : this.#sites.get(site.name)
  }

  #itemsOf(site: Site): SiteItems<T> {
    const found = this.#find(site)
    if (found !== undefined) return found
    const { name, platform: platformName } = site
    const platform = platformName === undefined ? undefined : this.#platformOf(platformName)
    const items = new SiteItems(site, this, platform)
    items.isSlow = this.#slow.has(name)
    this.#sites.set(name, items)
    if (platform !== undefined) platform.sites++
    return items
  }

  #platformOf(name: string): Platform<T> {
    let platform = this.#platforms.get(name)
    if (platform === undefined) {
      platform = { name, sites: 0, underWay: 0, away: 0, exempt: 0, ready: createQueues(() => new Fifo()) }
      this.#platforms.set(name, platform)
    }
    return platform
  }

  #addSlow(items: SiteItems<T>): void {
    items.isSlow = true
    this.#slow.add(items.name)
    if (this.#slow.size <= MAX_SLOW_SITES) return
    const [oldest = ''] = this.#slow
    this.#slow.delete(oldest)
    const forgotten = this.#sites.get(oldest)
    if (forgotten !== undefined) forgotten.isSlow = false
  }

  #countAway(site: Site, change: 1 | -1): SiteItems<T> {
    const items = this.#itemsOf(site)
    items.away += change
    if (items.platformItems !== undefined) items.platformItems.away += change
    return items
  }

  #countExempt(items: SiteItems<T>, change: 1 | -1): void {
    items.exempt += change
    if (items.platformItems !== undefined) items.platformItems.exempt += change
    this.#exempt += change
  }

  /**
   * Adds the site to the ready ones or removes it; a site that is already ready keeps its turn.
   * Deletes a site without items that is not held.
   */
  #update(items: SiteItems<T>): void {
    const { platformItems: platform, waiting } = items
    const ready = platform?.ready ?? this.#ready
    let isEmpty = items.underWay === 0 && items.away === 0 && items.holders === 0
    if (items.hasQueues) {
      for (const queue of QUEUE_NAMES) {
        if (waiting[queue] === undefined) continue
        const hasItems = waiting[queue].size > 0
        if (hasItems && this.#hasRoom(items, queue)) ready[queue].add(items)
        else ready[queue].delete(items)
        if (hasItems) isEmpty = false
      }
    }
    if (isEmpty) {
      items.isDeleted = true
      this.#sites.delete(items.name)
    }
    if (platform === undefined) return
    if (isEmpty) platform.sites--
    this.#updatePlatform(platform)
  }

  /** Whether the limit of a site admits one more item of a queue. */
  #hasRoom(items: SiteItems<T>, queue: QueueName): boolean {
    if (items.isSlow && items.underWay > items.exempt) return false
    return isBelow(this.#maxPerSite, items, queue)
  }

  #updatePlatform(platform: Platform<T>): void {
    const { name, ready } = platform
    let isFull = false
    for (const queue of QUEUE_NAMES) {
      const hasReady = ready[queue].first !== undefined
      const isBelowLimit = isBelow(this.#maxPerPlatform, platform, queue)
      if (hasReady && isBelowLimit) this.#ready[queue].add(platform)
      else this.#ready[queue].delete(platform)
      if (hasReady && !isBelowLimit) isFull = true
    }
    if (isFull) this.#full.add(platform)
    else this.#full.delete(platform)
    if (platform.sites === 0) this.#platforms.delete(name)
  }
}

/**
 * Whether one more item of a queue may start, as far as the limit of a site or a platform is
 * concerned.
 */
function isBelow(max: number, { underWay, away }: Counts, queue: QueueName): boolean {
  return (queue === 'redirected' ? underWay : underWay + away) < max
}

function createQueues<L>(create: () => L): Queues<L> {
  return { normal: create(), redirected: create(), background: create() }
}
