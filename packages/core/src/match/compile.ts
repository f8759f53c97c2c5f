// Compiles the rules for one crawler, while the file is parsed. RFC 9309 §2.2.1.
import { DOLLAR, STAR } from '../ascii.ts'
import { ByteBuffer, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { crawlDelayMsOf } from '../parse/crawl-delay.ts'
import { type DayRange, dayRangeOf } from '../parse/day-range.ts'
import type { OtherField } from '../parse/directive.ts'
import { type GroupSelection, OTHER_CRAWLERS } from '../parse/group-selection.ts'
import { endOfIndexFolder } from '../parse/index-page.ts'
import type { LineReader } from '../parse/line-reader.ts'
import type { FieldHandler } from '../parse/parser.ts'
import { type RequestRate, requestRateOf } from '../parse/request-rate.ts'
import { type NormalForm, unchangedBytesOf, writeNormalForm } from '../url/normal-form.ts'
import { MAX_OVERHEAD, numberLength, SPECIAL, writeRuleHead, writeNumber } from './packed-rules.ts'

/** What a file says to one crawler. */
export interface CompiledRules {
  /** The packed rules and the groups, in `bytes` up to `end`. Overwritten when the next file is compiled. */
  readonly bytes: Uint8Array
  readonly groupsAt: number
  readonly end: number
  readonly count: number
  readonly crawlDelayMs: number | undefined
  readonly requestRates: readonly RequestRate[]
  readonly visitTimes: readonly DayRange[]
}

const NO_BYTES = new Uint8Array(0)

/** There is one, which is used for one file after the other: `begin`, the parser's calls, `finish`. */
export class RuleCompiler implements FieldHandler {
  readonly #packed = new ByteBuffer()
  readonly #form = new ByteBuffer()
  #file: Uint8Array = NO_BYTES
  #selection: GroupSelection | undefined
  #rules: ParsingRules | undefined
  #unchanged: Uint8Array = NO_BYTES
  /** The end of the rules packed so far. */
  #at = 0
  #count = 0
  /** The best rank of the user-agent lines so far. Whatever has another one does not hold. */
  #best = OTHER_CRAWLERS
  /** The start and end of the names of the groups that hold, and behind them of the open group. */
  readonly #names: number[] = []
  /** Of each group that holds, the line and how many of `#names` there are up to its last one. */
  readonly #groups: number[] = []
  #groupCount = 0
  // Of the open group:
  #groupLine = 0
  #groupRank = OTHER_CRAWLERS
  #groupStart = 0
  /** Whether it holds for the crawler. */
  wantsRules = false
  readonly wantsUnknownFields = false
  /** The rank of the run of user-agent lines right above. */
  #runRank = OTHER_CRAWLERS
  #crawlDelayMs: number | undefined
  #requestRates: RequestRate[] = []
  #visitTimes: DayRange[] = []

  /** @param file The bytes that the parser is going to read. */
  begin(file: Uint8Array, selection: GroupSelection, rules: ParsingRules): void {
    this.#file = file
    this.#selection = selection
    this.#rules = rules
    this.#unchanged = unchangedBytesOf(rules.compare)
    this.#best = OTHER_CRAWLERS
    this.#groupRank = OTHER_CRAWLERS
    this.#runRank = OTHER_CRAWLERS
    this.wantsRules = false
    this.#names.length = 0
    this.#groupStart = 0
    this.#packed.release()
    this.#form.release()
    this.#discard()
  }

  /** Discards all that was compiled: it is for a name of a lower rank. */
  #discard(): void {
    this.#at = 0
    this.#count = 0
    this.#groups.length = 0
    this.#groupCount = 0
    this.#crawlDelayMs = undefined
    if (this.#requestRates.length > 0) this.#requestRates = []
    if (this.#visitTimes.length > 0) this.#visitTimes = []
  }

  onUserAgent(
    { line, valueStart: start, contentEnd: end }: LineReader,
    startsGroup: boolean,
    startsRun: boolean,
  ): void {
    const rank = (this.#selection as GroupSelection).rankOf(this.#file, start, end)
    if (startsGroup) {
      this.#closeGroup()
      this.#groupLine = line
      this.#groupRank = OTHER_CRAWLERS
    }
    this.#runRank = startsRun ? rank : Math.min(rank, this.#runRank)
    if (rank < this.#best) {
      this.#best = rank
      this.#discard()
      this.#names.splice(0, this.#groupStart)
      this.#groupStart = 0
      this.wantsRules = false
    }
    this.#names.push(start, end)
    if (rank >= this.#groupRank) return
    this.#groupRank = rank
    if (rank === this.#best && !this.wantsRules) {
      this.wantsRules = this.#groupCount === 0 || (this.#selection as GroupSelection).isMerged(rank)
      if (this.wantsRules) this.#groupCount++
    }
  }

  #closeGroup(): void {
    if (this.wantsRules) this.#groups.push(this.#groupLine, this.#names.length)
    else this.#names.length = this.#groupStart
    this.#groupStart = this.#names.length
    this.wantsRules = false
  }

  onRule(allows: boolean, { line, valueStart: start, contentEnd: end }: LineReader): void {
    const { emptyRules, wildcards, compare, indexPages } = this.#rules as ParsingRules
    if (start === end && emptyRules === 'nothing') return
    this.#packed.reserve(this.#at, 8 * (end - start) + 2 * MAX_OVERHEAD)
    const isFolder = allows && indexPages === 'folder'
    if (isFolder || !this.#addUnchanged(allows, line, start, end, wildcards === 'special')) {
      this.#addForms(allows, line, start, end, compare, wildcards === 'special', isFolder)
    }
  }

  /** Adds a rule whose form is its path as written, as that of most rules is. @returns Whether it is one. */
  #addUnchanged(allows: boolean, line: number, start: number, end: number, areWildcardsSpecial: boolean): boolean {
    const file = this.#file
    const unchanged = this.#unchanged
    const packed = this.#packed.bytes
    const group = this.#groupCount - 1
    const isAnchored = end > start && file[end - 1] === DOLLAR
    const length = end - start
    let at = writeRuleHead(packed, this.#at, allows, false, length, numberLength(line) + numberLength(group))
    let isSpecial = isAnchored
    const middle = isAnchored ? end - 1 : end
    for (let i = start; i < middle; i++) {
      const byte = file[i] as number
      if (unchanged[byte] !== 1) return false
      if (byte === STAR) isSpecial = true
      packed[at++] = byte
    }
    if (isAnchored) packed[at++] = DOLLAR
    if (isSpecial && areWildcardsSpecial) packed[this.#at] = (packed[this.#at] as number) | SPECIAL
    this.#at = writeNumber(packed, writeNumber(packed, at, line), group)
    this.#count++
    return true
  }

  /** Adds a rule whose form may be another than its path; and the folder that it allows, if it names an index page. */
  #addForms(
    allows: boolean,
    line: number,
    start: number,
    end: number,
    compare: NormalForm,
    areWildcardsSpecial: boolean,
    isFolder: boolean,
  ): void {
    const file = this.#file
    this.#form.reserve(0, 3 * (end - start) + 1)
    const form = this.#form.bytes
    const formEnd = writeNormalForm(compare, 'rule', file, start, end, form, 0)
    const isSame = formEnd === end - start && isEqual(form, file, start, end)
    const [writtenStart, writtenEnd] = isSame ? [0, 0] : [start, end]
    let isSpecial = false
    if (areWildcardsSpecial) {
      isSpecial = form[formEnd - 1] === DOLLAR && formEnd > 0
      for (let i = 0; i < formEnd; i++) if (form[i] === STAR) isSpecial = true
    }
    this.#add(allows, line, isSpecial, form, 0, formEnd, writtenStart, writtenEnd)
    const folderEnd = isFolder ? endOfIndexFolder(form, formEnd) : -1
    if (folderEnd === -1) return
    form[folderEnd] = DOLLAR
    this.#add(allows, line, true, form, 0, folderEnd + 1, start, end)
  }

  /** Adds a rule with its form; and its path as written, from `writtenStart` to `writtenEnd` in the file, where that is another. */
  #add(
    allows: boolean,
    line: number,
    isSpecial: boolean,
    form: Uint8Array,
    start: number,
    end: number,
    writtenStart: number,
    writtenEnd: number,
  ): void {
    const packed = this.#packed.bytes
    const group = this.#groupCount - 1
    const tail = numberLength(line) + numberLength(group) + writtenEnd - writtenStart
    let at = writeRuleHead(packed, this.#at, allows, isSpecial, end - start, tail)
    for (let i = start; i < end; i++) packed[at++] = form[i] as number
    at = writeNumber(packed, writeNumber(packed, at, line), group)
    for (let i = writtenStart; i < writtenEnd; i++) packed[at++] = this.#file[i] as number
    this.#at = at
    this.#count++
  }

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    if (!isInGroup || this.#runRank !== this.#best || this.#runRank === OTHER_CRAWLERS) return
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

  /** Ends the file. */
  finish(): CompiledRules {
    this.#closeGroup()
    const groupsAt = this.#at
    let name = 0
    for (let g = 0; g < this.#groups.length; g += 2) {
      const [line, namesEnd] = [this.#groups[g] as number, this.#groups[g + 1] as number]
      this.#packed.reserve(this.#at, MAX_OVERHEAD)
      this.#at = writeNumber(this.#packed.bytes, this.#at, line)
      this.#at = writeNumber(this.#packed.bytes, this.#at, (namesEnd - name) / 2)
      for (; name < namesEnd; name += 2) this.#addName(this.#names[name] as number, this.#names[name + 1] as number)
    }
    this.#file = NO_BYTES // which would stay in memory
    return {
      bytes: this.#packed.bytes,
      groupsAt,
      end: this.#at,
      count: this.#count,
      crawlDelayMs: this.#crawlDelayMs,
      requestRates: this.#requestRates,
      visitTimes: this.#visitTimes,
    }
  }

  #addName(start: number, end: number): void {
    this.#packed.reserve(this.#at, end - start + MAX_OVERHEAD)
    const packed = this.#packed.bytes
    let at = writeNumber(packed, this.#at, end - start)
    for (let i = start; i < end; i++) packed[at++] = this.#file[i] as number
    this.#at = at
  }
}

function isEqual(form: Uint8Array, file: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (form[i - start] !== file[i]) return false
  return true
}
