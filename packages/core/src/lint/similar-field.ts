// Finds the field that a misspelt key was meant to be.
import { editDistance } from '../edit-distance.ts'
import { fieldNames } from '../parse/directive.ts'

/**
 * Keys with more characters are not compared. Every known key is shorter, and this bounds the work
 * for each line.
 */
const MAX_KEY_LENGTH = 24

/**
 * Returns the known field with the smallest edit distance to a key: at most 2, or 1 for names of up
 * to five letters.
 */
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

/**
 * Returns the letters of a key in lower case, so that `User_Agent`, `user agent` and `useragent`
 * are equal.
 */
function lettersOf(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '')
}
