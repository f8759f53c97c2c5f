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
const MOST_OF_A_HEAD = 32
/** A head that nearly every path has finds nothing. */
const MOST_OF_A_SHORT_HEAD = 4
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
  return rules > FEW_RULES && end < PLACE_BITS
}

/**
 * Puts a place into an open table, which begins at `from` and has as many slots as `mask` says and one more. It holds places plus one,
 * since 0 is for none; and, where cells are wide, some bits of the hash, so that hardly any other rule is looked at in vain.
 *
 * @returns Whether there was room for it.
 */
function addPlace(cells: Cells, from: number, mask: number, hash: number, place: number): boolean {
  for (let probe = 0; probe < MOST_PROBES; probe++) {
    const slot = from + slotOf(hash, probe, mask)
    if (cells[slot] !== 0) continue
    cells[slot] = place + 1 + (isWide(cells) ? tagOf(hash) : 0)
    return true
  }
  return false
}

function isWide(cells: Cells): boolean {
  return cells.BYTES_PER_ELEMENT === 4
}

/** The upper bits of a hash, where a wide cell has them: above those of a place. */
function tagOf(hash: number): number {
  return (hash & ~PLACE_BITS) >>> 0
}

const PLACE_BITS = 2 ** 22 - 1

function slotOf(hash: number, probe: number, mask: number): number {
  return ((hash ^ (hash >>> 15)) + probe) & mask
}

/** Of a table of so many: slots are a power of two, and between a third and two thirds of them are taken. */
function maskFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(1.5 * count + 1)) - 1
}

