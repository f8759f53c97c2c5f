// The names of the options for pace and concurrency. They belong to the gate. The client knows them to say where to write them.

/** The gate imports this list. A name that its type `PacingOptions` has and this list lacks is a type error there. */
export const PACING_OPTIONS = {
  minDelayMs: true,
  maxDelayMs: true,
  delayFactor: true,
  pauseFrom: true,
  minDelayPerDomainMs: true,
  minDelayPerAddressMs: true,
  maxConcurrentPerOrigin: true,
  maxConcurrentPerDomain: true,
  maxConcurrentPerAddress: true,
  maxConcurrent: true,
  slowAfterMs: true,
  paceBy: true,
  pacer: true,
} as const
