// Reads the URLs of a table: CSV (RFC 4180), also with semicolons, tabs or bars, as spreadsheets,
// search consoles and crawlers export it.

import { lacksScheme, urlIn } from './url-in-text.ts'
import type { UrlInputProblem, UrlReader } from './url-reader.ts'

/** A longer row has probably a quote without an end. Characters. */
export const MAX_ROW_LENGTH: number = 2 ** 20

/** The names that a column of URLs has, in order. */
const COLUMN_NAMES = ['url', 'urls', 'loc', 'address', 'page', 'uri', 'link', 'path']

const DELIMITERS = ['\t', ',', ';', '|']
const QUOTED = /"(?:[^"]|"")*"/g

/** Whether lines are of a table, and not a list whose URLs have commas. */
export function isTable(lines: readonly string[]): boolean {
  const [first = '', second = ''] = lines.filter((line) => line.trim() !== '' && !line.startsWith('#'))
  if (/^sep=.$/i.test(first)) return true
  const cellsOf = (line: string) => new Rows(delimiterOf(first)).add(line)?.map((cell) => cell.trim()) ?? []
  const names = cellsOf(first)
  if (names.some((name) => COLUMN_NAMES.includes(name.toLowerCase()))) return true
  if (names.some(hasUrl)) return /["\t]/.test(first)
  const cells = cellsOf(second)
  return cells.length > 1 && cells.length === names.length && cells.some(hasUrl)
}

function hasUrl(cell: string): boolean {
  return urlIn(cell) !== undefined || lacksScheme(cell)
}

/** Returns the delimiter that occurs most often in a line, outside of quotes. */
function delimiterOf(line: string): string {
  const unquoted = line.replace(QUOTED, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}

/** Splits lines into rows. A cell in quotes may have several lines. */
class Rows {
  readonly #delimiter: string
  #cells: string[] = []
  /** The cell in quotes that is not closed yet. */
  #open: string | undefined

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  /** The length of the open cell; undefined if all cells are closed. */
  get openLength(): number | undefined {
    return this.#open?.length
  }

  /** Returns the row that ends with this line; undefined if a cell goes on in the next line. */
  add(line: string): readonly string[] | undefined {
    let at = 0
    if (this.#open !== undefined) {
      this.#open += '\n'
      at = this.#readQuoted(line, 0)
    }
    while (at >= 0 && at <= line.length) {
      if (line[at] === '"') {
        this.#open = ''
        at = this.#readQuoted(line, at + 1)
      } else at = this.#endCell('', line, at)
    }
    if (at === OPEN) return undefined
    const cells = this.#cells
    this.#cells = []
    return cells
  }

  /** Reads from inside of quotes. Returns where the next cell begins, or `OPEN`. */
  #readQuoted(line: string, start: number): number {
    let at = start
    for (;;) {
      const quote = line.indexOf('"', at)
      this.#open += line.slice(at, quote < 0 ? undefined : quote)
      if (quote < 0) return OPEN
      at = quote + 1
      if (line[at] !== '"') break
      this.#open += '"'
      at++
    }
    const text = this.#open as string
    this.#open = undefined
    return this.#endCell(text, line, at)
  }

  /** Ends a cell at the next delimiter. Returns where the next cell begins, or a number after the line. */
  #endCell(text: string, line: string, from: number): number {
    const end = line.indexOf(this.#delimiter, from)
    this.#cells.push(text + line.slice(from, end < 0 ? undefined : end))
    return end < 0 ? line.length + 1 : end + 1
  }
}

/** The line has ended inside of quotes. */
const OPEN = -1

/** Reads a table that comes in lines. */
export class TableUrls implements UrlReader {
  problem: UrlInputProblem | undefined
  skipped = 0
  firstSkipped = 0
  readonly #column: string | undefined
  #rows: Rows | undefined
  #row = 0
  #index: number | undefined
  /** The first row, until the next row shows which column has URLs. */
  #names: readonly string[] | undefined

  /** @param column The name of the column. By default, the first column with a usual name or with URLs. */
  constructor(column: string | undefined) {
    this.#column = column
  }

  write(lines: readonly string[]): readonly string[] {
    return lines.flatMap((line) => this.#add(line) ?? [])
  }

  end(): readonly string[] {
    if (this.#rows?.openLength !== undefined) this.problem ??= { kind: 'open-quote' }
    if (this.#names !== undefined) this.#fail(COLUMN_NAMES, this.#names)
    return []
  }

  #add(line: string): string | undefined {
    if (this.problem !== undefined) return undefined
    if (this.#rows === undefined) {
      if (line.startsWith('#')) return undefined // exports of analytics begin with comments
      const [, separator] = /^sep=(.)$/i.exec(line) ?? []
      this.#rows = new Rows(separator ?? delimiterOf(line))
      if (separator !== undefined) return undefined
    }
    const cells = this.#rows.add(line)
    if (line.length > MAX_ROW_LENGTH || (this.#rows.openLength ?? 0) > MAX_ROW_LENGTH)
      this.problem = { kind: 'long-row' }
    if (cells === undefined) return undefined
    this.#row++
    return this.#urlOf(cells.map((cell) => cell.trim()))
  }

  #urlOf(cells: readonly string[]): string | undefined {
    if (this.#index === undefined && this.#isHeader(cells)) return undefined
    const cell = cells[this.#index ?? 0] ?? ''
    if (cell !== '') return urlIn(cell) ?? cell
    this.skipped++
    if (this.skipped === 1) this.firstSkipped = this.#row
    return undefined
  }

  /**
   * Chooses the column by the names in the first row. If none of them is known, the first cell with a
   * URL shows it. Returns whether this row is a header.
   */
  #isHeader(cells: readonly string[]): boolean {
    const header = this.#names
    if (header === undefined) {
      const wanted = this.#column === undefined ? COLUMN_NAMES : [this.#column.toLowerCase()]
      const names = cells.map((name) => name.toLowerCase())
      this.#index = wanted.map((name) => names.indexOf(name)).find((index) => index >= 0)
      if (this.#index === undefined && this.#column !== undefined) this.#fail(wanted, cells)
      if (this.#index !== undefined || this.#column !== undefined) return true
    }
    const index = cells.findIndex(hasUrl)
    this.#names = header === undefined && index < 0 ? cells : undefined
    if (index < 0) {
      if (header !== undefined) this.#fail(COLUMN_NAMES, header)
      return true
    }
    this.#index = index
    return false
  }

  #fail(wanted: readonly string[], columns: readonly string[]): void {
    this.problem ??= { kind: 'no-column', wanted, columns }
  }
}
