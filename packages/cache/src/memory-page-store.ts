// A store of pages in memory. It keeps the URLs that were used last.

import { BlockBuffer } from './block-buffer.ts'
import {
  MAX_VARIANTS,
  type PageRecord,
  type PageStore,
  type PageWriter,
  type StoredPage,
  type VisitLog,
} from './page-store.ts'

interface Page {
  readonly id: number
  /** Without its headers. */
  readonly record: PageRecord
  /** Names and values in turn. An array for each header would cost more memory. */
  readonly headers: readonly string[]
  /** Which of the responses of its URL it is: `varied` of the record, as JSON. */
  readonly variant: string
  readonly receivedAt: number
  readonly bodyBytes: number
  readonly blocks: readonly Uint8Array[]
  /** With the record. */
  readonly bytes: number
}

interface Known {
  /** The last received first. */
  readonly pages: readonly Page[]
  readonly log: VisitLog | undefined
  /** Of all that is known, with the URL. */
  readonly bytes: number
}

/** Bodies are kept in blocks of this size, because each array also needs memory for itself. */
const BLOCK_BYTES = 65_536
/** The memory for the objects of a response or a URL, without their texts. Bytes, roughly. */
const OVERHEAD_BYTES = 500
/** The memory for a name or a value of a header, without its characters. Bytes, roughly. */
const TEXT_BYTES = 36

const NO_PAGES: readonly StoredPage[] = []

/** How much of `maxBytes` is in use after the oldest pages were deleted. */
const FILLED = 0.99

/** Options of a `MemoryPageStore`. */
export interface MemoryPageStoreOptions {
  /** How long bodies, records and visits may be together. Bytes. */
  readonly maxBytes: number
}

/** Keeps responses and visits in memory. A response of over a third of `maxBytes` is not kept. */
export class MemoryPageStore implements PageStore {
  readonly #maxBytes: number
  /** The URL that was used last is at the end. */
  readonly #byUrl: Map<string, Known> = new Map()
  #lastUrl: string | undefined
  readonly #byId: Map<number, Page> = new Map()
  /** What is known, and what unfinished writers have. */
  #bytes = 0
  #lastId = 0

  constructor({ maxBytes }: MemoryPageStoreOptions) {
    this.#maxBytes = maxBytes
  }

  find(url: string): readonly StoredPage[] {
    const known = this.#byUrl.get(url)
    if (known === undefined) return NO_PAGES
    this.#moveToEnd(url)
    this.#byUrl.set(url, known)
    return known.pages.map(storedPage)
  }

