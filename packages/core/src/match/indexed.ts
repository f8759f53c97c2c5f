// The indexed engine: a hash table that gives, for a path, the few rules that may match it.
//
// A rule can match only if the path contains certain bytes of its pattern. The index puts each rule into the bucket of one such run of bytes:
//
//   bucket   hashed bytes of the pattern                               tried for a path
//   prefix   the first 4, 8 or 16 bytes, as many as come before the    if the first 4, 8 or 16 bytes of the path have the hash
//            first special character
//   gram     four adjacent bytes of a pattern with special             if any four adjacent bytes of the path have the hash
//            characters: those that the fewest other ones have
//   ALWAYS   no bytes: the pattern is too short for the others         always
//
// Gram buckets are used only if more than 96 rules have special characters. With fewer, such rules use prefixes, because to try the few without
// a prefix costs less than to look up all grams of the path.
//
// A site can make hashes collide. Each bucket is tried at most once for each of the three prefix lengths and once for grams, so the index is
// never much slower than the linear engine.
//
// The table is one array: for each bucket the start of its filters, then the end of the last bucket, then the filters (linear.ts), by bucket. In
// a prefix bucket, the four bytes of a filter are those after the hashed prefix. In a gram bucket, the mask is 0, so they are not compared.
import { DOLLAR, STAR } from '../ascii.ts'
import type { RequestPath } from '../url/request-path.ts'
import { FILTER_SIZE, fourBytes, type Matcher, maskOf } from './linear.ts'
import { formLength, formStart, isSpecialAt, matchesAt, NO_RULE, prefixLength, strengthAt } from './packed-rules.ts'

/** Hashed prefix lengths, in bytes. */
const PREFIX_LENGTHS = [4, 8, 16] as const
const GRAM_BYTES = 4
/** Up to this many rules with special characters, the index has no gram buckets. */
const MAX_SPECIAL_WITHOUT_GRAMS = 96
const MAX_BUCKETS = 2 ** 14
/** The bucket of the rules that are tried for every path. */
const ALWAYS = 0

/** The buckets that a search has visited. All indexes share one object. */
export class BucketVisits {
  /** For each bucket, the number of the last search that visited it. */
  readonly #lastSearches = new Uint32Array(MAX_BUCKETS + 1)
  #search = 0

  /** Starts a search: marks all buckets as not visited. */
  beginSearch(): void {
    this.#search = (this.#search + 1) >>> 0
    if (this.#search !== 0) return
    this.#lastSearches.fill(0)
    this.#search = 1
  }

  /** Marks a bucket as visited. @returns Whether this is the first visit of the search. */
  visit(bucket: number): boolean {
    const isFirst = this.#lastSearches[bucket] !== this.#search
    this.#lastSearches[bucket] = this.#search
    return isFirst
  }
}

/** Adds four bytes to a hash. The hash of no bytes is 0. */
function addToHash(hash: number, four: number): number {
  return Math.imul((hash >>> 15) ^ hash ^ four, 0x9e3779b1) // from the golden ratio: it spreads bytes that vary little
}

/** Returns about how many bytes of memory an index takes, without the packed rules. */
export function indexBytes(rules: number): number {
  return 600 + 4 * (bucketCount(rules) + 2 + FILTER_SIZE * rules)
}

/** Returns a power of two, the number of buckets without `ALWAYS`. */
function bucketCount(rules: number): number {
  return Math.min(MAX_BUCKETS, 2 ** Math.floor(Math.log2(Math.max(2, rules))))
}

export class IndexedMatcher implements Matcher {
  readonly packed: Uint8Array
  /** See the top of the file. */
  readonly #table: Int32Array
  /** Selects a bucket from a hash. */
  readonly #mask: number
  readonly #hasGrams: boolean
  readonly #takesFirst: boolean
  readonly #visits: BucketVisits

  /** @param packed Is copied. @param filters The filters of the linear engine, which the constructor overwrites. */
  constructor(packed: Uint8Array, filters: Int32Array, takesFirst: boolean, visits: BucketVisits) {
    const count = filters.length / FILTER_SIZE
    const buckets = bucketCount(count)
    const startsLength = buckets + 2
    const tableBytes = 4 * (startsLength + filters.length)
    const memory = new ArrayBuffer(tableBytes + packed.length)
    this.packed = new Uint8Array(memory, tableBytes)
    this.packed.set(packed)
    this.#table = new Int32Array(memory, 0, tableBytes / 4)
    this.#mask = buckets - 1
    this.#takesFirst = takesFirst
    this.#visits = visits
    const bucketOfRule = new Int32Array(count)
    this.#hasGrams = this.#assignBuckets(filters, bucketOfRule)
    this.#fillTable(filters, bucketOfRule, startsLength)
  }

  /** Chooses a bucket for each rule. @returns Whether some are gram buckets. */
  #assignBuckets(filters: Int32Array, bucketOfRule: Int32Array): boolean {
    const special: number[] = []
    for (let filter = 0; filter < filters.length; filter += FILTER_SIZE) {
      if (isSpecialAt(this.packed, filters[filter + 3] as number)) special.push(filter)
      this.#assignPrefix(filters, filter, bucketOfRule)
    }
    if (special.length <= MAX_SPECIAL_WITHOUT_GRAMS) return false
    this.#assignGrams(special, filters, bucketOfRule)
    return true
  }

