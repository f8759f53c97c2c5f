// The options of the methods of a RobotsClient.
import type { PolicyToken } from '@politely/core/usage'
import type { ConcurrentMapOptions } from '../base/concurrent-map.ts'
import { assertCallOptions, integer, number, oneOf, redirectChain } from '../base/option-checks.ts'

/** Options of `isAllowed`, `check`, `explain`, `sitemaps` and `robots` of a `RobotsClient`, and of `usage`. */
export interface LookupOptions {
  /**
   * Aborting it rejects this call with the signal's reason. A fetch that other callers wait for
   * continues.
   */
  readonly signal?: AbortSignal | undefined
  /**
   * The maximum age of the robots.txt that decides, in milliseconds: the time between its fetch and
   * this call. If the client and the store know only an older one, the client fetches robots.txt
   * first, even if the older one is fresh. If that fetch fails, `whenUnreachable` decides, and the
   * next attempt is made when it is due. Default: as long as robots.txt is fresh.
   */
  readonly maxAgeMs?: number | undefined
  /**
   * The URLs that led to this one, in order: of the page whose link it is, of the sitemap that lists
   * it, or of redirects. The page alone is enough. A URL that a public host gave must lead to a
   * public address (see `network`). If it does not, the verdict is `unreachable` with reason
   * `blocked-address`, and the client sends nothing to its host, not even a request for robots.txt.
   * Default: none, since the URL is the caller's own.
   */
  readonly redirectedFrom?: readonly string[] | undefined
}

/** Options of `RobotsClient.usage`. */
export interface UsageOptions extends LookupOptions {
  /**
   * Whether the client fetches `/.well-known/tdmrep.json` of the origin (`fetch`, the default), or
   * does without it (`ignore`). `maxAgeMs` applies to this file, too.
   */
  readonly tdmrep?: 'fetch' | 'ignore' | undefined
  /**
   * Names in robots.txt that stand for a use, and not for a crawler: the option of the same name of
   * `usageOf` in `@politely/core/usage`. Experimental. Default: none.
   */
  readonly policyTokens?: readonly PolicyToken[] | undefined
}

/** Options of `RobotsClient.checkMany`, and without `order` of `prefetch`. */
export interface CheckManyOptions extends LookupOptions {
  /** The maximum number of checks that are under way, or not yet taken. Default 64. */
  readonly concurrency?: number | undefined
  /**
   * In which order the verdicts come. `input` (the default): in the order of the URLs. `ready`: each
   * verdict comes as soon as it is known.
   */
  readonly order?: ConcurrentMapOptions['order'] | undefined
}

export const CHECK_NOW_OPTIONS: Readonly<Record<'redirectedFrom', true>> = { redirectedFrom: true }
const LOOKUP_OPTIONS: Readonly<Record<keyof LookupOptions, true>> = {
  signal: true,
  maxAgeMs: true,
  redirectedFrom: true,
}
const USAGE_OPTIONS: Readonly<Record<keyof UsageOptions, true>> = {
  ...LOOKUP_OPTIONS,
  tdmrep: true,
  policyTokens: true,
}
export const PREFETCH_OPTIONS: Readonly<Record<Exclude<keyof CheckManyOptions, 'order'>, true>> = {
  ...LOOKUP_OPTIONS,
  concurrency: true,
}

const DEFAULT_CONCURRENCY = 64
const KNOWN_OF_MANY: Readonly<Record<keyof CheckManyOptions, true>> = { ...PREFETCH_OPTIONS, order: true }

/**
 * Checks the options of every lookup. @throws {OptionError} for an invalid or unknown option.
 */
export function assertLookupOptions(
  options: LookupOptions,
  known: Readonly<Record<string, true>> = LOOKUP_OPTIONS,
): void {
  assertCallOptions(options, known)
  const { maxAgeMs, redirectedFrom } = options
  if (maxAgeMs !== undefined) number('maxAgeMs', maxAgeMs, { min: 0, infinite: 'allowed', example: 3_600_000 })
  redirectChain(redirectedFrom)
}

/** Checks the options of `usage`, except `policyTokens`. @throws {OptionError} for an invalid or unknown option. */
export function assertUsageOptions(options: UsageOptions): void {
  assertLookupOptions(options, USAGE_OPTIONS)
  oneOf('tdmrep', options.tdmrep ?? 'fetch', ['fetch', 'ignore'])
}

/**
 * Checks the options of `checkMany` and fills in the defaults. @throws {OptionError} for an invalid
 * or unknown option.
 */
export function checkedManyOptions(options: CheckManyOptions): ConcurrentMapOptions {
  assertLookupOptions(options, KNOWN_OF_MANY)
  const { concurrency = DEFAULT_CONCURRENCY, order = 'input', signal } = options
  return {
    concurrency: integer('concurrency', concurrency, { min: 1, example: DEFAULT_CONCURRENCY }),
    order: oneOf('order', order, ['input', 'ready']),
    signal,
  }
}
