// The linear engine: tries each rule.
import { KIND_OF_BYTE, type RequestPath } from '../url/request-path.ts'
import { formLength, formStart, matchesAt, NO_RULE, nextRule, strengthAt } from './packed-rules.ts'

/** Finds the rule that decides about a path. RFC 9309 §2.2.2. */
export interface Matcher {
  /** The rules, and behind them their groups. */
  readonly packed: Uint8Array
  /** @returns The offset of the deciding rule in `packed`, or `NO_RULE`. */
  find(path: RequestPath): number
}

/** The numbers of an entry: the kinds of bytes that the rule needs, and its offset. */
export const ENTRY = 2

/** Rules that are tried one by one. There is one matcher, which is filled with the rules that are asked about. */
export class LinearMatcher implements Matcher {
  packed: Uint8Array = new Uint8Array(0)
  #end = 0
  #takesFirst = false
  /** An entry for each rule: most rules that do not match need a byte that the path has not. */
  #entries = new Int32Array(256)
  #entriesEnd = -1

  /** @param end Where the rules end. @param takesFirst Whether the first rule that matches decides, and not the strongest. */
  load(packed: Uint8Array, end: number, count: number, takesFirst: boolean): void {
    this.packed = packed
    this.#end = end
    this.#takesFirst = takesFirst
    this.#entriesEnd = -1
    if (ENTRY * count > this.#entries.length) this.#entries = new Int32Array(2 * ENTRY * count)
  }

  #fill(): void {
    const { packed } = this
    const entries = this.#entries
    let entry = 0
    for (let at = 0; at < this.#end; entry += ENTRY) {
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      entries[entry] = neededKinds(packed, start, length)
      entries[entry + 1] = at
      at = nextRule(packed, at, start, length)
    }
    this.#entriesEnd = entry
  }

  find(path: RequestPath): number {
    if (this.#entriesEnd === -1) this.#fill()
    const { packed } = this
    const entries = this.#entries
    const end = this.#entriesEnd
    const lacking = ~path.kinds
    let deciding = NO_RULE
    let best = -1
    for (let entry = 0; entry < end; entry += ENTRY) {
      if (((entries[entry] as number) & lacking) !== 0) continue
      const at = entries[entry + 1] as number
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
export function neededKinds(packed: Uint8Array, start: number, length: number): number {
  let kinds = 0
  for (let i = start; i < start + length; i++) kinds |= KIND_OF_BYTE[packed[i] as number] as number
  return kinds
}
