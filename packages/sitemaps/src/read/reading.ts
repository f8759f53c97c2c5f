// One reading: takes files from the queue, one after another, and yields their entries in batches.
//
// Files are read one at a time: most files of a site are on one host, which is paced anyway. A batch
// comes from one chunk of bytes, and the next chunk is parsed when the batch was taken. So memory does
// not grow with the number of entries. The network does not wait for the caller: see spool.ts.
import { linkSignals } from '@politely/fetcher/internal'
import { charsetOf } from '../bytes/decode.ts'
import type { ForeignHost, SitemapEntry } from '../entry.ts'
import { SitemapIncompleteError } from '../errors.ts'
import type { SitemapFile, SitemapReason } from '../file-result.ts'
import { DateCounter } from '../parse/date-trust.ts'
import { Problems } from '../parse/found.ts'
import { type ByteSource, iteratorOf, SitemapBytes } from './body-source.ts'
import { type Child, Children } from './children.ts'
import { EntryMaker } from './entry-maker.ts'
import { FileParser } from './file-parser.ts'
import { type FileBody, type FileHead, fileResult } from './file-record.ts'
import { FileResults } from './file-results.ts'
import { FileWatch } from './file-watch.ts'
import { ForeignHosts, withoutHash } from './foreign-hosts.ts'
import type { ReadingSettings } from './options.ts'
import { FileQueue } from './queue.ts'
import { conditionsOf, type RequestContext, type Requested, request, requestRest } from './request.ts'
import type { ResumeToken, Task } from './resume-token.ts'
import { SinceFilter } from './since-filter.ts'
import { Spool } from './spool.ts'

const OFFICIAL_ENTRIES = 50_000

export class SiteReading {
  readonly files: FileResults
  readonly #settings: ReadingSettings
  readonly #queue: FileQueue
  readonly #hosts: ForeignHosts
  readonly #deadline = new AbortController()
  #signal: AbortSignal = this.#deadline.signal
  /** The file that is being read, and the number of its entries that were taken. */
  #current: { readonly task: Task; taken: number } | undefined
  /** The number of entries that were passed on. */
  #entries = 0
  /** Whether `maxMs` was over before all entries of a batch were taken. */
  #isCutByTime = false
  /** The files whose body broke off. */
  readonly #brokenOff: SitemapFile[] = []

