// A suffix automaton (Blumer et al., 1985): an index of every substring of a path, here called a piece.
//
// A site chooses its rules and the URLs of its pages. It can write 30,000 patterns with pieces that occur in a path in hundreds of places, all
// but the last byte. To search for each of them takes 0.3 s, and with this index 10 ms.
//
// Each state stands for the pieces that end at the same offsets of the path. State 0 is the start, with the empty piece. From a state, each byte
// leads to the state of the pieces that are longer by this byte. So to follow the bytes of a piece from state 0 finds its state, or shows that
// the path does not contain it.
//
// Offsets are relative to the start of the path. Bytes are numbered in the order in which they first occur in the path ("symbols"), so that the
// table of states has one column for each different byte only.

/**
 * Longer paths get no automaton. It takes four bytes of memory for each byte of the path and each different byte in it: at most 12 MB. The states
 * of a longer path would not fit into 16 bits.
 */
export const MAX_AUTOMATON_BYTES = 32_000

/** In place of a state: the link of state 0, which has none. */
const NO_STATE = 0xffff

export class SuffixAutomaton {
  /** The symbol of each byte, counted from 1; 0 for bytes that are not in the path. */
  readonly #symbols = new Uint16Array(256)
  /** One more than the number of symbols. */
  #width = 1
  /** By state and symbol: the next state, or 0. */
  readonly #next: Uint16Array
  /** By state: where the first and the last occurrence of its pieces end. */
  readonly #firstEnds: Uint16Array
  readonly #lastEnds: Uint16Array
  /** By state: where all occurrences end. Computed when a search needs it. */
  readonly #ends = new Map<number, readonly number[]>()
  /** The path begins in these bytes at `#start`. */
  readonly #bytes: Uint8Array
  readonly #start: number

  /** Indexes the bytes from `start` to `end`: adds one byte after another (the online construction). */
  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes
    this.#start = start
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number
      if (this.#symbols[byte] === 0) this.#symbols[byte] = this.#width++
    }
    const length = end - start
    const maxStates = 2 * length + 1
    this.#next = new Uint16Array(maxStates * this.#width)
    this.#firstEnds = new Uint16Array(maxStates)
    this.#lastEnds = new Uint16Array(maxStates)
    /** By state: the length of its longest piece. */
    const lengths = new Uint16Array(maxStates)
    /** By state: the state of the longest suffix of its pieces that belongs to another state. */
    const links = new Uint16Array(maxStates).fill(NO_STATE)
    /** By offset: the state of the path up to there. */
    const prefixStates = new Uint16Array(length + 1)
    let stateCount = 1
    for (let i = 0; i < length; i++) {
      const symbol = this.#symbols[bytes[start + i] as number] as number
      const added = stateCount++
      prefixStates[i + 1] = added
      lengths[added] = i + 1
      this.#firstEnds[added] = i + 1
      links[added] = 0
      // The suffixes of the path so far, longest first: each one without a step for this byte gets a step to the added state.
      let state = prefixStates[i] as number
      for (; state !== NO_STATE && this.#step(state, symbol) === 0; state = links[state] as number) {
        this.#setStep(state, symbol, added)
      }
      if (state === NO_STATE) continue
      const target = this.#step(state, symbol)
      if (lengths[target] === (lengths[state] as number) + 1) {
        links[added] = target
        continue
      }
      // Only the shorter pieces of the target end here too. A clone of the target takes them over.
      const clone = stateCount++
      lengths[clone] = (lengths[state] as number) + 1
      links[clone] = links[target] as number
      this.#firstEnds[clone] = this.#firstEnds[target] as number
      this.#next.copyWithin(clone * this.#width, target * this.#width, (target + 1) * this.#width)
      for (; state !== NO_STATE && this.#step(state, symbol) === target; state = links[state] as number) {
        this.#setStep(state, symbol, clone)
      }
      links[target] = clone
      links[added] = clone
    }
    // The pieces that end at `i` are those of the state of the prefix and of the states that its links lead to.
    for (let i = length; i > 0; i--) {
      for (
        let state = prefixStates[i] as number;
        state !== 0 && this.#lastEnds[state] === 0;
        state = links[state] as number
      ) {
        this.#lastEnds[state] = i
      }
    }
  }

  /** Returns the end of the first occurrence of a piece at or after `from`; -1 without one. */
  endOfNext(piece: Uint8Array, start: number, end: number, from: number): number {
    let state = 0
    for (let i = start; i < end; i++) {
      const symbol = this.#symbols[piece[i] as number] as number
      state = symbol === 0 ? 0 : this.#step(state, symbol)
      if (state === 0) return -1
    }
    const minEnd = from + end - start
    const first = this.#firstEnds[state] as number
    if (first >= minEnd) return first
    if ((this.#lastEnds[state] as number) < minEnd) return -1
    const ends = this.#endsOf(state, piece, start, end)
    let low = 0
    let high = ends.length - 1 // the last end is at least `minEnd`
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) >= minEnd) high = middle
      else low = middle + 1
    }
    return ends[low] as number
  }

  /** Returns the ends of the pieces of a state, in order. The first call searches for them, with one of its pieces. */
  #endsOf(state: number, piece: Uint8Array, start: number, end: number): readonly number[] {
    const known = this.#ends.get(state)
    if (known !== undefined) return known
    const ends: number[] = []
    const last = this.#lastEnds[state] as number
    for (let at = this.#firstEnds[state] as number; at <= last; at++) {
      let i = 1
      while (i <= end - start && this.#bytes[this.#start + at - i] === piece[end - i]) i++
      if (i > end - start) ends.push(at)
    }
    this.#ends.set(state, ends)
    return ends
  }

  #step(state: number, symbol: number): number {
    return this.#next[state * this.#width + symbol] as number
  }

  #setStep(state: number, symbol: number, target: number): void {
    this.#next[state * this.#width + symbol] = target
  }
}
