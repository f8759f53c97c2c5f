/** The width of the help and of lists, which fits every terminal. */
const WIDTH = 80

/**
 * Breaks text into lines that fit beside an indentation.
 *
 * @param indent How many columns are taken before each line. The caller writes them.
 */
export function wrap(text: string, indent: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH - indent) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
