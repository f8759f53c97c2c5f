// The linear engine: tries each rule.
import { DOLLAR, STAR } from '../ascii.ts'
import { BYTE_CLASS_BIT, type RequestPath } from '../url/request-path.ts'
import { formLength, formStart, isSpecialAt, matchesAt, NO_RULE, nextRuleOffset, strengthAt } from './packed-rules.ts'

/** Finds the rule that decides about a path. RFC 9309 §2.2.2. */
export interface Matcher {
  /** The rules, and behind them their groups. */
  readonly packed: Uint8Array
  /** @returns The offset of the deciding rule in `packed`, or `NO_RULE`. */
  find(path: RequestPath): number
}

/**
 * Four numbers that tell for most rules that they do not match: the kinds of bytes that the rule needs; the four bytes behind its first one; a mask of those of
 * them that stand before its first special character; and its offset.
 */
export const FILTER_SIZE = 4

/** Room for more entries is released with the next file. */
const MAX_KEPT_ENTRIES = 2 ** 18

/** Rules that are tried one by one. There is one matcher, which is filled with the rules that are asked about. */
export class LinearMatcher implements Matcher {
  packed: Uint8Array = new Uint8Array(0)
  #end = 0
  #takesFirst = false
  /** An entry for each rule: most rules that do not match need a byte that the path has not. */
  #entries = new Int32Array(256)
  #entriesEnd = -1
  #isFirst = true

  /** @param end Where the rules end. @param takesFirst Whether the first rule that matches decides, and not the strongest. */
  load(packed: Uint8Array, end: number, count: number, takesFirst: boolean): void {
    this.packed = packed
    this.#end = end
    this.#takesFirst = takesFirst
    this.#entriesEnd = -1
    this.#isFirst = true
    const { length } = this.#entries
    if (FILTER_SIZE * count > length || (length > MAX_KEPT_ENTRIES && FILTER_SIZE * count < length / 4)) {
      this.#entries = new Int32Array(Math.max(256, 2 * FILTER_SIZE * count))
    }
  }

  /** Those of all rules, in the order of the file. Overwritten when the matcher is filled again. */
  get filters(): Int32Array {
    if (this.#entriesEnd === -1) this.#fill()
    return this.#entries.subarray(0, this.#entriesEnd)
  }

  #fill(): void {
    const { packed } = this
    const entries = this.#entries
    let entry = 0
    for (let at = 0; at < this.#end; entry += FILTER_SIZE) {
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      const prefix = isSpecialAt(packed, at) ? prefixLength(packed, start, length) : length
      entries[entry] = neededKinds(packed, start, length)
      entries[entry + 2] = maskOf(prefix - 1)
      entries[entry + 1] = fourBytes(packed, start + 1) & (entries[entry + 2] as number)
      entries[entry + 3] = at
      at = nextRuleOffset(packed, at, start, length)
    }
    this.#entriesEnd = entry
  }

  /** The same as `find`, without entries. */
  #walk(path: RequestPath): number {
    this.#isFirst = false
    const { packed } = this
    let deciding = NO_RULE
    let best = -1
    for (let at = 0; at < this.#end; ) {
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      const strength = strengthAt(packed, at, length)
      if (strength > best && matchesAt(packed, at, start, length, path)) {
        if (this.#takesFirst) return at
        best = strength
        deciding = at
      }
      at = nextRuleOffset(packed, at, start, length)
    }
    return deciding
  }

  find(path: RequestPath): number {
    // Many rules are asked about once before those of another site are: entries would take longer than one walk.
    if (this.#entriesEnd === -1 && this.#isFirst) return this.#walk(path)
    if (this.#entriesEnd === -1) this.#fill()
    const { packed } = this
    const entries = this.#entries
    const end = this.#entriesEnd
    const lacking = ~path.byteClasses
    const four = fourBytes(path.bytes, path.start + 1)
    let deciding = NO_RULE
    let best = -1
    for (let entry = 0; entry < end; entry += FILTER_SIZE) {
      if (((entries[entry] as number) & lacking) !== 0) continue
      if ((((entries[entry + 1] as number) ^ four) & (entries[entry + 2] as number)) !== 0) continue
      const at = entries[entry + 3] as number
      const length = formLength(packed, at)
      const strength = strengthAt(packed, at, length)
      if (strength <= best || !matchesAt(packed, at, formStart(packed, at, length), length, path)) continue
      if (this.#takesFirst) return at
      best = strength
      deciding = at
    }
    return deciding
  }
}

/** The kinds of the bytes of a form. Special characters have none. */
function neededKinds(packed: Uint8Array, start: number, length: number): number {
  let kinds = 0
  for (let i = start; i < start + length; i++) kinds |= BYTE_CLASS_BIT[packed[i] as number] as number
  return kinds
}

/** The length of what stands before the first special character of a form. */
export function prefixLength(packed: Uint8Array, start: number, length: number): number {
  const end = packed[start + length - 1] === DOLLAR ? start + length - 1 : start + length
  let i = start
  while (i < end && packed[i] !== STAR) i++
  return i - start
}

/** A mask of the first `length` of four bytes. */
export function maskOf(length: number): number {
  return length >= 4 ? -1 : 2 ** (8 * Math.max(0, length)) - 1
}

/** Four bytes as one number. */
export function fourBytes(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
