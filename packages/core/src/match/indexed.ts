// The indexed engine: a hash table that gives, for a path, the few rules that may match it.
//
// A rule can match only if the path has some four bytes in a row that the rule has. So each rule is in the bucket of one such run, its key:
//
//   by prefix   the first 4, 8 or 16 bytes of the rule, as many as there are before its first special character
//   by gram     four bytes anywhere in a rule with special characters: those that the fewest of these rules have
//   always      rules that have neither, which every question tries
//
// Rules with special characters are found by gram only where they are many; otherwise trying those without a prefix costs less than looking up
// every four bytes of the path.
//
// A site can make hashes collide. A bucket is tried at most once for each of the three prefix lengths and once for grams, so a question is
// never much slower than with the linear engine.
import { DOLLAR, STAR } from '../ascii.ts'
import type { RequestPath } from '../url/request-path.ts'
import { FILTER_SIZE, fourBytes, type Matcher, maskOf, prefixLength } from './linear.ts'
import { formLength, formStart, isSpecialAt, matchesAt, NO_RULE, strengthAt } from './packed-rules.ts'

/** The lengths of prefixes that are hashed, in bytes. */
const PREFIX_LENGTHS = [4, 8, 16] as const
const GRAM = 4
/** With more rules that have special characters, they are found by gram. */
const MAX_UNINDEXED = 96
const MAX_BUCKETS = 2 ** 14

/** The buffers that all indexes share. */
export class IndexBuffers {
  /** By bucket, the last visit to it. */
  readonly #visits = new Uint32Array(MAX_BUCKETS + 1)
  #visit = 0
  #buckets = new Int32Array(1024)

  /** Room for the bucket of each rule, while an index is built. */
  bucketsFor(rules: number): Int32Array {
    if (rules > this.#buckets.length) this.#buckets = new Int32Array(2 * rules)
    return this.#buckets
  }

  begin(): void {
    this.#visit = (this.#visit + 1) >>> 0
    if (this.#visit !== 0) return
    this.#visits.fill(0)
    this.#visit = 1
  }

  isFirst(bucket: number): boolean {
    const isFirst = this.#visits[bucket] !== this.#visit
    this.#visits[bucket] = this.#visit
    return isFirst
  }
}

/** Adds four bytes to a hash; an empty one is 0. */
function hashed(hash: number, four: number): number {
  return Math.imul((hash >>> 15) ^ hash ^ four, 0x9e3779b1) // of the golden ratio: it spreads bytes that vary little
}

/** The bucket of rules that are always tried. */
const ALWAYS = 0

/** About how many bytes of memory an index on so many rules takes, beside the packed rules. */
export function indexBytes(rules: number): number {
  return 600 + 4 * (bucketCount(rules) + 2 + FILTER_SIZE * rules)
}

/** A power of two. */
function bucketCount(rules: number): number {
  return Math.min(MAX_BUCKETS, 2 ** Math.floor(Math.log2(Math.max(2, rules))))
}

export class IndexedMatcher implements Matcher {
  readonly packed: Uint8Array
  /** For each bucket where its entries begin in this array, and behind the last where they end; then the entries, by bucket. */
  readonly #table: Int32Array
  readonly #mask: number
  readonly #hasGrams: boolean
  readonly #takesFirst: boolean
  readonly #buffers: IndexBuffers

  /** @param packed Is copied. @param entries Those of the linear engine, an entry for each rule; they are changed. */
  constructor(packed: Uint8Array, entries: Int32Array, takesFirst: boolean, buffers: IndexBuffers) {
    const count = entries.length / FILTER_SIZE
    const buckets = bucketCount(count)
    const starts = buckets + 2
    const tableBytes = 4 * (starts + entries.length)
    const memory = new ArrayBuffer(tableBytes + packed.length)
    this.packed = new Uint8Array(memory, tableBytes)
    this.packed.set(packed)
    this.#table = new Int32Array(memory, 0, tableBytes / 4)
    this.#mask = buckets - 1
    this.#takesFirst = takesFirst
    this.#buffers = buffers
    const bucketOfRule = buffers.bucketsFor(count)
    this.#hasGrams = this.#assignBuckets(entries, bucketOfRule)
    this.#fill(entries, bucketOfRule, starts)
  }

  /** Chooses a bucket for each rule. @returns Whether some are found by gram. */
  #assignBuckets(entries: Int32Array, bucketOfRule: Int32Array): boolean {
    const { packed } = this
    const special: number[] = []
    for (let entry = 0; entry < entries.length; entry += FILTER_SIZE) {
      const at = entries[entry + 3] as number
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      const isSpecial = isSpecialAt(packed, at)
      if (isSpecial) special.push(entry)
      this.#assignPrefix(entries, entry, bucketOfRule, start, isSpecial ? prefixLength(packed, start, length) : length)
    }
    if (special.length <= MAX_UNINDEXED) return false
    this.#assignGrams(special, entries, bucketOfRule)
    return true
  }

  /** Puts a rule into the bucket of its prefix. Its entry then has the four bytes behind what is hashed, and not those behind the slash. */
  #assignPrefix(entries: Int32Array, entry: number, bucketOfRule: Int32Array, start: number, prefix: number): void {
    bucketOfRule[entry / FILTER_SIZE] = ALWAYS
    let hash = 0
    let at = start
    for (const length of PREFIX_LENGTHS) {
      if (prefix < length) break
      for (; at < start + length; at += 4) hash = hashed(hash, fourBytes(this.packed, at))
      bucketOfRule[entry / FILTER_SIZE] = this.#bucketOf(hash)
    }
    if (at === start) return
    entries[entry + 2] = maskOf(start + prefix - at)
    entries[entry + 1] = fourBytes(this.packed, at) & (entries[entry + 2] as number)
  }

