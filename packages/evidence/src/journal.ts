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
import { hash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { OptionError } from '@politely/core'
import type { Copy } from '@politely/core/engine'
import type { Decision, DecisionReceipt, DecisionResult, EvidenceSink } from '@politely/fetcher'
import { boundedMap, describeValue, messageOf, sentPageOf } from '@politely/fetcher/internal'
import { EvidenceError } from './errors.ts'
import type { Settings } from './options.ts'
import { RECORD_VERSION } from './record.ts'
import { decisionText, hashOf, recordText, resultText, robotsTxtText, VERSION } from './recorder.ts'

/** A line without its line end; in the queue, from `time` on. `copy`: the robots.txt that it names. */
export type Line = { readonly text: string; readonly copy?: Copy | undefined }

/** Where lines go. */
export interface Output {
  /** Ends the file if it is time, or if `bytes` more do not fit. Returns whether the next line begins a file. */
  begin(now: number, bytes: number): boolean
  /** Writes all lines, or throws and writes none. */
  write(lines: readonly Line[], now: number): void
  /** Resolves when everything that was written before the call survives a power loss. */
  sync?(): Promise<void>
  /** Ends the file, and waits for the work in the background. */
  close?(): Promise<void>
}

/** A sink of this package. */
export interface Evidence extends EvidenceSink, AsyncDisposable {
  /** The name of its chain, how many records were lost, and why nothing can be written now, if so. */
  readonly state: { readonly chain: string; readonly lost: number; readonly failure: EvidenceError | undefined }
  /**
   * Writes down the hash and the length of the body of a response that `politely` has returned.
   * @throws {OptionError} for another type, and for a response of a request without evidence.
   */
  noteBody(response: object, body: Uint8Array | string): void
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
const SIGN_MS = 60_000
/** How many hashes of robots.txt are remembered. A forgotten one is written once more. */
const MAX_FILES = 10_000

/** The first 12 digits of the SHA-256 of the host's name. */
export const HOST: string = hash('sha256', hostname()).slice(0, 12)

export class Journal implements Evidence {
  readonly state: { readonly chain: string; lost: number; failure: EvidenceError | undefined }
  readonly #settings: Settings
  readonly #path: string
  readonly #output: Output
  /** The hashes of the robots.txt that were written. */
  readonly #files = boundedMap<true>(MAX_FILES)
  #queue: Line[] = []
  #bytes = 0
  /** The number of the next record, and the hash of the last line. */
  #next = { seq: 0, prev: '' }
  #decisions = 0
  /** The lost records that no `gap` record counts yet, and when the first was lost. */
  #gap: { lost: number; readonly since: string; readonly error: string } | undefined
  /** When the head was signed, and the number of records then. */
  #signed = { at: 0, seq: 0 }
  #isClosed = false
  readonly #timer: NodeJS.Timeout
  readonly #flushNow = () => void this.#flush()

  /** @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`. */
  constructor(settings: Settings, outputOf: (chain: string) => Output) {
    this.state = { chain: randomBytes(6).toString('hex'), lost: 0, failure: undefined }
    this.#settings = settings
    this.#path = settings.dir || 'the stream'
    this.#output = outputOf(this.state.chain)
    const failure = this.#flush()
    if (failure) this.#refuse(failure)
    this.#timer = setInterval(this.#flushNow, FLUSH_MS).unref()
    process.on('exit', this.#flushNow)
  }

  decided(decision: Decision): DecisionReceipt {
    if (this.#isClosed) throw new EvidenceError(this.#path, 'this sink is closed; close the clients before it')
    const { mode, fsync, onFailure } = this.#settings
    const id = `${this.state.chain}-${(this.#decisions++).toString(36)}`
    const [length, bytes] = [this.#queue.length, this.#bytes]
    const copy = decision.entry?.copy
    const sha256 = copy && hashOf(copy)
    const isNew = sha256 !== undefined && !this.#files.has(sha256)
    if (isNew) this.#add(robotsTxtText(decision, copy as Copy, this.#settings), copy)
    this.#add(decisionText(decision, id, this.#settings))
    if (isNew) this.#files.set(sha256, true)
    const isDue = mode === 'before-sending' || this.#bytes >= FULL_BYTES
    const failure = isDue || (this.state.failure && onFailure === 'stop') ? this.#flush() : undefined
    if (failure && (this.#bytes >= FULL_BYTES || onFailure === 'stop')) {
      this.#queue.length = length
      this.#bytes = bytes
      if (isNew) this.#files.delete(sha256)
      this.#refuse(failure)
      this.#lose()
    }
    const written = fsync ? this.#output.sync?.() : undefined
    return { id, written: written?.catch((error) => this.#refuse(this.#failed(error))) }
  }

  ended(result: DecisionResult): void {
    try {
      if (this.#isClosed || this.#bytes >= MAX_BYTES) this.#lose()
      else this.#add(resultText(result, this.#settings))
      if (this.#bytes >= FULL_BYTES) this.#flush()
    } catch (error) {
      this.#failed(error)
      this.#lose()
    }
  }

  noteBody(response: object, body: Uint8Array | string): void {
    const id = sentPageOf(response)?.decision
    const problem = 'has no evidence; write the option evidence, and give the response that politely has returned'
    if (id === undefined) throw new OptionError('response', `${describeValue(response)} ${problem}`)
    if (typeof body !== 'string' && !(body instanceof Uint8Array))
      throw new OptionError('body', `${describeValue(body)} is not a body; expected its text or a Uint8Array`)
    const noted = { sha256: hash('sha256', body), bytes: Buffer.byteLength(body) }
    this.ended({ id, at: this.#settings.now(), outcome: 'noted', body: noted })
  }

  async close(): Promise<void> {
    const failure = this.#isClosed ? undefined : this.#flush('last')
    if (failure) throw failure
    this.#isClosed = true
    clearInterval(this.#timer)
    process.off('exit', this.#flushNow)
    await this.#output.close?.().catch((error) => Promise.reject(this.#failed(error)))
  }

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close()

  #add(text: string, copy?: Copy): void {
    this.#queue.push({ text, copy })
    this.#bytes += text.length + (copy?.bytes.length ?? 0)
  }

  /** Writes the queue. Returns the failure. @param end `last` to write the last record too. */
  #flush(end?: 'last'): EvidenceError | undefined {
    const { now, sign } = this.#settings
    let { seq, prev } = this.#next
    const lines: Line[] = []
    const put = ({ text, copy }: Line) => {
      const line = `{"v":${RECORD_VERSION},"chain":"${this.state.chain}","seq":${seq++},"prev":"${prev}",${text}`
      prev = hash('sha256', line)
      lines.push({ text: line, copy })
    }
    try {
      const at = now()
      const start = { politely: VERSION, node: process.version, pid: process.pid, host: HOST }
      if (this.#output.begin(at, this.#bytes)) put({ text: recordText('start', at, start) })
      this.#queue.forEach(put)
      if (this.#gap) put({ text: recordText('gap', at, this.#gap) })
      const isSigned = sign && seq > this.#signed.seq && (end || at - this.#signed.at >= SIGN_MS)
      if (isSigned) put({ text: recordText('head', at, sign(this.state.chain, seq, prev)) })
      if (end) put({ text: recordText('end', at, {}) })
      if (lines.length === 0) return undefined
      this.#output.write(lines, at)
      if (isSigned) this.#signed = { at, seq }
    } catch (error) {
      return this.#failed(error)
    }
    this.#next = { seq, prev }
    this.#queue = []
    this.#bytes = 0
    this.#gap = undefined
    this.state.failure = undefined
    return undefined
  }

  /** Remembers a failure, and warns of the first one of a row. */
  #failed(cause: unknown): EvidenceError {
    const remedy = "the sink tries it again; or write onFailure: 'continue' to crawl on without evidence"
    const problem = `evidence cannot be written (${messageOf(cause)}); ${remedy}`
    const failure = new EvidenceError(this.#path, problem, { cause })
    if (this.state.failure === undefined) warn(failure.message)
    this.state.failure = failure
    return failure
  }

  /** Throws a failure, unless the crawl is to continue. */
  #refuse(failure: EvidenceError): void {
    if (this.#settings.onFailure === 'stop') throw failure
  }

  #lose(): void {
    this.state.lost++
    const since = new Date(this.#settings.now()).toISOString()
    this.#gap ??= { lost: 0, since, error: messageOf(this.state.failure?.cause) }
    this.#gap.lost++
  }
}

export function warn(message: string): void {
  process.emitWarning(message, { type: 'PolitelyWarning', code: 'POLITELY_EVIDENCE' })
}
