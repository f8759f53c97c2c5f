// Compiles one crawler's rules in one pass, while the file is parsed. RFC 9309 §2.2.1.
//
// The compiler ranks each user-agent line for the crawler (group-selection.ts; a lower rank is better). A file may have its groups in any order,
// so a line of a better rank may follow. Until the end of the file, the compiler keeps the groups of the best rank so far:
//
//   rank of the line            the compiler
//   better than the best rank   discards everything, then keeps this group
//   equal to the best rank      keeps this group too, if groups of that rank are merged
//   worse                       ignores this group, unless another of its user-agent lines has the best rank
//
// The rules of a kept group are packed as they are parsed (packed-rules.ts), and each group when it ends. `finish` adds the groups to the rules.
import { DOLLAR, STAR } from '../ascii.ts'
import { ByteBuffer, isEqualAt, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import type { OtherField } from '../parse/directive.ts'
import { type GroupSelection, OTHER_CRAWLERS_RANK } from '../parse/group-selection.ts'
import { endOfIndexFolder } from '../parse/index-page.ts'
import type { LineReader } from '../parse/line-reader.ts'
import { crawlDelayMsOf, type DayRange, dayRangeOf, type RequestRate, requestRateOf } from '../parse/pace-records.ts'
import type { FieldHandler } from '../parse/parser.ts'
import { unchangedBytesOf, writeNormalForm } from '../url/normal-form.ts'
import { MAX_OVERHEAD, numberLength, SPECIAL, writeNumber, writeRuleHead } from './packed-rules.ts'

/** One crawler's rules, groups and timed records. */
export interface CompiledRules {
  /** The packed rules up to `groupsAt`, then the groups up to `end`. Valid until the compiler begins another file. */
  readonly bytes: Uint8Array
  readonly groupsAt: number
  readonly end: number
  readonly ruleCount: number
  readonly crawlDelayMs: number | undefined
  readonly requestRates: readonly RequestRate[]
  readonly visitTimes: readonly DayRange[]
}

const NO_BYTES = new Uint8Array(0)

/** Compiles one file after another. For each file: `begin`, then the parser's calls, then `finish`. */
export class RuleCompiler implements FieldHandler {
  #file: Uint8Array = NO_BYTES
  #selection: GroupSelection | undefined
  #parsing: ParsingRules | undefined
  /** A table of the bytes that the normal form never changes. */
  #unchangedBytes: Uint8Array = NO_BYTES

  readonly #packed = new ByteBuffer()
  /** The end of what is packed so far. */
  #end = 0
  #ruleCount = 0
  /** Scratch space for the normal form of one pattern. */
  readonly #form = new ByteBuffer()

  /** The lowest rank of a user-agent line so far. */
  #bestRank = OTHER_CRAWLERS_RANK
  /** The kept groups before the current one, packed, up to `#groupsEnd`. */
  readonly #groups = new ByteBuffer()
  #groupsEnd = 0
  #groupCount = 0

  // The current group:
  #groupLine = 0
  /** The best rank of a user-agent line of the current group. */
  #groupRank = OTHER_CRAWLERS_RANK
  /** For each user-agent line of the current group: two numbers, the start and end of its value in the file. */
  readonly #agentRanges: number[] = []
  /** Whether the current group is kept. */
  wantsRules = false
  /** The best rank in the last run of user-agent lines (parser.ts). */
  #runRank = OTHER_CRAWLERS_RANK

  readonly wantsUnknownFields = false
  #crawlDelayMs: number | undefined
  #requestRates: RequestRate[] = []
  #visitTimes: DayRange[] = []

  /** Prepares for a file. @param file The bytes that the parser will read. */
  begin(file: Uint8Array, selection: GroupSelection, parsing: ParsingRules): void {
    this.#file = file
    this.#selection = selection
    this.#parsing = parsing
    this.#unchangedBytes = unchangedBytesOf(parsing.compare)
    this.#bestRank = OTHER_CRAWLERS_RANK
    this.#groupRank = OTHER_CRAWLERS_RANK
    this.#runRank = OTHER_CRAWLERS_RANK
    this.#agentRanges.length = 0
    this.#packed.release()
    this.#groups.release()
    this.#form.release()
    this.#discard()
  }

  /** Discards all kept groups, with their rules and records. */
  #discard(): void {
    this.#end = 0
    this.#ruleCount = 0
    this.#groupsEnd = 0
    this.#groupCount = 0
    this.wantsRules = false
    this.#crawlDelayMs = undefined
    if (this.#requestRates.length > 0) this.#requestRates = []
    if (this.#visitTimes.length > 0) this.#visitTimes = []
  }

  onUserAgent(
    { line, valueStart: start, contentEnd: end }: LineReader,
    startsGroup: boolean,
    startsRun: boolean,
  ): void {
    const selection = this.#selection as GroupSelection
    const rank = selection.rankOf(this.#file, start, end)
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
      this.wantsRules = this.#groupCount === 0 || selection.isMerged(rank)
    }
  }

  /** Packs the current group if it is kept. */
  #closeGroup(): void {
    if (this.wantsRules) {
      let at = this.#groupsEnd
      this.#groups.reserve(at, MAX_OVERHEAD)
      at = writeNumber(this.#groups.bytes, at, this.#groupLine)
      at = writeNumber(this.#groups.bytes, at, this.#agentRanges.length / 2)
      for (let range = 0; range < this.#agentRanges.length; range += 2) {
        const start = this.#agentRanges[range] as number
        const end = this.#agentRanges[range + 1] as number
        this.#groups.reserve(at, end - start + MAX_OVERHEAD)
        const { bytes } = this.#groups
        at = writeNumber(bytes, at, end - start)
        for (let i = start; i < end; i++) bytes[at++] = this.#file[i] as number
      }
      this.#groupsEnd = at
      this.#groupCount++
    }
    this.#agentRanges.length = 0
    this.wantsRules = false
  }

  onRule(allows: boolean, { line, valueStart: start, contentEnd: end }: LineReader): void {
    const { emptyRules, indexPages } = this.#parsing as ParsingRules
    if (start === end && emptyRules === 'nothing') return
    // At most two rules, each with a form of up to three times the length of the pattern, and the pattern as written.
    this.#packed.reserve(this.#end, 8 * (end - start) + 2 * MAX_OVERHEAD)
    const checksIndexPage = allows && indexPages === 'folder'
    if (checksIndexPage || !this.#addUnchanged(allows, line, start, end)) {
      this.#addNormalized(allows, line, start, end, checksIndexPage)
    }
  }

  /** Adds a rule if its pattern is already in normal form, as most are. @returns Whether it was added. */
  #addUnchanged(allows: boolean, line: number, start: number, end: number): boolean {
    const file = this.#file
    const unchangedBytes = this.#unchangedBytes
    const packed = this.#packed.bytes
    const group = this.#groupCount
    const length = end - start
    const isAnchored = end > start && file[end - 1] === DOLLAR
    const patternEnd = isAnchored ? end - 1 : end
    let isSpecial = isAnchored
    let at = writeRuleHead(packed, this.#end, allows, false, length, numberLength(line) + numberLength(group))
    for (let i = start; i < patternEnd; i++) {
      const byte = file[i] as number
      if (unchangedBytes[byte] !== 1) return false
      if (byte === STAR) isSpecial = true
      packed[at++] = byte
    }
    if (isAnchored) packed[at++] = DOLLAR
    if (isSpecial && (this.#parsing as ParsingRules).wildcards === 'special') {
      packed[this.#end] = (packed[this.#end] as number) | SPECIAL
    }
    this.#end = writeNumber(packed, writeNumber(packed, at, line), group)
    this.#ruleCount++
    return true
  }

  /**
   * Converts a rule's pattern to normal form and adds the rule.
   *
   * @param checksIndexPage Whether to add a second rule if the pattern is an index page, such as `/dir/index.html`. That rule allows `/dir/`.
   */
  #addNormalized(allows: boolean, line: number, start: number, end: number, checksIndexPage: boolean): void {
    const { compare, wildcards } = this.#parsing as ParsingRules
    this.#form.reserve(0, 3 * (end - start) + 1)
    const form = this.#form.bytes
    const formEnd = writeNormalForm(compare, 'rule', this.#file, start, end, form, 0)
    const isSpecial = wildcards === 'special' && hasSpecial(form, formEnd)
    const isUnchanged = formEnd === end - start && isEqualAt(form, 0, this.#file, start, end)
    this.#add(allows, line, isSpecial, formEnd, start, isUnchanged ? start : end)
    const folderEnd = checksIndexPage ? endOfIndexFolder(form, formEnd) : -1
    if (folderEnd === -1) return
    form[folderEnd] = DOLLAR
    this.#add(allows, line, true, folderEnd + 1, start, end)
  }

  /**
   * Adds a rule whose pattern in normal form is in `#form`, up to `formEnd`.
   *
   * @param writtenStart The start, in the file, of the pattern as written.
   * @param writtenEnd Its end. Equal to the start if the pattern equals its normal form, so that only the form is packed.
   */
  #add(
    allows: boolean,
    line: number,
    isSpecial: boolean,
    formEnd: number,
    writtenStart: number,
    writtenEnd: number,
  ): void {
    const packed = this.#packed.bytes
    const form = this.#form.bytes
    const group = this.#groupCount
    const tailLength = numberLength(line) + numberLength(group) + writtenEnd - writtenStart
    let at = writeRuleHead(packed, this.#end, allows, isSpecial, formEnd, tailLength)
    for (let i = 0; i < formEnd; i++) packed[at++] = form[i] as number
    at = writeNumber(packed, writeNumber(packed, at, line), group)
    for (let i = writtenStart; i < writtenEnd; i++) packed[at++] = this.#file[i] as number
    this.#end = at
    this.#ruleCount++
  }

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    // `wantsRules` is false in a group that the dialect ignores, such as the second one for the same crawler.
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

  /** Adds the groups, releases the file and returns the result. */
  finish(): CompiledRules {
    this.#closeGroup()
    const groupsAt = this.#end
    this.#packed.reserve(groupsAt, this.#groupsEnd)
    this.#packed.bytes.set(this.#groups.bytes.subarray(0, this.#groupsEnd), groupsAt)
    this.#file = NO_BYTES
    return {
      bytes: this.#packed.bytes,
      groupsAt,
      end: groupsAt + this.#groupsEnd,
      ruleCount: this.#ruleCount,
      crawlDelayMs: this.#crawlDelayMs,
      requestRates: this.#requestRates,
      visitTimes: this.#visitTimes,
    }
  }
}

/** Returns whether a pattern has a `*`, or ends with `$`. */
function hasSpecial(form: Uint8Array, end: number): boolean {
  for (let i = 0; i < end; i++) if (form[i] === STAR) return true
  return end > 0 && form[end - 1] === DOLLAR
}
