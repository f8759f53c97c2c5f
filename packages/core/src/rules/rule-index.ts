// An index on a crawler's packed rules, for asking often: a question then looks at a few of them.
//
// Each rule has an entry, which says what can be told of it at a glance: the signs of the octets that it needs (url/signs.ts), and four
// octets that the path must have at a certain place. A path that lacks any of that is no match. So it is for nearly all rules, and
// those that are left are tried, in order of strength.
//
// Where rules are many, entries stand in buckets, so that a question need not go through all of them. A rule can match only if the
// path begins with its head: the literal octets before its first special character. So its bucket is that of the hash of the first four octets
// of its head; or, where too many begin alike, of the first 8, or 16. A rule whose head is too short for that (`/*?sort=`) stands in the
// first bucket, which every question goes through; or, if those are too many, in the bucket of four octets in a row that it needs
// elsewhere, those that the fewest rules need.
//
// Where rules are few and literal, the URL need not even be laid out: the index finds them in it as it stands.
//
// Whoever writes a robots.txt can make hashes collide. But a question goes through a bucket once, or once for each level, however many
// rules it has. So it is never much worse than going from rule to rule.
import type { AskedPath } from '../url/asked-path.ts'
import { fourFrom, mayHaveDotSegment, UNSTEADY } from '../url/glance.ts'
import { signs } from '../url/signs.ts'
import { formOctets, formStart, isSpecialAt, matchesAt, matchesUrlAt, nextRule } from './packed-rules.ts'

/** Fewer rules are gone through faster than found. */
const FEW_RULES = 24
/** So many octets of heads are hashed; or twice as many, and so on to the last. */
const FIRST_LEVEL = 4
const LAST_LEVEL = 16
/** Fewer rules in one bucket are gone through faster than told apart by more octets. */
const CROWD = 16
/** Octets in a row that tell rules apart. */
const GRAM = 4
/** Fewer rules without a head are gone through faster than found by their grams. */
const FEW_HEADLESS = 96
const MOST_BUCKETS = 2 ** 13

const DOLLAR = 36
const STAR = 42

/** The sign of what is encoded. */
const PERCENT = signs[37] as number

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

/** What is found where one has to look closer. */
export const UNSURE = -1
/** The first four octets of `robots.txt`, which rules say nothing about. */
const ROBOTS_TXT = fourFrom('robots.txt', 0)

/** A hash goes on with four octets; before the first ones it is 0. */
function hashed(hash: number, four: number): number {
  return Math.imul((hash >>> 15) ^ hash ^ four, 0x9e3779b1) // of the golden ratio: octets that vary little are spread too
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
  /** So many octets of its head are hashed. */
  level: number
  /** Where the four octets of its entry stand, and which of them count. */
  four: number
  mask: number
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
  const four = start + 1
  return { place, start, special, end, signs: needed, bucket: ALWAYS, level: 0, four, mask: maskOf(special - four) }
}

/** Of so many octets the first four count. */
function maskOf(octets: number): number {
  return octets >= 4 ? -1 : 2 ** (8 * Math.max(0, octets)) - 1
}

/**
 * Puts those rules that have one into the bucket of their head: of its first octets only, and of more where too many begin alike.
 *
 * @returns The sum of the levels that are used.
 */
