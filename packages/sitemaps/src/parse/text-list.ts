// Reads a text file with a URL on each line.
import type { FoundEntry, Problems } from './found.ts'

/** Parses a text that comes in pieces. */
export class TextListParser {
  /** What was found since the caller last emptied the list. */
  readonly found: FoundEntry[] = []
  /** Whether a line was longer than the limit. It was left out. */
  hasLongLine = false
  readonly #maxLength: number
  readonly #problems: Problems
  #rest = ''
  #isSkipping = false

  constructor(maxLength: number, problems: Problems) {
    this.#maxLength = maxLength
    this.#problems = problems
  }

  write(piece: string): void {
    const lines = (this.#rest + piece).split(/\r\n|\r|\n/)
    this.#rest = lines.pop() as string
    for (const line of lines) this.#add(line)
    if (this.#rest.length <= this.#maxLength) return
    this.#rest = ''
    this.#isSkipping = true
  }

  /** @param isWhole Whether the file ended here. If it was cut, its last line does not count. */
  end(isWhole: boolean): void {
    if (isWhole) this.#add(this.#rest)
    this.#rest = ''
  }

  #add(line: string): void {
    const loc = line.trim()
    if (this.#isSkipping || loc.length > this.#maxLength) this.hasLongLine = true
    else if (/^https?:\/\//i.test(loc)) {
      this.#problems.checkText(loc, false)
      this.found.push({ kind: 'entry', loc })
    } else if (loc !== '' && !loc.startsWith('#')) this.#problems.add('wrong-line', loc)
    this.#isSkipping = false
  }
}
