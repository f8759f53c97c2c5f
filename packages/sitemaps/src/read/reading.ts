// One reading: takes files from the queue, one after another, and yields their entries in batches.
//
// Files are read one at a time: most files of a site are on one host, which is paced anyway. A batch
// comes from one chunk of bytes, and the next chunk is read when the batch was taken. So memory does
// not grow with the number of entries.
import { linkSignals } from '@politely/fetcher/internal'
import { charsetOf } from '../bytes/decode.ts'
import type { ForeignHost, SitemapEntry } from '../entry.ts'
import type { SitemapReason } from '../file-result.ts'
import type { Settings } from '../options.ts'
import { DateCounter } from '../parse/date-trust.ts'
import { type FoundEntry, Problems } from '../parse/found.ts'
import { BodySource, type ByteSource } from './body-source.ts'
import { EntryMaker } from './entry-maker.ts'
import { FileParser } from './file-parser.ts'
import { type FileBody, type FileHead, fileResult } from './file-record.ts'
import { FileResults } from './file-results.ts'
import { ForeignHosts, withoutHash } from './foreign-hosts.ts'
import { FileQueue, type ResumeToken, type Task } from './queue.ts'
import { type Requested, request, validatorsOf } from './request.ts'
import { SinceFilter } from './since-filter.ts'

const OFFICIAL_ENTRIES = 50_000

/** A sitemap of an index, and its date. */
interface Child {
  readonly task: Task
  readonly lastmod: number | undefined
}

export class Reading {
  readonly files: FileResults
  readonly #settings: Settings
  readonly #queue: FileQueue
  readonly #foreignHosts: ForeignHosts
  readonly #deadline = new AbortController()
  #signal: AbortSignal = this.#deadline.signal
  /** The file that is being read, and the number of its entries that were taken. */
  #current: { readonly task: Task; taken: number } | undefined
  /** The number of entries that were passed on. */
  #entries = 0

  constructor(settings: Settings, start: () => void) {
    this.#settings = settings
    this.files = new FileResults(start)
    this.#queue = new FileQueue(settings.limits.maxFiles)
    this.#foreignHosts = new ForeignHosts(settings.robots, settings.limits.maxForeignHosts)
    if (settings.resume !== undefined) this.#queue.restore(settings.resume)
  }

  token(): ResumeToken {
    const current = this.#current
    return this.#queue.token(current && { ...current.task, skip: current.taken })
  }

