// siteQueue: yields the URLs of a stream in the order in which their sites' slots come.
//
// A crawler has more URLs than it may request now, and each site has its own pace. The queue holds
// some of the URLs, sorted by site. Each site is a line of an `OuterQueue`, which knows when the next
// URL of each line may start. An example with two consumers and two sites, `a` and `b`:
//
//   1. The source gives a/1, a/2 and b/1. Both sites are `unknown`: the client fetches their
//      robots.txt. Then both are `ready`.
//   2. A consumer calls `next`. a/1 enters the gate, gets a permit and is yielded. The gate reserves
//      the permit for the consumer's request: a fetch of the gate finds it by the URL.
//   3. The other consumer calls `next`, and gets b/1. Site `b` has no more URLs, and is dropped.
//   4. A consumer is done, and calls `next`. Site `a` is `waiting` for its delay. A timer makes it
//      `ready`, and the consumer gets a/2.
//
// A URL enters the gate only while a consumer waits for it. An unused permit would hold up other
// requests to its site, such as the redirects of the URL before.
//
// A consumer may `add` the links of a page. So while a yielded URL is not done, the queue waits, even
// if it holds no URL. A loop that adds nothing may never call `done`. So before the first `add` the
// queue waits only for the URLs that may still be done: those in the body of a loop, and those whose
// `done` was read. With a `concurrency` it also waits for those whose request had not ended when the
// loop asked for another URL.
import { OptionError } from '@politely/core'
import { escapeControls } from '@politely/core/internal'
import {
  abortSignal,
  assertIterable,
  assertOptions,
  Fifo,
  integer,
  onAbort,
  redirectChain,
  withMethods,
} from '@politely/fetcher/internal'
import { assertGate } from '../adapter/resolve-gate.ts'
import { isRefusal, type Refusal } from '../fetch/refused-response.ts'
import { type GatePort, gatePort, type PoliteGate } from '../gate.ts'
import type { GrantedPermit } from '../lane/granted-permit.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import { OuterQueue } from '../outer-queue/outer-queue.ts'
import { DoneWatch } from './done-watch.ts'
import { HeldUrls } from './held-urls.ts'
import type { HeldUrl, SiteQueueInput, SiteQueueItem, SiteQueueSpill } from './queue-items.ts'
import type { QueueSite as Site } from './queue-site.ts'
import { DEFAULT_MAX_SEEN, type SeenSet, SeenUrls } from './seen-urls.ts'

/** Options of `siteQueue`. */
export interface SiteQueueOptions<T extends SiteQueueInput = string> {
  /** The gate that paces the consumers' requests, such as the `gate` of `politely(fetch)`. */
  readonly gate: PoliteGate
  /**
   * How many URLs may be yielded and not `done`. A loop that doesn't await its work can't start
   * more. Default `Infinity`: the limits of the gate apply.
   */
  readonly concurrency?: number | undefined
  /**
   * How many URLs the queue holds in memory. It reads the source only as far as they fit. Default
   * 10,000.
   */
  readonly maxHeld?: number | undefined
  /**
   * Where to put the URLs that don't fit. So many URLs of one site don't keep the URLs of other
   * sites from being read. Default: they stay in the source.
   */
  readonly spill?: SiteQueueSpill<T> | undefined
  /**
   * With `add`: how many seen URLs the queue remembers. It yields each of them once. A further one
   * is an error. Default 1,000,000: about 130 MB.
   */
  readonly maxSeen?: number | undefined
  /**
   * With `add`: your own set of seen URLs, instead of `maxSeen`. It may be a Bloom filter or a
   * table. `has` must answer at once. Default: a `Set` of at most `maxSeen` URLs.
   */
  readonly seen?: SeenSet | undefined
  /** Aborting it ends the queue: `next` rejects with the signal's reason. */
  readonly signal?: AbortSignal | null | undefined
}

