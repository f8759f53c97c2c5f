// An index of many rules: a hash table that gives you, for a path, the few rules that may match it.
//
// A rule can match only if the path contains certain bytes of its pattern. The index puts each rule
// into the bucket of one such run of bytes:
//
//   bucket   hashed bytes of the pattern                               tried for a path
//   prefix   the first 4, 8, 12, … 64 bytes, as many as come before    if as many of its first bytes have the hash
//            the first special character
//   gram     four adjacent bytes of a pattern with special             if any four adjacent bytes of it have the hash
//            characters: the four that the fewest patterns have
//   ALWAYS   no bytes: the pattern is too short for the others         always
//
// Gram buckets are used only if many rules have special characters. If only a few do, they use
// prefixes: trying the few rules without a prefix costs less than looking up all grams of the path.
//
// A site can make hashes collide. A check tries each bucket at most once, so with an index it is
// never much slower than without.
import { DOLLAR, STAR } from '../ascii.ts'
import type { RequestPath } from '../url/request-path.ts'
import { FILTER_SIZE, FORM_END, fourBytes, OFFSET } from './filters.ts'
import { isSpecialAt, prefixEndAt } from './packed-rules.ts'

/**
 * Trying this many rules takes about as long as looking up in the index which rules may match. Up
 * to this number, rules get no index, and rules with special characters get no gram buckets.
 */
export const MAX_TRIED_RULES = 96
/** Prefixes are hashed at every fourth byte up to this length. */
const MAX_PREFIX_BYTES = 64
const MAX_BUCKETS = 2 ** 14
/** The bucket of the rules that are tried for every path. */
const ALWAYS = 0

/** The buckets to try for a path, each of them once. All indexes share one object. */
export class BucketList {
  readonly items: Uint16Array = new Uint16Array(MAX_BUCKETS + 1)
  length = 0
  /**
   * For each bucket, the number of the last list that it was in. A list's number does not overflow
   * a Float64Array.
   */
  readonly #lastLists = new Float64Array(MAX_BUCKETS + 1)
  #list = 0

  /** Starts a new list. */
  clear(): void {
    this.length = 0
    this.#list++
  }

  add(bucket: number): void {
    if (this.#lastLists[bucket] === this.#list) return
    this.#lastLists[bucket] = this.#list
    this.items[this.length++] = bucket
  }
}

/** Adds four bytes to a hash. The hash of no bytes is 0. */
function addToHash(hash: number, four: number): number {
  return Math.imul((hash >>> 15) ^ hash ^ four, 0x9e3779b1) // from the golden ratio: it spreads bytes that vary little
}

/** Returns about how many bytes of memory an index takes, with its filters. */
export function indexBytes(rules: number): number {
  return 900 + 4 * (bucketCount(rules) + 2 + FILTER_SIZE * rules)
}

/** Returns a power of two, the number of buckets without `ALWAYS`. */
function bucketCount(rules: number): number {
  return Math.min(MAX_BUCKETS, 2 ** Math.floor(Math.log2(Math.max(2, rules))))
}

export class RuleIndex {
  /** The filters, by bucket. The filters of one bucket are in the order of the file. */
  readonly filters: Int32Array
  /**
   * For each bucket, where its filters start; and last, where the filters of the last bucket end.
   */
  readonly starts: Int32Array
  readonly #packed: Uint8Array
  /** Selects a bucket from a hash. */
  readonly #mask: number
  readonly #hasGrams: boolean
  readonly #buckets: BucketList

