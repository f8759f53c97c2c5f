// Reads a folder of evidence, in bounded memory. What can't be read is an item too, so that a damaged
// line hides nothing after it.
//
// The order: each chain is in order, one chain after another, by the names of their first files. The
// files of a chain are in the order of their first records, since a clock may be set back.
import { hash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { constants, createGunzip, createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/core/engine'
import { type EvidenceRecord, RECORD_VERSION } from '../record.ts'
import { firstLine, firstWarcRecord, piecesOf } from './lines.ts'

/** A line of evidence: a record, or what is wrong with it. */
export interface EvidenceItem {
  /** The name of the file in the folder. */
  readonly file: string
  /** Counted from 1. In a WARC file, the number of the record. */
  readonly line: number
  /** The line without its line end, if it was read. */
  readonly text?: string
  /** What all records have, also those of later versions. */
  readonly link?: Pick<EvidenceRecord, 'v' | 'chain' | 'seq' | 'prev' | 'time'> & { readonly kind: string }
  /** Absent if there is a problem. */
  readonly record?: EvidenceRecord
  /** What is wrong, in words. */
  readonly problem?: string
  /** Of the problem: `note` for what a kill leaves. */
  readonly level?: 'error' | 'note'
}

/** Where something stands. */
export type Place = Pick<EvidenceItem, 'file' | 'line'>

const NAMES = /\.(?:ndjson|ndjson\.zst|warc\.gz|warc\.gz\.open)$/
const IN_ORDER = new Intl.Collator('en', { numeric: true }).compare
/** A longer robots.txt is damaged: no client reads so much. */
const MAX_FILE_BYTES = 2 ** 28

/** A folder of evidence. */
export class EvidenceFolder {
  readonly #dir: string
  /** The robots.txt files between the records, by their hashes, compressed: about 1 kB for each. */
  readonly #robots = new Map<string, Buffer>()

  /** @throws {OptionError} if this is not a folder, or a folder without records. */
  constructor(dir: string) {
    const isFolder = typeof dir === 'string' && statSync(dir, { throwIfNoEntry: false })?.isDirectory()
    const problem = isFolder ? 'has no records (.ndjson, .ndjson.zst or .warc.gz)' : 'is not a folder'
    if (!isFolder || namesIn(dir).length === 0)
      throw new OptionError('dir', `${describeValue(dir)} ${problem}; write the folder that the sink writes to`)
    this.#dir = dir
  }

  /** Yields the records, and what can't be read. */
  async *items(): AsyncGenerator<EvidenceItem> {
    const files = []
    for (const name of namesIn(this.#dir)) files.push(await this.#startOf(name))
    for (const chain of Map.groupBy(files, ({ chain }) => chain).values())
      for (const { name } of chain.sort((a, b) => a.seq - b.seq)) yield* this.#itemsIn(name)
  }

  /**
   * Returns a robots.txt by its SHA-256 in hexadecimal, one character for each byte (latin1). One
   * that stands between the records is `missing` until its record was read.
   */
  async robotsFile(sha256: string): Promise<{ readonly bytes?: string; readonly problem?: 'missing' | 'damaged' }> {
    if (!/^[\da-f]{64}$/.test(sha256)) return { problem: 'missing' }
    const path = join(this.#dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)
    try {
      const compressed = this.#robots.get(sha256) ?? (await readFile(path))
      const bytes = zstdDecompressSync(compressed, { maxOutputLength: MAX_FILE_BYTES })
      return hash('sha256', bytes) === sha256 ? { bytes: bytes.toString('latin1') } : { problem: 'damaged' }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return { problem: 'missing' }
      if (/^(?:ZSTD_|Z_|ERR_BUFFER_TOO_LARGE)/.test(code)) return { problem: 'damaged' }
      throw error
    }
  }

  /** Returns which chain a file has, and where it begins in that chain. */
  async #startOf(name: string): Promise<{ readonly name: string; readonly chain: string; readonly seq: number }> {
    for await (const { link } of this.#itemsIn(name)) if (link !== undefined) return { ...link, name }
    return { name, chain: name, seq: 0 }
  }

  async *#itemsIn(file: string): AsyncGenerator<EvidenceItem> {
    const isWarc = file.includes('.warc.gz')
    let line = 0
    try {
      for await (const piece of piecesOf(bytesOf(this.#dir, file), isWarc ? firstWarcRecord : firstLine)) {
        line++
        const { text = '', robotsTxt } = piece ?? {}
        const item = piece === undefined ? CUT : itemOf(text)
        const { record, link } = item
        if (robotsTxt !== undefined) this.#robots.set(robotsTxt.sha256, robotsTxt.compressed)
        if (record?.kind === 'robots-txt' && record.content !== undefined)
          this.#robots.set(record.sha256, Buffer.from(record.content, 'base64'))
        if (!isWarc || link || piece === undefined) yield { ...item, file, line } // not of another program
      }
      // Node 22 doesn't tell that a compressed file is cut.
      if (line === 0 && file.endsWith('.zst')) yield { problem: 'the file has no records', level: 'error', file, line }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      yield { problem: `the file can't be read after this line (${code})`, level: 'error', file, line }
    }
  }
}

/**
 * Reads a folder of evidence: all records, and what can't be read, each with its file and line. Each
 * chain is in order.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function* readEvidence(dir: string): AsyncGenerator<EvidenceItem> {
  yield* new EvidenceFolder(dir).items()
}

/** If a file is there compressed too, its compression did not end. */
function namesIn(dir: string): readonly string[] {
  const names = readdirSync(dir).filter((name) => NAMES.test(name))
  return names
    .filter((name) => !(name.endsWith('.zst') && names.includes(name.slice(0, -'.zst'.length))))
    .sort((a, b) => IN_ORDER(a.replace(NAMES, ''), b.replace(NAMES, '')))
}

/** Yields the bytes of a file, decompressed. The flag lets a cut WARC file end like a whole one. */
function bytesOf(dir: string, name: string): AsyncIterable<Buffer> {
  const chunks = { highWaterMark: 2 ** 18 }
  const names = [name, `${name}.zst`, name.replace(/\.open$/, '')] // it may be finished since its name was read
  const path = join(dir, names.find((each) => existsSync(join(dir, each))) ?? name)
  const file = createReadStream(path, chunks)
  if (path.endsWith('.ndjson')) return file
  const gunzip = () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: chunks.highWaterMark })
  return pipeline(file, path.endsWith('.zst') ? createZstdDecompress() : gunzip(), () => undefined)
}

/** What the audit reads of a record, with a value of the right type. */
const LINK = { v: 0, chain: '', seq: 0, prev: '', time: '', kind: '' }
const FIELDS: Readonly<Record<string, object>> = {
  'robots-txt': { sha256: '' },
  decision: { id: '', use: '', url: '', by: {}, verdict: {} },
  result: { id: '', outcome: '' },
  head: { key: {}, keyId: '', signature: '' },
  gap: { lost: 0, since: '', error: '' },
}

type Content = Omit<EvidenceItem, keyof Place>
const CUT: Content = { problem: 'the last line is cut, as after a kill', level: 'note' }

function itemOf(text: string): Content {
  const link = parsed(text) as EvidenceRecord
  if (wrongField(link, LINK) !== undefined) return { text, problem: 'the line is not a record', level: 'error' }
  const newer = `the record has version ${link.v}, and this version reads ${RECORD_VERSION}; install a newer @politely/evidence`
  if (link.v !== RECORD_VERSION) return { text, link, problem: newer, level: 'error' }
  const field = wrongField(link, FIELDS[link.kind] ?? {})
  if (field === undefined) return { text, link, record: link }
  return { text, link, problem: `"${link.kind}": its field "${field}" is missing, or has another type`, level: 'error' }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the name of a field that is missing, or has another type. */
function wrongField(value: unknown, fields: object): string | undefined {
  const record = Object(value)
  return Object.entries(fields).find(([name, example]) => typeof (record[name] ?? undefined) !== typeof example)?.[0]
}
