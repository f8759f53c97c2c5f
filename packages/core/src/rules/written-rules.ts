// The rules of a file, as they stand in it: numbers in one list. A hostile file has 60,000 rules, and an object that is kept for each would take
// longer than reading them.

/** A rule as it stands in the file: its path, which may be empty, stands in the text from `start` to `end`. */
export interface WrittenRule {
  readonly directive: 'allow' | 'disallow'
  readonly start: number
  readonly end: number
  readonly line: number
}

/** For each rule where its path starts and ends, and its line, doubled, with the directive in the lowest bit. */
const NUMBERS = 3

export class WrittenRules {
  readonly #numbers: number[] = []

  get length(): number {
    return this.#numbers.length / NUMBERS
  }

  add(directive: WrittenRule['directive'], start: number, end: number, line: number): void {
    this.#numbers.push(start, end, 2 * line + (directive === 'allow' ? 1 : 0))
  }

  /** The one with this number, counted from 0 in the order of the file. */
  at(index: number): WrittenRule {
    const numbers = this.#numbers
    const i = NUMBERS * index
    const last = numbers[i + 2] as number
    return {
      directive: (last & 1) === 1 ? 'allow' : 'disallow',
      start: numbers[i] as number,
      end: numbers[i + 1] as number,
      line: last >> 1,
    }
  }

  /** Those from one to before another. */
  slice(from: number, to: number): WrittenRule[] {
    return Array.from({ length: to - from }, (_, i) => this.at(from + i))
  }
}
