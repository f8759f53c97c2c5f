// Finds the name that the user probably meant.
import { editDistance } from '@politely/core/engine'

/** What is compared of a name that the user gave. It bounds the work. */
const MAX_LETTERS = 40

/**
 * Returns the name that differs from `given` in at most a third of its letters, if there is one.
 */
export function mostSimilar(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(given.slice(0, MAX_LETTERS), name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, name.length / 3))
    .sort((a, b) => a.distance - b.distance)
  return best?.name
}
