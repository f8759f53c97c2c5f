// An index on a crawler's packed rules, for files that have many: a question then looks at a few of them.
//
// A rule can match only if the path begins with its head: the literal octets before its first special character. So a rule is
// found by its head: one hash goes along the path, and wherever some head is as long, it is looked up. Where many rules with special
// characters share a head (`/*?sort=`, `/*?page=`), they are found by four octets in a row that they need elsewhere, those that the
// fewest of them need. What can be found in neither way is always looked at.
//
// Whoever writes a robots.txt can make hashes collide. For one hash no more than `MOST_PROBES` places are ever looked at, and no rule
// is tried twice for one question; a rule that would have to stand further off is one that is always looked at. So it is never much
// worse than going from rule to rule.
import type { AskedPath } from '../url/asked-path.ts'
import { formOctets, formStart, isSpecialAt, matchesAt, nextRule } from './packed-rules.ts'

/** Fewer rules are asked faster one by one. */
const FEW_RULES = 24
/** More rules with special characters than so are not looked up by a head that they share. */
const MOST_OF_A_HEAD = 4
/** So few of them are found well enough by one octet that they need. */
const FEW_SPECIAL = 48
const MOST_PROBES = 64
/** After so many tries for one question it is remembered which rules were tried. */
const FEW_TRIES = 16
/** Octets in a row that tell rules apart. */
const GRAM = 4

const DOLLAR = 36
const STAR = 42

/** After so many octets it is asked whether any head begins so. */
const DOORS = [2, 4, 7, 11, 16]
const HEAD = 1
const DOOR = 2

/** Are there enough rules for an index? */
export function isWorthwhile(packed: Uint8Array, end: number): boolean {
  let rules = 0
  for (let at = 0; at < end && rules <= FEW_RULES; at = nextRule(packed, at)) rules++
  return rules > FEW_RULES
}

/** Where rules stand, by hash: an open table. It holds each place plus one, since 0 is for none. */
class Places {
  readonly #slots: Uint16Array | Uint32Array

  /** @param end No place is further off. */
  constructor(count: number, end: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * count + 1))
    this.#slots = end < 2 ** 16 ? new Uint16Array(slots) : new Uint32Array(slots)
  }

  /** @returns Whether there was room for it. */
  add(hash: number, place: number): boolean {
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const slot = this.#slotOf(hash, probe)
      if (this.#slots[slot] !== 0) continue
      this.#slots[slot] = place + 1
      return true
    }
    return false
  }

  /** The place to look at after so many others, or -1 for no more. */
  place(hash: number, probe: number): number {
    return probe === MOST_PROBES ? -1 : (this.#slots[this.#slotOf(hash, probe)] as number) - 1
  }

  #slotOf(hash: number, probe: number): number {
    return ((hash ^ (hash >>> 15)) + probe) & (this.#slots.length - 1)
  }
}

/** FNV-1a, octet by octet. */
const SEED = 0x811c9dc5
function hashed(hash: number, octet: number): number {
  return Math.imul(hash ^ octet, 0x01000193)
}

function hashOfGram(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) // of the golden ratio: octets that vary little are spread too
}

/** A rule while the index is made. */
interface IndexedRule {
  readonly place: number
  /** Where its form begins, its first special character stands, and it ends. */
  readonly start: number
  readonly special: number
  readonly end: number
  /** Of its head. */
  readonly hash: number
}

