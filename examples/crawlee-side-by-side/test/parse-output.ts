// Reads what the example prints: what became of each path, in each block, in each column.

/** `200`, `200 ✗`, `never asked for ✓`: how often, and in which order, is left out. */
type Fates = Readonly<Record<string, string>>

export interface Block {
  readonly own: Fates
  readonly politely: Fates
}

export function blocksIn(text: string): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>()
  for (const section of text.split('\n\n')) {
    const [title = '', ...lines] = section.split('\n')
    const name = /^(.+) {2}robots\.txt: /.exec(title)?.[1]
    if (name === undefined) continue
    const columns = lines.map((line) => line.split(' │ '))
    const fates = (i: number): Fates => Object.fromEntries(columns.flatMap((cells) => fateIn(cells[i] ?? '')))
    blocks.set(name, { own: fates(0), politely: fates(1) })
  }
  return blocks
}

/** The values of the table at the end, by the words before them. */
export function tableIn(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = text.slice(text.indexOf('\n  in all')).trim().split('\n')
  return new Map(lines.map((line) => [line.slice(0, 47).trim(), line.slice(47).trim().split(/ {2,}/)]))
}

/** A path and its fate; nothing where the cell is empty. */
function fateIn(cell: string): readonly (readonly [path: string, fate: string])[] {
  const [, time, path = '', status = '', mark = '', note = ''] =
    /^ *(–|[\d.]+ s) {2}(\S+) +(\d*) *([✓✗]?) *(.*?) *$/.exec(cell) ?? []
  if (time === undefined) return []
  // Whether a pause was kept is a matter of time, which nobody can promise.
  const verdict = note.startsWith('after ') ? '' : mark
  return [[path, `${time === '–' ? note : status} ${verdict}`.trim()]]
}
