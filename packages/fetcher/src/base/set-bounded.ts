/** Adds a new key to a map. If the map has `max` keys already, deletes its oldest key. */
export function setBounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  if (map.size >= max) map.delete(map.keys().next().value as string)
  map.set(key, value)
}
