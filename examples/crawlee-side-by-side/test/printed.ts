// Reads what the example prints: what became of each path, in each block, in each column.

/** `200`, `200 ✗`, `never asked for ✓`: how often, and in which order, is left out. */
export type Fates = Readonly<Record<string, string>>

export interface Block {
  readonly own: Fates
  readonly politely: Fates
}

export function blocksIn(text: string): ReadonlyMap<string, Block> {
  const blocks = new Map<string, { own: Record<string, string>; politely: Record<string, string> }>()
  let block: { own: Record<string, string>; politely: Record<string, string> } | undefined
  for (const line of text.split('\n')) {
    const name = /^(\S.*?) {2}robots\.txt: /.exec(line)?.[1]
    if (name !== undefined) blocks.set(name, (block = { own: {}, politely: {} }))
    else if (line === '') block = undefined
    const [own = '', politely = ''] = line.split(' │ ')
    if (block === undefined || name !== undefined) continue
    Object.assign(block.own, fateIn(own))
    Object.assign(block.politely, fateIn(politely))
  }
  return blocks
}

/** The values of the table at the end, by the words before them. */
export function tableIn(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = text.slice(text.indexOf('\n  in all')).trim().split('\n')
  return new Map(lines.map((line) => [line.slice(0, 47).trim(), line.slice(47).trim().split(/ {2,}/)]))
}

function fateIn(cell: string): Fates {
  const [, time, path = '', status = '', mark = '', note = ''] =
    /^ *(–|[\d.]+ s) {2}(\S+) +(\d*) +([✓✗]?) *(.*?) *$/.exec(cell) ?? []
  if (time === undefined) return {}
  // Whether a pause was kept is a matter of time, which nobody can promise.
  const verdict = note.startsWith('after ') ? '' : mark
  return { [path]: `${time === '–' ? note : status} ${verdict}`.trim() }
}
