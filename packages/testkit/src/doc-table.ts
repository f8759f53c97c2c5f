// Tables of the documentation that are made from data. A test compares the page with what it would be; `vitest run -u` writes it.

/** The page with the rows of these tables in it; each takes the place of the table with the same head. */
export function withTables(page: string, tables: readonly DocTable[]): string {
  return tables.reduce((text, { head, rows }) => {
    const [first = '', ...others] = [head, ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |\n`)
    const lines = [first, `|${'---|'.repeat(head.length)}\n`, ...others]
    const start = text.indexOf(first)
    if (start === -1) throw new Error(`the page has no table with the head ${head.join(', ')}`)
    const end = /^(?!\|)/m.exec(text.slice(start))?.index ?? text.length
    return text.slice(0, start) + lines.join('') + text.slice(start + end)
  }, page)
}

export interface DocTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A bar would end the cell, also inside backticks. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
