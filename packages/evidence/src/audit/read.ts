// Reads a folder of evidence, in bounded memory. What can't be read is an item too, so that a damaged
// line hides nothing after it.
//
// The order: each chain is in order, one chain after another, by the names of their first files. The
// files of a chain are in the order of their first records, since a clock may be set back.
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { constants, createGunzip, createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/core/engine'
import { type EvidenceRecord, type FileRecord, RECORD_VERSION } from '../record.ts'
import { MAX_FILE_BYTES, type RobotsFile, RobotsFiles } from './robots-files.ts'
import { MAX_RECORD_BYTES, payloadOf, warcRecords } from './warc.ts'

/** Where something stands. */
export interface Place {
  /** The name of the file in the folder. */
  readonly file: string
  /** Counted from 1. In a WARC file, the number of the record. */
  readonly line: number
}

/** A record, and its line without the line end. */
export interface RecordItem extends Place {
  readonly record: EvidenceRecord
  readonly text: string
  readonly problem?: undefined
  readonly level?: undefined
  readonly link?: undefined
}

/** What can't be read as a record. */
export interface ProblemItem extends Place {
  /** What is wrong, in words. */
  readonly problem: string
  /** `note` for what a kill leaves. */
  readonly level: 'error' | 'note'
  /** The place in the chain, if the line shows it, and the line. */
  readonly link?: Link
  readonly text?: string
  readonly record?: undefined
}

export type EvidenceItem = RecordItem | ProblemItem

/** What all records have, also those of later versions. */
export type Link = Pick<EvidenceRecord, 'v' | 'chain' | 'seq' | 'prev' | 'time'> & { readonly kind: string }

const NAME = '@politely/evidence'
const NAMES = /\.(?:ndjson|ndjson\.zst|warc\.gz|warc\.gz\.open)$/
const IN_ORDER = new Intl.Collator('en', { numeric: true }).compare

/** A folder of evidence. Dispose of it, since it may have a temporary file. */
export class EvidenceFolder {
  readonly #dir: string
  readonly #robots: RobotsFiles
  #areAllKept = false

  /** @throws {OptionError} if this is not a folder, or a folder without records. */
  constructor(dir: string) {
    const isFolder = typeof dir === 'string' && statSync(dir, { throwIfNoEntry: false })?.isDirectory()
    const problem = isFolder ? 'has no records (.ndjson, .ndjson.zst or .warc.gz)' : 'is not a folder'
    if (!isFolder || namesIn(dir).length === 0)
      throw new OptionError('dir', `${describeValue(dir)} ${problem}; write the folder that the sink writes to`)
    this.#dir = dir
    this.#robots = new RobotsFiles(dir)
  }

  /** Yields the records, and what can't be read. */
  async *items(): AsyncGenerator<EvidenceItem> {
    for (const name of await this.#names()) yield* this.#itemsIn(name)
    this.#areAllKept = true
  }

  /** Returns a robots.txt by its SHA-256 in hexadecimal. */
  async robotsFile(sha256: string): Promise<RobotsFile> {
    const file = await this.#robots.get(sha256)
    if (file.problem !== 'missing' || this.#areAllKept) return file
    for await (const _ of this.items()); // a file between the records, which may come later
    return this.#robots.get(sha256)
  }

  [Symbol.dispose](): void {
    this.#robots[Symbol.dispose]()
  }

  /** Returns the names of the files with records, in order. */
  async #names(): Promise<readonly string[]> {
    const files: { readonly name: string; readonly chain: string; readonly seq: number }[] = []
    for (const name of namesIn(this.#dir)) {
      const { chain = name, seq = 0 } = (await this.#firstLink(name)) ?? {}
      files.push({ name, chain, seq })
    }
    const chains = Map.groupBy(files, ({ chain }) => chain).values()
    return [...chains].flatMap((all) => all.sort((a, b) => a.seq - b.seq).map(({ name }) => name))
  }

  async #firstLink(name: string): Promise<Link | undefined> {
    for await (const { record, link = record } of this.#itemsIn(name)) if (link !== undefined) return link
    return undefined
  }

  async *#itemsIn(file: string): AsyncGenerator<EvidenceItem> {
    const isWarc = file.includes('.warc.gz')
    const isOurs = !isWarc || file.startsWith('politely-')
    const bytes = bytesOf(join(this.#dir, file))
    let line = 0
    try {
      for await (const text of isWarc ? this.#warcLines(bytes, isOurs) : linesOf(bytes)) {
        const item = itemOf(text, { file, line: ++line })
        if (item?.record?.kind === 'robots-txt') this.#keepContent(item.record)
        if (item !== undefined && (isOurs || item.record !== undefined || item.link !== undefined)) yield item
      }
      if (line === 0 && isOurs) yield { file, line: 1, ...LINE_PROBLEMS.empty }
    } catch (error) {
      const { code = '', syscall } = error as NodeJS.ErrnoException
      const finished = file.endsWith('.open') ? file.slice(0, -'.open'.length) : `${file}.zst`
      const isFinished = code === 'ENOENT' && existsSync(join(this.#dir, finished)) // since its name was read
      if (isFinished) return yield* this.#itemsIn(finished)
      if (syscall === undefined && !/^(?:Z_|ZSTD_)/.test(code)) throw error
      const problem = syscall === undefined ? 'the compressed data is damaged' : "the file can't be read"
      yield { problem: `${problem} after this line (${code})`, level: 'error', file, line }
    }
  }

  /** Yields a line for each record of a WARC file, and keeps its robots.txt files. */
  async *#warcLines(bytes: AsyncIterable<Buffer>, isOurs: boolean): AsyncGenerator<Line> {
    for await (const record of warcRecords(bytes, (headers) => kindOf(headers, isOurs) !== undefined)) {
      const kind = record && kindOf(record.headers, isOurs)
      const payload = record && kind === 'file' ? payloadOf(record) : undefined
      const digest = record?.headers.get('warc-payload-digest')?.replace('sha256:', '') ?? ''
      if (payload !== undefined) this.#robots.keep(payload, digest)
      if (record === undefined) yield LINE_PROBLEMS.cut
      else yield kind === 'line' ? (record.content?.toString() ?? LINE_PROBLEMS.long) : ''
    }
  }

  /** Keeps the robots.txt that a stream has in its record. */
  #keepContent({ content, sha256 }: FileRecord): void {
    if (content === undefined) return
    try {
      const bytes = zstdDecompressSync(Buffer.from(content, 'base64'), { maxOutputLength: MAX_FILE_BYTES })
      this.#robots.keep(bytes, sha256)
    } catch {
      this.#robots.keep(Buffer.alloc(0), sha256) // so that it counts as damaged
    }
  }
}

/** A line, or what is wrong with it. Lines that aren't ours are empty. */
type Line = string | Pick<ProblemItem, 'problem' | 'level'>

/**
 * Reads a folder of evidence: all records, and what can't be read, each with its file and line. Each
 * chain is in order.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function* readEvidence(dir: string): AsyncGenerator<EvidenceItem> {
  using folder = new EvidenceFolder(dir)
  yield* folder.items()
}

/** Returns what a WARC record has: a line, or a robots.txt. Undefined for records of other programs. */
function kindOf(headers: ReadonlyMap<string, string>, isOurs: boolean): 'line' | 'file' | undefined {
  const type = headers.get('warc-type')
  if (type === 'metadata' && headers.get('content-type')?.startsWith('application/json')) return 'line'
  const isFile = type === 'response' || type === 'resource'
  return isFile && (isOurs || headers.get('warc-payload-digest')?.startsWith('sha256:')) ? 'file' : undefined
}

const LINE_PROBLEMS = {
  cut: { problem: 'the last line is cut, as after a kill', level: 'note' },
  empty: { problem: 'the file has no whole record, as after a kill', level: 'note' },
  long: { problem: `the line is longer than ${MAX_RECORD_BYTES} bytes`, level: 'error' },
} as const

/** If a file is there compressed too, its compression did not end. */
function namesIn(dir: string): readonly string[] {
  const names = readdirSync(dir).filter((name) => NAMES.test(name))
  return names
    .filter((name) => !(name.endsWith('.zst') && names.includes(name.slice(0, -'.zst'.length))))
    .sort((a, b) => IN_ORDER(a.replace(NAMES, ''), b.replace(NAMES, '')))
}

/** Yields the bytes of a file, decompressed. The flags let a cut stream end like a whole one. */
function bytesOf(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: 2 ** 18 })
  const decoder = path.endsWith('.zst')
    ? createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })
    : path.includes('.warc.gz')
      ? createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 2 ** 16 })
      : undefined
  return decoder === undefined ? file : pipeline(file, decoder, () => undefined)
}