  constructor(settings: ReadingSettings, start: () => void) {
    const { limits, robots, guard, resume } = settings
    this.#settings = settings
    this.files = new FileResults(start)
    this.#queue = new FileQueue(limits.maxFiles, limits.maxQueueBytes)
    this.#hosts = new ForeignHosts(robots, guard, limits.maxForeignHosts)
    if (resume !== undefined) this.#queue.restore(resume)
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
        const wasLate = this.#isLate // the last batch still counts
        for (const entry of batch) {
          this.#isCutByTime = this.#isLate && !wasLate
          if (this.#isCutByTime) break
          if (!wasLate) this.#signal.throwIfAborted()
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
    const [first, ...others] = this.#brokenOff
    if (first !== undefined) throw new SitemapIncompleteError([first, ...others])
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
      else if (this.#queue.bytesLeft < 0) this.#skip(task, 'limit: maxQueueBytes')
      else yield* this.#readFile(task)
    }
  }

  async #addSitemapsOf(origin: string): Promise<void> {
    const { robots, guess } = this.#settings
    const url = `${origin}/robots.txt`
    const sitemaps = await robots?.sitemaps(origin, { signal: this.#signal })
    const from = this.#hosts.publicOf([url])
    const first = (sitemap: string): Task => ({ url: sitemap, depth: 0, ...(from !== undefined && { from }) })
    for (const sitemap of sitemaps ?? []) this.#addFirst(first(withoutHash(sitemap)))
    if (sitemaps !== undefined && sitemaps.length > 0) return
    if (guess) this.#addFirst(first(`${origin}/sitemap.xml`))
    const reason = sitemaps?.access.outcome === 'unreachable' ? 'robots-unreachable' : 'no-sitemaps'
    if (!guess || reason === 'robots-unreachable')
      this.files.add(fileResult({ task: { url, depth: 0 }, foreign: false }, { outcome: 'failed', reason }))
  }

  #addFirst(task: Task): void {
    const result = this.#queue.add(task)
    if (result === 'limit: maxFiles' || result === 'limit: maxQueueBytes') this.#skip(task, result)
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
    let requested: Requested
    const linked = linkSignals([this.#signal]) // one signal for each file, since fetch leaves listeners on it
    const context: RequestContext = {
      fetch,
      robots,
      checksRequests,
      hosts: this.#hosts,
      signal: linked.signal,
      maxRedirects: limits.maxRedirects,
      isRead: (url) => this.#queue.isRead(url),
    }
    try {
      try {
        foreign = await this.#foreignOf(task)
        requested = await request(task, conditionsOf(earlier.get(task.url), task), context)
      } catch (error) {
        if (this.#isLate) this.files.add(fileResult({ task, foreign }, { outcome: 'failed', reason: 'limit: maxMs' }))
        throw error
      }
      const head: FileHead = { task, foreign, requested }
      const { hops, url, reason, response } = requested
      this.#queue.markRead(task)
      this.#queue.addRedirects(hops, reason === 'duplicate' ? undefined : url)
      if (response?.status === 304) this.#unchanged(head)
      else if (reason !== undefined || response === undefined) this.files.add(fileResult(head, { outcome: 'failed' }))
      else {
        const body = iteratorOf((response.body as ByteSource | null) ?? new Uint8Array(0))
        const rest = (position: number) => requestRest(requested, task.from, position, context)
        yield* this.#readBody(new Spool(body, limits.maxBytesIn, rest), head, requested)
      }
    } finally {
      linked.unlink()
    }
    this.#current = undefined
  }

  async *#readBytes(bytes: ByteSource, task: Task): AsyncGenerator<readonly SitemapEntry[], void> {
    this.#current = { task, taken: 0 }
    this.#queue.markRead(task)
    yield* this.#readBody(iteratorOf(bytes), { task, foreign: false }, { url: task.url, hops: [] })
    this.#current = undefined
  }

  async *#readBody(
    bytes: AsyncIterator<Uint8Array>,
    head: FileHead,
    { url, hops, response }: Requested,
  ): AsyncGenerator<readonly SitemapEntry[], void> {
    const { limits, since } = this.#settings
    const { task } = head
    const problems = new Problems()
    const dates = new DateCounter(Date.now())
    const watch = new FileWatch(limits.maxFileMs, this.#signal, () =>
      this.#isLate ? { reason: 'limit: maxMs' } : undefined,
    )
    const source = new SitemapBytes(bytes, limits.maxBytesIn, watch)
    const charset = charsetOf(response?.headers.get('content-type'))
    const parser = new FileParser(source, charset, limits, problems, watch)
    const files = [url, task.url, ...(task.parent === undefined ? [] : [task.parent])]
    const from = this.#hosts.publicOf([task.from, task.url, ...hops.map((hop) => hop.url), url])
    const maker = new EntryMaker(url, problems, dates, {
      isPrivate: async (other) => (await this.#hosts.refusalOf(other, from, this.#signal)) !== undefined,
      proofOf: (origin) => this.#hosts.proofOf(origin, files, this.#signal),
    })
    const body: FileBody = { source, parser, maker, problems, dates, entries: 0, skippedEntries: 0, sitemaps: 0 }
    const filter = new SinceFilter(since, dates, body, task.skip ?? 0)
    const children = new Children(task, from, this.#queue.bytesLeft, limits.maxFiles)
    let limit: SitemapReason | undefined
    try {
      for await (const batch of parser.batches()) {
        const entries: SitemapEntry[] = []
        for (const found of batch) {
          const isEntry = found.kind === 'entry'
          limit = isEntry ? this.#entryLimit(body, entries) : await children.add(found, maker)
          if (limit !== undefined) break
          if (!isEntry) continue
          const made = maker.entryOf(found)
          const entry = made instanceof Promise ? await made : made
          if (entry === undefined) continue
          body.entries++
          filter.add(entry, entries)
        }
        if (entries.length > 0) yield this.#passed(entries)
        if (this.#isCutByTime) limit = 'limit: maxMs'
        if (limit !== undefined) break
      }
      const rest = filter.end()
      if (rest.length > limits.maxEntries - this.#entries) limit = 'limit: maxEntries'
      if (rest.length > 0) yield this.#passed(rest)
      if (this.#isCutByTime) limit = 'limit: maxMs'
    } catch (error) {
      if (this.#isLate) this.files.add(fileResult(head, { outcome: 'partial', reason: 'limit: maxMs' }, body))
      throw error
    }
    if (body.entries > OFFICIAL_ENTRIES) problems.add('over-50000-entries')
    const unqueued = this.#queueChildren(children.list, body, task)
    const end = limit === undefined ? parser.end : ({ outcome: 'partial', reason: limit } as const)
    const isWhole = end.outcome === 'complete' && unqueued !== undefined
    const result = fileResult(head, isWhole ? { outcome: 'partial', reason: unqueued } : end, body)
    this.files.add(result)
    const isBrokenOff = source.isBrokenOff && end.reason === 'cut-off'
    if (isBrokenOff) this.#brokenOff.push(result)
    if (isBrokenOff || endsReading(end.reason)) this.#queue.leave({ ...task, skip: this.#current?.taken ?? 0 })
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
      else if (result === 'duplicate') body.problems.add('duplicate-file', child.task.url)
      else reason = result
    }
    return reason
  }

  /** Queues the sitemaps that an unchanged index listed in the earlier reading. */
  #unchanged(head: FileHead): void {
    const { earlier } = this.#settings
    const { task } = head
    const before = earlier.get(task.url)
    const { etag, lastModified } = before ?? {}
    const result = fileResult(head, { outcome: 'unchanged' })
    this.files.add({ ...(etag && { etag }), ...(lastModified && { lastModified }), ...result })
    const from = this.#hosts.publicOf([task.from, task.url])
    for (const { url, parent, depth } of earlier.values()) {
      if (parent === task.url) this.#addFirst({ url, parent, depth, ...(from !== undefined && { from }) })
    }
  }

  async #foreignOf({ url, parent, from }: Task): Promise<false | ForeignHost> {
    if (parent === undefined) return false
    const { host, origin } = new URL(url)
    if (new URL(parent).host === host) return false
    const blocked = await this.#hosts.refusalOf(url, from, this.#signal)
    if (blocked !== undefined) return { origin, proof: 'unchecked' }
    return this.#hosts.proofOf(origin, [url, parent], this.#signal)
  }
}

/** Whether a later reading continues with the file. */
function endsReading(reason: SitemapReason | undefined): boolean {
  return reason === 'limit: maxMs' || reason === 'limit: maxEntries'
}
