/** The clock of a case. */
export interface CaseClock {
  /** Returns milliseconds since 1970. */
  now(): number
  /** Moves the clock forward. Milliseconds. */
  advance(ms: number): void | Promise<void>
}

/** Starts at midnight UTC, because some cases are about times of day. */
export function caseClock(): CaseClock {
  let time = Date.UTC(2026, 0, 1)
  return {
    now: () => time,
    advance: (ms) => {
      time += ms
    },
  }
}
