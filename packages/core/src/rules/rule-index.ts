// An index on a crawler's packed rules, for asking often: a question then looks at a few of them.
//
// Each rule has an entry, which says what can be told of it at a glance: the signs of the octets that it needs (url/signs.ts), and four
// octets that the path must have at a certain place. A path that lacks any of that is no match. So it is for nearly all rules, and
// those that are left are tried, in order of strength.
//
// Where rules are many, entries stand in buckets, so that a question need not go through all of them. A rule can match only if the
// path begins with its head: the literal octets before its first special character. So its bucket is that of the hash of as many
// octets of its head as one of `LEVELS` says. A rule whose head is too short for that (`/*?sort=`) stands in the bucket of four octets in
// a row that it needs elsewhere, those that the fewest rules need; and what can be found in neither way stands in the first
// bucket, which is always gone through.
//
// Whoever writes a robots.txt can make hashes collide. But a question goes through a bucket once, or once for each level, however many
// rules it has. So it is never much worse than going from rule to rule.
import type { AskedPath } from '../url/asked-path.ts'
import { signs } from '../url/signs.ts'
import { formOctets, formStart, isSpecialAt, matchesAt, nextRule } from './packed-rules.ts'

/** Fewer rules are gone through faster than found. */
const FEW_RULES = 24
/** So many octets of heads are hashed. */
const LEVELS = [3, 8, 16]
/** Octets in a row that tell rules apart. */
const GRAM = 4
/** Fewer rules without a head are gone through faster than found by their grams. */
const FEW_HEADLESS = 96
const MOST_BUCKETS = 2 ** 13

const DOLLAR = 36
const STAR = 42

/** Of an entry: the signs of what the rule needs; four octets; a mask of those that count; and where the rule stands. */
const CELLS = 4

/** The bucket that is always gone through. Its four octets are those behind the first, which is a slash; of another, those behind what is hashed. */
const ALWAYS = 0

export function countRules(packed: Uint8Array, end: number): number {
  let rules = 0
  for (let at = 0; at < end; at = nextRule(packed, at)) rules++
  return rules
}

/** About how many octets of memory an index on so many rules takes, beside the packed rules. */
export function indexBytes(rules: number): number {
  return OBJECT_BYTES + 4 * (CELLS + 1) * rules
}

const OBJECT_BYTES = 600

const NONE = -1

/** FNV-1a, octet by octet. */
const SEED = 0x811c9dc5
function hashed(hash: number, octet: number): number {
  return Math.imul(hash ^ octet, 0x01000193)
}

function hashOfGram(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) // of the golden ratio: octets that vary little are spread too
}

/** @param hashes One less than a power of two. */
function bucketOf(hash: number, hashes: number): number {
  return 1 + ((hash ^ (hash >>> 15)) & hashes)
}

/** Octets in a row, as one number. */
function octetsFrom(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}

/** A rule while the index is made. */
interface IndexedRule {
  readonly place: number
  /** Where its form begins, its first special character stands, and it ends. */
  readonly start: number
  readonly special: number
  readonly end: number
  /** Of its octets that are no special characters. */
  readonly signs: number
  bucket: number
  /** The octets behind so many of its head are in the entry. */
  behind: number
}

function indexedRule(packed: Uint8Array, place: number): IndexedRule {
  const octets = formOctets(packed, place)
  const start = formStart(packed, place, octets)
  const end = start + octets
  const isSpecial = isSpecialAt(packed, place)
  let special = end
  let needed = 0
  for (let i = end - 1; i >= start; i--) {
    const octet = packed[i] as number
    if (isSpecial && (octet === STAR || (octet === DOLLAR && i === end - 1))) special = i
    else needed |= signs[octet] as number
  }
  return { place, start, special, end, signs: needed, bucket: ALWAYS, behind: 1 }
}

/** Puts those rules that have one into the bucket of their head. @returns The sum of the levels that are used. */
function putByHeads(packed: Uint8Array, rules: readonly IndexedRule[], hashes: number): number {
  let levels = 0
  for (const rule of rules) {
    let hash = SEED
    let at = rule.start
    for (const level of LEVELS) {
      if (level > rule.special - rule.start) break
      for (; at < rule.start + level; at++) hash = hashed(hash, packed[at] as number)
      rule.bucket = bucketOf(hash, hashes)
      rule.behind = level
    }
    if (rule.bucket !== ALWAYS) levels |= rule.behind
  }
  return levels
}

/** Puts those rules that have one into the bucket of that of their grams which the fewest of them have. */
function putByGrams(packed: Uint8Array, rules: readonly IndexedRule[], hashes: number): void {
  const grams = rules.map((rule) => gramsOf(packed, rule))
  const counts = new Map<number, number>()
  for (const some of grams) for (const gram of some) counts.set(gram, (counts.get(gram) ?? 0) + 1)
  rules.forEach((rule, i) => {
    let least = Number.POSITIVE_INFINITY
    for (const gram of grams[i] as readonly number[]) {
      const count = counts.get(gram) as number
      if (count >= least) continue
      least = count
      rule.bucket = bucketOf(hashOfGram(gram), hashes)
      rule.behind = rule.end // of its head nothing is known
    }
  })
}

