// The sink: puts records into a queue, chains them, and writes them to an output.
//
// 1. `decided` puts a decision into the queue, and its robots.txt before it if that is new. The
//    mode says whether the queue is written now, or at most a second later.
// 2. `#flush` numbers the records, links each with the hash of the line before, and gives all lines
//    to the output. An output takes all lines of a call or none. So a failure changes nothing: the
//    queue stays, and the next call numbers it again.
//
// Because records get their numbers when they are written, a new file can begin at any time, and a
// decision that could not be written can be taken out of the queue.
import { hash, randomBytes, randomUUID, sign } from 'node:crypto'
import { createRequire } from 'node:module'
import { OptionError } from '@politely/core'
import type { Decision, DecisionReceipt, DecisionResult, EvidenceSink } from '@politely/fetcher'
import { describeValue, LRUCache, messageOf, sentPageOf } from '@politely/fetcher/internal'
import { EvidenceError, writeError } from './errors.ts'
import { HOST } from './host.ts'
import type { HeadKey, Settings } from './options.ts'
import { RECORD_VERSION } from './record.ts'
import { fields, Recorder, type RobotsFile } from './recorder.ts'

/** A record in the queue, and what an output may need to know of it. */
export interface Item {
  /** In ISO 8601. */
  readonly time: string
  /** The JSON of the record from `kind` on. */
  readonly text: string | ((seq: number, prev: string) => string)
  /** The ID of the decision, of which this is the record or a result. */
  readonly id?: string
  /** The URL of a decision, as it may be shown. */
  readonly url?: string
  /** The robots.txt of a `robots-txt` record. */
  readonly file?: RobotsFile
  /** A UUID for the robots.txt of this record, or of the decision. */
  readonly fileId?: string | undefined
}

/** Where lines go. */
export interface Output {
  /** What error messages name: the file, or its folder. */
  readonly path: string
  /** Whether the next line is the first one of a file. It is a `start` record. */
  readonly isNew: boolean
  /** The name of the file before the new one. */
  readonly after: string | undefined
  /** Keeps a robots.txt before it is named by a record. Returns more fields for the record. */
  keep(file: RobotsFile): object
  /** Whether the file is `full`, or `gone`: another process has removed it. */
  ends(now: number, bytes: number): 'full' | 'gone' | undefined
  /** Ends the file. The next line begins a new one. */
  rotate(): void
  /** Writes all lines, or throws and writes none. */
  write(lines: readonly string[], items: readonly Item[], now: number): void
  /** Resolves when everything that was written before the call survives a power loss. */
  sync(): Promise<void>
  /** Ends the file and finishes the work in the background. */
  close(): Promise<void>
}

/** The counters of a sink. */
export interface EvidenceState {
  /** The name of its chain. */
  readonly chain: string
  /** How many records were written. */
  readonly written: number
  /** How many records wait in the buffer. */
  readonly waiting: number
  /** How many records were lost. */
  readonly lost: number
  /** Why the last attempt to write failed; undefined if it succeeded. */
  readonly failure: EvidenceError | undefined
}

/** A sink of this package. */
export interface Evidence extends EvidenceSink, AsyncDisposable {
  readonly state: EvidenceState
  /**
   * Writes down the hash and the length of the body of a response that `politely` has returned.
   * @param body The body, or its SHA-256 in hexadecimal and its length in bytes.
   * @throws {OptionError} for another type, and for a response of a request without evidence.
   */
  noteBody(response: object, body: Uint8Array | string | NonNullable<DecisionResult['body']>): void
  /**
   * Writes what waits, the signed head and the last record, and resolves when all files are
   * finished. Close the clients and gates before.
   * @throws {EvidenceError} if it cannot be written. It may be called again.
   */
  close(): Promise<void>
}

/** A queue of this size is written at once. */
const FULL_BYTES = 65_536
/** While nothing can be written, results of running requests may fill the queue up to this size. */
const MAX_BYTES = 2 ** 22
const FLUSH_MS = 1000
/** How many hashes of robots.txt are remembered. A forgotten one is written once more. */
const MAX_FILES = 10_000

const openJournals = new Set<Journal>()
const flushAll = () => {
  for (const journal of openJournals) journal.tryFlush()
}

export class Journal implements Evidence {
  readonly chain: string
  readonly #settings: Settings
  readonly #output: Output
  readonly #recorder: Recorder
  readonly #politely = readVersion()
  /** The robots.txt that were written, by hash, with the IDs of their records. */
  readonly #files = new LRUCache<string, string>({ max: MAX_FILES })
  #queue: Item[] = []
  #bytes = 0
  #seq = 0
  #prev = ''
  #decisions = 0
  #lost = 0
  /** The lost records that no `gap` record counts yet, and when the first was lost. */
  #gap: { readonly lost: number; readonly since: number } | undefined
  #failure: EvidenceError | undefined
  #timer: NodeJS.Timeout | undefined
  #timerMs = 0
  /** When the head was signed, and the number of records then. */
  #signed = { at: 0, seq: 0 }
  #isClosed = false
  #closing: Promise<void> | undefined

