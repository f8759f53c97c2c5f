/** Returns the middle value; the lower of the two for an even number of values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the smallest value that at least this share of the values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** How often `medianInterval` draws values. */
const DRAWS = 1_000

/** Returns the 95 % interval of the median of these values, by bootstrap. */
export function medianInterval(values: readonly number[]): readonly [number, number] {
  const draw = () => values[Math.floor(Math.random() * values.length)] as number
  const medians = Array.from({ length: DRAWS }, () => median(values.map(draw)))
  return [quantile(medians, 0.025), quantile(medians, 0.975)]
}

export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