function putByHeads(packed: Uint8Array, rules: readonly IndexedRule[], hashes: number): number {
  const counts = new Int32Array(hashes + 2)
  let alike = rules
  for (let level = FIRST_LEVEL; level <= LAST_LEVEL; level *= 2) {
    const put = alike.filter(({ start, special }) => special - start >= level)
    for (const rule of put) {
      let hash = 0
      for (let at = rule.start; at < rule.start + level; at += 4) hash = hashed(hash, octetsFrom(packed, at))
      rule.bucket = bucketOf(hash, hashes)
      rule.level = level
      rule.four = rule.start + level
      rule.mask = maskOf(rule.special - rule.four)
      counts[rule.bucket] = (counts[rule.bucket] as number) + 1
    }
    alike = put.filter(({ bucket }) => (counts[bucket] as number) > CROWD)
  }
  return rules.reduce((levels, { level }) => levels | level, 0)
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
      rule.bucket = bucketOf(hashed(0, gram), hashes)
      rule.mask = 0
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

/** Has it no special character, and no octet that stands for another? */
function isSteadyThroughout({ special, end, signs: needed }: IndexedRule): boolean {
  return special === end && (needed & PERCENT) === 0
}

function secondsOf(packed: Uint8Array, rules: readonly IndexedRule[]): number {
  let seconds = 0
  for (const { bucket, four, mask } of rules) {
    if (bucket === ALWAYS) seconds |= mask === 0 ? -1 : 1 << ((packed[four] as number) & 31)
  }
  return seconds
}

/** The next entry that a path may match. Nothing is called in here: a platform need not ask anew, then, whether the cells are still there. */
function nextEntry(cells: Int32Array, from: number, end: number, lacking: number, octets: number): number {
  for (let i = from; i < end; i += CELLS) {
    const lacks = (cells[i] as number) & lacking
    const differs = ((cells[i + 1] as number) ^ octets) & (cells[i + 2] as number)
    if ((lacks | differs) === 0) return i // one branch, which is foreseen nearly always
  }
  return end
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
  /** Which octets rules of the first bucket have behind their slash: a bit for each, by its last five. */
  readonly #seconds: number
  /** Are its rules few and literal, without anything encoded? Then a URL as it stands may say enough. */
  readonly isLiteral: boolean

  /** @param packed Is copied. @param end Where the rules end. */
  constructor(packed: Uint8Array, end: number) {
    const rules: IndexedRule[] = []
    for (let at = 0; at < end; at = nextRule(packed, at)) rules.push(indexedRule(packed, at))
    const areMany = rules.length > FEW_RULES
    this.#end = end
    this.#hashes = areMany ? Math.min(MOST_BUCKETS, 2 ** Math.floor(Math.log2(rules.length))) - 1 : NONE
    this.#levels = areMany ? putByHeads(packed, rules, this.#hashes) : 0
    const headless = rules.filter(({ bucket }) => bucket === ALWAYS)
    this.isLiteral = !areMany && rules.every(isSteadyThroughout)
    this.#hasGrams = headless.length > FEW_HEADLESS
    if (this.#hasGrams) putByGrams(packed, headless, this.#hashes)

    this.#seconds = secondsOf(packed, rules)
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
    for (const { bucket, four, mask, place, signs: needed } of rules) {
      const at = next[bucket] as number
      next[bucket] = at + CELLS
      cells[at] = needed
      cells[at + 1] = octetsFrom(this.packed, four) & mask
      cells[at + 2] = mask
      cells[at + 3] = place
    }
  }

  /** About how many octets of memory it takes, with its copy of the packed rules. */
  get memoryBytes(): number {
    return OBJECT_BYTES + this.packed.buffer.byteLength
  }

  /** The first rule that matches: its place, or the end of the rules. */
  find(path: AskedPath): number {
    const { bytes, start, end } = path
    let best = this.#end
    // What begins alike is mostly stronger than what begins anyhow, which need not be tried then.
    let hash = 0
    let at = start
    for (let level = FIRST_LEVEL; level <= this.#levels && start + level <= end; level *= 2) {
      for (; at < start + level; at += 4) hash = hashed(hash, octetsFrom(bytes, at))
      if ((level & this.#levels) === 0) continue
      const bucket = bucketOf(hash, this.#hashes)
      if (this.#hasEntries(bucket)) best = this.#look(bucket, octetsFrom(bytes, at), path, best)
    }
    const four = octetsFrom(bytes, start + 1)
    if (this.#mayBegin(four)) best = this.#look(ALWAYS, four, path, best)
    return this.#hasGrams ? this.#lookByGrams(path, best) : best
  }

  /**
   * The same for a URL as it stands, whose path begins at `at`; or `UNSURE`, where it has to be brought to the form for comparing
   * before that can be said.
   */
  findInUrl(url: string, at: number): number {
    const four = fourFrom(url, at + 1)
    if (four === UNSTEADY || four === ROBOTS_TXT || mayHaveDotSegment(url, at + 1)) return UNSURE
    if (!this.#mayBegin(four)) return this.#end
    const cells = this.#cells
    const end = cells[ALWAYS + 1] as number
    let i = nextEntry(cells, cells[ALWAYS] as number, end, 0, four)
    while (i < end) {
      const place = cells[i + 3] as number
      const isMatch = matchesUrlAt(this.packed, place, url, at, 4) // which the entry has told
      if (isMatch !== false) return isMatch === true ? place : UNSURE
      i = nextEntry(cells, i + CELLS, end, 0, four)
    }
    return this.#end
  }

  /** Can a rule of the first bucket begin with a slash and these? */
  #mayBegin(four: number): boolean {
    return ((this.#seconds >>> (four & 31)) & 1) === 1
  }

  #hasEntries(bucket: number): boolean {
    return this.#cells[bucket] !== this.#cells[bucket + 1]
  }

  /** Goes through a bucket. @returns The strongest rule of it that matches, or the one there was. */
  #look(bucket: number, octets: number, path: AskedPath, best: number): number {
    const cells = this.#cells
    const lacking = ~path.signs
    const end = cells[bucket + 1] as number
    let i = nextEntry(cells, cells[bucket] as number, end, lacking, octets)
    while (i < end) {
      const place = cells[i + 3] as number
      if (place >= best) return best
      if (matchesAt(this.packed, place, path)) return place
      i = nextEntry(cells, i + CELLS, end, lacking, octets)
    }
    return best
  }

  /** Goes through the buckets of every four octets in a row that the path has. */
  #lookByGrams(path: AskedPath, strongest: number): number {
    const { bytes, start, end } = path
    let best = strongest
    let gram = 0
    lookedAt.begin()
    for (let i = start; i < end; i++) {
      gram = (gram << 8) | (bytes[i] as number)
      if (i - start < GRAM - 1) continue
      const bucket = bucketOf(hashed(0, gram), this.#hashes)
      if (this.#hasEntries(bucket) && lookedAt.isNew(bucket)) best = this.#look(bucket, 0, path, best)
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