const OPTIONS: Readonly<Record<keyof SiteQueueOptions, true>> = {
  gate: true,
  concurrency: true,
  maxHeld: true,
  spill: true,
  maxSeen: true,
  seen: true,
  signal: true,
}

/** What `siteQueue` returns: iterate it to get the URLs. */
export interface SiteQueue<T extends SiteQueueInput = string>
  extends AsyncIterableIterator<SiteQueueItem<T>>,
    AsyncDisposable {
  /**
   * Adds URLs that were found on the way, such as the links of a page, or the first URLs. Each URL is
   * taken once: URLs that the source gave or that were added before are left out. Two URLs that
   * differ only in the fragment are the same. An invalid URL is yielded with its error in `refused`,
   * like an invalid URL of the source.
   *
   * From now on, the queue ends when it holds no URL and every yielded URL is `done`. So call `add`
   * before `done`. Never waits: the URLs are held in memory, or go to `spill`.
   * @param urls A source such as `['https://example.com/']` doesn't limit them to this text.
   * @param options `redirectedFrom` names the page that the URLs come from, so that a public page
   * can't lead the crawler to a private address. Relative URLs are resolved against it. Write the URL
   * of the response.
   * @returns How many of the URLs were new. 0 after an abort, an error, or a `break`.
   * @throws {OptionError} for a URL that would be one more than `maxSeen`; URLs before it are
   * taken. Also after the last URL was done, and for invalid arguments.
   */
  add(urls: (T extends string ? string : T) | Iterable<T extends string ? string : T>, options?: SourceOptions): number
}

/** A `Set` can hold no more. */
const MOST_SEEN = 2 ** 24

/** Our choice: about 3 MB. */
const DEFAULT_MAX_HELD = 10_000

/**
 * Yields the URLs of a source when they may be requested, in the order in which the slots of their
 * sites come. A site is an origin. It gets its URLs by priority, and then in the order of the source.
 * Request each URL with a client of the same gate: it need not wait again. Then call `done`, or
 * declare the item with `using`. A crawler that follows links passes them to `add`.
 *
 * Several consumers may read one queue. If one of them leaves its loop, the queue ends for all, and
 * the source is closed. A loop that begins after the end throws an `OptionError`. A URL that the gate
 * refuses is yielded with the error in `refused`.
 *
 * `next` rejects with an error of the source or of `spill`, after all held URLs; with the signal's
 * reason after an abort; with a `GateClosedError` or a `ClientClosedError` after `close`; with an
 * `OptionError` for an item that is not a URL; and with what a pacer or a function of the gate's
 * options throws.
 *
 * @example
 * ```ts
 * import { politely } from '@politely/gate'
 * import { siteQueue } from '@politely/gate/site-queue'
 *
 * const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const urls = ['https://example.com/1', 'https://example.com/2', 'https://example.org/']
 * for await (const { url, refused, done } of siteQueue(urls, { gate: fetch.gate })) {
 *   if (refused) continue
 *   await fetch(url)
 *   done()
 * }
 * await fetch.close()
 * ```
 * @throws {OptionError} for invalid arguments.
 */
export function siteQueue<T extends SiteQueueInput>(
  source: Iterable<T> | AsyncIterable<T>,
  options: SiteQueueOptions<T>,
): SiteQueue<T>
/** Without a source: all URLs come from `add`. */
export function siteQueue<T extends SiteQueueInput = string>(options: SiteQueueOptions<T>): SiteQueue<T>
export function siteQueue<T extends SiteQueueInput>(
  given: Iterable<T> | AsyncIterable<T> | SiteQueueOptions<T>,
  more?: SiteQueueOptions<T>,
): SiteQueue<T> {
  if (more === undefined && isOptions(given)) return openQueue([], given, true)
  assertIterable('source', given, '[url]')
  return openQueue(given as Iterable<T>, more as SiteQueueOptions<T>, false)
}

