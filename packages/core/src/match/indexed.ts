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
import { ENTRY, type Matcher, neededKinds } from './linear.ts'
import { formLength, formStart, isSpecialAt, matchesAt, NO_RULE, nextRule, strengthAt } from './packed-rules.ts'

/** The lengths of prefixes that are hashed, in bytes. */
const PREFIX_LENGTHS = [4, 8, 16] as const
const GRAM = 4
/** With more rules that have special characters, they are found by gram. */
const MAX_UNINDEXED = 32
const MAX_BUCKETS = 2 ** 14

/** Which paths have visited a bucket. */
export class VisitedBuckets {
  readonly #visits = new Uint32Array(MAX_BUCKETS + 1)
  #visit = 0

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

/** Four bytes as one number. */
function fourBytes(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}

/** Adds four bytes to a hash; an empty one is 0. */
function hashed(hash: number, four: number): number {
  return Math.imul((hash >>> 15) ^ hash ^ four, 0x9e3779b1) // of the golden ratio: it spreads bytes that vary little
}

/** The bucket of rules that are always tried. */
const ALWAYS = 0

/** About how many bytes of memory an index on so many rules takes, beside the packed rules. */
export function indexBytes(rules: number): number {
  return 600 + 4 * (bucketCount(rules) + 2 + ENTRY * rules)
}

/** A power of two. */
function bucketCount(rules: number): number {
  return Math.min(MAX_BUCKETS, 2 ** Math.ceil(Math.log2(Math.max(2, rules))))
}

export class IndexedMatcher implements Matcher {
  readonly packed: Uint8Array
  /** For each bucket where its entries begin in this array, and behind the last where they end; then the entries, by bucket. */
  readonly #table: Int32Array
  readonly #mask: number
  readonly #hasGrams: boolean
  readonly #takesFirst: boolean
  readonly #visited: VisitedBuckets

  /** @param packed Is copied. @param end Where the rules end. @param count How many rules there are. */
  constructor(packed: Uint8Array, end: number, count: number, takesFirst: boolean, visited: VisitedBuckets) {
    const buckets = bucketCount(count)
    const starts = buckets + 2
    const tableBytes = 4 * (starts + ENTRY * count)
    const memory = new ArrayBuffer(tableBytes + packed.length)
    this.packed = new Uint8Array(memory, tableBytes)
    this.packed.set(packed)
    this.#table = new Int32Array(memory, 0, tableBytes / 4)
    this.#mask = buckets - 1
    this.#takesFirst = takesFirst
    this.#visited = visited
    this.#hasGrams = this.#fill(end, count, starts)
  }

  /** Puts each rule into its bucket. @returns Whether some are found by gram. */
  #fill(end: number, count: number, starts: number): boolean {
    const { packed } = this
    const table = this.#table
    const offsets = new Uint32Array(count)
    const keys = new Uint32Array(count)
    const special: number[] = []
    for (let at = 0, rule = 0; at < end; rule++) {
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      offsets[rule] = at
      keys[rule] = this.#prefixBucket(start, isSpecialAt(packed, at) ? endOfPrefix(packed, start, length) : start + length)
      if (isSpecialAt(packed, at)) special.push(rule)
      at = nextRule(packed, at, start, length)
    }
    const areMany = special.length > MAX_UNINDEXED
    if (areMany) this.#assignGrams(special, offsets, keys)
    for (let rule = 0; rule < count; rule++) {
      const next = (keys[rule] as number) + 1
      table[next] = (table[next] as number) + ENTRY
    }
    table[0] = starts
    for (let i = 1; i < starts; i++) table[i] = (table[i] as number) + (table[i - 1] as number)
    const next = table.slice(0, starts)
    for (let rule = 0; rule < count; rule++) {
      const bucket = keys[rule] as number
      const cell = next[bucket] as number
      const at = offsets[rule] as number
      const length = formLength(packed, at)
      table[cell] = neededKinds(packed, formStart(packed, at, length), length)
      table[cell + 1] = at
      next[bucket] = cell + ENTRY
    }
    return areMany
  }

  #bucketOf(hash: number): number {
    return 1 + ((hash ^ (hash >>> 15)) & this.#mask)
  }

  #prefixBucket(start: number, end: number): number {
    let hash = 0
    let at = start
    let bucket = ALWAYS
    for (const length of PREFIX_LENGTHS) {
      if (end - start < length) break
      for (; at < start + length; at += 4) hash = hashed(hash, fourBytes(this.packed, at))
      bucket = this.#bucketOf(hash)
    }
    return bucket
  }

  /** Puts each of these rules into the bucket of that of its grams which the fewest of them have. */
  #assignGrams(special: readonly number[], offsets: Uint32Array, keys: Uint32Array): void {
    const counts = new Uint32Array(this.#mask + 2)
    for (const rule of special) {
      this.#eachGram(offsets[rule] as number, (bucket) => {
        counts[bucket] = (counts[bucket] as number) + 1
      })
    }
    for (const rule of special) {
      let fewest = Number.POSITIVE_INFINITY
      keys[rule] = ALWAYS
      this.#eachGram(offsets[rule] as number, (bucket) => {
        if ((counts[bucket] as number) >= fewest) return
        fewest = counts[bucket] as number
        keys[rule] = bucket
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
      this.#tryBucket(this.#bucketOf(hash), path)
    }
    this.#tryBucket(ALWAYS, path)
    if (this.#hasGrams) this.#tryGrams(path)
    return this.#deciding
  }

  // The strongest rule so far.
  #deciding = NO_RULE
  #best = Number.NEGATIVE_INFINITY

  #tryGrams(path: RequestPath): void {
    const { bytes, start, end } = path
    const table = this.#table
    this.#visited.begin()
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram >>> 8) | ((bytes[i] as number) << 24)
      if (i - start < GRAM - 1) continue
      const bucket = this.#bucketOf(hashed(0, gram))
      if (table[bucket] !== table[bucket + 1] && this.#visited.isFirst(bucket)) this.#tryBucket(bucket, path)
    }
  }

  #tryBucket(bucket: number, path: RequestPath): void {
    const { packed } = this
    const table = this.#table
    const end = table[bucket + 1] as number
    const lacking = ~path.kinds
    for (let i = table[bucket] as number; i < end; i += ENTRY) {
      if (((table[i] as number) & lacking) !== 0) continue
      const at = table[i + 1] as number
      const length = formLength(packed, at)
      const strength = this.#takesFirst ? -at : strengthAt(packed, at, length)
      if (strength < this.#best || (strength === this.#best && at > this.#deciding)) continue
      if (!matchesAt(packed, at, formStart(packed, at, length), length, path)) continue
      this.#best = strength
      this.#deciding = at
    }
  }
}

/** The end of what stands before the first special character. */
function endOfPrefix(packed: Uint8Array, start: number, length: number): number {
  const end = packed[start + length - 1] === DOLLAR ? start + length - 1 : start + length
  let i = start
  while (i < end && packed[i] !== STAR) i++
  return i
}
