// How long requests to one origin are kept apart, and who asked for it.

export interface Wishes {
  /** The caller's own least pause. Milliseconds. */
  readonly ownDelayMs: number
  /** What the site asks for in robots.txt. Milliseconds. */
  readonly crawlDelayMs: number | undefined
  /** The longest pause the caller is ready to keep; undefined for none. Milliseconds. */
  readonly maxDelayMs: number | undefined
}

export interface Delay {
  readonly delayMs: number
  /** Who spoke. `cap`: the site asked for more than the caller is ready to keep. */
  readonly because: 'own-delay' | 'crawl-delay' | 'cap'
}

/** The larger of what the caller wants and what the site asks for; less than the site asks only where a cap says so. */
export function delayOf({ ownDelayMs, crawlDelayMs = 0, maxDelayMs = Number.POSITIVE_INFINITY }: Wishes): Delay {
  if (crawlDelayMs <= ownDelayMs) return { delayMs: ownDelayMs, because: 'own-delay' }
  if (crawlDelayMs <= maxDelayMs) return { delayMs: crawlDelayMs, because: 'crawl-delay' }
  return { delayMs: Math.max(maxDelayMs, ownDelayMs), because: 'cap' }
}
