// An index of every substring of a path, here called a piece. It finds the next occurrence of a
// piece in about as many steps as the piece has bytes.
//
// A site chooses its rules and the URLs of its pages. It can write 30,000 patterns whose pieces
// occur in a path in hundreds of places, except for the last byte. Searching for each of them takes
// seconds.
//
// The index has two parts:
//
// - The suffix automaton (Blumer et al., 1985). Each state stands for the pieces that end at the
//   same offsets of the path. State 0 is the start, with the empty piece. From a state, each byte
//   leads to the state of the pieces with that byte appended. So a search follows the bytes of a
//   piece from state 0. It finds the state of the piece. Or a byte leads nowhere: then the path
//   doesn't contain the piece.
// - The merge-sort tree. For a state, it finds the first end at or after an offset. Level 0 has the
//   ends in an order in which the ends of each state are adjacent. In level k, each block of 2^k
//   ends is sorted.
//
// Offsets are relative to the start of the path. With n bytes, the path has at most 2n states and
// 3n steps between them.

/** In place of a state: the link of state 0, which has none. */
const NO_STATE = -1
/** In place of the end of a piece. Higher than all ends. */
const NO_END = 2 ** 30

export class SuffixAutomaton {
  /** By state: the length of its longest piece. */
  readonly #lengths: Int32Array
  /** By state: the state of the longest suffix of its pieces that belongs to another state. */
  readonly #links: Int32Array
  #stateCount = 1

  // The steps of each state are a linked list.
  /** By state: its first step; 0 for none. */
  readonly #firstSteps: Int32Array
  /** By step: the next one of the same state, its byte and its target. */
  readonly #nextSteps: Int32Array
  readonly #stepBytes: Uint8Array
  readonly #targets: Int32Array
  #stepCount = 1

  /** By state: where its ends start in `#levels[0]`, and how many there are. */
  readonly #firstEnds: Int32Array
  readonly #endCounts: Int32Array
  readonly #levels: readonly Int32Array[]

  /** Indexes the bytes from `start` to `end`. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    const length = end - start
    const maxStates = 2 * length + 1
    this.#lengths = new Int32Array(maxStates)
    this.#links = new Int32Array(maxStates).fill(NO_STATE)
    this.#firstSteps = new Int32Array(maxStates)
    this.#nextSteps = new Int32Array(3 * length + 2)
    this.#stepBytes = new Uint8Array(3 * length + 2)
    this.#targets = new Int32Array(3 * length + 2)
    this.#firstEnds = new Int32Array(maxStates)
    this.#endCounts = new Int32Array(maxStates)
    let prefix = 0
    for (let i = start; i < end; i++) prefix = this.#append(bytes[i] as number, prefix)
    this.#levels = sortedLevels(this.#orderEnds(length))
  }

  /**
   * Adds the next byte of the path (the online construction). @param prefix The state of the path
   * so far. @returns The state with the byte.
   */
  #append(byte: number, prefix: number): number {
    const added = this.#stateCount++
    this.#lengths[added] = (this.#lengths[prefix] as number) + 1
    this.#links[added] = 0
    this.#endCounts[added] = 1
    // The suffixes of the path so far, longest first: each one without a step for this byte gets a
    // step to the added state.
    let state = prefix
    let step = 0
    for (; state !== NO_STATE; state = this.#links[state] as number) {
      step = this.#stepFrom(state, byte)
      if (step !== 0) break
      this.#addStep(state, byte, added)
    }
    if (state === NO_STATE) return added
    const target = this.#targets[step] as number
    const length = (this.#lengths[state] as number) + 1
    if (this.#lengths[target] === length) {
      this.#links[added] = target
      return added
    }
    // Only the shorter pieces of the target end here too. A clone of the target takes them over.
    const clone = this.#stateCount++
    this.#lengths[clone] = length
    this.#links[clone] = this.#links[target] as number
    for (let i = this.#firstSteps[target] as number; i !== 0; i = this.#nextSteps[i] as number) {
      this.#addStep(clone, this.#stepBytes[i] as number, this.#targets[i] as number)
    }
    for (; state !== NO_STATE; state = this.#links[state] as number) {
      step = this.#stepFrom(state, byte)
      if (this.#targets[step] !== target) break
      this.#targets[step] = clone
    }
    this.#links[target] = clone
    this.#links[added] = clone
    return added
  }

  #stepFrom(state: number, byte: number): number {
    let step = this.#firstSteps[state] as number
    while (step !== 0 && this.#stepBytes[step] !== byte) step = this.#nextSteps[step] as number
    return step
  }

  #addStep(state: number, byte: number, target: number): void {
    const step = this.#stepCount++
    this.#stepBytes[step] = byte
    this.#targets[step] = target
    this.#nextSteps[step] = this.#firstSteps[state] as number
    this.#firstSteps[state] = step
  }

