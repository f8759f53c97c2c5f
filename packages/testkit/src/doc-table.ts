// Tables in documentation pages that are made from data.

/**
 * Returns the page with these tables; each replaces the table with the same head. @throws {Error}
 * if the page has no such table.
 */
export function withTables(page: string, tables: readonly DocTable[]): string {
  return tables.reduce((text, { head, rows }) => {
    const [first = '', ...others] = [head, ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |\n`)
    const lines = [first, `|${'---|'.repeat(head.length)}\n`, ...others]
    const start = text.indexOf(first)
    if (start === -1)
      throw new Error(`the page has no table with the head "${head.join(' | ')}"; add its head line to the page`)
    const end = /^(?!\|)/m.exec(text.slice(start))?.index ?? text.length
    return text.slice(0, start) + lines.join('') + text.slice(start + end)
  }, page)
}

export interface DocTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Escapes bars, which would end the cell, also inside backticks. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
