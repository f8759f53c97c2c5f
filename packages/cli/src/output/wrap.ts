// Lists and lines of text.

/** The width of the help and of lists, which fits every terminal. */
const WIDTH = 80

/**
 * Breaks text into lines that fit beside an indentation.
 *
 * @param indent How many columns are taken before each line. The caller writes them.
 */
export function wrap(text: string, indent: number, columns: number = WIDTH): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > columns - indent) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** Breaks text to the width of lists, and indents its lines after the first one. */
export function hanging(text: string, indent: number): string {
  return wrap(text, indent).replaceAll('\n', `\n${' '.repeat(indent)}`)
}

/** `a, b or c`. */
export function orList(items: readonly string[]): string {
  return [items.slice(0, -1).join(', '), items.at(-1)].filter(Boolean).join(' or ')
}

/** `a, b and 3 more`. */
export function someOf(items: readonly string[], max: number): string {
  const shown = items.slice(0, max).join(', ')
  return items.length > max ? `${shown} and ${items.length - max} more` : shown
}

/**
 * Breaks a text to the width of the terminal, and indents its lines after the first one. A word that
 * is longer than a line stays whole, so that a URL can be copied. In a file or a pipe, the text
 * stays as it is.
 *
 * @param indent The column at which the text begins. Further lines begin there too.
 */
export function hang(text: string, indent: number, columns: number | undefined = terminalColumns()): string {
  return columns === undefined ? text : wrap(text, indent, columns).replaceAll('\n', `\n${' '.repeat(indent)}`)
}

function terminalColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}
