// The names of the options for pace and concurrency. They are options of the gate. If a caller
// passes one to the client, the client says where to write it.

/**
 * The gate imports this list. A name that its type `PacingOptions` has and this list lacks is a
 * type error there.
 */
export const PACING_OPTIONS = {
  minDelayMs: true,
  maxDelayMs: true,
  delayFactor: true,
  jitter: true,
  pauseFrom: true,
  minDelayPerDomainMs: true,
  minDelayPerAddressMs: true,
  maxConcurrentPerKey: true,
  maxConcurrentPerDomain: true,
  maxConcurrentPerAddress: true,
  maxConcurrent: true,
  slowAfterMs: true,
  maxWaitMs: true,
  maxQueuedPerKey: true,
  releaseWarningMs: true,
  progressMs: true,
  backoff: true,
  circuit: true,
  rateLimitHeaders: true,
  countRobots: true,
  budget: true,
  obey: true,
  pace: true,
  paceBy: true,
  pacer: true,
} as const
