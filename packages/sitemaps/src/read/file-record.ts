// Collects what is known about one file, and makes its result.
import type { ForeignHost } from '../entry.ts'
import type { SitemapFile } from '../file-result.ts'
import type { DateCounter } from '../parse/date-trust.ts'
import type { Problems } from '../parse/found.ts'
import type { SitemapBytes } from './body-source.ts'
import type { EntryMaker } from './entry-maker.ts'
import type { FileEnd, FileParser } from './file-parser.ts'
import type { Requested } from './request.ts'
import type { Task } from './resume-token.ts'

/** The parts of a result that are known before the body is read. */
export interface FileHead {
  readonly task: Task
  readonly foreign: false | ForeignHost
  readonly requested?: Requested
}

/** The parts that reading the body changes. */
export interface FileBody {
  readonly source: SitemapBytes
  readonly parser: FileParser
  readonly maker: EntryMaker
  readonly problems: Problems
  readonly dates: DateCounter
  entries: number
  skippedEntries: number
  sitemaps: number
}

/** A longer header is left out of the result. A reading keeps the results of all files. */
const MAX_HEADER_LENGTH = 1_024
const NO_DATES = { dates: 0, equalShare: 0, futureShare: 0, fetchTimeShare: 0, score: 0, isTrusted: false }

export function fileResult({ task, foreign, requested }: FileHead, end: FileEnd, body?: FileBody): SitemapFile {
  const { url, parent, depth } = task
  const response = requested?.response
  const header = (name: string) => {
    const value = response?.headers.get(name) ?? ''
    return value === '' || value.length > MAX_HEADER_LENGTH ? undefined : value
  }
  const reason = end.reason ?? requested?.reason
  const detail = end.detail ?? requested?.detail
  return {
    url,
    hops: requested?.hops ?? [],
    ...defined({ parent }),
    depth,
    foreign,
    outcome: end.outcome,
    ...defined({ reason, detail, verdict: requested?.verdict }),
    ...defined({ status: response?.status, contentType: header('content-type') }),
    ...defined({ format: body?.parser.format, encoding: body?.parser.encoding }),
    gzipLayers: body?.parser.pack.layers ?? 0,
    bytesIn: body?.source.bytesIn ?? 0,
    bytesOut: body?.parser.bytesOut ?? 0,
    entries: body?.entries ?? 0,
    skippedEntries: body?.skippedEntries ?? 0,
    sitemaps: body?.sitemaps ?? 0,
    foreignEntries: body?.maker.foreignEntries ?? 0,
    dates: body?.dates.trust ?? NO_DATES,
    problems: body?.problems.list ?? [],
    ...defined({ etag: header('etag'), lastModified: header('last-modified') }),
  }
}

// Optional fields of results and entries are missing instead of undefined.

/** Returns a copy without the fields that are undefined. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