  /** @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`. */
  constructor(settings: Settings, outputOf: (chain: string) => Output) {
    this.chain = randomBytes(6).toString('hex')
    this.#settings = settings
    this.#recorder = new Recorder(settings, this.#politely)
    this.#output = outputOf(this.chain)
    this.#signed.at = settings.now()
    try {
      this.#flush()
    } catch (error) {
      if (settings.onFailure === 'stop') throw writeError(this.#output.path, error)
      this.#failed(error)
    }
    if (openJournals.size === 0) process.on('exit', flushAll)
    openJournals.add(this)
  }

  get state(): EvidenceState {
    const { chain } = this
    return { chain, written: this.#seq, waiting: this.#queue.length, lost: this.#lost, failure: this.#failure }
  }

  decided(decision: Decision): DecisionReceipt {
    const { onFailure, mode, fsync } = this.#settings
    if (this.#isClosed) throw new EvidenceError(this.#output.path, 'this sink is closed; close the clients before it')
    const id = `${this.chain}-${(this.#decisions++).toString(36)}`
    const [length, bytes] = [this.#queue.length, this.#bytes]
    const sha256 = this.#recorder.hashOf(decision)
    const isNew = sha256 !== undefined && !this.#files.has(sha256)
    try {
      if (isNew) this.#addFile(decision, sha256)
      const { text, url } = this.#recorder.decision(decision, id)
      this.#add(decision.at, text, { id, url, fileId: sha256 && this.#files.get(sha256) })
      const mustWork = onFailure === 'stop' && this.#failure !== undefined
      if (mode === 'before-sending' || mustWork || this.#bytes >= FULL_BYTES) this.#flush()
    } catch (error) {
      const failure = this.#failed(error)
      // With `continue`, what fits into the buffer is not lost.
      const isInBuffer = this.#queue.at(-1)?.id === id
      if (onFailure === 'stop' || this.#bytes >= FULL_BYTES || !isInBuffer) {
        this.#queue.length = length
        this.#bytes = bytes
        if (isNew) this.#files.delete(sha256)
        if (onFailure === 'stop') throw failure
        this.#lose(decision.at)
      }
    }
    return { id, written: fsync ? this.#synced() : undefined }
  }

  ended(result: DecisionResult): void {
    if (this.#isClosed || this.#bytes >= MAX_BYTES) {
      this.#lose(result.at)
      return
    }
    const { length } = this.#queue
    try {
      this.#add(result.at, this.#recorder.result(result), { id: result.id })
      if (this.#bytes >= FULL_BYTES) this.#flush()
    } catch (error) {
      this.#failed(error)
      if (this.#queue.length === length) this.#lose(result.at)
    }
  }

  noteBody(response: object, body: Parameters<Evidence['noteBody']>[1]): void {
    const id = sentPageOf(response)?.decision
    const problem = 'has no evidence; write the option evidence, and give the response that politely has returned'
    if (id === undefined) throw new OptionError('response', `${describeValue(response)} ${problem}`)
    this.ended({ id, at: this.#settings.now(), outcome: 'noted', body: describeBody(body) })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().catch((error) => {
      this.#closing = undefined
      throw error
    })
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Writes the queue. */
  tryFlush(): void {
    try {
      this.#flush()
    } catch (error) {
      this.#failed(error) // which warns
    }
  }

  async #close(): Promise<void> {
    try {
      if (!this.#isClosed) this.#flush('last')
      this.#isClosed = true
      clearTimeout(this.#timer)
      openJournals.delete(this)
      if (openJournals.size === 0) process.off('exit', flushAll)
      await this.#output.close()
    } catch (error) {
      throw writeError(this.#output.path, error)
    }
  }

  #addFile(decision: Decision, sha256: string): void {
    const file = this.#recorder.fileOf(decision)
    const text = this.#recorder.robotsTxt(file, this.#output.keep(file))
    const fileId = randomUUID()
    this.#add(decision.at, text, { file, fileId })
    this.#files.set(sha256, fileId)
  }

  /** @throws {RangeError} if `at` is not a time. */
  #add(at: number, text: string, about: Omit<Item, 'time' | 'text'>): void {
    this.#queue.push({ time: new Date(at).toISOString(), text, ...about })
    this.#bytes += text.length + (about.file?.bytes.length ?? 0)
    this.#arm(FLUSH_MS)
  }

  /** Writes the queue after a time, or before. */
  #arm(ms: number): void {
    if (this.#timer !== undefined && this.#timerMs <= ms) return
    clearTimeout(this.#timer)
    this.#timerMs = ms
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.tryFlush()
    }, ms).unref()
  }

  /** Writes the queue. @param end `last` to write the last record too. */
  #flush(end?: 'last'): void {
    const { now, key, signEveryMs } = this.#settings
    const at = now()
    const ending = this.#output.ends(at, this.#bytes)
    if (ending === 'full' && this.#seq > this.#signed.seq) this.#write(at, [], true)
    if (ending !== undefined) this.#output.rotate()
    const isSigned = end === 'last' || at - this.#signed.at >= signEveryMs
    this.#write(at, this.#queue, isSigned, end)
    this.#queue = []
    this.#bytes = 0
    this.#failure = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (key && this.#seq > this.#signed.seq) this.#arm(signEveryMs)
  }

  /** Writes records, and those that belong before and after them. */
  #write(at: number, queue: readonly Item[], isSigned: boolean, end?: 'last'): void {
    const { key } = this.#settings
    const time = new Date(at).toISOString()
    const items = [...queue]
    const { isNew, after } = this.#output
    const start = {
      kind: 'start',
      politely: this.#politely,
      node: process.version,
      pid: process.pid,
      host: HOST,
      after,
    }
    if (isNew) items.unshift({ time, text: fields(start) })
    if (this.#gap !== undefined) {
      const { lost, since } = this.#gap
      const error = messageOf(this.#failure?.cause ?? this.#failure)
      items.push({ time, text: fields({ kind: 'gap', lost, since: new Date(since).toISOString(), error }) })
    }
    const mustSign = key && isSigned && this.#seq + items.length > this.#signed.seq
    if (mustSign) items.push({ time, text: (seq, prev) => headText(key, this.chain, seq, prev) })
    if (end === 'last') items.push({ time, text: '"kind":"end"}' })
    if (items.length === 0) return
    let [seq, prev] = [this.#seq, this.#prev]
    const lines = items.map(({ time, text }) => {
      const body = typeof text === 'string' ? text : text(seq, prev)
      const line = `{"v":${RECORD_VERSION},"chain":"${this.chain}","seq":${seq},"prev":"${prev}","time":"${time}",${body}`
      prev = hash('sha256', line)
      seq++
      return line
    })
    this.#output.write(lines, items, at)
    this.#seq = seq
    this.#prev = prev
    this.#gap = undefined
    if (mustSign) this.#signed = { at, seq }
  }

  async #synced(): Promise<void> {
    try {
      await this.#output.sync()
    } catch (error) {
      const failure = this.#failed(error)
      if (this.#settings.onFailure === 'stop') throw failure
    }
  }

  /** Remembers a failure. Warns of the first one of a row. Retries after a time. */
  #failed(error: unknown): EvidenceError {
    const isFirst = this.#failure === undefined
    this.#failure = writeError(this.#output.path, error)
    if (isFirst) this.#settings.warn(this.#failure.message)
    this.#arm(FLUSH_MS)
    return this.#failure
  }

  #lose(at: number): void {
    this.#lost++
    if (this.#isClosed) return
    this.#gap = { lost: (this.#gap?.lost ?? 0) + 1, since: this.#gap?.since ?? at }
  }
}

function headText({ secret, shown, keyId }: HeadKey, chain: string, seq: number, prev: string): string {
  const signature = sign(null, Buffer.from(`politely-evidence 1 ${chain} ${seq} ${prev}`), secret).toString('base64url')
  return fields({ kind: 'head', key: shown, keyId, signature })
}

/** @throws {OptionError} for another type. */
function describeBody(body: unknown): { readonly sha256: string; readonly bytes: number } {
  if (typeof body === 'string' || body instanceof Uint8Array)
    return { sha256: hash('sha256', body), bytes: Buffer.byteLength(body) }
  const { sha256, bytes } = Object(body) as { readonly sha256?: unknown; readonly bytes?: unknown }
  if (typeof sha256 === 'string' && /^[\da-f]{64}$/.test(sha256) && Number.isSafeInteger(bytes) && Number(bytes) >= 0)
    return { sha256, bytes: Number(bytes) }
  throw new OptionError(
    'body',
    `${describeValue(body)} is not a body; expected its bytes, its text, or { sha256, bytes }`,
  )
}

/** The version of Politely. `unknown` if this code was bundled without its package.json. */
function readVersion(): string {
  try {
    return (createRequire(import.meta.url)('@politely/evidence/package.json') as { readonly version: string }).version
  } catch {
    return 'unknown'
  }
}
