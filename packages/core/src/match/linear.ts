// The linear engine: tries every rule, in the order of the file.
//
// From the second path on, it tests a filter for each rule before it reads the rule. A filter is four numbers; most rules that do not match are
// rejected by the first or the second:
//
//   0  a bitmap of the byte classes in the pattern (request-path.ts); the path must have all of them
//   1  the second to fifth byte of the pattern, as one number; the path must have those of them that the mask selects
//   2  the mask: it selects those of the four bytes that come before the first special character
//   3  the offset of the rule
import { byteClassesOf, type RequestPath } from '../url/request-path.ts'
import { formLength, formStart, matchesAt, NO_RULE, nextRuleOffset, prefixLength, strengthAt } from './packed-rules.ts'

/** An engine: finds the rule that decides whether a path is allowed. RFC 9309 §2.2.2. */
export interface Matcher {
  /** The rules, then their groups. */
  readonly packed: Uint8Array
  /** Returns the offset of the deciding rule in `packed`, or `NO_RULE`. */
  find(path: RequestPath): number
}

/** How many numbers a filter has. */
export const FILTER_SIZE = 4

/** A filter array with more numbers than this is replaced when the next rules need less than a quarter of it. */
const MAX_KEPT_FILTER_NUMBERS = 2 ** 18

/** Tries rules one by one. There is one object, which is loaded with the rules to check next. */
export class LinearMatcher implements Matcher {
  packed: Uint8Array = new Uint8Array(0)
  #end = 0
  #takesFirst = false
  #filters = new Int32Array(256)
  /** The end of the filters; -1 until they are computed. */
  #filtersEnd = -1
  #isFirstPath = true

  /**
   * Replaces the rules.
   *
   * @param end The end of the rules in `packed`.
   * @param takesFirst Whether the first rule that matches decides. Otherwise the strongest does.
   */
  load(packed: Uint8Array, end: number, count: number, takesFirst: boolean): void {
    this.packed = packed
    this.#end = end
    this.#takesFirst = takesFirst
    this.#filtersEnd = -1
    this.#isFirstPath = true
    const { length } = this.#filters
    if (FILTER_SIZE * count > length || (length > MAX_KEPT_FILTER_NUMBERS && FILTER_SIZE * count < length / 4)) {
      this.#filters = new Int32Array(Math.max(256, 2 * FILTER_SIZE * count))
    }
  }

  /** The filters of all rules, in the order of the file. The next `load` invalidates them. */
  get filters(): Int32Array {
    if (this.#filtersEnd === -1) this.#computeFilters()
    return this.#filters.subarray(0, this.#filtersEnd)
  }

  #computeFilters(): void {
    const { packed } = this
    const filters = this.#filters
    let filter = 0
    for (let offset = 0; offset < this.#end; offset = nextRuleOffset(packed, offset)) {
      const start = formStart(packed, offset)
      filters[filter] = byteClassesOf(packed, start, start + formLength(packed, offset))
      filters[filter + 2] = maskOf(prefixLength(packed, offset) - 1)
      filters[filter + 1] = fourBytes(packed, start + 1) & (filters[filter + 2] as number)
      filters[filter + 3] = offset
      filter += FILTER_SIZE
    }
    this.#filtersEnd = filter
  }

  /** Does the work of `find` without filters. */
  #findUnfiltered(path: RequestPath): number {
    this.#isFirstPath = false
    const { packed } = this
    let deciding = NO_RULE
    let best = -1
    for (let offset = 0; offset < this.#end; offset = nextRuleOffset(packed, offset)) {
      const strength = strengthAt(packed, offset)
      if (strength <= best || !matchesAt(packed, offset, path)) continue
      if (this.#takesFirst) return offset
      best = strength
      deciding = offset
    }
    return deciding
  }

  find(path: RequestPath): number {
    // Many crawlers check one URL of a site and move on. To compute the filters takes longer than to try each rule once.
    if (this.#filtersEnd === -1 && this.#isFirstPath) return this.#findUnfiltered(path)
    if (this.#filtersEnd === -1) this.#computeFilters()
    const { packed } = this
    const filters = this.#filters
    const end = this.#filtersEnd
    const missingClasses = ~path.byteClasses
    const four = fourBytes(path.bytes, path.start + 1)
    let deciding = NO_RULE
    let best = -1
    for (let filter = 0; filter < end; filter += FILTER_SIZE) {
      if (((filters[filter] as number) & missingClasses) !== 0) continue
      if ((((filters[filter + 1] as number) ^ four) & (filters[filter + 2] as number)) !== 0) continue
      const offset = filters[filter + 3] as number
      const strength = strengthAt(packed, offset)
      if (strength <= best || !matchesAt(packed, offset, path)) continue
      if (this.#takesFirst) return offset
      best = strength
      deciding = offset
    }
    return deciding
  }
}

/** Returns a mask of the first `length` of four bytes. */
export function maskOf(length: number): number {
  return length >= 4 ? -1 : 2 ** (8 * Math.max(0, length)) - 1
}

/** Returns four bytes as one number, the first one lowest. */
export function fourBytes(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