  /** @param filters The filters in the order of the file; they are copied. */
  constructor(packed: Uint8Array, filters: Int32Array, buckets: BucketList) {
    const count = filters.length / FILTER_SIZE
    this.#packed = packed
    const bucketTotal = bucketCount(count)
    this.#mask = bucketTotal - 1
    this.#buckets = buckets
    const bucketOfRule = new Uint16Array(count)
    const special: number[] = []
    for (let rule = 0; rule < count; rule++) {
      const offset = filters[FILTER_SIZE * rule + OFFSET] as number
      const formEnd = filters[FILTER_SIZE * rule + FORM_END] as number
      bucketOfRule[rule] = this.#prefixBucketOf(offset + 1, prefixEndAt(packed, offset, formEnd))
      if (isSpecialAt(packed, offset)) special.push(rule)
    }
    this.#hasGrams = special.length > MAX_TRIED_RULES
    if (this.#hasGrams) this.#assignGrams(special, filters, bucketOfRule)
    this.starts = new Int32Array(bucketTotal + 2)
    this.filters = this.#sort(filters, bucketOfRule)
  }

  /** Sorts the filters by bucket (counting sort), and sets `starts`. */
  #sort(filters: Int32Array, bucketOfRule: Uint16Array): Int32Array {
    const { starts } = this
    for (const bucket of bucketOfRule) starts[bucket + 1] = (starts[bucket + 1] as number) + FILTER_SIZE
    for (let bucket = 1; bucket < starts.length; bucket++) {
      starts[bucket] = (starts[bucket] as number) + (starts[bucket - 1] as number)
    }
    const sorted = new Int32Array(filters.length)
    const next = starts.slice()
    for (const [rule, bucket] of bucketOfRule.entries()) {
      sorted.set(filters.subarray(FILTER_SIZE * rule, FILTER_SIZE * (rule + 1)), next[bucket])
      next[bucket] = (next[bucket] as number) + FILTER_SIZE
    }
    return sorted
  }

  #bucketOf(hash: number): number {
    return 1 + ((hash ^ (hash >>> 15)) & this.#mask)
  }

  /** Returns the bucket of the longest prefix that can be hashed. */
  #prefixBucketOf(start: number, prefixEnd: number): number {
    const last = Math.min(prefixEnd, start + MAX_PREFIX_BYTES) - 4
    let bucket = ALWAYS
    let hash = 0
    for (let at = start; at <= last; at += 4) {
      hash = addToHash(hash, fourBytes(this.#packed, at))
      bucket = this.#bucketOf(hash)
    }
    return bucket
  }

  /** Moves each rule with special characters to the bucket of its rarest gram, if it has a gram. */
  #assignGrams(special: readonly number[], filters: Int32Array, bucketOfRule: Uint16Array): void {
    const counts = new Uint32Array(this.#mask + 2)
    const gramsOf = (rule: number) =>
      this.#gramBuckets(
        (filters[FILTER_SIZE * rule + OFFSET] as number) + 1,
        filters[FILTER_SIZE * rule + FORM_END] as number,
      )
    for (const rule of special) for (const bucket of gramsOf(rule)) counts[bucket] = (counts[bucket] as number) + 1
    for (const rule of special) {
      let fewest = Number.POSITIVE_INFINITY
      for (const bucket of gramsOf(rule)) {
        if ((counts[bucket] as number) >= fewest) continue
        fewest = counts[bucket] as number
        bucketOfRule[rule] = bucket
      }
    }
  }

  /** Returns the bucket of each gram of a pattern with special characters. */
  #gramBuckets(start: number, end: number): readonly number[] {
    const packed = this.#packed
    const buckets: number[] = []
    const patternEnd = packed[end - 1] === DOLLAR ? end - 1 : end
    let bytesSinceStar = 0
    for (let i = start; i < patternEnd; i++) {
      bytesSinceStar = packed[i] === STAR ? 0 : bytesSinceStar + 1
      if (bytesSinceStar >= 4) buckets.push(this.#bucketOf(addToHash(0, fourBytes(packed, i - 3))))
    }
    return buckets
  }

  /**
   * Returns the buckets whose rules may match the path. The next call, also of another index,
   * overwrites the list.
   */
  bucketsFor({ bytes, start, end }: RequestPath): BucketList {
    const buckets = this.#buckets
    buckets.clear()
    this.#addUnlessEmpty(ALWAYS)
    const last = Math.min(end, start + MAX_PREFIX_BYTES) - 4
    let hash = 0
    for (let at = start; at <= last; at += 4) {
      hash = addToHash(hash, fourBytes(bytes, at))
      this.#addUnlessEmpty(this.#bucketOf(hash))
    }
    if (!this.#hasGrams) return buckets
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram >>> 8) | ((bytes[i] as number) << 24)
      if (i - start >= 3) this.#addUnlessEmpty(this.#bucketOf(addToHash(0, gram)))
    }
    return buckets
  }

  #addUnlessEmpty(bucket: number): void {
    if (this.starts[bucket] !== this.starts[bucket + 1]) this.#buckets.add(bucket)
  }
}
