// The sink: puts records into a queue, chains them, and writes them to an output.
//
// 1. `decided` puts a decision into the queue, and its robots.txt before it if that is new. The
//    mode says whether the queue is written now, or at most a second later.
// 2. `flush` numbers the records, links each with the hash of the line before, and gives all lines
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

/**
 * A line without its line end; in the queue, from `time` on. `copy` is the file of a `robots-txt`
 * record.
 */
export type RecordLine = { readonly text: string; readonly copy?: Copy | undefined }

/** The lines as a file has them. */
export const textOfLines = (lines: readonly RecordLine[]): string => lines.map(({ text }) => `${text}\n`).join('')

/** Where lines go. */
export interface Output {
  /**
   * Ends the file if it is time, or if `bytes` more do not fit. Returns whether the next line begins
   * a file.
   * @param onRemoved Called if somebody has removed the file, and maybe the robots.txt too.
   */
  begin(now: number, bytes: number, onRemoved: () => void): boolean
  /** Writes all lines, or throws and writes none. */
  write(lines: readonly RecordLine[], now: number): void
  /** With `fsync`: resolves when all that was written before the call survives a power loss. */
  sync?(): Promise<void>
  /** Ends the file, and waits for the work in the background. */
  close?(): Promise<void>
}

/** A sink of this package. */
export interface Evidence extends EvidenceSink, AsyncDisposable {
  /** The name of its chain, how many records were lost, and why the last attempt to write failed. */
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
const FULL_BYTES = 32_768
/** While nothing can be written, results of running requests may fill the queue up to this size. */
const MAX_BYTES = 2 ** 22
/** What a line has before `time`, and the most that a flush adds to the queue. */
const [LINK_BYTES, OWN_BYTES] = [128, 2048]
const FLUSH_MS = 1000
const SIGN_MS = 60_000
/** How many hashes of robots.txt are remembered. A forgotten one is written once more. */
const MAX_FILES = 10_000

/** The first 12 digits of the SHA-256 of the host's name. */
export const HOST: string = hash('sha256', hostname()).slice(0, 12)

/** One listener for all sinks. Node warns of more than ten. */
const flushedAtExit = new Set<() => void>()
const flushAll = () => {
  for (const flush of flushedAtExit) flush()
}

/** @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`. */
export function openJournal(settings: Settings, outputOf: (settings: Settings, chain: string) => Output): Evidence {
  const { mode, onFailure, sign, now, dir } = settings
  const chain = randomBytes(6).toString('hex')
  const state = { chain, lost: 0, failure: undefined as EvidenceError | undefined }
  const path = dir || 'the stream'
  const output = outputOf(settings, chain)
  /** The hashes of the robots.txt that were written. */
  const files = boundedMap<true>(MAX_FILES)
  let queue: RecordLine[] = []
  let bytes = 0
  /** The number of the next record, and the hash of the last line. */
  let next = { seq: 0, prev: '' }
  /** When the head was signed, and the number of records then. */
  let signed = { at: 0, seq: 0 }
  /** The lost records that no `gap` record counts yet, and when the first was lost. */
  let gap: { lost: number; readonly since: string; readonly error: string } | undefined
  let decisions = 0
  let isClosed = false

  function decided(decision: Decision): DecisionReceipt {
    if (isClosed) throw new EvidenceError(path, 'this sink is closed; close the clients before it')
    const id = `${chain}-${(decisions++).toString(36)}`
    const before = { length: queue.length, bytes }
    const copy = decision.entry?.copy
    const isNew = copy !== undefined && !files.has(hashOf(copy))
    if (isNew) add(robotsTxtText(decision, copy, settings), copy)
    add(decisionText(decision, id, settings))
    if (isNew) files.set(hashOf(copy), true)
    // If the crawl continues after a failure, the timer tries again, and not each page.
    if (state.failure ? onFailure === 'stop' : mode === 'before-sending' || bytes >= FULL_BYTES) flush()
    if (state.failure && (bytes >= FULL_BYTES || onFailure === 'stop')) {
      queue.length = before.length
      bytes = before.bytes
      if (isNew) files.delete(hashOf(copy))
      refuse(state.failure)
      lose()
    }
    return { id, written: output.sync?.().catch((error) => refuse(failed(error))) }
  }

  function ended(result: DecisionResult): void {
    try {
      if (isClosed || bytes >= MAX_BYTES) lose()
      else add(resultText(result, settings))
      if (bytes >= FULL_BYTES && !state.failure) flush()
    } catch (error) {
      failed(error)
      lose()
    }
  }

  function noteBody(response: object, body: Uint8Array | string): void {
    const id = sentPageOf(response)?.decision
    const problem = 'has no evidence; write the option evidence, and give the response that politely has returned'
    if (id === undefined) throw new OptionError('response', `${describeValue(response)} ${problem}`)
    if (typeof body !== 'string' && !(body instanceof Uint8Array))
      throw new OptionError('body', `${describeValue(body)} is not a body; expected its text or a Uint8Array`)
    ended({ id, at: now(), outcome: 'noted', body: { sha256: hash('sha256', body), bytes: Buffer.byteLength(body) } })
  }

  async function close(): Promise<void> {
    if (!isClosed) flush('last')
    if (!isClosed && state.failure) throw state.failure
    isClosed = true
    clearInterval(timer)
    flushedAtExit.delete(flush)
    await output.close?.().catch((error) => Promise.reject(failed(error)))
  }

  function add(text: string, copy?: Copy): void {
    queue.push({ text, copy })
    bytes += LINK_BYTES + Buffer.byteLength(text) + (copy?.bytes.length ?? 0)
  }

  /** Writes the queue, or sets `state.failure`. @param end `last` to write the last record too. */
  function flush(end?: 'last', isAgain = false): void {
    let { seq, prev } = next
    const lines: RecordLine[] = []
    const put = (text: string, copy?: Copy) => {
      const line = `{"v":${RECORD_VERSION},"chain":"${chain}","seq":${seq++},"prev":"${prev}",${text}`
      prev = hash('sha256', line)
      lines.push({ text: line, copy })
    }
    try {
      const at = now()
      const start = { politely: VERSION, node: process.version, pid: process.pid, host: HOST }
      if (output.begin(at, bytes + OWN_BYTES, () => files.clear())) put(recordText('start', at, start))
      for (const { text, copy } of queue) put(text, copy)
      if (gap) put(recordText('gap', at, gap))
      const isSigned = sign && seq > signed.seq && (end || Math.abs(at - signed.at) >= SIGN_MS)
      if (isSigned) put(recordText('head', at, sign(chain, seq, prev)))
      if (end) put(recordText('end', at, {}))
      if (lines.length === 0) return
      output.write(lines, at)
      if (isSigned) signed = { at, seq }
      next = { seq, prev }
      queue = []
      bytes = 0
      gap = undefined
      state.failure = undefined
    } catch (error) {
      failed(error)
      if (!isAgain && (error as NodeJS.ErrnoException).code === 'EFBIG') flush(end, true) // a new file may grow
    }
  }

  /** Remembers a failure, and warns of the first one of a row. */
  function failed(cause: unknown): EvidenceError {
    const remedy = "the sink tries it again; or write onFailure: 'continue' to crawl on without evidence"
    const failure = new EvidenceError(path, `evidence cannot be written (${messageOf(cause)}); ${remedy}`, { cause })
    if (state.failure === undefined) warnOfEvidence(failure.message)
    state.failure = failure
    return failure
  }

  /** Throws a failure, unless the crawl is to continue. */
  function refuse(failure: EvidenceError): void {
    if (onFailure === 'stop') throw failure
  }

  function lose(): void {
    state.lost++
    gap ??= { lost: 0, since: new Date(now()).toISOString(), error: messageOf(state.failure?.cause) }
    gap.lost++
  }

  flush()
  if (state.failure) refuse(state.failure)
  const timer = setInterval(flush, FLUSH_MS).unref()
  flushedAtExit.add(flush)
  process.off('exit', flushAll).on('exit', flushAll)
  return { state, decided, ended, noteBody, close, [Symbol.asyncDispose]: close }
}

export const warnOfEvidence = (message: string): void =>
  process.emitWarning(message, { type: 'PolitelyWarning', code: 'POLITELY_EVIDENCE' })
