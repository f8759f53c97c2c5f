// A clock that a test advances.

export interface Clock {
  /** Returns milliseconds since 1970, as `Date.now` does. */
  readonly now: () => number
  /** Moves the clock forward, or back with a negative number. Milliseconds. */
  advance(ms: number): void
}

/** @param at Where the clock starts, in milliseconds since 1970. Default: 2026-01-01. */
export function startClock(at: number = Date.UTC(2026, 0, 1)): Clock {
  let time = at
  return {
    now: () => time,
    advance: (ms) => {
      time += ms
    },
  }
}