/** Yields lines without their line ends. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const isLong = length > MAX_RECORD_BYTES
      const part = chunk.subarray(start, end)
      yield isLong ? LINE_PROBLEMS.long : (parts.length === 0 ? part : Buffer.concat([...parts, part])).toString()
      parts = []
      length = 0
      start = end + 1
    }
    const rest = chunk.subarray(start)
    length += rest.length
    if (length > MAX_RECORD_BYTES) parts = []
    else if (rest.length > 0) parts.push(rest)
  }
  if (length > 0) yield LINE_PROBLEMS.cut
}

/** Returns undefined for an empty line. */
function itemOf(text: Line, place: Place): EvidenceItem | undefined {
  if (typeof text !== 'string') return { ...place, ...text }
  if (text === '') return undefined
  const value = parsed(text)
  if (wrongField(value, LINK) !== undefined)
    return { ...place, problem: 'the line is not a record', level: 'error', text }
  const link = value as Link
  const fields = FIELDS[link.kind]
  const wrong = fields && wrongField(value, fields)
  if (link.v === RECORD_VERSION && fields && !wrong) return { ...place, record: value as EvidenceRecord, text }
  const newer = `the record has version ${link.v}, and this version reads ${RECORD_VERSION}; install a newer ${NAME}`
  const ofKind = fields ? `its field "${wrong}" is missing, or has another type` : 'is not a kind of record'
  const problem = link.v === RECORD_VERSION ? `${describeValue(link.kind)}: ${ofKind}` : newer
  return { ...place, problem, level: 'error', link, text }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = readonly (readonly [name: string, type: string])[]

/** The fields that all records must have, and the records of each kind. */
const LINK = fieldsIn('v:number chain:string seq:number prev:string time:string kind:string')
const FIELDS: Readonly<Record<string, Fields>> = {
  start: fieldsIn('politely:string node:string pid:number host:string'),
  'robots-txt': fieldsIn('sha256:string bytes:number truncated:boolean url:string'),
  decision: fieldsIn('id:string use:string url:string by:object verdict:object'),
  result: fieldsIn('id:string outcome:string'),
  head: fieldsIn('key:object keyId:string signature:string'),
  gap: fieldsIn('lost:number since:string error:string'),
  end: [],
}

function fieldsIn(text: string): Fields {
  return text.split(' ').map((each) => each.split(':') as [string, string])
}

/** Returns the name of a field that is missing, or has another type. */
function wrongField(value: unknown, fields: Fields): string | undefined {
  const record = (value ?? {}) as Readonly<Record<string, unknown>>
  return fields.find(([name, type]) => record[name] === null || typeof record[name] !== type)?.[0]
}