/** @param isGrowing Whether all URLs come from `add`. */
function openQueue<T extends SiteQueueInput>(
  source: Iterable<T> | AsyncIterable<T>,
  options: SiteQueueOptions<T>,
  isGrowing: boolean,
): SiteQueue<T> {
  assertOptions(options, '{ gate }', OPTIONS)
  const { gate, concurrency = Number.POSITIVE_INFINITY, maxHeld = DEFAULT_MAX_HELD, spill, signal } = options
  const { maxSeen = DEFAULT_MAX_SEEN } = options
  assertGate(gate)
  if (concurrency !== Number.POSITIVE_INFINITY) integer('concurrency', concurrency, { min: 1, infinite: 'allowed' })
  integer('maxSeen', maxSeen, { min: 1, max: MOST_SEEN, example: DEFAULT_MAX_SEEN })
  const seen = withMethods('seen', options.seen, ['has', 'add'], 'an object with the methods has and add')
  if (seen !== undefined && options.maxSeen !== undefined)
    throw new OptionError('maxSeen', 'cannot be combined with seen, which has its own limit; leave one of them out')
  const isKept = isGrowing || options.maxSeen !== undefined
  return new Queue(source, {
    gate,
    concurrency,
    maxHeld: integer('maxHeld', maxHeld, { min: 1, example: DEFAULT_MAX_HELD }),
    spill: withMethods(
      'spill',
      spill,
      spill?.origins === undefined ? ['add', 'take'] : ['add', 'take', 'origins'],
      'an object with the methods add and take, and origins if the URLs outlive the process',
    ),
    seen: new SeenUrls(seen ?? (isKept ? new Set() : undefined), seen ? Number.POSITIVE_INFINITY : maxSeen),
    signal: abortSignal(signal ?? undefined),
  })
}

function isOptions<T extends SiteQueueInput>(given: object): given is SiteQueueOptions<T> {
  return typeof given === 'object' && given !== null && 'gate' in given
}

interface CheckedOptions<T extends SiteQueueInput> {
  readonly gate: PoliteGate
  readonly concurrency: number
  readonly maxHeld: number
  readonly spill: SiteQueueSpill<T> | undefined
  readonly seen: SeenUrls
  readonly signal: AbortSignal | undefined
}

/** A yielded URL that is not done. */
interface OpenUrl {
  readonly url: string
  readonly permit: GrantedPermit
  readonly done: () => void
  /** Gives the permit back, if no request has it. */
  readonly takeBack: () => void
  readonly isOfLoop: boolean
  /** Whether its loop has asked for the next URL. True without a loop, which can't tell. */
  isLeft: boolean
  /** Whether its loop has awaited its request before that. */
  isAwaited: boolean
  /** Whether the consumer has read `done`, and may call it. */
  isDoneRead: boolean
}

/** A `for await` loop over the queue, and the URL that it got last. */
interface Loop {
  last: OpenUrl | undefined
}

type Result<T extends SiteQueueInput> = IteratorResult<SiteQueueItem<T>, undefined>
interface Consumer<T extends SiteQueueInput> extends PromiseWithResolvers<Result<T>> {
  loop?: Loop | undefined
}

const OVER = { done: true, value: undefined } as const

class Queue<T extends SiteQueueInput> implements SiteQueue<T> {
  readonly #options: CheckedOptions<T>
  readonly #port: GatePort
  readonly #urls: HeldUrls<T>
  readonly #sites: OuterQueue<Site<T>>
  /** The pending calls of `next`. */
  readonly #consumers = new Fifo<Consumer<T>>()
  /** How many URLs are entering the gate: at most as many as consumers wait. */
  #entering = 0
  readonly #open = new Set<OpenUrl>()
  readonly #doneWatch: DoneWatch
  /** Aborted at the end. */
  readonly #ending = new AbortController()
  /** Whether a consumer has asked for a URL. Before that, the source is not read. */
  #hasBegun = false
  /** Whether no URL was yielded, and the first URLs may still be added. */
  #isNew = true
  /** Whether it has ended because all URLs were done. */
  #hasRunOut = false
  /** What later calls of `next` reject with. */
  #error: { readonly error: unknown } | undefined
  readonly #unlisten: (() => void) | undefined

