// Compiles one crawler's rules in one pass, while the file is parsed. RFC 9309 §2.2.1.
//
// The compiler ranks each user-agent line for the crawler (group-selection.ts; a lower rank is
// better). Groups may come in any order, so a line of a better rank may follow. Until the end of
// the file, the compiler keeps the groups of the best rank so far:
//
//   rank of the line            the compiler
//   better than the best rank   discards everything, then keeps this group
//   equal to the best rank      keeps this group too, if groups of that rank are merged
//   worse                       ignores this group, unless another of its user-agent lines has the best rank
//
// The rules of a kept group are packed as they are parsed (packed-rules.ts). `finish` adds the
// groups.
import { DOLLAR, LF, STAR } from '../ascii.ts'
import { type ByteBuffer, isEqualAt, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import type { OtherField } from '../parse/directive.ts'
import { type GroupSelection, OTHER_CRAWLERS_RANK } from '../parse/group-selection.ts'
import { endOfIndexFolder } from '../parse/index-page.ts'
import type { LineReader } from '../parse/line-reader.ts'
import { crawlDelayMsOf, dayRangeOf, requestRateOf } from '../parse/pace-records.ts'
import type { FieldHandler } from '../parse/parser.ts'
import type { DayRange, RequestRate } from '../timed-records.ts'
import { type ByteForms, normalForms, writeNormalForm } from '../url/normal-form.ts'
import type { BoundRules } from './bound-rules.ts'
import { ALLOW, HEAD, MAX_OVERHEAD, REWRITTEN, SPECIAL, writeNumber } from './packed-rules.ts'

/** The result for one crawler. */
export type CompiledRules = Pick<BoundRules, 'packed' | 'groupsAt' | 'crawlDelayMs' | 'requestRates' | 'visitTimes'> & {
  readonly ruleCount: number
}

/** Compiles one file: the parser calls it, and then `finish` returns the result. */
export class RuleCompiler implements FieldHandler {
  readonly #file: Uint8Array
  readonly #selection: GroupSelection
  readonly #parsing: ParsingRules
  readonly #formTable: ByteForms

  readonly #buffer: ByteBuffer
  /** The end of what is packed so far. */
  #end = 0
  #ruleCount = 0

  /** The lowest rank of a user-agent line so far. */
  #bestRank = OTHER_CRAWLERS_RANK
  /** The kept groups before the current one. */
  readonly #groups: { readonly line: number; readonly agentRanges: readonly number[] }[] = []

  // The current group:
  #groupLine = 0
  /** The best rank of a user-agent line of the current group. */
  #groupRank = OTHER_CRAWLERS_RANK
  /**
   * For each user-agent line of the current group: two numbers, the start and end of its value in
   * the file.
   */
  readonly #agentRanges: number[] = []
  /** Whether the current group is kept. */
  wantsRules = false
  /** The best rank in the last run of user-agent lines (parser.ts). */
  #runRank = OTHER_CRAWLERS_RANK

  readonly wantsUnknownFields = false
  #crawlDelayMs: number | undefined
  #requestRates: RequestRate[] = []
  #visitTimes: DayRange[] = []

  /** @param file The bytes that the parser will read. @param buffer A buffer for the result. */
  constructor(file: Uint8Array, selection: GroupSelection, parsing: ParsingRules, buffer: ByteBuffer) {
    this.#file = file
    this.#selection = selection
    this.#parsing = parsing
    this.#formTable = normalForms[parsing.compare].rule
    this.#buffer = buffer
  }

  /** Discards all kept groups, with their rules and records. */
  #discard(): void {
    this.#end = 0
    this.#ruleCount = 0
    this.#groups.length = 0
    this.wantsRules = false
    this.#crawlDelayMs = undefined
    this.#requestRates = []
    this.#visitTimes = []
  }

  onUserAgent(
    { line, valueStart: start, contentEnd: end }: LineReader,
    startsGroup: boolean,
    startsRun: boolean,
  ): void {
    const rank = this.#selection.rankOf(this.#file, start, end)
    if (startsGroup) {
      this.#closeGroup()
      this.#groupLine = line
      this.#groupRank = OTHER_CRAWLERS_RANK
    }
    this.#runRank = startsRun ? rank : Math.min(rank, this.#runRank)
    if (rank < this.#bestRank) {
      this.#bestRank = rank
      this.#discard()
    }
    this.#agentRanges.push(start, end)
    if (rank >= this.#groupRank) return
    this.#groupRank = rank
    if (rank === this.#bestRank && !this.wantsRules) {
      this.wantsRules = this.#groups.length === 0 || this.#selection.isMerged(rank)
    }
  }

  #closeGroup(): void {
    if (this.wantsRules) this.#groups.push({ line: this.#groupLine, agentRanges: this.#agentRanges.slice() })
    this.#agentRanges.length = 0
    this.wantsRules = false
  }

  onRule(allows: boolean, { line, valueStart: start, contentEnd: end }: LineReader, isInGroup: boolean): void {
    if (!isInGroup) return // a blank line ended the group
    const { emptyRules, indexPages, wildcards } = this.#parsing
    if (start === end && emptyRules === 'nothing') return
    // At most two rules, each with a form of up to three times the length of the pattern, and the
    // pattern as written.
    this.#buffer.reserve(this.#end, 8 * (end - start) + 2 * MAX_OVERHEAD)
    const file = this.#file
    const packed = this.#buffer.bytes
    const { kept } = this.#formTable
    const formStart = this.#end + 1
    // Most patterns are in normal form already. This loop copies them; `writeNormalForm` continues
    // where something changes.
    let at = formStart
    let i = start
    let hasStar = false
    for (; i < end; i++) {
      const byte = file[i] as number
      if (kept[byte] !== 1) break
      if (byte === STAR) hasStar = true
      packed[at++] = byte
    }
    let formEnd = at
    let isRewritten = false
    if (i < end) {
      formEnd = writeNormalForm(this.#formTable, file, i, end, packed, at)
      // Without a view of these bytes: to create one for each rewritten pattern would take longer.
      for (let k = at; k < formEnd; k++) if (packed[k] === STAR) hasStar = true
      isRewritten = formEnd - formStart !== end - start || !isEqualAt(packed, formStart, file, start, end)
    }
    const isAnchored = formEnd > formStart && packed[formEnd - 1] === DOLLAR
    const isSpecial = wildcards === 'special' && (hasStar || isAnchored)
    const flags = (allows ? ALLOW : 0) | (isSpecial ? SPECIAL : 0) | (isRewritten ? REWRITTEN : 0)
    this.#endRule(flags, line, formEnd, start, end)
    const folderEnd = allows && indexPages === 'folder' ? endOfIndexFolder(packed, formStart, formEnd) : -1
    if (folderEnd === -1) return
    packed.copyWithin(this.#end + 1, formStart, folderEnd)
    const dollar = this.#end + 1 + folderEnd - formStart
    packed[dollar] = DOLLAR
    this.#endRule(ALLOW | SPECIAL | REWRITTEN, line, dollar + 1, start, end)
  }

  /**
   * Completes a rule whose form has been written. @param start The start, in the file, of the
   * pattern as written. @param end Its end.
   */
  #endRule(flags: number, line: number, formEnd: number, start: number, end: number): void {
    const packed = this.#buffer.bytes
    packed[this.#end] = HEAD | flags
    packed[formEnd] = LF
    let at = writeNumber(packed, writeNumber(packed, formEnd + 1, line), this.#groups.length)
    if ((flags & REWRITTEN) !== 0) at = copyLine(this.#file, start, end, packed, at)
    this.#end = at
    this.#ruleCount++
  }

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    // `wantsRules` is false in a group that the dialect ignores, such as the second one for the
    // same crawler.
    if (!isInGroup || !this.wantsRules || this.#runRank !== this.#bestRank) return
    if (field !== 'crawl-delay' && field !== 'request-rate' && field !== 'visit-time') return
    reader.readValue()
    const value = latin1Of(this.#file.subarray(reader.valueStart, reader.contentEnd))
    if (field === 'crawl-delay') {
      const delayMs = crawlDelayMsOf(value)
      if (delayMs !== undefined) this.#crawlDelayMs = Math.max(delayMs, this.#crawlDelayMs ?? 0)
    } else if (field === 'request-rate') {
      const rate = requestRateOf(value)
      if (rate !== undefined) this.#requestRates.push(rate)
    } else {
      const time = dayRangeOf(value)
      if (time !== undefined) this.#visitTimes.push(time)
    }
  }

  /** Adds the groups and returns the result. */
  finish(): CompiledRules {
    this.#closeGroup()
    const groupsAt = this.#end
    let at = groupsAt
    for (const { line, agentRanges } of this.#groups) {
      this.#buffer.reserve(at, MAX_OVERHEAD)
      at = writeNumber(this.#buffer.bytes, at, line)
      at = writeNumber(this.#buffer.bytes, at, agentRanges.length / 2)
      for (let range = 0; range < agentRanges.length; range += 2) {
        const start = agentRanges[range] as number
        const end = agentRanges[range + 1] as number
        this.#buffer.reserve(at, end - start + 1)
        at = copyLine(this.#file, start, end, this.#buffer.bytes, at)
      }
    }
    return {
      packed: latin1Of(this.#buffer.bytes.subarray(0, at)),
      groupsAt,
      ruleCount: this.#ruleCount,
      crawlDelayMs: this.#crawlDelayMs,
      requestRates: this.#requestRates,
      visitTimes: this.#visitTimes,
    }
  }
}

/**
 * Writes the bytes from `start` to `end`, and a line feed. @returns The end of what was written.
 */
function copyLine(bytes: Uint8Array, start: number, end: number, out: Uint8Array, outStart: number): number {
  let at = outStart
  for (let i = start; i < end; i++) out[at++] = bytes[i] as number
  out[at++] = LF
  return at
}