  async *entries(): AsyncGenerator<SitemapEntry, void> {
    const { signal, limits } = this.#settings
    const linked = linkSignals(signal === undefined ? [this.#deadline.signal] : [signal, this.#deadline.signal])
    this.#signal = linked.signal
    const timer =
      limits.maxMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => this.#deadline.abort(), limits.maxMs)
    try {
      for await (const batch of this.#batches()) {
        for (const entry of batch) {
          if (this.#current !== undefined) this.#current.taken++
          yield entry
        }
      }
    } catch (error) {
      if (!this.#isLate) {
        this.files.fail(error)
        throw error
      }
      this.#skipRest('limit: maxMs')
    } finally {
      clearTimeout(timer)
      linked.unlink()
      this.files.end()
    }
  }

  /** Whether `maxMs` is over, and the caller's signal is not aborted. */
  get #isLate(): boolean {
    return this.#deadline.signal.aborted && this.#settings.signal?.aborted !== true
  }

  async *#batches(): AsyncGenerator<readonly SitemapEntry[], void> {
    const { source, resume } = this.#settings
    this.#signal.throwIfAborted()
    if (resume === undefined && source.kind === 'site') await this.#addSitemapsOf(source.origin)
    if (resume === undefined && source.kind === 'files') {
      for (const url of source.urls) this.#addFirst({ url, depth: 0 })
    }
    if (resume === undefined && source.kind === 'bytes') {
      yield* this.#readBytes(source.bytes, { url: source.url, depth: 0 })
    }
    for (let task = this.#queue.next(); task !== undefined; task = this.#queue.next()) {
      if (this.#queue.isRead(task.url)) this.#skip(task, 'duplicate')
      else if (this.#isLate) this.#skip(task, 'limit: maxMs')
      else if (this.#entries >= this.#settings.limits.maxEntries) this.#skip(task, 'limit: maxEntries')
      else yield* this.#readFile(task)
    }
  }

  async #addSitemapsOf(origin: string): Promise<void> {
    const { robots, guess } = this.#settings
    const url = `${origin}/robots.txt`
    const sitemaps = await robots?.sitemaps(origin, { signal: this.#signal })
    for (const sitemap of sitemaps ?? []) this.#addFirst({ url: withoutHash(sitemap), depth: 0 })
    if (sitemaps !== undefined && sitemaps.length > 0) return
    if (guess) this.#addFirst({ url: `${origin}/sitemap.xml`, depth: 0 })
    const reason = sitemaps?.access.outcome === 'unreachable' ? 'robots-unreachable' : 'no-sitemaps'
    if (!guess || reason === 'robots-unreachable')
      this.files.add(fileResult({ task: { url, depth: 0 }, foreign: false }, { outcome: 'failed', reason }))
  }

  #addFirst(task: Task): void {
    if (this.#queue.add(task) === 'full') this.#skip(task, 'limit: maxFiles')
  }

  #skip(task: Task, reason: SitemapReason): void {
    this.files.add(fileResult({ task, foreign: false }, { outcome: 'skipped', reason }))
    if (endsReading(reason)) this.#queue.leave(task)
  }

  #skipRest(reason: SitemapReason): void {
    for (let task = this.#queue.next(); task !== undefined; task = this.#queue.next()) this.#skip(task, reason)
  }

  async *#readFile(task: Task): AsyncGenerator<readonly SitemapEntry[], void> {
    const { fetch, robots, checksRequests, limits, earlier } = this.#settings
    if (fetch === undefined) {
      this.files.add(fileResult({ task, foreign: false }, { outcome: 'failed', reason: 'no-fetch' }))
      return
    }
    this.#current = { task, taken: task.skip ?? 0 }
    let foreign: false | ForeignHost = false
    let requested: Requested | undefined
    try {
      foreign = await this.#foreignOf(task)
      requested = await request(task.url, {
        fetch,
        robots: checksRequests ? robots : undefined,
        signal: this.#signal,
        maxRedirects: limits.maxRedirects,
        headers: validatorsOf(earlier.get(task.url), task),
        isRead: (url) => this.#queue.isRead(url),
      })
    } catch (error) {
      if (this.#isLate) this.files.add(fileResult({ task, foreign }, { outcome: 'failed', reason: 'limit: maxMs' }))
      throw error
    }
    const head: FileHead = { task, foreign, requested }
    this.#queue.markRead(task.url)
    if (requested.reason !== 'duplicate') this.#queue.markRead(requested.url)
    if (requested.response?.status === 304) this.#unchanged(head)
    else if (requested.reason !== undefined || requested.response === undefined)
      this.files.add(fileResult(head, { outcome: 'failed' }))
    else yield* this.#readBody(requested.response.body as unknown as ByteSource | null, head, requested)
    this.#current = undefined
  }

  async *#readBytes(bytes: ByteSource, task: Task): AsyncGenerator<readonly SitemapEntry[], void> {
    this.#current = { task, taken: 0 }
    this.#queue.markRead(task.url)
    yield* this.#readBody(bytes, { task, foreign: false }, { url: task.url, hops: [] })
    this.#current = undefined
  }

  async *#readBody(
    bytes: ByteSource | null,
    head: FileHead,
    { url, response }: Requested,
  ): AsyncGenerator<readonly SitemapEntry[], void> {
    const { limits, since } = this.#settings
    const problems = new Problems()
    const dates = new DateCounter(Date.now())
    const source = new BodySource(bytes ?? new Uint8Array(0), limits, this.#signal, () =>
      this.#isLate ? { reason: 'limit: maxMs' } : undefined,
    )
    const parser = new FileParser(source, charsetOf(response?.headers.get('content-type')), limits, problems)
    const files = [url, head.task.url, ...(head.task.parent === undefined ? [] : [head.task.parent])]
    const maker = new EntryMaker(url, problems, dates, (origin) =>
      this.#foreignHosts.check(origin, files, this.#signal),
    )
    const body: FileBody = { source, parser, maker, problems, dates, entries: 0, skippedEntries: 0, sitemaps: 0 }
    const filter = new SinceFilter(since, dates, body, head.task.skip ?? 0)
    const children: Child[] = []
    let limit: SitemapReason | undefined
    try {
      for await (const batch of parser.batches()) {
        const entries: SitemapEntry[] = []
        for (const found of batch) {
          const isEntry = found.kind === 'entry'
          limit = isEntry ? this.#entryLimit(body, entries) : this.#addChild(children, found, body, head.task)
          if (limit !== undefined) break
          if (!isEntry) continue
          const made = maker.entryOf(found)
          const entry = made instanceof Promise ? await made : made
          if (entry === undefined) continue
          body.entries++
          filter.add(entry, entries)
        }
        if (entries.length > 0) yield this.#passed(entries)
        if (limit !== undefined) break
      }
      const rest = filter.end()
      if (rest.length > limits.maxEntries - this.#entries) limit = 'limit: maxEntries'
      if (rest.length > 0) yield this.#passed(rest)
    } catch (error) {
      if (this.#isLate) this.files.add(fileResult(head, { outcome: 'partial', reason: 'limit: maxMs' }, body))
      throw error
    }
    if (body.entries > OFFICIAL_ENTRIES) problems.add('over-50000-entries')
    const unqueued = this.#queueChildren(children, body, head.task)
    const end = limit === undefined ? parser.end : ({ outcome: 'partial', reason: limit } as const)
    const isWhole = end.outcome === 'complete' && unqueued !== undefined
    this.files.add(fileResult(head, isWhole ? { outcome: 'partial', reason: unqueued } : end, body))
    if (endsReading(end.reason)) this.#queue.leave({ ...head.task, skip: this.#current?.taken ?? 0 })
  }

  /** Counts the entries, and returns as many of them as `maxEntries` admits. */
  #passed(entries: readonly SitemapEntry[]): readonly SitemapEntry[] {
    const passed = entries.slice(0, this.#settings.limits.maxEntries - this.#entries)
    this.#entries += passed.length
    return passed
  }

  #entryLimit(body: FileBody, batch: readonly SitemapEntry[]): SitemapReason | undefined {
    const { maxEntries, maxEntriesPerFile } = this.#settings.limits
    if (body.entries >= maxEntriesPerFile) return 'limit: maxEntriesPerFile'
    return this.#entries + batch.length >= maxEntries ? 'limit: maxEntries' : undefined
  }

  /** Returns the limit that ends the file, if it is reached. */
  #addChild(children: Child[], found: FoundEntry, { maker }: FileBody, task: Task): SitemapReason | undefined {
    const { maxFiles } = this.#settings.limits
    const url = maker.urlOf(found)
    if (url === undefined) return undefined
    if (children.length >= maxFiles) return 'limit: maxFiles'
    const child = { url: withoutHash(url), depth: task.depth + 1, parent: task.url }
    children.push({ task: child, lastmod: maker.dateOf(found) })
    return undefined
  }

  /** Returns the limit that kept sitemaps of an index out of the queue. */
  #queueChildren(children: readonly Child[], body: FileBody, task: Task): SitemapReason | undefined {
    const { since, limits } = this.#settings
    if (children.length > 0 && task.depth >= limits.maxDepth) return 'limit: maxDepth'
    const { isTrusted } = body.dates.trust
    let reason: SitemapReason | undefined
    for (const child of children) {
      const isOld = since !== undefined && isTrusted && child.lastmod !== undefined && child.lastmod < since
      const result = this.#queue.add(child.task, isOld)
      if (result === 'added' && isOld) this.#skip(child.task, 'since')
      else if (result === 'added') body.sitemaps++
      else if (result === 'full') reason = 'limit: maxFiles'
      else body.problems.add('duplicate-file', child.task.url)
    }
    return reason
  }

  /** Queues the sitemaps that an unchanged index listed in the earlier reading. */
  #unchanged(head: FileHead): void {
    const { earlier } = this.#settings
    const before = earlier.get(head.task.url)
    const { etag, lastModified } = before ?? {}
    const result = fileResult(head, { outcome: 'unchanged' })
    this.files.add({ ...(etag && { etag }), ...(lastModified && { lastModified }), ...result })
    for (const { url, parent, depth } of earlier.values()) {
      if (parent === head.task.url) this.#addFirst({ url, parent, depth })
    }
  }

  async #foreignOf({ url, parent }: Task): Promise<false | ForeignHost> {
    if (parent === undefined || new URL(parent).host === new URL(url).host) return false
    return this.#foreignHosts.check(new URL(url).origin, [url, parent], this.#signal)
  }
}

/** Whether a later reading continues with the file. */
function endsReading(reason: SitemapReason | undefined): boolean {
  return reason === 'limit: maxMs' || reason === 'limit: maxEntries'
}