  constructor(source: Iterable<T> | AsyncIterable<T>, options: CheckedOptions<T>) {
    const { gate, concurrency, maxHeld, spill, seen, signal } = options
    this.#options = options
    this.#port = gatePort(gate)
    this.#sites = new OuterQueue(gate, this.#ending.signal, () => this.#advance())
    this.#doneWatch = new DoneWatch(gate, this.#port, concurrency, () => this.#quiet())
    const onReady = (site: Site<T>) => void this.#sites.open(site).catch((error: unknown) => this.#fail(error))
    const onSpill = () => {
      if (spill?.origins === undefined) warnOnce(gate, this.#port, 'POLITELY_SITE_QUEUE_SPILL', LASTING)
    }
    this.#urls = new HeldUrls({ source, maxHeld, spill, seen, onReady, onSpill, onChange: () => this.#advance() })
    const abort = () => {
      this.#takeBackAll()
      this.#fail(signal?.reason)
    }
    this.#unlisten = signal && onAbort(signal, abort)
    if (signal?.aborted) abort()
  }

  add(
    urls: (T extends string ? string : T) | Iterable<T extends string ? string : T>,
    options?: SourceOptions,
  ): number {
    if (options !== undefined) assertOptions(options, '{ redirectedFrom: [page] }', ADD_OPTIONS)
    const pages = redirectChain(options?.redirectedFrom)
    if (this.#hasRunOut)
      throw new OptionError(
        'queue',
        `has ended before this call of add, since it held no URL and ${this.#open.size === 0 ? 'every yielded one was done' : 'it did not know that URLs would be added'}; call add before done(), or write { maxSeen: ${DEFAULT_MAX_SEEN} } if the first call comes after a loop asks for another URL`,
      )
    if (this.#isOver) return 0
    this.#options.seen.keep()
    let count = 0
    try {
      for (const url of listOf(urls as T | Iterable<T>)) if (this.#urls.add(url, pages)) count++
    } finally {
      this.#advance()
    }
    return count
  }

  next(): Promise<Result<T>> {
    return this.#next(undefined)
  }

  #next(loop: Loop | undefined): Promise<Result<T>> {
    this.#leave(loop)
    if (this.#error !== undefined) return Promise.reject(this.#error.error)
    if (this.#ending.signal.aborted) return Promise.resolve(OVER)
    const consumer: Consumer<T> = Promise.withResolvers<Result<T>>()
    consumer.loop = loop
    this.#hasBegun = true
    this.#consumers.add(consumer)
    this.#advance()
    return consumer.promise
  }

  /** Ends the queue for all consumers, and closes the source. */
  async return(): Promise<Result<T>> {
    this.#takeBackAll()
    await this.#end((consumer) => consumer.resolve(OVER))
    return OVER
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** @throws {OptionError} after the end, since a second loop would get no URLs. */
  [Symbol.asyncIterator](): AsyncIterableIterator<SiteQueueItem<T>> {
    if (this.#isOver && this.#error === undefined)
      throw new OptionError(
        'queue',
        'was iterated to its end before, or left by break or return, and keeps no URLs; call siteQueue again',
      )
    const loop: Loop = { last: undefined }
    const iterator: AsyncIterableIterator<SiteQueueItem<T>> = {
      next: () => this.#next(loop),
      return: () => this.return(),
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  /** A loop asks for its next URL, or a caller that has no loop. */
  #leave(loop: Loop | undefined): void {
    const last = loop?.last
    if (last !== undefined) {
      last.isLeft = true
      last.isAwaited = last.permit.isReleased
    }
    if (this.#options.seen.isKept || this.#options.concurrency !== Number.POSITIVE_INFINITY) return
    if (last?.permit.isReleased) last.done()
    else if (loop === undefined)
      for (const open of this.#open) if (!open.isOfLoop && open.permit.isReleased) open.done()
  }

  async #end(settle: (consumer: Consumer<T>) => void): Promise<void> {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    this.#unlisten?.()
    this.#doneWatch.watch(undefined)
    this.#sites.close()
    for (const consumer of this.#consumers.drain()) settle(consumer)
    await this.#urls.end()
  }

  /** Gives back the slots of the yielded URLs that no consumer has requested yet. */
  #takeBackAll(): void {
    for (const { takeBack } of this.#open) takeBack()
  }

  #fail(error: unknown): void {
    if (this.#ending.signal.aborted) return
    this.#error = { error }
    // Of two errors, the first counts, as by `for await`.
    this.#end((consumer) => consumer.reject(error)).catch(() => undefined)
  }

  get #isOver(): boolean {
    return this.#ending.signal.aborted
  }

  /** Does whatever can be done now. While a consumer waits, and no site is ready, a timer keeps the process alive. */
  #advance(): void {
    if (this.#isOver || !this.#hasBegun) return
    this.#urls.read()
    this.#sites.resume()
    while (this.#mayEnter) void this.#enter(this.#sites.ready.first as Site<T>)
    const isEmpty = this.#urls.isOver && this.#entering === 0
    const { failure } = this.#urls
    if (isEmpty && failure !== undefined) {
      this.#fail(failure.error)
      return
    }
    const isAwaited = this.#consumers.size > this.#entering
    if (isEmpty && isAwaited && !this.#mayGrow) {
      this.#runOut()
      return
    }
    const waitsForDone =
      this.#open.size >= this.#options.concurrency || (isEmpty && [...this.#open].every(({ isLeft }) => isLeft))
    this.#doneWatch.watch(isAwaited && waitsForDone ? this.#open : undefined)
    const isStuck = isAwaited && this.#sites.ready.size === 0
    if (isStuck) this.#warnOfStall()
    this.#sites.setTimer(isStuck)
  }

  /** Whether a yielded URL may still lead to others. */
  get #mayGrow(): boolean {
    const { seen, concurrency } = this.#options
    if (seen.isKept) return this.#open.size > 0
    const isLimited = concurrency !== Number.POSITIVE_INFINITY
    for (const { isLeft, isAwaited, isDoneRead } of this.#open)
      if (!isLeft || isDoneRead || (isLimited && !isAwaited)) return true
    return false
  }

  /** The URLs that are not done seem to be forgotten. */
  #quiet(): void {
    if (!this.#options.seen.isKept && this.#urls.isOver && this.#entering === 0) this.#runOut()
  }

  /** Ends the queue. A program that starts its loops first has the rest of this turn to `add` a URL. */
  #runOut(): void {
    if (this.#isNew) {
      setImmediate(() => {
        this.#isNew = false
        this.#advance()
      })
      return
    }
    this.#hasRunOut = true
    void this.#end((consumer) => consumer.resolve(OVER))
  }

  /** Whether another URL may enter the gate. */
  get #mayEnter(): boolean {
    const isFree = this.#open.size + this.#entering < this.#options.concurrency
    return isFree && this.#consumers.size > this.#entering && this.#sites.ready.size > 0
  }

  /** Enters the gate with the next URL of a site, and yields the URL. */
  async #enter(site: Site<T>): Promise<void> {
    const url = this.#urls.shift(site) as HeldUrl<T>
    this.#entering++
    let entered: GrantedPermit | Refusal | undefined
    try {
      entered = await this.#sites.enter(site, url, () => this.#urls.keep(site, url))
    } catch (error) {
      if (!isRefusal(error)) return this.#fail(error) // does nothing after the end
      entered = error
    }
    this.#entering--
    if (this.#isOver && entered !== undefined && 'release' in entered) entered.release()
    if (this.#isOver) return
    if (entered !== undefined) {
      this.#yield(url, entered)
      this.#urls.goOn(site)
    }
    this.#advance()
  }

  #yield({ item }: HeldUrl<T>, entered: GrantedPermit | Refusal): void {
    const consumer = this.#consumers.first as Consumer<T>
    this.#consumers.delete(consumer)
    this.#isNew = false
    const isPermit = 'release' in entered
    const { loop } = consumer
    const done = () => {
      if (open === undefined || !this.#open.delete(open)) return
      open.takeBack()
      this.#advance()
    }
    const open: OpenUrl | undefined = isPermit
      ? {
          url: item.url,
          permit: entered,
          done,
          takeBack: this.#port.reserve(entered),
          isOfLoop: loop !== undefined,
          isLeft: loop === undefined,
          isAwaited: false,
          isDoneRead: false,
        }
      : undefined
    if (open !== undefined) this.#open.add(open)
    if (loop?.last !== undefined) loop.last.isLeft = true
    if (loop !== undefined) loop.last = open
    const value = { ...item, refused: isPermit ? undefined : entered, [YIELDED]: { done, open } }
    Object.defineProperties(value, DONE_GETTERS)
    consumer.resolve({ done: false, value: value as unknown as SiteQueueItem<T> })
  }

  #warnOfStall(): void {
    const origin = this.#options.spill === undefined ? this.#urls.crowdingSite : undefined
    if (origin === undefined) return
    const { gate, maxHeld } = this.#options
    // A consumer waits, although other sites could have URLs.
    const text = `siteQueue waits for ${escapeControls(origin)}: at least half of the ${maxHeld} URLs that it holds (maxHeld) are of this site, and there is no room to read the URLs that follow, which other sites could answer now; write the option spill, raise maxHeld, or mix the sites in the source`
    warnOnce(gate, this.#port, 'POLITELY_SITE_QUEUE', text)
  }
}

/** Of an item: what its getters need. */
const YIELDED: unique symbol = Symbol('yielded')

interface Yielded {
  readonly [YIELDED]: { readonly done: () => void; readonly open: OpenUrl | undefined }
}

const DONE_GETTER = {
  get(this: Yielded): () => void {
    const { done, open } = this[YIELDED]
    if (open !== undefined) open.isDoneRead = true
    return done
  },
  enumerable: true,
  configurable: true,
}
/** All items share these functions: with separate getters, each item would be a slow object. */
const DONE_GETTERS = { done: DONE_GETTER, [Symbol.dispose]: DONE_GETTER, [YIELDED]: { enumerable: false } }

const ADD_OPTIONS: Readonly<Record<keyof SourceOptions, true>> = { redirectedFrom: true }

/** @throws {OptionError} for a value that is neither a URL nor a list. */
function listOf<T extends SiteQueueInput>(urls: T | Iterable<T>): Iterable<T> {
  const isObject = typeof urls === 'object' && urls !== null
  if (typeof urls === 'string' || (isObject && ('href' in urls || 'url' in urls))) return [urls as T]
  assertIterable('urls', urls, '[url]')
  if (!isObject || !(Symbol.iterator in urls))
    throw new OptionError('urls', 'is an async iterable; call add for each of its items')
  return urls as Iterable<T>
}

const LASTING =
  'siteQueue puts URLs into a spill without the method origins: if this process ends before they are taken back, no later queue yields them; write origins, which returns the origins that have URLs, or origins: () => [] if the spill ends with the process'

type WarningCode = `POLITELY_SITE_QUEUE${'' | '_SPILL'}`

/** The warnings in the log of each gate. */
const logged = new WeakMap<PoliteGate, Set<WarningCode>>()
const emitted = new Set<WarningCode>()

/** Writes each warning once for each gate into its log, and once for the process. */
function warnOnce(gate: PoliteGate, { log }: GatePort, code: WarningCode, text: string): void {
  const codes = logged.get(gate) ?? new Set()
  logged.set(gate, codes)
  if (codes.has(code)) return
  codes.add(code)
  log.warn(text)
  if (emitted.has(code)) return
  emitted.add(code)
  process.emitWarning(text, { type: 'PolitelyWarning', code })
}