  /** Sorts the entries by bucket, and leaves those of a bucket in the order of the file. */
  #fill(entries: Int32Array, bucketOfRule: Int32Array, starts: number): void {
    const table = this.#table
    for (let rule = 0; rule < entries.length / FILTER_SIZE; rule++) {
      const bucket = bucketOfRule[rule] as number
      table[bucket] = (table[bucket] as number) + FILTER_SIZE
    }
    let end = starts
    for (let bucket = 0; bucket < starts; bucket++) {
      end += table[bucket] as number
      table[bucket] = end
    }
    for (let entry = entries.length - FILTER_SIZE; entry >= 0; entry -= FILTER_SIZE) {
      const bucket = bucketOfRule[entry / FILTER_SIZE] as number
      const cell = (table[bucket] as number) - FILTER_SIZE
      for (let i = 0; i < FILTER_SIZE; i++) table[cell + i] = entries[entry + i] as number
      table[bucket] = cell
    }
  }

  #bucketOf(hash: number): number {
    return 1 + ((hash ^ (hash >>> 15)) & this.#mask)
  }

  /** Puts each of these rules into the bucket of that of its grams which the fewest of them have. */
  #assignGrams(special: readonly number[], entries: Int32Array, bucketOfRule: Int32Array): void {
    const counts = new Uint32Array(this.#mask + 2)
    for (const entry of special) {
      this.#eachGram(entries[entry + 3] as number, (bucket) => {
        counts[bucket] = (counts[bucket] as number) + 1
      })
    }
    for (const entry of special) {
      let fewest = Number.POSITIVE_INFINITY
      entries[entry + 2] = 0 // the bucket may be tried for a prefix, too
      this.#eachGram(entries[entry + 3] as number, (bucket) => {
        if ((counts[bucket] as number) >= fewest) return
        fewest = counts[bucket] as number
        bucketOfRule[entry / FILTER_SIZE] = bucket
      })
    }
  }

  #eachGram(at: number, call: (bucket: number) => void): void {
    const { packed } = this
    const length = formLength(packed, at)
    const start = formStart(packed, at, length)
    const end = packed[start + length - 1] === DOLLAR ? start + length - 1 : start + length
    let run = 0
    for (let i = start; i < end; i++) {
      run = packed[i] === STAR ? 0 : run + 1
      if (run >= GRAM) call(this.#bucketOf(hashed(0, fourBytes(packed, i + 1 - GRAM))))
    }
  }

  find(path: RequestPath): number {
    const { bytes, start, end } = path
    this.#deciding = NO_RULE
    this.#best = Number.NEGATIVE_INFINITY
    let hash = 0
    let at = start
    for (let i = 0; i < PREFIX_LENGTHS.length; i++) {
      const length = PREFIX_LENGTHS[i] as number
      if (start + length > end) break
      for (; at < start + length; at += 4) hash = hashed(hash, fourBytes(bytes, at))
      const bucket = this.#bucketOf(hash)
      if (this.#table[bucket] !== this.#table[bucket + 1]) this.#tryBucket(bucket, path, at)
    }
    if (this.#table[ALWAYS] !== this.#table[ALWAYS + 1]) this.#tryBucket(ALWAYS, path, start + 1)
    if (this.#hasGrams) this.#tryGrams(path)
    return this.#deciding
  }

  // The strongest rule so far.
  #deciding = NO_RULE
  #best = Number.NEGATIVE_INFINITY

  #tryGrams(path: RequestPath): void {
    const { bytes, start, end } = path
    const table = this.#table
    this.#buffers.begin()
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram >>> 8) | ((bytes[i] as number) << 24)
      if (i - start < GRAM - 1) continue
      const bucket = this.#bucketOf(hashed(0, gram))
      if (table[bucket] !== table[bucket + 1] && this.#buffers.isFirst(bucket)) {
        this.#tryBucket(bucket, path, start + 1)
      }
    }
  }

  /** @param at Where in the path the four bytes of the entries are. */
  #tryBucket(bucket: number, path: RequestPath, at: number): void {
    const { packed } = this
    const table = this.#table
    const end = table[bucket + 1] as number
    const lacking = ~path.byteClasses
    const four = fourBytes(path.bytes, at)
    for (let i = table[bucket] as number; i < end; i += FILTER_SIZE) {
      if (((table[i] as number) & lacking) !== 0) continue
      if ((((table[i + 1] as number) ^ four) & (table[i + 2] as number)) !== 0) continue
      const rule = table[i + 3] as number
      const length = formLength(packed, rule)
      const strength = this.#takesFirst ? -rule : strengthAt(packed, rule, length)
      if (strength < this.#best || (strength === this.#best && rule > this.#deciding)) continue
      if (!matchesAt(packed, rule, formStart(packed, rule, length), length, path)) continue
      this.#best = strength
      this.#deciding = rule
    }
  }
}
