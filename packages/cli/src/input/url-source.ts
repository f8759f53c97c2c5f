// Reads URLs from a file or stdin: a list, NDJSON, CSV, an access log or a sitemap.
import { createReadStream, fstatSync, type Stats, statSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { withoutCredentials } from '@politely/core/internal'
import {
  formatOfName,
  formatOfText,
  MAX_ROW_LENGTH,
  type UrlFormat,
  type UrlInputProblem,
  urlReaderFor,
} from '@politely/core/review'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { errorLine, shorten } from '../output/style.ts'
import type { Fetch } from './pages.ts'
import { readLines } from './read-lines.ts'
import { explainReadError } from './robots-file.ts'
import { fileName, takeStdin } from './stdin.ts'

const WRITE_A_FILE = 'write the name of a file with one URL on each line, or - for stdin'

/**
 * Opens the input that `--urls` or `--sitemap` names, or stdin.
 * @throws {UsageError} if it cannot be read.
 */
export function openUrls(args: Arguments): UrlSource {
  const site = args.get('sitemap')
  if (site === undefined) return openFile(args.get('urls') ?? '-', args)
  assertOneList(args)
  const open = async () => (await import('./sitemap.ts')).siteUrls(site, args)
  return new UrlSource(site, 'sitemap', undefined, open)
}

function openFile(file: string, args: Arguments): UrlSource {
  const format = (args.get('input') as UrlFormat | undefined) ?? formatOfName(file)
  return new UrlSource(file, format, args.get('column'))
}

/** Whether the command line gives a list of URLs: `-`, `--urls` or `--sitemap`. */
export function hasList(args: Arguments): boolean {
  return args.operands.includes('-') || args.has('urls') || args.has('sitemap')
}

/** A URL of a command line, and what led to it. */
export interface GivenUrl {
  readonly url: string
  /** The site of `--sitemap`, and its file that lists the URL. Empty for all other URLs. */
  readonly redirectedFrom: readonly string[]
}

/** URLs that the same sources led to. */
export interface UrlGroup {
  readonly urls: AsyncIterable<string> | Iterable<string>
  readonly redirectedFrom: readonly string[]
}

/**
 * Yields the URLs of a command line: its operands, with the list on stdin in place of `-`, then the
 * URLs of `--urls` or `--sitemap`.
 * @param fetch Requests sitemaps through a gate. By default, a gate is opened for them.
 * @param signal Ends the reading of sitemaps.
 * @throws {UsageError} if a list cannot be read.
 */
export async function* urlGroupsOf(args: Arguments, fetch?: Fetch, signal?: AbortSignal): AsyncGenerator<UrlGroup> {
  const site = args.get('sitemap')
  if (site !== undefined) assertOneList(args)
  yield { urls: writtenIn(args), redirectedFrom: [] }
  if (site === undefined) return
  const { siteEntries } = await import('./sitemap.ts')
  for await (const entries of siteEntries(site, args, fetch, signal)) {
    for (const [file, ofFile] of Map.groupBy(entries, (entry) => entry.file))
      yield { urls: ofFile.map(({ loc }) => loc), redirectedFrom: [site, file] }
  }
}

/** As `urlGroupsOf`, one by one. */
export async function* urlsOf(args: Arguments, fetch?: Fetch, signal?: AbortSignal): AsyncGenerator<GivenUrl> {
  for await (const { urls, redirectedFrom } of urlGroupsOf(args, fetch, signal))
    for await (const url of urls) yield { url, redirectedFrom }
}

/** Yields the URLs that the user has written, or has put into a list. */
async function* writtenIn(args: Arguments): AsyncGenerator<string> {
  for (const url of args.operands) {
    if (url !== '-') yield url
    else for await (const urls of openFile('-', args).batches()) yield* urls
  }
  const file = args.get('urls')
  if (file !== undefined) for await (const urls of openFile(file, args).batches()) yield* urls
}

/** @throws {UsageError} for both `--urls` and `--sitemap`. */
function assertOneList(args: Arguments): void {
  if (args.has('urls')) throw new UsageError('--urls and --sitemap cannot be combined; leave one of them out')
}

/** @throws {UsageError} if the command line has neither a URL nor a list. */
export function assertUrls(args: Arguments, example = 'https://example.com/page'): void {
  if (args.operands.length === 0 && !hasList(args))
    throw new UsageError(`no URL was given; write one such as ${example}, or - to read URLs from stdin`)
}

/** The URLs of one input, in bounded memory. */
export class UrlSource {
  readonly name: string
  readonly #file: string
  /** Undefined until the first line is read, if neither `--input` nor the name says it. */
  #format: UrlFormat | undefined
  readonly #column: string | undefined
  readonly #open: (() => Promise<AsyncIterable<readonly string[]>>) | undefined
  readonly #size: number | undefined
  #bytesRead = 0
  #count = 0

  /** @param open Reads the sitemaps, if `file` is the URL of a site. */
  constructor(
    file: string,
    format: UrlFormat | undefined,
    column: string | undefined,
    open?: () => Promise<AsyncIterable<readonly string[]>>,
  ) {
    this.name = open === undefined ? fileName(file) : file
    this.#file = file
    this.#format = format
    this.#column = column
    this.#open = open
    const stats = open === undefined ? statsOf(file) : undefined
    this.#size = stats?.isFile() ? stats.size : undefined
  }

  /** How many URLs were read. */
  get count(): number {
    return this.#count
  }

  /**
   * Says how many lines are no URLs. For a command that prints no verdict on each URL.
   * @throws {UsageError} if none is one, since the input then has another format.
   */
  reportInvalid(count: number): void {
    if (count === 0) return
    const isOrAre = count === 1 ? 'is neither a URL nor a path' : 'are neither URLs nor paths'
    const of = `${count.toLocaleString('en')} of ${this.#count.toLocaleString('en')} lines`
    const problem = `${withoutCredentials(this.name)}: ${of} ${isOrAre}`
    if (count === this.#count) throw new UsageError(`${problem}; write --input with the format of the file`)
    process.stderr.write(errorLine(problem))
  }

  /** How much of the input was read, from 0 to 1; undefined for a pipe. */
  get partRead(): number | undefined {
    return this.#size === undefined ? undefined : Math.min(1, this.#bytesRead / Math.max(1, this.#size))
  }

  /**
   * Yields the URLs of each chunk of input. Lines without a URL are skipped, and counted on stderr
   * at the end.
   * @throws {UsageError} if no line had a URL, since the input then has another format.
   */
  async *batches(): AsyncGenerator<readonly string[]> {
    for await (const urls of await this.#input()) {
      this.#count += urls.length
      yield urls
    }
  }

  /**
   * Yields the lines of each chunk of input, and their format. Lines are counted, but not read.
   * @throws {UsageError} if the input cannot be decompressed.
   */
  async *lines(): AsyncGenerator<{ readonly format: UrlFormat; readonly lines: readonly string[] }> {
    const { format, bytes } = await this.#opened()
    for await (const lines of readLines(bytes)) {
      this.#count += lines.length
      yield { format, lines }
    }
  }

  async #input(): Promise<AsyncIterable<readonly string[]>> {
    if (this.#open !== undefined) return this.#open()
    const { format, bytes } = await this.#opened()
    if (format !== 'sitemap') return this.#urls(format, bytes)
    return (await import('./sitemap.ts')).readSitemap(bytes, withoutCredentials(this.name))
  }

  /** Finds the format of the input, if neither `--input` nor the name says it. */
  async #opened(): Promise<{ readonly format: UrlFormat; readonly bytes: AsyncGenerator<Uint8Array> }> {
    const input = this.#bytes()
    const { value: head = new Uint8Array() } = await input.next()
    const bytes = withHead(head, input)
    const format = this.#format ?? formatOfText(new TextDecoder(utf16Of(head)).decode(head.subarray(0, HEAD_BYTES)))
    return { format, bytes: format === 'sitemap' ? bytes : inUtf8(head, bytes) }
  }

  async *#urls(
    format: Exclude<UrlFormat, 'sitemap'>,
    bytes: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<readonly string[]> {
    const reader = urlReaderFor(format, this.#column)
    for await (const lines of readLines(bytes, format === 'csv' ? MAX_ROW_LENGTH : undefined)) {
      yield reader.write(lines)
      if (reader.problem !== undefined) break
    }
    yield reader.end()
    if (reader.problem !== undefined)
      throw new UsageError(`${withoutCredentials(this.name)}: ${describe(reader.problem)}`)
    if (reader.skipped > 0) this.#reportSkipped(format, reader.skipped, reader.firstSkipped)
  }

  #reportSkipped(format: UrlFormat, skipped: number, first: number): void {
    const field = this.#column === undefined ? 'URL' : `text in the field ${JSON.stringify(this.#column)}`
    const what = {
      text: 'URL',
      csv: 'URL in the column',
      ndjson: field,
      log: 'request such as "GET /page HTTP/1.1"',
      sitemap: 'URL',
    }[format]
    const lines = skipped === 1 ? '1 line has' : `${skipped.toLocaleString('en')} lines have`
    const problem = `${withoutCredentials(this.name)}: ${lines} no ${what}; the first is line ${first}`
    if (this.#count > 0) {
      process.stderr.write(errorLine(problem))
      return
    }
    const remedy =
      format === 'log'
        ? 'write --input text, ndjson or csv'
        : 'write --column NAME, or --input with the format of the file'
    throw new UsageError(`${problem}; ${remedy}`)
  }

  async *#bytes(): AsyncGenerator<Uint8Array> {
    if (!this.#file.endsWith('.gz')) return yield* this.#counted()
    const { createGunzip } = await import('node:zlib') // not needed for most inputs
    try {
      yield* piped(this.#counted(), createGunzip()) as AsyncIterable<Uint8Array>
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!code.startsWith('Z_')) throw error
      throw new UsageError(
        `--urls: ${JSON.stringify(this.#file)} is not a whole gzip file (${code}); compress it again`,
      )
    }
  }

  async *#counted(): AsyncGenerator<Uint8Array> {
    const input = this.#file === '-' ? takeStdin('--urls') : createReadStream(this.#file)
    for await (const chunk of input) {
      this.#bytesRead += chunk.length
      yield chunk
    }
  }
}