  /** Chooses the bucket of the longest prefix that can be hashed, and sets the filter to the four bytes after it. */
  #assignPrefix(filters: Int32Array, filter: number, bucketOfRule: Int32Array): void {
    const offset = filters[filter + 3] as number
    const start = formStart(this.packed, offset)
    const prefix = prefixLength(this.packed, offset)
    bucketOfRule[filter / FILTER_SIZE] = ALWAYS
    let hash = 0
    let at = start
    for (const length of PREFIX_LENGTHS) {
      if (prefix < length) break
      for (; at < start + length; at += 4) hash = addToHash(hash, fourBytes(this.packed, at))
      bucketOfRule[filter / FILTER_SIZE] = this.#bucketOf(hash)
    }
    if (at === start) return
    filters[filter + 2] = maskOf(start + prefix - at)
    filters[filter + 1] = fourBytes(this.packed, at) & (filters[filter + 2] as number)
  }

  /** Writes the filters by bucket (counting sort). Filters of one bucket keep the order of the file. */
  #fillTable(filters: Int32Array, bucketOfRule: Int32Array, startsLength: number): void {
    const table = this.#table
    for (let rule = 0; rule < filters.length / FILTER_SIZE; rule++) {
      const bucket = bucketOfRule[rule] as number
      table[bucket] = (table[bucket] as number) + FILTER_SIZE
    }
    let end = startsLength
    for (let bucket = 0; bucket < startsLength; bucket++) {
      end += table[bucket] as number
      table[bucket] = end
    }
    // Each number in the table is now the end of its bucket. The last filter comes first, and moves that end down to the start.
    for (let filter = filters.length - FILTER_SIZE; filter >= 0; filter -= FILTER_SIZE) {
      const bucket = bucketOfRule[filter / FILTER_SIZE] as number
      const target = (table[bucket] as number) - FILTER_SIZE
      for (let i = 0; i < FILTER_SIZE; i++) table[target + i] = filters[filter + i] as number
      table[bucket] = target
    }
  }

  #bucketOf(hash: number): number {
    return 1 + ((hash ^ (hash >>> 15)) & this.#mask)
  }

  /** Moves each rule with special characters to the bucket of its rarest gram, if it has a gram. */
  #assignGrams(special: readonly number[], filters: Int32Array, bucketOfRule: Int32Array): void {
    const counts = new Uint32Array(this.#mask + 2)
    for (const filter of special) {
      this.#eachGram(filters[filter + 3] as number, (bucket) => {
        counts[bucket] = (counts[bucket] as number) + 1
      })
    }
    for (const filter of special) {
      let fewest = Number.POSITIVE_INFINITY
      filters[filter + 2] = 0 // accepts any four bytes: the bucket may be tried as a prefix bucket too
      this.#eachGram(filters[filter + 3] as number, (bucket) => {
        if ((counts[bucket] as number) >= fewest) return
        fewest = counts[bucket] as number
        bucketOfRule[filter / FILTER_SIZE] = bucket
      })
    }
  }

  /** Calls back with the bucket of each gram of a rule. */
  #eachGram(offset: number, callback: (bucket: number) => void): void {
    const { packed } = this
    const start = formStart(packed, offset)
    const last = start + formLength(packed, offset) - 1
    const end = packed[last] === DOLLAR ? last : last + 1
    let bytesSinceStar = 0
    for (let i = start; i < end; i++) {
      bytesSinceStar = packed[i] === STAR ? 0 : bytesSinceStar + 1
      if (bytesSinceStar >= GRAM_BYTES) callback(this.#bucketOf(addToHash(0, fourBytes(packed, i + 1 - GRAM_BYTES))))
    }
  }

  find(path: RequestPath): number {
    const { bytes, start, end } = path
    this.#deciding = NO_RULE
    this.#bestStrength = Number.NEGATIVE_INFINITY
    let hash = 0
    let at = start
    for (let i = 0; i < PREFIX_LENGTHS.length; i++) {
      const length = PREFIX_LENGTHS[i] as number
      if (start + length > end) break
      for (; at < start + length; at += 4) hash = addToHash(hash, fourBytes(bytes, at))
      const bucket = this.#bucketOf(hash)
      if (this.#table[bucket] !== this.#table[bucket + 1]) this.#tryBucket(bucket, path, at)
    }
    if (this.#table[ALWAYS] !== this.#table[ALWAYS + 1]) this.#tryBucket(ALWAYS, path, start + 1)
    if (this.#hasGrams) this.#tryGrams(path)
    return this.#deciding
  }

  // The strongest rule that `find` has found so far.
  #deciding = NO_RULE
  #bestStrength = Number.NEGATIVE_INFINITY

  #tryGrams(path: RequestPath): void {
    const { bytes, start, end } = path
    const table = this.#table
    this.#visits.beginSearch()
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram >>> 8) | ((bytes[i] as number) << 24)
      if (i - start < GRAM_BYTES - 1) continue
      const bucket = this.#bucketOf(addToHash(0, gram))
      if (table[bucket] !== table[bucket + 1] && this.#visits.visit(bucket)) {
        this.#tryBucket(bucket, path, start + 1)
      }
    }
  }

  /** Tries the rules of a bucket. @param at The offset in the path of the four bytes that the filters test. */
  #tryBucket(bucket: number, path: RequestPath, at: number): void {
    const { packed } = this
    const table = this.#table
    const end = table[bucket + 1] as number
    const missingClasses = ~path.byteClasses
    const four = fourBytes(path.bytes, at)
    for (let filter = table[bucket] as number; filter < end; filter += FILTER_SIZE) {
      if (((table[filter] as number) & missingClasses) !== 0) continue
      if ((((table[filter + 1] as number) ^ four) & (table[filter + 2] as number)) !== 0) continue
      const offset = table[filter + 3] as number
      const strength = this.#takesFirst ? -offset : strengthAt(packed, offset)
      if (strength < this.#bestStrength || (strength === this.#bestStrength && offset > this.#deciding)) continue
      if (!matchesAt(packed, offset, path)) continue
      this.#bestStrength = strength
      this.#deciding = offset
    }
  }
}
