// Tables of words that other programs use, for messages about unknown names. A table is one string,
// which is read for the first unknown name:
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
