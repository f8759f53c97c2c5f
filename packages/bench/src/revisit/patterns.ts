// A hundred made-up pages and when they change, for the simulation of `nextVisit`.
//
// 60 pages change at random, at rates in the shares that Cho and Garcia-Molina found ("The Evolution of
// the Web and Implications for an Incremental Crawler", 2000). The others show what a Poisson process
// does not: rhythms, bursts, pages that end, start or cease to change, and bodies that always differ.

export const DAY_MS = 86_400_000

/** The simulated time. A page may have changed in the year before it too. */
export const YEAR_MS: number = 365 * DAY_MS

export interface Pattern {
  /** When the page changes, in order. Milliseconds since the first visit; may be below 0. */
  readonly changes: readonly number[]
  /** When the page ends, which is its last change: 404 or 410 from then on. */
  readonly ends?: { readonly at: number; readonly status: 404 | 410 }
  /** The body differs at each request. There is no way to have a fresh copy. */
  readonly alwaysDiffers?: true
}

/** How many pages, and their days between changes: at least, at most. */
const RATES: readonly (readonly [pages: number, shortest: number, longest: number])[] = [
  [14, 0.1, 1],
  [9, 1, 7],
  [10, 7, 30],
  [9, 30, 120],
  [18, 120, 365],
]

/** Returns the hundred pages. The same ones for the same random numbers. */
export function patterns(random: () => number): Pattern[] {
  const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
  const poisson = (days: number, from = -YEAR_MS, to = YEAR_MS) => {
    const changes: number[] = []
    for (let at = from; ; changes.push(at)) {
      at -= Math.log(1 - random()) * days * DAY_MS
      if (at >= to) return changes
    }
  }
  const between = (shortest: number, longest: number) => shortest * (longest / shortest) ** random()
  const rhythm = (days: number) => {
    const first = -YEAR_MS + random() * days * DAY_MS
    return times(Math.floor((2 * YEAR_MS) / (days * DAY_MS)), (i) => first + i * days * DAY_MS)
  }
  return [
    ...RATES.flatMap(([pages, shortest, longest]) =>
      times(pages, () => ({ changes: poisson(between(shortest, longest)) })),
    ),
    ...times(8, () => ({ changes: rhythm(1) })),
    ...times(8, () => ({ changes: rhythm(7) })),
    ...times(8, () => ({
      changes: poisson(30)
        .flatMap((at) => poisson(0.1, at, at + DAY_MS))
        .sort((a, b) => a - b),
    })),
    ...times(4, (i) => {
      const at = YEAR_MS * (0.2 + 0.6 * random())
      return {
        changes: [...poisson(between(1, 30), -YEAR_MS, at), at],
        ends: { at, status: i % 2 === 0 ? 404 : 410 } as const,
      }
    }),
    ...times(4, () => ({ changes: poisson(between(0.5, 5), YEAR_MS * (0.2 + 0.6 * random())) })),
    ...times(4, () => ({ changes: poisson(between(0.5, 5), -YEAR_MS, YEAR_MS * (0.2 + 0.6 * random())) })),
    ...times(4, (): Pattern => ({ changes: [], alwaysDiffers: true })),
  ]
}
