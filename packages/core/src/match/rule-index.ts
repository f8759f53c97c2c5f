// An index of many rules: a hash table that gives, for a path, the few rules that may match it.
//
// A gram is four adjacent bytes. A rule can match a path only if the path contains all grams of the rule's pattern, of which none contains a
// special character. So the index puts each rule into the bucket of one of its grams, and only the buckets of the path's own grams are tried.
// Rules without a gram are tried for every path.
//
// Of the buckets of its grams, a rule gets the one that has the fewest rules when the rule is added. So rules with a common prefix do not share
// one bucket.
//
// A site can make hashes collide. A check tries each bucket at most once, so with an index it is never much slower than without.
import { DOLLAR, STAR } from '../ascii.ts'
import { FILTER_SIZE, FORM_END, fourBytes, OFFSET } from './filters.ts'

/** Trying this many rules takes about as long as looking up those that may match. Up to this number, rules get no index. */
export const MAX_TRIED_RULES = 96
const MAX_BUCKETS = 2 ** 15
/** The bucket of the rules that are tried for every path. */
export const ALWAYS = 0

/** Returns about how many bytes of memory an index takes, with its filters. */
export function indexBytes(rules: number): number {
  return 900 + 8 * (bucketCount(rules) + 2) + 4 * FILTER_SIZE * rules
}

/** Returns a power of two, the number of buckets without `ALWAYS`: two to four for each rule. */
function bucketCount(rules: number): number {
  return Math.min(MAX_BUCKETS, 2 ** Math.ceil(Math.log2(2 * rules)))
}

export class RuleIndex {
  /** The filters, by bucket. */
  readonly filters: Int32Array
  /** For each bucket where its filters start; and the end of the last one. */
  readonly starts: Int32Array
  /** Selects a bucket from a hash. */
  readonly #mask: number
  /** For each bucket, the number of the last path that took it. After 2^32 paths they differ, and buckets are tried twice. */
  readonly #takenBy: Uint32Array
  #path = 0

  /** @param filters The filters in the order of the file; they are copied. */
  constructor(packed: Uint8Array, filters: Int32Array) {
    const rules = filters.length / FILTER_SIZE
    const buckets = bucketCount(rules)
    this.#mask = buckets - 1
    this.#takenBy = new Uint32Array(buckets + 1)
    const starts = new Int32Array(buckets + 2)
    const bucketOfRule = new Uint16Array(rules)
    for (let rule = 0; rule < rules; rule++) {
      const start = (filters[FILTER_SIZE * rule + OFFSET] as number) + 1
      const bucket = this.#smallestBucketOf(packed, start, filters[FILTER_SIZE * rule + FORM_END] as number, starts)
      bucketOfRule[rule] = bucket
      starts[bucket] = (starts[bucket] as number) + FILTER_SIZE
    }
    // A counting sort: turns the sizes in `starts` into ends, and each end into a start, rule by rule.
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number)
    this.filters = new Int32Array(filters.length)
    for (let rule = rules - 1; rule >= 0; rule--) {
      const bucket = bucketOfRule[rule] as number
      const start = (starts[bucket] as number) - FILTER_SIZE
      this.filters.set(filters.subarray(FILTER_SIZE * rule, FILTER_SIZE * (rule + 1)), start)
      starts[bucket] = start
    }
    this.starts = starts
  }

  /** Returns, of the buckets of a pattern's grams, the one with the lowest size; `ALWAYS` without a gram. */
  #smallestBucketOf(packed: Uint8Array, start: number, end: number, sizes: Int32Array): number {
    let smallest = ALWAYS
    let size = Number.POSITIVE_INFINITY
    let literalBytes = 0
    // From the end, because the beginning of a pattern is more often that of other patterns too.
    for (let i = packed[end - 1] === DOLLAR ? end - 2 : end - 1; i >= start && size > 0; i--) {
      literalBytes = packed[i] === STAR ? 0 : literalBytes + 1
      if (literalBytes < 4) continue
      const bucket = this.#bucketOf(fourBytes(packed, i))
      if ((sizes[bucket] as number) >= size) continue
      smallest = bucket
      size = sizes[bucket] as number
    }
    return smallest
  }

  #bucketOf(gram: number): number {
    const hash = Math.imul((gram >>> 15) ^ gram, 0x9e3779b1) // from the golden ratio: it spreads bytes that vary little
    return 1 + ((hash ^ (hash >>> 15)) & this.#mask)
  }

  /** Call it before the first gram of a path. */
  startPath(): void {
    this.#path++
  }

  /** Returns the bucket of one of the path's grams; `ALWAYS` if the path has taken that bucket already, or it is empty. */
  take(gram: number): number {
    const bucket = this.#bucketOf(gram)
    if (this.starts[bucket] === this.starts[bucket + 1] || this.#takenBy[bucket] === this.#path) return ALWAYS
    this.#takenBy[bucket] = this.#path
    return bucket
  }
}
