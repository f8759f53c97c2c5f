// Reads URLs from a file or stdin: a list, NDJSON, CSV, an access log or a sitemap.
import { createReadStream, fstatSync, type Stats, statSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { withoutCredentials } from '@politely/core/engine'
import { AccessLog, COMMENT, isOfAccessLog } from '@politely/core/internal'
import type { Arguments } from '../command-line.ts'
import { errorLine } from '../describe-error.ts'
import { UsageError } from '../errors.ts'
import { shorten } from '../output/shorten.ts'

import { readLines } from './read-lines.ts'
import { explainReadError } from './robots-file.ts'
import { fileName, takeStdin } from './stdin.ts'

type InputFormat = 'text' | 'ndjson' | 'csv' | 'log' | 'sitemap'

/** By the end of a name, without `.gz`. With other names, the first line shows the format. */
const FORMAT_OF_ENDING: Readonly<Record<string, InputFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  log: 'log',
  xml: 'sitemap',
}

/** A row of a table that is longer probably has a quote without an end. */
const MAX_ROW_LENGTH = 2 ** 20

/** The names that a column of URLs has, if `--column` does not say it. */
const COLUMN_NAMES = ['url', 'urls', 'loc', 'address', 'page', 'uri', 'link', 'path']

const WRITE_A_FILE = 'write the name of a file with one URL on each line, or - for stdin'

/**
 * Opens the input that `--urls` names, or stdin.
 * @throws {UsageError} if it cannot be read.
 */
export function openUrls(args: Arguments): UrlSource {
  const site = args.get('sitemap')
  if (site !== undefined && args.has('urls'))
    throw new UsageError('--urls and --sitemap cannot be combined; leave one of them out')
  if (site !== undefined) return new UrlSource(site, 'sitemap', undefined, args)
  const file = args.get('urls') ?? '-'
  const ending = /\.(\w+)(?:\.gz)?$/.exec(file)?.[1]?.toLowerCase() ?? ''
  const format = (args.get('input') as InputFormat | undefined) ?? FORMAT_OF_ENDING[ending]
  return new UrlSource(file, format, args.get('column'))
}

/** The URLs of one input, in bounded memory. */
export class UrlSource {
  readonly name: string
  readonly #file: string
  /** Undefined until the first line is read, if neither `--input` nor the name says it. */
  #format: InputFormat | undefined
  readonly #column: string | undefined
  readonly #network: Arguments | undefined
  readonly #size: number | undefined
  #bytesRead = 0
  #count = 0
  #line = 0
  #skipped = 0
  #firstSkipped = 0

