/** The value in the middle; of an even number the lower one of the two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that a share of the values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
