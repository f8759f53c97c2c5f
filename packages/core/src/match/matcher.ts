// Finds the rule that decides whether a path is allowed. RFC 9309 §2.2.2.
//
// The matcher tries all rules, and keeps the strongest one that matches. A filter (filters.ts)
// rejects most of them. With an index (rule-index.ts), the filters are sorted into buckets, and the
// matcher tries a few buckets only. The result is the same.
import type { RequestPath } from '../url/request-path.ts'
import { FILTER_SIZE, FORM_END, fourBytes, OFFSET, writeFilters } from './filters.ts'
import { ALLOW, isSpecialAt, NO_RULE } from './packed-rules.ts'
import { matchesPrefix, matchesWildcards } from './pattern.ts'
import { type BucketList, RuleIndex } from './rule-index.ts'

/**
 * An array of filters with more numbers than this is replaced when the next rules need less than a
 * quarter of it.
 */
const MAX_KEPT_FILTER_NUMBERS = 2 ** 18

/** Room for the filters of 24 rules: most files have fewer. */
const MIN_FILTER_NUMBERS = 24 * FILTER_SIZE

const NO_BYTES = new Uint8Array(0)
const NO_FILTERS = new Int32Array(0)
/** Lower than any strength. */
const LOWEST_STRENGTH = -(2 ** 30)

/** Checks paths with the rules that were loaded last. */
export class Matcher {
  /** The rules, then their groups. More bytes may follow. */
  packed: Uint8Array = NO_BYTES
  /** How often rules were loaded. A caller that remembers this number can tell whose rules these are. */
  loads = 0
  #takesFirst = false
  #filters: Int32Array = NO_FILTERS
  #filtersEnd = 0
  #index: RuleIndex | undefined

  // The best match so far in `find`:
  #deciding = NO_RULE
  #bestStrength = LOWEST_STRENGTH

  /**
   * Replaces the rules.
   *
   * @param rulesEnd The end of the rules in `packed`.
   * @param count How many rules there are.
   * @param takesFirst Whether the first rule that matches decides. Otherwise the strongest does.
   */
  load(packed: Uint8Array, rulesEnd: number, count: number, takesFirst: boolean): void {
    const needed = FILTER_SIZE * count
    const { length } = this.#filters
    if (needed > length || (length > MAX_KEPT_FILTER_NUMBERS && needed < length / 4)) {
      this.#filters = new Int32Array(Math.max(MIN_FILTER_NUMBERS, 2 * needed))
    }
    this.packed = packed
    this.#takesFirst = takesFirst
    this.#filtersEnd = writeFilters(packed, rulesEnd, this.#filters)
  }

  /** Indexes the rules. Do not replace them afterwards. */
  buildIndex(buckets: BucketList): void {
    this.#index = new RuleIndex(this.packed, this.#filters.subarray(0, this.#filtersEnd), buckets)
    this.#filters = this.#index.filters
  }

  /** Returns the offset of the deciding rule in `packed`, or `NO_RULE`. */
  find(path: RequestPath): number {
    this.#deciding = NO_RULE
    this.#bestStrength = LOWEST_STRENGTH
    const index = this.#index
    if (index === undefined) {
      this.#try(0, this.#filtersEnd, path)
    } else {
      const { items, length } = index.bucketsFor(path)
      for (let i = 0; i < length; i++) {
        const bucket = items[i] as number
        this.#try(index.starts[bucket] as number, index.starts[bucket + 1] as number, path)
      }
    }
    return this.#deciding
  }

  /**
   * Tries the rules of the filters from `start` to `end`, which may be in any order. Does not read
   * a pattern that cannot win.
   */
  #try(start: number, end: number, path: RequestPath): void {
    const filters = this.#filters
    const missingClasses = ~path.byteClasses
    const four = fourBytes(path.bytes, path.start + 1)
    for (let filter = start; filter < end; filter += FILTER_SIZE) {
      // One condition instead of two: a processor cannot predict whether the first would be true.
      const missing = (filters[filter] as number) & missingClasses
      const different = ((filters[filter + 1] as number) ^ four) & (filters[filter + 2] as number)
      if ((missing | different) !== 0) continue
      const offset = filters[filter + OFFSET] as number
      const formEnd = filters[filter + FORM_END] as number
      const strength = this.#strengthOf(offset, formEnd)
      if (strength < this.#bestStrength || (strength === this.#bestStrength && offset > this.#deciding)) continue
      if (!this.#matches(offset, formEnd, path)) continue
      this.#deciding = offset
      this.#bestStrength = strength
    }
  }

  /**
   * Returns the offsets of all rules that match: the deciding one first, the rest in order of
   * strength.
   */
  findAll(path: RequestPath): readonly number[] {
    const found: { readonly offset: number; readonly strength: number }[] = []
    for (let filter = 0; filter < this.#filtersEnd; filter += FILTER_SIZE) {
      const offset = this.#filters[filter + OFFSET] as number
      const formEnd = this.#filters[filter + FORM_END] as number
      if (this.#matches(offset, formEnd, path)) found.push({ offset, strength: this.#strengthOf(offset, formEnd) })
    }
    return found.sort((a, b) => b.strength - a.strength || a.offset - b.offset).map(({ offset }) => offset)
  }

  #matches(offset: number, formEnd: number, path: RequestPath): boolean {
    return isSpecialAt(this.packed, offset)
      ? matchesWildcards(path, this.packed, offset + 1, formEnd)
      : matchesPrefix(path, this.packed, offset + 1, formEnd)
  }

  /**
   * Returns the strength of a rule. The strongest rule that matches decides, and of several that
   * are equally strong the first. A rule with a longer pattern is stronger. If two patterns are
   * equally long, an allow rule is stronger (RFC 9309 §2.2.2). In dialects in which the first rule
   * that matches decides, an earlier rule is stronger.
   */
  #strengthOf(offset: number, formEnd: number): number {
    return this.#takesFirst ? -offset : 2 * (formEnd - offset) + ((this.packed[offset] as number) & ALLOW)
  }
}
