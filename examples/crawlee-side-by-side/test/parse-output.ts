// Parses the output of the example: the outcome of each path, by block and column.

/**
 * Outcomes by path, such as `200`, `200 ✗` or `never requested ✓`. The number and the order of
 * requests are not included.
 */
type Outcomes = Readonly<Record<string, string>>

export interface Block {
  readonly own: Outcomes
  readonly politely: Outcomes
}

export function blocksIn(text: string): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>()
  for (const section of text.split('\n\n')) {
    const [title = '', ...lines] = section.split('\n')
    const name = /^(.+) {2}robots\.txt: /.exec(title)?.[1]
    if (name === undefined) continue
    const columns = lines.map((line) => line.split(' │ '))
    const outcomes = (i: number): Outcomes => Object.fromEntries(columns.flatMap((cells) => outcomeIn(cells[i] ?? '')))
    blocks.set(name, { own: outcomes(0), politely: outcomes(1) })
  }
  return blocks
}

/** Returns the values of the table at the end, by their labels. */
export function tableIn(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = text.slice(text.indexOf('\n  in total')).trim().split('\n')
  return new Map(lines.map((line) => [line.slice(0, 47).trim(), line.slice(47).trim().split(/ {2,}/)]))
}

/** Returns a path and its outcome. Empty for an empty cell. */
function outcomeIn(cell: string): readonly (readonly [path: string, outcome: string])[] {
  const [, time, path = '', status = '', mark = '', note = ''] =
    /^ *(–|[\d.]+ s) {2}(\S+) +(\d*) *([✓✗]?) *(.*?) *$/.exec(cell) ?? []
  if (time === undefined) return []
  // Whether a crawl-delay looks kept depends on timing, so the mark is omitted.
  const verdict = note.startsWith('after ') ? '' : mark
  return [[path, `${time === '–' ? note : status} ${verdict}`.trim()]]
}
