// Finds what an unknown name was meant to be: a known name that is misspelt, or the word of another
// program.

/**
 * Returns the optimal string alignment distance: how many letters are added, lost, changed or
 * swapped with their neighbour.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const changed = (last[j - 1] as number) + (same ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          changed,
          (last[j] as number) + 1,
          (row[j - 1] as number) + 1,
          swapped ? (beforeLast[j - 2] as number) + 1 : changed,
        ),
      )
    }
    beforeLast = last
    last = row
  }
  return last[b.length] as number
}

/** Longer names are not compared. Every option's name is shorter, and this bounds the work. */
const MAX_NAME_LENGTH = 40

/** Names that differ in more letters are different names. */
const MAX_DISTANCE = 2

/**
 * Returns the known name that a misspelt name was probably meant to be: the name with the smallest
 * edit distance, ignoring case. At most `MAX_DISTANCE` letters may differ, and fewer than half of
 * them.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined
  let nearest: string | undefined
  let smallest = MAX_DISTANCE + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < smallest && 2 * distance < candidate.length) {
      nearest = candidate
      smallest = distance
    }
  }
  return nearest
}

// Words of other programs. A table of them is one string, which is read for the first unknown name:
//
//   WORDS | CELL | CELL …
//
// Words are in lower case without `-`, `_` and `.`, and separated by spaces. A word that begins with
// `~` is the source of a regular expression for a part of a name. `~a&b` needs a match of both.

/**
 * Returns the cells of the rows for a name, in order.
 * @param by Whether the name has to be one of the words, or to have one of the parts.
 */
export function findRows(table: string, name: string, by: 'word' | 'part' = 'word'): readonly (readonly string[])[] {
  const word = name.replace(/[-_.]/g, '').toLowerCase()
  const isPart = (term: string) =>
    term.startsWith('~') &&
    term
      .slice(1)
      .split('&')
      .every((part) => new RegExp(part).test(word))
  return table
    .trim()
    .split('\n')
    .map((row) => row.split(' | '))
    .filter(([words = '']) => words.split(' ').some((term) => (by === 'word' ? term === word : isPart(term))))
    .map(([, ...cells]) => cells)
}
