// Finds the field that a misspelt key was meant to be.
import { fieldNames } from '../parse/directive.ts'

/** Keys with more characters are not compared. Every known key is shorter, and this bounds the work for each line. */
const MAX_KEY_LENGTH = 24

/** Returns the known field with the smallest edit distance to a key: at most 2, or 1 for names of up to five letters. */
export function similarField(key: string): string | undefined {
  if (key.length > MAX_KEY_LENGTH) return undefined
  const letters = lettersOf(key)
  let nearest: string | undefined
  let smallest = Number.POSITIVE_INFINITY
  for (const { name, letters: known } of KNOWN_FIELDS) {
    if (Math.abs(known.length - letters.length) > 2) continue
    const distance = editDistance(letters, known)
    if (distance < smallest && distance <= (known.length <= 5 ? 1 : 2)) {
      nearest = name
      smallest = distance
    }
  }
  return nearest
}

const KNOWN_FIELDS = fieldNames.map((name) => ({ name, letters: lettersOf(name) }))

/** Returns the letters of a key in lower case, so that `User_Agent`, `user agent` and `useragent` are equal. */
function lettersOf(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '')
}

/** Returns the optimal string alignment distance: how many letters are added, lost, changed or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
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