/** The bytes of the input that show its format. */
const HEAD_BYTES = 8192

/** Returns the encoding that a byte order mark shows, if it is not UTF-8. Spreadsheets write such files. */
function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

async function* inUtf8(head: Uint8Array, input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoding = utf16Of(head)
  if (encoding === undefined) return yield* input
  const decoder = new TextDecoder(encoding)
  for await (const chunk of input) yield Buffer.from(decoder.decode(chunk, { stream: true }))
}

function describe(problem: UrlInputProblem): string {
  switch (problem.kind) {
    case 'open-quote':
    case 'long-row': {
      const code = problem.kind === 'open-quote' ? 'CSV_QUOTE_NOT_CLOSED' : 'CSV_MAX_RECORD_SIZE'
      return `a row has an open quote, or is over 1 MB (${code}); close the quote, or write --input with the format of the file`
    }
    case 'long-document':
      return 'a JSON document is over 64 MB; write one object on each line'
    case 'no-column': {
      const wanted = problem.wanted.map((name) => JSON.stringify(name)).join(', ')
      const columns = problem.columns.slice(0, 20).map((name) => JSON.stringify(shorten(name)))
      return `no column is named ${wanted}; write --column with one of ${columns.join(', ')}`
    }
  }
}

async function* withHead(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head
    yield* rest
  } finally {
    await rest.return(undefined) // closes the input if the reader stops at the head
  }
}

/** As `pipe`, but a failure of the input is also one of the output. */
function piped<T extends NodeJS.ReadWriteStream>(input: AsyncIterable<Uint8Array>, output: T): T {
  return pipeline(Readable.from(input), output, () => undefined) as T // the reader of the output gets the error
}

/** @throws {UsageError} if there is no such file. */
function statsOf(file: string): Stats {
  try {
    if (file === '-') return fstatSync(0)
    const stats = statSync(file)
    if (!stats.isDirectory()) return stats
    throw Object.assign(new Error(), { code: 'EISDIR' })
  } catch (error) {
    throw explainReadError(error, file, '--urls', WRITE_A_FILE)
  }
}