/** Every four octets in a row that stand in a literal piece behind the head. */
function gramsOf(packed: Uint8Array, { special, end }: IndexedRule): readonly number[] {
  const grams: number[] = []
  let octets = 0
  let gram = 0
  for (let i = special; i < end; i++) {
    const octet = packed[i] as number
    octets = octet === STAR || (octet === DOLLAR && i === end - 1) ? 0 : octets + 1
    gram = (gram << 8) | octet
    if (octets >= GRAM) grams.push(gram)
  }
  return grams
}

export class RuleIndex {
  readonly packed: Uint8Array
  /** Where the rules end. */
  readonly #end: number
  /** By bucket, where its entries begin, and behind the last one where they end; and the entries. */
  readonly #cells: Int32Array
  /** How many buckets there are for hashes, less one; or `NONE`. */
  readonly #hashes: number
  /** The sum of the levels that are used. */
  readonly #levels: number
  readonly #hasGrams: boolean

  /** @param packed Is copied. @param end Where the rules end. */
  constructor(packed: Uint8Array, end: number) {
    const rules: IndexedRule[] = []
    for (let at = 0; at < end; at = nextRule(packed, at)) rules.push(indexedRule(packed, at))
    const areMany = rules.length > FEW_RULES
    this.#end = end
    this.#hashes = areMany ? Math.min(MOST_BUCKETS, 2 ** Math.floor(Math.log2(rules.length))) - 1 : NONE
    this.#levels = areMany ? putByHeads(packed, rules, this.#hashes) : 0
    const headless = rules.filter(({ bucket }) => bucket === ALWAYS)
    this.#hasGrams = headless.length > FEW_HEADLESS
    if (this.#hasGrams) putByGrams(packed, headless, this.#hashes)

    const starts = this.#hashes + 3
    const cellBytes = 4 * (starts + CELLS * rules.length)
    const memory = new ArrayBuffer(cellBytes + packed.length)
    this.packed = new Uint8Array(memory, cellBytes)
    this.packed.set(packed)
    this.#cells = new Int32Array(memory, 0, cellBytes / 4)
    this.#fill(rules, starts)
  }

  #fill(rules: readonly IndexedRule[], starts: number): void {
    const cells = this.#cells
    for (const { bucket } of rules) cells[bucket + 1] = (cells[bucket + 1] as number) + CELLS
    cells[0] = starts
    for (let i = 1; i < starts; i++) cells[i] = (cells[i] as number) + (cells[i - 1] as number)
    const next = cells.slice(0, starts)
    for (const { bucket, behind, place, start, special, signs: needed } of rules) {
      const at = next[bucket] as number
      next[bucket] = at + CELLS
      const octets = Math.max(0, Math.min(4, special - start - behind))
      const mask = octets === 4 ? -1 : 2 ** (8 * octets) - 1
      cells[at] = needed
      cells[at + 1] = octetsFrom(this.packed, start + behind) & mask
      cells[at + 2] = mask
      cells[at + 3] = place
    }
  }

  get length(): number {
    return this.packed.length
  }

  /** The first rule that matches: its place, or the end of the rules. */
  find(path: AskedPath): number {
    const { bytes, start, end } = path
    let best = this.#look(ALWAYS, octetsFrom(bytes, start + 1), path, this.#end)
    if (this.#hashes === NONE) return best
    let hash = SEED
    let at = start
    for (const level of LEVELS) {
      if (level > this.#levels || start + level > end) break
      for (; at < start + level; at++) hash = hashed(hash, bytes[at] as number)
      if ((level & this.#levels) !== 0)
        best = this.#look(bucketOf(hash, this.#hashes), octetsFrom(bytes, at), path, best)
    }
    return this.#hasGrams ? this.#lookByGrams(path, best) : best
  }

  /** Goes through a bucket. @returns The strongest rule of it that matches, or the one there was. */
  #look(bucket: number, octets: number, path: AskedPath, best: number): number {
    const cells = this.#cells
    const lacking = ~path.signs
    const end = cells[bucket + 1] as number
    for (let i = cells[bucket] as number; i < end; i += CELLS) {
      const lacks = (cells[i] as number) & lacking
      const differs = ((cells[i + 1] as number) ^ octets) & (cells[i + 2] as number)
      if ((lacks | differs) !== 0) continue // one branch, which is foreseen nearly always
      const place = cells[i + 3] as number
      if (place >= best) return best
      if (matchesAt(this.packed, place, path)) return place
    }
    return best
  }

  /** Goes through the buckets of every four octets in a row that the path has. */
  #lookByGrams(path: AskedPath, strongest: number): number {
    const { bytes, start, end } = path
    const cells = this.#cells
    let best = strongest
    let gram = 0
    lookedAt.begin()
    for (let i = start; i < end; i++) {
      gram = (gram << 8) | (bytes[i] as number)
      if (i - start < GRAM - 1) continue
      const bucket = bucketOf(hashOfGram(gram), this.#hashes)
      if (cells[bucket] !== cells[bucket + 1] && lookedAt.isNew(bucket)) best = this.#look(bucket, 0, path, best)
    }
    return best
  }
}

/** Which buckets were gone through for a question. */
class Looked {
  /** By bucket: the last question for which it was. */
  readonly #questions = new Uint32Array(MOST_BUCKETS + 1)
  #question = 0

  begin(): void {
    this.#question = (this.#question + 1) >>> 0
    if (this.#question !== 0) return
    this.#questions.fill(0)
    this.#question = 1
  }

  isNew(bucket: number): boolean {
    const isNew = this.#questions[bucket] !== this.#question
    this.#questions[bucket] = this.#question
    return isNew
  }
}

const lookedAt = new Looked()
