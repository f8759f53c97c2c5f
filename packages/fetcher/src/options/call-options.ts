// The options of the methods of a RobotsClient.
import type { ConcurrentMapOptions } from '../base/concurrent-map.ts'
import { assertCallOptions, integer, oneOf } from '../base/option-checks.ts'

/** Options of `isAllowed`, `explain`, `sitemaps` and `robots` of a `RobotsClient`. */
export interface AbortOptions {
  /**
   * Aborting it rejects this call with the signal's reason. A fetch that other callers wait for
   * continues.
   */
  readonly signal?: AbortSignal | undefined
}

/** Options of `RobotsClient.check`. */
export interface CheckOptions extends AbortOptions {
  /**
   * The URLs whose redirects led to this one, in order. A redirect from a public host must lead to
   * a public address (see `network`). If it does not, the verdict is `unreachable` with reason
   * `blocked-address`, and the client sends nothing to the target. Default: none.
   */
  readonly redirectedFrom?: readonly string[] | undefined
}

/** Options of `RobotsClient.prefetch`. */
export interface ManyOptions extends AbortOptions {
  /**
   * The maximum number of checks that are under way, or done and not yet taken by the caller.
   * Default 64.
   */
  readonly concurrency?: number | undefined
}

/** Options of `RobotsClient.checkMany`. */
export interface CheckManyOptions extends ManyOptions {
  /**
   * `input`: verdicts come in the order of the URLs (the default). `ready`: each verdict comes as
   * soon as it is known.
   */
  readonly order?: ConcurrentMapOptions['order'] | undefined
}

export const ABORT_OPTIONS: Readonly<Record<keyof AbortOptions, true>> = { signal: true }
export const CHECK_OPTIONS: Readonly<Record<keyof CheckOptions, true>> = { signal: true, redirectedFrom: true }
export const PREFETCH_OPTIONS: Readonly<Record<keyof ManyOptions, true>> = { signal: true, concurrency: true }

const DEFAULT_CONCURRENCY = 64
const KNOWN_OF_MANY: Readonly<Record<keyof CheckManyOptions, true>> = { concurrency: true, order: true, signal: true }

/**
 * Checks the options of `checkMany` and fills in the defaults. @throws {OptionError} for an invalid
 * or unknown option.
 */
export function checkedManyOptions(options: CheckManyOptions): ConcurrentMapOptions {
  assertCallOptions(options, KNOWN_OF_MANY)
  const { concurrency = DEFAULT_CONCURRENCY, order = 'input', signal } = options
  return {
    concurrency: integer('concurrency', concurrency, { min: 1, example: DEFAULT_CONCURRENCY }),
    order: oneOf('order', order, ['input', 'ready']),
    signal,
  }
}
