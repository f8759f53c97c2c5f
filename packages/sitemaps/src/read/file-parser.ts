// Turns the bytes of one file into what is found in it: unpacks, decodes, chooses the parser.
import { FileDecoder } from '../bytes/decode.ts'
import { PackReport, unpacked } from '../bytes/gunzip.ts'
import { reasonMeanings, type SitemapOutcome } from '../file-result.ts'
import type { Limits } from '../limits.ts'
import { DocumentParser, type NotASitemap } from '../parse/document.ts'
import type { FoundEntry, Problems, SitemapFormat } from '../parse/found.ts'
import { TextListParser } from '../parse/text-list.ts'
import type { SitemapBytes } from './body-source.ts'
import type { FileWatch, Stop } from './file-watch.ts'

const OFFICIAL_BYTES = 52_428_800
/** The roots of documents. A warning of the server may precede them. */
const DOCUMENT = /<(?:\?xml|!doctype|html|(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|feed))\b/i
const SNIFFED = 1_024
/** The characters of a file that is no sitemap which its result quotes. */
const QUOTED = 60

/** How a file ended. */
export interface FileEnd {
  readonly outcome: SitemapOutcome
  readonly reason?: Stop['reason']
  readonly detail?: string
}

export class FileParser {
  bytesOut = 0
  readonly pack: PackReport = new PackReport(() => this.#mayGoOn())
  readonly #limits: Limits
  readonly #problems: Problems
  readonly #source: SitemapBytes
  readonly #watch: FileWatch
  readonly #decoder: FileDecoder
  #parser: DocumentParser | TextListParser | undefined
  #stop: Stop | undefined
  /** The white space before the first character, cut. */
  #blank = ''
  #beginning = ''
  #foundAny = false

  constructor(source: SitemapBytes, charset: string | undefined, limits: Limits, problems: Problems, watch: FileWatch) {
    this.#source = source
    this.#watch = watch
    this.#limits = limits
    this.#problems = problems
    this.#decoder = new FileDecoder(charset)
  }

  get encoding(): string | undefined {
    return this.#decoder.encoding
  }

  get format(): SitemapFormat | undefined {
    if (this.#parser instanceof DocumentParser) return this.#parser.format
    return this.#foundAny ? 'text' : undefined
  }

  /** Yields what is found, in batches. Each batch is from one chunk of bytes, so it is bounded. */
  async *batches(): AsyncGenerator<FoundEntry[], void> {
    const chunks = unpacked(this.#source, this.pack)
    try {
      for await (const chunk of chunks) {
        const excess = Math.max(this.pack.bytes, this.bytesOut + chunk.length) - this.#limits.maxBytesOut
        const bytes = chunk.subarray(0, Math.max(0, Math.min(chunk.length, chunk.length - excess)))
        this.bytesOut += bytes.length
        this.#write(this.#decoder.decode(bytes))
        yield* this.#taken()
        if (excess > 0) this.#stop = { reason: 'limit: maxBytesOut' }
        if (this.#isNoSitemap || !(await this.#mayGoOn())) break
      }
      this.#write(this.#decoder.end())
      this.#stop ??= this.#source.stop ?? (this.pack.error && { reason: this.pack.error })
      if (this.#parser instanceof DocumentParser) this.#parser.end()
      else this.#parser?.end(this.#stop === undefined)
      yield* this.#taken()
    } finally {
      await this.#source.return()
    }
    if (this.bytesOut > OFFICIAL_BYTES) this.#problems.add('over-50-mb')
    if (this.#decoder.unknown !== undefined) this.#problems.add('unknown-encoding', this.#decoder.unknown)
  }

  /** How the file ended, after `batches`. */
  get end(): FileEnd {
    const parser = this.#parser
    const stop = this.#stop
    const isDocument = parser instanceof DocumentParser
    if (isDocument && parser.problem !== undefined && !(parser.problem === 'xml' && stop !== undefined))
      return this.#noSitemap(parser.problem)
    if (stop !== undefined) return { outcome: this.#foundAny ? 'partial' : 'failed', ...stop }
    if (parser === undefined) return { outcome: 'failed', reason: 'empty' }
    if (!isDocument && !this.#foundAny && !parser.hasLongLine) return this.#noSitemap('not-a-sitemap')
    if (isDocument && !parser.isWhole) return { outcome: 'partial', reason: 'cut-off' }
    const [limit] = isDocument ? parser.reached : parser.hasLongLine ? (['maxTextLength'] as const) : []
    return limit === undefined ? { outcome: 'complete' } : { outcome: 'partial', reason: `limit: ${limit}` }
  }

  get #isNoSitemap(): boolean {
    return this.#parser instanceof DocumentParser && this.#parser.problem !== undefined
  }

  /** A page of the server, or the notices of PHP, say more than their absence of a sitemap. */
  #noSitemap(reason: NotASitemap): FileEnd {
    const quote = JSON.stringify(Array.from(this.#beginning.replaceAll(/\s+/g, ' ')).slice(0, QUOTED).join(''))
    return { outcome: 'failed', reason, detail: `${reasonMeanings[reason]}; it begins with ${quote}` }
  }

  #write(text: string): void {
    if (this.#parser !== undefined || text === '') {
      this.#parser?.write(text)
      return
    }
    const piece = text.replace(/^[\s\uFEFF]+/, '')
    this.#blank = (this.#blank + text.slice(0, text.length - piece.length)).slice(0, QUOTED)
    if (piece === '') return
    this.#beginning = piece.slice(0, SNIFFED)
    if (piece.startsWith('<') || DOCUMENT.test(this.#beginning)) {
      this.#parser = new DocumentParser(this.#limits, this.#problems)
      this.#parser.write(this.#blank)
    } else this.#parser = new TextListParser(this.#limits.maxTextLength, this.#problems)
    this.#parser.write(piece)
  }

  *#taken(): Generator<FoundEntry[], void> {
    const found = this.#parser?.found.splice(0) ?? []
    if (found.length === 0) return
    this.#foundAny = true
    this.#watch.pause()
    yield found
    this.#watch.resume()
  }

  async #mayGoOn(): Promise<boolean> {
    if (this.pack.bytes > this.#limits.maxBytesOut) this.#stop ??= { reason: 'limit: maxBytesOut' }
    this.#stop ??= await this.#watch.check()
    return this.#stop === undefined
  }
}