  /** @param network The command line, if `file` is the URL of a site whose sitemaps are read. */
  constructor(file: string, format: InputFormat | undefined, column: string | undefined, network?: Arguments) {
    this.name = network === undefined ? fileName(file) : file
    this.#file = file
    this.#format = format
    this.#column = column
    this.#network = network
    const stats = network === undefined ? statsOf(file) : undefined
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
    if (this.#skipped > 0) this.#reportSkipped()
  }

  async #input(): Promise<AsyncIterable<readonly string[]>> {
    if (this.#network !== undefined) return (await import('./sitemap.ts')).siteUrls(this.#file, this.#network)
    const input = this.#bytes()
    const { value: head = new Uint8Array() } = await input.next()
    this.#format ??= formatOf(head)
    const bytes = withHead(head, input)
    if (this.#format === 'csv') return this.#rows(bytes)
    if (this.#format !== 'sitemap') return this.#lines(bytes)
    return (await import('./sitemap.ts')).readSitemap(bytes, withoutCredentials(this.name))
  }

  async *#lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
    const urlOf = this.#urlReader()
    for await (const lines of readLines(bytes)) yield urlOf === undefined ? lines : this.#urlsIn(lines, urlOf)
  }

  /** Undefined if each line is a URL. */
  #urlReader(): ((line: string) => unknown) | undefined {
    if (this.#format === 'text') return undefined
    if (this.#format === 'ndjson') {
      const path = (this.#column ?? 'url').split('.')
      return (line) => fieldOf(line, path)
    }
    const log = new AccessLog()
    return (line) => log.urlOf(line)
  }

  #urlsIn(lines: readonly string[], urlOf: (line: string) => unknown): readonly string[] {
    const urls: string[] = []
    for (const line of lines) {
      this.#line++
      const url = urlOf(line)
      if (typeof url === 'string') urls.push(url)
      else if (url !== COMMENT) this.#skip()
    }
    return urls
  }

  /** The rows of a CSV file: the first one may name the columns. */
  async *#rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
    const { parse } = await import('csv-parse')
    const delimiter = this.#file.replace(/\.gz$/, '').endsWith('.tsv') ? '\t' : [',', ';', '\t']
    const parser = piped(
      bytes,
      parse({
        bom: true,
        delimiter,
        max_record_size: MAX_ROW_LENGTH,
        relax_column_count: true,
        relax_quotes: true,
        skip_empty_lines: true,
      }),
    )
    let column: number | undefined
    let urls: string[] = []
    for await (const cells of this.#cellsOf(parser)) {
      this.#line++
      if (column === undefined) {
        const named = this.#columnOf(cells)
        column = named ?? 0
        if (named !== undefined) continue
      }
      const url = cells[column]?.trim()
      if (url === undefined || url === '') this.#skip()
      else urls.push(url)
      if (urls.length < 1000) continue
      yield urls
      urls = []
    }
    yield urls
  }

  /** @throws {UsageError} for a row without an end. */
  async *#cellsOf(parser: NodeJS.ReadableStream): AsyncGenerator<readonly string[]> {
    try {
      yield* parser as unknown as AsyncIterable<readonly string[]>
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!code.startsWith('CSV_')) throw error
      throw new UsageError(
        `${withoutCredentials(this.name)}: a row has an open quote, or is over 1 MB (${code}); close the quote, or write --input with the format of the file`,
      )
    }
  }

  /**
   * Returns the index of the column with URLs, or undefined if the first row has no names and
   * begins with a URL.
   */
  #columnOf(first: readonly string[]): number | undefined {
    const names = first.map((name) => name.trim().toLowerCase())
    const wanted = this.#column === undefined ? COLUMN_NAMES : [this.#column.toLowerCase()]
    const found = wanted.map((name) => names.indexOf(name)).find((index) => index >= 0)
    if (found !== undefined) return found
    const isUrl = first[0]?.startsWith('/') || URL.canParse(first[0] ?? '')
    if (this.#column === undefined && isUrl) return undefined
    const columns = first.slice(0, 20).map((name) => JSON.stringify(shorten(name)))
    throw new UsageError(
      `${withoutCredentials(this.name)}: no column is named ${wanted.map((name) => JSON.stringify(name)).join(', ')}; write --column with one of ${columns.join(', ')}`,
    )
  }

  #skip(): void {
    this.#skipped++
    if (this.#skipped === 1) this.#firstSkipped = this.#line
  }

  #reportSkipped(): void {
    const what = {
      text: 'URL',
      csv: 'URL in the column',
      ndjson: `text in the field ${JSON.stringify(this.#column ?? 'url')}`,
      log: 'request such as "GET /page HTTP/1.1"',
      sitemap: 'URL',
    }[this.#format ?? 'text']
    const lines = this.#skipped === 1 ? '1 line has' : `${this.#skipped.toLocaleString('en')} lines have`
    const problem = `${withoutCredentials(this.name)}: ${lines} no ${what}; the first is line ${this.#firstSkipped}`
    if (this.#count > 0) {
      process.stderr.write(errorLine(problem))
      return
    }
    const remedy =
      this.#format === 'log'
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

/** Returns the format that the first line shows. */
function formatOf(head: Uint8Array): InputFormat {
  const [line = ''] = new TextDecoder().decode(head).trimStart().split('\n', 1)
  if (line.startsWith('<')) return 'sitemap'
  if (line.startsWith('{')) return 'ndjson'
  return isOfAccessLog(line) ? 'log' : 'text'
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

/** Returns the value of a field, such as `request.uri`, of a line of JSON. */
function fieldOf(line: string, path: readonly string[]): unknown {
  try {
    return path.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      JSON.parse(line),
    )
  } catch {
    return undefined // counted and reported as a line without a URL
  }
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
