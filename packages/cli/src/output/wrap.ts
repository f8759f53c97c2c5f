/**
 * Breaks a text at spaces, so that its lines fit into the terminal. A word that is longer than a
 * line stays whole, so that a URL can be copied. In a file or a pipe, the text stays one line.
 *
 * @param indent The column at which the text begins. Further lines begin there too.
 */
export function wrap(text: string, indent: number, columns: number = terminalColumns()): string {
  const width = Math.max(columns - indent, MIN_WIDTH)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= width || line === '') line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}

const MIN_WIDTH = 20

function terminalColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY
}