  /**
   * Sets where the ends of each state are. The pieces of a state end where the longest piece of a
   * state ends that was not cloned, if links lead from there to it.
   */
  #orderEnds(length: number): Int32Array {
    const [lengths, links, counts, firsts] = [this.#lengths, this.#links, this.#endCounts, this.#firstEnds]
    const byLength = statesByLength(lengths.subarray(0, this.#stateCount), length)
    const isPrefix = counts.slice()
    for (let i = byLength.length - 1; i > 0; i--) {
      const state = byLength[i] as number
      const link = links[state] as number
      counts[link] = (counts[link] as number) + (counts[state] as number)
    }
    // A state takes the next part of the ends of its link. Its own end, if it has one, comes first.
    const ends = new Int32Array(length)
    const used = new Int32Array(this.#stateCount)
    for (const state of byLength) {
      if (state === 0) continue
      const link = links[state] as number
      const first = (firsts[link] as number) + (used[link] as number)
      firsts[state] = first
      used[link] = (used[link] as number) + (counts[state] as number)
      if (isPrefix[state] === 1) {
        ends[first] = lengths[state] as number
        used[state] = 1
      }
    }
    return ends
  }

  /**
   * Returns the end of the first occurrence of a piece at or after `from`; -1 without one. The
   * piece is the bytes from `start` to `end`.
   */
  endOfNext(piece: Uint8Array, start: number, end: number, from: number): number {
    let state = 0
    for (let i = start; i < end; i++) {
      const step = this.#stepFrom(state, piece[i] as number)
      if (step === 0) return -1
      state = this.#targets[step] as number
    }
    // Goes up the levels: a block at the left or right border is searched when no larger block of
    // the state contains it.
    const minEnd = from + end - start
    let first = this.#firstEnds[state] as number
    let last = first + (this.#endCounts[state] as number)
    let next = NO_END
    for (let level = 0; first < last; level++, first >>= 1, last >>= 1) {
      const ends = this.#levels[level] as Int32Array
      if ((first & 1) === 1) next = lowestFrom(minEnd, next, ends, first++ << level, level)
      if ((last & 1) === 1) next = lowestFrom(minEnd, next, ends, --last << level, level)
    }
    return next === NO_END ? -1 : next
  }
}

/** Returns the states in the order of their lengths (counting sort). */
function statesByLength(lengths: Int32Array, maxLength: number): Int32Array {
  const starts = new Int32Array(maxLength + 2)
  for (const length of lengths) starts[length + 1] = (starts[length + 1] as number) + 1
  for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number)
  const states = new Int32Array(lengths.length)
  for (const [state, length] of lengths.entries()) {
    states[starts[length] as number] = state
    starts[length] = (starts[length] as number) + 1
  }
  return states
}

/** Returns the levels of a merge-sort tree. Level 0 is `values`. */
function sortedLevels(values: Int32Array): readonly Int32Array[] {
  const levels = [values]
  for (let size = 1; 2 * size <= values.length; size *= 2) levels.push(merged(levels.at(-1) as Int32Array, size))
  return levels
}

/** Merges each two adjacent sorted blocks of `size` values. What remains at the end is copied. */
function merged(values: Int32Array, size: number): Int32Array {
  const result = values.slice()
  for (let start = 0; start + 2 * size <= values.length; start += 2 * size) {
    const middle = start + size
    const end = middle + size
    let left = start
    let right = middle
    for (let i = start; i < end; i++) {
      const takesLeft = right === end || (left < middle && (values[left] as number) < (values[right] as number))
      result[i] = values[takesLeft ? left++ : right++] as number
    }
  }
  return result
}

/**
 * Returns the lowest value from `min` to `max` in the sorted block of 2^`level` values from `start`
 * on; `max` without one.
 */
function lowestFrom(min: number, max: number, values: Int32Array, start: number, level: number): number {
  let low = start
  let high = start + (1 << level) - 1
  if ((values[high] as number) < min) return max
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) >= min) high = middle
    else low = middle + 1
  }
  return Math.min(max, values[low] as number)
}
