/**
 * Returns a duration for people, such as `12 s`. Rounds up, so that a wait of this duration is long
 * enough.
 */
export function durationRoundedUp(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.ceil(ms / 60_000)} min`
  return `${Math.ceil(ms / 3_600_000)} h`
}
