// Time that passes when the test says so.

export interface Clock {
  /** Milliseconds since 1970, as `Date.now` gives them. */
  readonly now: () => number
  /** Lets time pass; back, with a negative number. */
  pass(ms: number): void
}

export function startClock(at: number = Date.UTC(2026, 0, 1)): Clock {
  let time = at
  return {
    now: () => time,
    pass: (ms) => {
      time += ms
    },
  }
}