type Cells = Uint16Array | Uint32Array

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
  /**
   * Everything in one piece, to take little memory: by length, whether some head has it (`HEAD`) and whether there is a `DOOR`; the bits of
   * the doors; the table of heads; that of grams; for each octet that rules are found by, it, how many they are, and their places; and
   * the places of those that are always looked at.
   */
  readonly #cells: Cells
  readonly #isWide: boolean
  readonly #longest: number
  readonly #doorsFrom: number
  readonly #doorMask: number
  readonly #headsFrom: number
  readonly #headMask: number
  readonly #gramsFrom: number
  /** -1: there are no grams. */
  readonly #gramMask: number
  readonly #octetsFrom: number
  readonly #alwaysFrom: number

  /** @param packed Is copied. @param end Where the rules end. */
  constructor(packed: Uint8Array, end: number) {
    this.#end = end
    const rules: IndexedRule[] = []
    for (let at = 0; at < end; at = nextRule(packed, at)) rules.push(indexedRule(packed, at))
    const isSpecial = ({ special, end: ends }: IndexedRule) => special < ends
    const areFew = rules.filter(isSpecial).length <= FEW_SPECIAL
    const heads = countEach(rules.map((rule) => (isSpecial(rule) ? [rule.hash] : [])))
    const isCommon = (rule: IndexedRule) => {
      const most = rule.special - rule.start < GRAM ? MOST_OF_A_SHORT_HEAD : MOST_OF_A_HEAD
      return isSpecial(rule) && (areFew || (heads.get(rule.hash) ?? 0) > most)
    }
    const byHead = rules.filter((rule) => !isCommon(rule))
    const left = rules.filter(isCommon)
    const grams = left.map((rule) => (areFew ? [] : gramsOf(packed, rule)))
    const counts = countEach(grams)

    this.#longest = byHead.reduce((most, { start, special }) => Math.max(most, special - start), 0)
    this.#doorsFrom = this.#longest + 1
    this.#doorMask = maskFor(byHead.length / 2)
    this.#headsFrom = this.#doorsFrom + this.#doorMask + 1
    this.#headMask = maskFor(byHead.length)
    this.#gramsFrom = this.#headsFrom + this.#headMask + 1
    this.#gramMask = counts.size === 0 ? -1 : maskFor(left.length)
    this.#octetsFrom = this.#gramsFrom + this.#gramMask + 1
    const Kind = end < 2 ** 16 ? Uint16Array : Uint32Array
    const cells: Cells = new Kind(this.#octetsFrom)

    const always: number[] = []
    for (const length of DOORS) if (length <= this.#longest) cells[length] = DOOR
    for (const { start, special, hash, place } of byHead) {
      if (!addPlace(cells, this.#headsFrom, this.#headMask, hash, place)) {
        always.push(place)
        continue
      }
      cells[special - start] = (cells[special - start] as number) | HEAD
      let prefix = SEED
      for (let i = start; i <= special; i++) {
        if (DOORS.includes(i - start)) {
          const door = this.#doorsFrom + slotOf(prefix >>> 4, 0, this.#doorMask)
          cells[door] = (cells[door] as number) | (1 << (prefix & 15))
        }
        prefix = hashed(prefix, packed[i] as number)
      }
    }
    const byOctet = new Map<number, number[]>()
    left.forEach(({ place, start, end: ends }, i) => {
      const gram = rarest(grams[i] ?? [], counts)
      if (gram !== undefined) {
        if (!addPlace(cells, this.#gramsFrom, this.#gramMask, hashOfGram(gram), place)) always.push(place)
        return
      }
      const octet = rarestOctet(packed.subarray(start, ends))
      const places = octet === undefined ? always : (byOctet.get(octet) ?? [])
      places.push(place)
      if (octet !== undefined) byOctet.set(octet, places)
    })
    const lists = [...byOctet].flatMap(([octet, places]) => [octet, places.length, ...places])
    this.#alwaysFrom = cells.length + lists.length
    const count = this.#alwaysFrom + always.length
    const cellBytes = count * Kind.BYTES_PER_ELEMENT
    const memory = new ArrayBuffer(cellBytes + packed.length)
    this.packed = new Uint8Array(memory, cellBytes)
    this.packed.set(packed)
    this.#cells = new Kind(memory, 0, count)
    this.#cells.set(cells)
    this.#isWide = isWide(cells)
    this.#cells.set(lists, cells.length)
    this.#cells.set(
      always.sort((a, b) => a - b),
      this.#alwaysFrom,
    )
  }

  get length(): number {
    return this.packed.length
  }

  /** The first rule that matches: its place, or the end of the rules. */
  find(path: AskedPath): number {
    const cells = this.#cells
    const { bytes, start } = path
    const longest = Math.min(path.end - start, this.#longest)
    let best = this.#end
    let hash = SEED
    for (let head = 0; head <= longest; head++) {
      const kind = cells[head] as number
      if (kind !== 0) {
        if ((kind & DOOR) !== 0 && !this.#isOpen(hash)) break
        if ((kind & HEAD) !== 0) best = this.#tryHead(hash, head, path, best)
      }
      hash = hashed(hash, bytes[start + head] as number)
    }
    if (this.#gramMask !== -1) best = this.#tryGrams(path, best)
    let at = this.#octetsFrom
    while (at < this.#alwaysFrom) {
      const places = at + 2
      const next = places + (cells[at + 1] as number)
      if (path.has(cells[at] as number)) best = this.#tryEach(places, next, path, best)
      at = next
    }
    return this.#tryEach(this.#alwaysFrom, cells.length, path, best)
  }

  /** The place that a cell holds, or the end of the rules, where it is that of another hash. */
  #placeIn(cell: number, hash: number): number {
    if (!this.#isWide) return cell - 1
    return tagOf(cell) === tagOf(hash) ? (cell & PLACE_BITS) - 1 : this.#end
  }

  /** Does any head go on after these octets? Where none does, the way along the path ends. */
  #isOpen(hash: number): boolean {
    const door = this.#doorsFrom + slotOf(hash >>> 4, 0, this.#doorMask)
    return ((this.#cells[door] as number) & (1 << (hash & 15))) !== 0
  }

  /** Tries rules that stand in order of strength. @returns The strongest that matches, or the one there was. */
  #tryEach(from: number, to: number, path: AskedPath, best: number): number {
    for (let i = from; i < to; i++) {
      const place = this.#cells[i] as number
      if (place >= best) return best
      if (matchesAt(this.packed, place, path)) return place
    }
    return best
  }

  /** Tries the rules whose head is so long and has that hash. */
  #tryHead(hash: number, head: number, path: AskedPath, best: number): number {
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const cell = this.#cells[this.#headsFrom + slotOf(hash, probe, this.#headMask)] as number
      if (cell === 0) return best
      const place = this.#placeIn(cell, hash)
      if (place < best && hasHead(this.packed, place, head) && matchesAt(this.packed, place, path)) return place
    }
    return best
  }

  /** Tries the rules that need some four octets which the path has. */
  #tryGrams(path: AskedPath, strongest: number): number {
    const { bytes, start, end } = path
    let tries = 0
    let tried: Set<number> | undefined
    let best = strongest
    let gram = 0
    for (let i = start; i < end; i++) {
      gram = (gram << 8) | (bytes[i] as number)
      if (i - start < GRAM - 1) continue
      const hash = hashOfGram(gram)
      for (let probe = 0; probe < MOST_PROBES; probe++) {
        const cell = this.#cells[this.#gramsFrom + slotOf(hash, probe, this.#gramMask)] as number
        if (cell === 0) break
        const place = this.#placeIn(cell, hash)
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