function indexedRule(packed: Uint8Array, place: number): IndexedRule {
  const octets = formOctets(packed, place)
  const start = formStart(packed, place, octets)
  const end = start + octets
  let special = isSpecialAt(packed, place) ? start : end
  while (special < end && packed[special] !== STAR && !(packed[special] === DOLLAR && special === end - 1)) special++
  let hash = SEED
  for (let i = start; i < special; i++) hash = hashed(hash, packed[i] as number)
  return { place, start, special, end, hash }
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

/** The one that the fewest rules have. */
function rarest(keys: readonly number[], counts: ReadonlyMap<number, number>): number | undefined {
  let found: number | undefined
  let least = Number.POSITIVE_INFINITY
  for (const key of keys) {
    const count = counts.get(key) ?? 0
    if (count < least) found = key
    if (count < least) least = count
  }
  return found
}

/** Octets that are frequent in URLs, from the rarest to the most frequent; all others are rarer still. */
const FREQUENT = 'IqzjxBPDMECASTkwv&?_=yf9876543210bghupmdlcrsnioate.-/'

/** Of the octets that a rule needs, the one that the fewest URLs have. */
function rarestOctet(form: Uint8Array): number | undefined {
  let found: number | undefined
  let least = FREQUENT.length
  form.forEach((octet, i) => {
    if (octet === STAR || (octet === DOLLAR && i === form.length - 1)) return
    const frequency = FREQUENT.indexOf(String.fromCharCode(octet))
    if (frequency < least) found = octet
    if (frequency < least) least = frequency
  })
  return found
}

function countEach(keysOfRules: readonly (readonly number[])[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const keys of keysOfRules) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

export class RuleIndex {
  readonly packed: Uint8Array
  /** Where the rules end. */
  readonly #end: number
  readonly #byHead: Places
  /** By length: whether some head has it (`HEAD`), and whether there is a `DOOR`. */
  readonly #lengths: Uint8Array
  /** Bits, by hash: whether some head goes on after these octets. Where none does, the way along the path ends. */
  readonly #doors: Uint8Array
  readonly #byGram: Places | undefined
  /** Places of rules that need one octet at least, by that octet, and of those that are always looked at; in order of strength. */
  readonly #byOctet: readonly (readonly [octet: number, places: readonly number[]])[]
  readonly #always: readonly number[]

  /** @param end Where the rules end. */
  constructor(packed: Uint8Array, end: number) {
    this.packed = packed
    this.#end = end
    const rules: IndexedRule[] = []
    for (let at = 0; at < end; at = nextRule(packed, at)) rules.push(indexedRule(packed, at))

    const heads = countEach(rules.map(({ special, end: ends, hash }) => (special < ends ? [hash] : [])))
    const areFew = rules.filter(({ special, end: ends }) => special < ends).length <= FEW_SPECIAL
    const isCommon = ({ hash, special, end: ends }: IndexedRule) =>
      special < ends && (areFew || (heads.get(hash) ?? 0) > MOST_OF_A_HEAD)
    const left: IndexedRule[] = rules.filter(isCommon)
    const byHead = rules.filter((rule) => !isCommon(rule))
    this.#byHead = new Places(byHead.length, end)
    this.#lengths = new Uint8Array(byHead.reduce((most, { start, special }) => Math.max(most, special - start), 0) + 1)
    const always: number[] = []
    for (const rule of byHead) {
      if (this.#byHead.add(rule.hash, rule.place)) this.#lengths[rule.special - rule.start] = HEAD
      else always.push(rule.place)
    }
    this.#doors = new Uint8Array(2 ** Math.ceil(Math.log2(byHead.length + 1)))
    for (const length of DOORS) if (length < this.#lengths.length) this.#lengths[length] = (this.#lengths[length] as number) | DOOR
    for (const { start, special } of byHead) {
      let hash = SEED
      for (let i = start; i <= special; i++) {
        if (DOORS.includes(i - start)) this.#open(hash)
        hash = hashed(hash, packed[i] as number)
      }
    }

    const grams = left.map((rule) => (areFew ? [] : gramsOf(packed, rule)))
    const counts = countEach(grams)
    const withoutGram: IndexedRule[] = []
    if (counts.size > 0) this.#byGram = new Places(left.length, end)
    left.forEach((rule, i) => {
      const gram = rarest(grams[i] ?? [], counts)
      if (gram === undefined) withoutGram.push(rule)
      else if (!this.#byGram?.add(hashOfGram(gram), rule.place)) always.push(rule.place)
    })

    const byOctet = new Map<number, number[]>()
    for (const { place, start, end: ends } of withoutGram) {
      const octet = rarestOctet(packed.subarray(start, ends))
      if (octet === undefined) always.push(place)
      else byOctet.set(octet, [...(byOctet.get(octet) ?? []), place])
    }
    this.#byOctet = [...byOctet]
    this.#always = always.sort((a, b) => a - b)
  }

  get length(): number {
    return this.packed.length
  }

  /** The first rule that matches: its place, or the end of the rules. */
  find(path: AskedPath): number {
    const lengths = this.#lengths
    const longest = Math.min(path.length, lengths.length - 1)
    let best = this.#end
    let hash = SEED
    for (let head = 0; head <= longest; head++) {
      const kind = lengths[head] as number
      if (kind !== 0) {
        if ((kind & DOOR) !== 0 && !this.#isOpen(hash)) break
        if ((kind & HEAD) !== 0) best = this.#tryHead(hash, head, path, best)
      }
      hash = hashed(hash, path.bytes[path.start + head] as number)
    }
    if (this.#byGram !== undefined) best = this.#tryGrams(this.#byGram, path, best)
    for (const [octet, places] of this.#byOctet) {
      if (path.has(octet)) best = this.#tryEach(places, path, best)
    }
    return this.#tryEach(this.#always, path, best)
  }

  #open(hash: number): void {
    const bit = hash ^ (hash >>> 15)
    const door = (bit >> 3) & (this.#doors.length - 1)
    this.#doors[door] = (this.#doors[door] as number) | (1 << (bit & 7))
  }

  #isOpen(hash: number): boolean {
    const bit = hash ^ (hash >>> 15)
    return ((this.#doors[(bit >> 3) & (this.#doors.length - 1)] as number) & (1 << (bit & 7))) !== 0
  }

  /** Tries rules that stand in order of strength. @returns The strongest that matches, or the one there was. */
  #tryEach(places: readonly number[], path: AskedPath, best: number): number {
    for (const place of places) {
      if (place >= best) return best
      if (matchesAt(this.packed, place, path)) return place
    }
    return best
  }

  /** Tries the rules whose head is so long and has that hash. */
  #tryHead(hash: number, head: number, path: AskedPath, best: number): number {
    for (let probe = 0; ; probe++) {
      const place = this.#byHead.place(hash, probe)
      if (place === -1) return best
      if (place < best && hasHead(this.packed, place, head) && matchesAt(this.packed, place, path)) return place
    }
  }

  /** Tries the rules that need some four octets which the path has. */
  #tryGrams(byGram: Places, path: AskedPath, strongest: number): number {
    const { bytes, start, end } = path
    let tries = 0
    let tried: Set<number> | undefined
    let best = strongest
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram << 8) | (bytes[i] as number)
      if (i - start < GRAM - 1) continue
      const hash = hashOfGram(gram)
      for (let probe = 0; ; probe++) {
        const place = byGram.place(hash, probe)
        if (place === -1) break
        if (place >= best || tried?.has(place)) continue
        if (++tries > FEW_TRIES) tried = (tried ?? new Set()).add(place)
        if (matchesAt(this.packed, place, path)) best = place
      }
    }
    return best
  }
}

/** Has the rule there so many octets before its first special character, or, without one, in all? */
function hasHead(packed: Uint8Array, at: number, head: number): boolean {
  const octets = formOctets(packed, at)
  if (!isSpecialAt(packed, at)) return octets === head
  const start = formStart(packed, at, octets)
  const isEnd = packed[start + head] === STAR || (packed[start + head] === DOLLAR && head === octets - 1)
  if (head >= octets || !isEnd) return false
  for (let i = start; i < start + head; i++) if (packed[i] === STAR) return false
  return true
}

/** About how many octets an index takes on packed rules of so many. */
export function indexBytes(packed: number): number {
  return packed
}
