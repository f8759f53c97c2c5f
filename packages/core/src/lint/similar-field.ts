// Which field a misspelt key was meant to be.
import { fieldNames } from '../parse/directive.ts'

/** Longer keys are not compared, since they are longer than any known one; this bounds the work for a line. */
const MAX_KEY_LENGTH = 24

/** The field that a key is most like: up to two slips away, or one for a short name. */
export function similarField(key: string): string | undefined {
  if (key.length > MAX_KEY_LENGTH) return undefined
  const letters = lettersOf(key)
  let likely: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const { name, letters: wanted } of KNOWN_FIELDS) {
    if (Math.abs(wanted.length - letters.length) > 2) continue
    const slips = editDistance(letters, wanted)
    if (slips < fewest && slips <= (wanted.length <= 5 ? 1 : 2)) {
      likely = name
      fewest = slips
    }
  }
  return likely
}

const KNOWN_FIELDS = fieldNames.map((name) => ({ name, letters: lettersOf(name) }))

/** `User_Agent`, `user agent` and `useragent` are one word. */
function lettersOf(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '')
}

/** Letters added, lost, changed or swapped with their neighbour (optimal string alignment). */
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
