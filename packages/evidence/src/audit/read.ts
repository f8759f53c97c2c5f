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
import { type EvidenceRecord, RECORD_VERSION } from '../record.ts'
import { type RobotsFile, RobotsFiles } from './robots-files.ts'
import { MAX_RECORD_BYTES, payloadOf, type WarcRecord, warcRecords } from './warc.ts'

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
    const chains = new Map<string, { readonly name: string; readonly seq: number }[]>()
    for (const name of namesIn(this.#dir)) {
      const { chain, seq } = (await this.#firstLink(name)) ?? { chain: name, seq: 0 }
      const files = chains.get(chain) ?? []
      files.push({ name, seq })
      chains.set(chain, files)
    }
    return [...chains.values()].flatMap((files) => files.sort((a, b) => a.seq - b.seq).map(({ name }) => name))
  }

  async #firstLink(name: string): Promise<Link | undefined> {
    for await (const { record, link = record } of this.#itemsIn(name)) if (link !== undefined) return link
    return undefined
  }

  async *#itemsIn(file: string): AsyncGenerator<EvidenceItem> {
    const path = join(this.#dir, file)
    let line = 0
    try {
      const items = file.includes('.warc.gz') ? this.#warcItems(path, file) : this.#lineItems(path, file)
      for await (const item of items) {
        ;({ line } = item)
        yield item
      }
      const isOurs = !file.includes('.warc.gz') || file.startsWith('politely-')
      if (line === 0 && isOurs) yield { file, line: 1, ...LINE_PROBLEMS.empty }
    } catch (error) {
      const { code = '', syscall } = error as NodeJS.ErrnoException
      const finished = file.endsWith('.open') ? file.slice(0, -'.open'.length) : `${file}.zst`
      if (code === 'ENOENT' && line === 0 && existsSync(join(this.#dir, finished)))
        return yield* this.#itemsIn(finished)
      if (syscall === undefined && !/^(?:Z_|ZSTD_)/.test(code)) throw error
      const problem = syscall === undefined ? 'the compressed data is damaged' : "the file can't be read"
      yield { problem: `${problem} after this line (${code})`, level: 'error', file, line }
    }
  }

  async *#lineItems(path: string, file: string): AsyncGenerator<EvidenceItem> {
    let line = 0
    for await (const text of linesOf(bytesOf(path))) {
      const place = { file, line: ++line }
      if (typeof text !== 'string') yield { ...place, ...LINE_PROBLEMS[text.problem] }
      else if (text !== '') {
        const item = itemOf(text, place)
        this.#keepContent(item.record)
        yield item
      }
    }
  }

  /** Keeps the robots.txt that a stream has in its record. */
  #keepContent(record: EvidenceRecord | undefined): void {
    if (record?.kind !== 'robots-txt' || record.content === undefined) return
    try {
      this.#robots.keep(zstdDecompressSync(Buffer.from(record.content, 'base64')), record.sha256)
    } catch {
      this.#robots.keep(Buffer.alloc(0), record.sha256) // so that it counts as damaged
    }
  }

  async *#warcItems(path: string, file: string): AsyncGenerator<EvidenceItem> {
    const isOurs = file.startsWith('politely-')
    let line = 0
    for await (const record of warcRecords(bytesOf(path), (headers) => kindOf(headers, isOurs) !== undefined)) {
      const place = { file, line: ++line }
      if (record === undefined) yield { ...place, ...LINE_PROBLEMS.cut }
      else {
        const item = this.#warcItem(record, place, isOurs)
        if (item !== undefined) yield item
      }
    }
  }

  #warcItem(record: WarcRecord, place: Place, isOurs: boolean): EvidenceItem | undefined {
    const kind = kindOf(record.headers, isOurs)
    if (kind === 'file') {
      const payload = payloadOf(record)
      const digest = record.headers.get('warc-payload-digest') ?? ''
      if (payload !== undefined) this.#robots.keep(payload, digest.replace('sha256:', ''))
    }
    if (kind !== 'line') return undefined
    if (record.content === undefined) return { ...place, ...LINE_PROBLEMS.long }
    const item = itemOf(record.content.toString(), place)
    return isOurs || item.record !== undefined || item.link !== undefined ? item : undefined
  }
}

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
async function* linesOf(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<string | { readonly problem: keyof typeof LINE_PROBLEMS }> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const part = chunk.subarray(start, end)
      if (length > MAX_RECORD_BYTES) yield { problem: 'long' }
      else yield parts.length === 0 ? part.toString() : Buffer.concat([...parts, part]).toString()
      parts = []
      length = 0
      start = end + 1
    }
    const rest = chunk.subarray(start)
    length += rest.length
    if (length > MAX_RECORD_BYTES) parts = []
    else if (rest.length > 0) parts.push(rest)
  }
  if (length > 0) yield { problem: 'cut' }
}

function itemOf(text: string, place: Place): EvidenceItem {
  const value = parsed(text)
  if (!isLink(value)) return { ...place, problem: 'the line is not a record', level: 'error', text }
  if (value.v !== RECORD_VERSION) {
    const problem = `the record has version ${value.v}, and this version of @politely/evidence reads ${RECORD_VERSION}; install a newer one`
    return { ...place, problem, level: 'error', link: value, text }
  }
  const fields = FIELDS[value.kind]
  if (fields === undefined)
    return {
      ...place,
      problem: `${describeValue(value.kind)} is not a kind of record`,
      level: 'error',
      link: value,
      text,
    }
  const wrong = fields.find(([name, type]) => !isOfType((value as never)[name], type))
  if (wrong === undefined) return { ...place, record: value as EvidenceRecord, text }
  const problem = `the field "${wrong[0]}" of a ${value.kind} record is missing or not ${TYPES[wrong[1]]}`
  return { ...place, problem, level: 'error', link: value, text }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isLink(value: unknown): value is Link {
  const { v, chain, seq, prev, kind, time } = (value ?? {}) as Record<string, unknown>
  return (
    typeof v === 'number' &&
    typeof chain === 'string' &&
    Number.isSafeInteger(seq) &&
    typeof prev === 'string' &&
    typeof kind === 'string' &&
    typeof time === 'string' &&
    !Number.isNaN(Date.parse(time))
  )
}

const TYPES = { string: 'a string', number: 'a number', boolean: 'a boolean', object: 'an object' } as const
type Field = readonly [name: string, type: keyof typeof TYPES]

/** The fields that the records of each kind must have. */
const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  start: fieldsIn('politely:string node:string pid:number host:string'),
  'robots-txt': fieldsIn('sha256:string bytes:number truncated:boolean url:string'),
  decision: fieldsIn('id:string use:string url:string by:object verdict:object'),
  result: fieldsIn('id:string outcome:string'),
  head: fieldsIn('key:object keyId:string signature:string'),
  gap: fieldsIn('lost:number since:string error:string'),
  end: [],
}

function fieldsIn(text: string): readonly Field[] {
  return text.split(' ').map((each) => each.split(':') as [string, Field[1]])
}

function isOfType(value: unknown, type: Field[1]): boolean {
  return type === 'object'
    ? typeof value === 'object' && value !== null && !Array.isArray(value)
    : typeof value === type
}