  begin(): PageWriter {
    const buffer = new BlockBuffer(BLOCK_BYTES)
    let blocks: Uint8Array[] = []
    /** The first chunk, until there is another one. Most bodies have one. */
    let only: Uint8Array | undefined
    let bodyBytes = 0
    let state: 'open' | 'too-long' | 'ended' = 'open'
    const end = (as: 'too-long' | 'ended') => {
      if (state === 'open') this.#bytes -= bodyBytes
      buffer.clear()
      blocks = []
      only = undefined
      state = as
    }
    return {
      write: (chunk) => {
        if (state !== 'open') return
        bodyBytes += chunk.length
        this.#bytes += chunk.length
        if (!this.#isTooLong(bodyBytes)) this.#evict()
        if (this.#isTooLong(bodyBytes) || this.#bytes > this.#maxBytes) end('too-long')
        else if (bodyBytes === chunk.length) only = chunk
        else {
          if (only !== undefined) blocks.push(...buffer.add(only))
          only = undefined
          blocks.push(...buffer.add(chunk))
        }
      },
      commit: (record) => {
        if (state === 'ended') return
        const body = only === undefined ? [...blocks, buffer.rest()].filter(({ length }) => length > 0) : [only]
        const page = pageOf(++this.#lastId, record, bodyBytes, body)
        const isKept = state === 'open' && !this.#isTooLong(page.bytes)
        end('ended')
        this.#replace(record.url, page, isKept)
      },
      abort: () => end('ended'),
    }
  }

  update(id: number, record: PageRecord): void {
    const page = this.#byId.get(id)
    if (page === undefined) return
    const { url } = page.record
    const { pages, log } = this.#byUrl.get(url) as Known
    const updated = pageOf(id, { ...record, url }, page.bodyBytes, page.blocks)
    const others = pages.filter((one) => one !== page && one.variant !== updated.variant)
    this.#set(url, inOrder([updated, ...others]), log)
  }

  body(id: number): Iterable<Uint8Array> | undefined {
    return this.#byId.get(id)?.blocks
  }

  delete(url: string): number {
    const known = this.#byUrl.get(url)
    if (known === undefined) return 0
    this.#set(url, [], known.log)
    return known.pages.length
  }

  forget(url: string): number {
    const known = this.#byUrl.get(url)
    if (known === undefined) return 0
    this.#byUrl.delete(url)
    for (const { id } of known.pages) this.#byId.delete(id)
    this.#bytes -= known.bytes
    return known.pages.length
  }

  *pages(): Iterable<StoredPage> {
    // A copy of the keys, because a use of a URL moves it to the end.
    for (const id of [...this.#byId.keys()]) {
      const page = this.#byId.get(id)
      if (page !== undefined) yield storedPage(page)
    }
  }

  visits(url: string): VisitLog | undefined {
    return this.#byUrl.get(url)?.log
  }

  setVisits(log: VisitLog): void {
    this.#set(log.url, this.#byUrl.get(log.url)?.pages ?? [], log)
  }

  due(now: number, limit: number): readonly VisitLog[] {
    const due = [...this.#byUrl.values()].flatMap(({ log }) => {
      return log?.dueAt !== undefined && log.dueAt <= now ? [{ log, dueAt: log.dueAt }] : []
    })
    return due
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit)
      .map(({ log }) => log)
  }

  close(): void {
    for (const url of [...this.#byUrl.keys()]) this.forget(url)
  }

  #replace(url: string, page: Page, isKept: boolean): void {
    const { pages = [], log } = this.#byUrl.get(url) ?? {}
    const replaced = pages.find(({ variant }) => variant === page.variant)
    if (replaced !== undefined && replaced.receivedAt > page.receivedAt) return
    const others = pages.filter((one) => one !== replaced)
    this.#set(url, inOrder(isKept ? [page, ...others] : others).slice(0, MAX_VARIANTS), log)
  }

  /** Replaces what is known of a URL, and marks it as used. */
  #set(url: string, pages: readonly Page[], log: VisitLog | undefined): void {
    const ofLog = log === undefined ? 0 : bytesOfLog(log)
    const bytes = pages.reduce((sum, page) => sum + page.bytes, url.length + ofLog + OVERHEAD_BYTES)
    if (this.#isTooLong(ofLog)) this.#set(url, pages, undefined)
    else if (bytes > this.#maxBytes) this.#set(url, pages.slice(0, -1), log)
    else {
      const known = this.#byUrl.get(url)
      this.#bytes -= known?.bytes ?? 0
      for (const page of known?.pages ?? []) if (!pages.includes(page)) this.#byId.delete(page.id)
      if (pages.length === 0 && log === undefined) this.#byUrl.delete(url)
      else {
        this.#moveToEnd(url)
        this.#byUrl.set(url, { pages, log, bytes })
        for (const page of pages) this.#byId.set(page.id, page)
        this.#bytes += bytes
      }
      this.#evict()
    }
  }

  /** Lets the next `set` of a URL add it at the end. It is there if its page has just been set, and now its visits. */
  #moveToEnd(url: string): void {
    if (url !== this.#lastUrl) this.#byUrl.delete(url)
    this.#lastUrl = url
  }

  #isTooLong(bytes: number): boolean {
    return bytes > this.#maxBytes / 3
  }

  /** Makes room for several pages at once: a Map finds its first key slowly after deletions. */
  #evict(): void {
    if (this.#bytes <= this.#maxBytes) return
    for (const url of this.#byUrl.keys()) {
      this.forget(url)
      if (this.#bytes <= this.#maxBytes * FILLED) return
    }
  }
}

function pageOf(id: number, record: PageRecord, bodyBytes: number, blocks: readonly Uint8Array[]): Page {
  const { url, receivedAt, robotsTags } = record
  const variant = record.varied.length === 0 ? '' : JSON.stringify(record.varied)
  let bytes = bodyBytes + url.length + variant.length + OVERHEAD_BYTES
  const headers: string[] = []
  for (const [name, value] of record.headers) {
    headers.push(name, value)
    bytes += name.length + value.length + 2 * TEXT_BYTES
  }
  for (const line of robotsTags) bytes += line.length + TEXT_BYTES
  return { id, record: { ...record, headers: [] }, headers, variant, receivedAt, bodyBytes, blocks, bytes }
}

function storedPage({ id, record, headers: flat, bodyBytes }: Page): StoredPage {
  const headers: (readonly [name: string, value: string])[] = []
  for (let i = 0; i < flat.length; i += 2) headers.push([flat[i] as string, flat[i + 1] as string])
  return { id, record: { ...record, headers }, bodyBytes }
}

/** The last received first. Most URLs have one response. */
function inOrder(pages: readonly Page[]): readonly Page[] {
  return pages.length < 2 ? pages : pages.toSorted((a, b) => b.receivedAt - a.receivedAt)
}

const bytesOfLog = ({ visits, fingerprint = '', sitemap }: VisitLog): number =>
  visits.length * 80 + fingerprint.length + (sitemap === undefined ? 0 : JSON.stringify(sitemap).length)
