// What a caller may choose, checked at construction.
import type { LookupFunction } from 'node:net'
import {
  type AccessPolicy,
  accessPolicyOf,
  type Dialect,
  type DialectName,
  dialectFor,
  isProductToken,
  OptionError,
  productTokenOf,
} from '@politely/core'
import type { Dispatcher } from 'undici'
import type { CheckManyOptions } from './client.ts'
import type { ConcurrentMapOptions } from './concurrent-map.ts'
import { NetworkGuard, type NetworkPolicy } from './network-guard.ts'
import {
  assertKnown,
  assertOptions,
  callable,
  describeValue,
  integer,
  LONGEST_TIMER_MS,
  number,
  oneOf,
  withMethods,
} from './option-checks.ts'
import type { Store } from './store.ts'
import type { Logger } from './telemetry.ts'

export interface RobotsClientOptions {
  /**
   * The User-Agent header to send, such as `ExampleBot/1.0 (+https://example.com/bot)`. The product token is taken from it.
   * RFC 9309 §2.2.1 wants the token in the header.
   */
  readonly userAgent: string
  /** The name to look for in robots.txt; a list means the first that has a group. Default: taken from `userAgent`. */
  readonly productToken?: string | readonly string[]
  /** How robots.txt is read, and what its absence means: a name, or a dialect of your own. Default `rfc9309`. */
  readonly dialect?: DialectName | Dialect
  /** How long an answer without Cache-Control or Expires holds. Default: the dialect's, 24 hours. RFC 9309 §2.4. */
  readonly ttlMs?: number
  /** The shortest that any answer holds; the waits after failures are their own. Default 1 minute. */
  readonly minTtlMs?: number
  /** The longest that any answer holds. Default 7 days. */
  readonly maxTtlMs?: number
  /** One deadline for one robots.txt, redirects and retries included. Default 20 seconds. */
  readonly timeoutMs?: number
  /** How often a request is made again after 429, 5xx or a failure that may pass. Default 2. */
  readonly retries?: number
  /** How many redirects are followed. Default 5; RFC 9309 §2.3.1.2 asks for at least five. */
  readonly maxRedirects?: number
  /** Bytes of decoded robots.txt that are read. Default, and least, 512,000: the 500 KiB of RFC 9309 §2.5. */
  readonly maxBodyBytes?: number
  /** Bytes of memory for remembered robots.txt files, about, and one at the least. Default 64 MiB; the least recently used go first. */
  readonly maxCacheBytes?: number
  /** Where entries are kept beyond the memory of this client: for other processes, or after a restart. It stays yours to close. */
  readonly store?: Store
  /**
   * How long before its end an answer that is asked about is asked for again, off the caller's path, so that no crawler waits.
   * Milliseconds; default 0: not before. It never uses up more than half of the time for which the answer holds.
   */
  readonly refreshAheadMs?: number
  /** How many robots.txt files are asked for at once. Default 200; who comes later waits. */
  readonly maxFlights?: number
  /** How many of them from hosts of one registrable domain, which may have as many hosts as it likes. Default 8. */
  readonly maxFlightsPerDomain?: number
  /** What holds while robots.txt is unreachable and a last good copy is at hand. Default: the dialect's, `use-copy`. RFC 9309 §2.3.1.4, §2.4. */
  readonly whenUnreachable?: AccessPolicy['whenUnreachable']
  /** After how many days without an answer `thenAssume` holds; `Infinity` for never. Default 30. RFC 9309 §2.3.1.4. */
  readonly afterDays?: number
  /** What holds after `afterDays`: the last good `copy`, if there is one, or robots.txt is `unavailable`. Default `copy`. */
  readonly thenAssume?: AccessPolicy['thenAssume']
  /** What a 5xx means whose page says that nothing was found. Default `by-status`; `unavailable` is Google's way. */
  readonly notFoundPages?: AccessPolicy['notFoundPages']
  /** What a fetch of robots.txt may connect to. Default `guarded`. */
  readonly network?: NetworkPolicy
  /** Addresses and blocks, such as `10.0.0.0/8`, that count as public although they are not. Default none. */
  readonly allowAddresses?: readonly string[]
  /** Your own undici dispatcher: a proxy, HTTP/2, another CA. Then connections are its business, and the guard sees URLs only. */
  readonly dispatcher?: Dispatcher
  /** Your own fetch, called with `redirect: 'manual'`. Then connections are its business, and the guard sees URLs only. */
  readonly fetch?: typeof globalThis.fetch
  /** Your own resolver, in the form of `dns.lookup`. With `dispatcher` or `fetch` it only tells the guard where names lead. */
  readonly lookup?: LookupFunction
  /** Is told of every attempt (`info`; `warn` where it failed), store failure (`warn`) and verdict (`debug`): `console` will do. */
  readonly logger?: Logger
  /** Aborting it closes the client. */
  readonly signal?: AbortSignal
  /** The clock: milliseconds since 1970. Default `Date.now`. For tests and simulations. */
  readonly now?: () => number
}

/** The options with their defaults, checked. */
export interface Settings {
  readonly userAgent: string
  readonly productTokens: readonly string[]
  readonly dialect: Dialect
  readonly policy: AccessPolicy
  readonly timeoutMs: number
  readonly retries: number
  readonly maxBodyBytes: number
  readonly maxCacheBytes: number
  readonly store: Store | undefined
  readonly maxFlights: number
  readonly maxFlightsPerDomain: number
  readonly logger: Logger | undefined
  readonly guard: NetworkGuard
  readonly dispatcher: Dispatcher | undefined
  readonly fetch: typeof globalThis.fetch | undefined
  readonly signal: AbortSignal | undefined
  readonly now: () => number
}

const LEAST_BODY_BYTES = 500 * 1024
const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 20_000
const DEFAULT_MAX_FLIGHTS = 200
const DEFAULT_MAX_FLIGHTS_PER_DOMAIN = 8
const DEFAULT_CONCURRENCY = 64
const DEFAULT_RETRIES = 2

const KNOWN: Readonly<Record<keyof RobotsClientOptions, true>> = {
  userAgent: true,
  productToken: true,
  dialect: true,
  ttlMs: true,
  minTtlMs: true,
  maxTtlMs: true,
  timeoutMs: true,
  retries: true,
  maxRedirects: true,
  maxBodyBytes: true,
  maxCacheBytes: true,
  store: true,
  refreshAheadMs: true,
  maxFlights: true,
  maxFlightsPerDomain: true,
  whenUnreachable: true,
  afterDays: true,
  thenAssume: true,
  notFoundPages: true,
  network: true,
  allowAddresses: true,
  dispatcher: true,
  fetch: true,
  lookup: true,
  logger: true,
  signal: true,
  now: true,
}

/** @throws {OptionError} naming the option, what is wrong with it, and what to write instead. */
export function settingsOf(options: RobotsClientOptions): Settings {
  assertOptions(options)
  assertKnown(options, KNOWN)
  const userAgent = headerValue(options.userAgent)
  const dialect = dialectFor(options.dialect)
  const defaults = accessPolicyOf(dialect.access)
  const policy: AccessPolicy = {
    ...defaults,
    ttlMs: number('ttlMs', options.ttlMs ?? defaults.ttlMs, { min: 0 }),
    minTtlMs: number('minTtlMs', options.minTtlMs ?? defaults.minTtlMs, { min: 0 }),
    maxTtlMs: number('maxTtlMs', options.maxTtlMs ?? defaults.maxTtlMs, { min: 0 }),
    refreshAheadMs: number('refreshAheadMs', options.refreshAheadMs ?? defaults.refreshAheadMs, { min: 0 }),
    maxRedirects: integer('maxRedirects', options.maxRedirects ?? defaults.maxRedirects, {
      min: 0,
      max: 50,
    }),
    afterDays: number('afterDays', options.afterDays ?? defaults.afterDays, {
      min: 0,
      infinite: 'allowed',
    }),
    whenUnreachable: oneOf('whenUnreachable', options.whenUnreachable ?? defaults.whenUnreachable, [
      'use-copy',
      'disallow',
    ]),
    thenAssume: oneOf('thenAssume', options.thenAssume ?? defaults.thenAssume, ['copy', 'unavailable']),
    notFoundPages: oneOf('notFoundPages', options.notFoundPages ?? defaults.notFoundPages, [
      'by-status',
      'unavailable',
    ]),
  }
  if (policy.minTtlMs > policy.maxTtlMs) {
    throw new OptionError('minTtlMs', `${policy.minTtlMs} is over maxTtlMs, ${policy.maxTtlMs}; write a smaller one`)
  }
  if (options.ttlMs !== undefined && policy.ttlMs > policy.maxTtlMs) {
    throw new OptionError(
      'ttlMs',
      `${policy.ttlMs} is over maxTtlMs, ${policy.maxTtlMs}; write a smaller one, or a larger maxTtlMs`,
    )
  }
  if (options.fetch !== undefined && options.dispatcher !== undefined) {
    throw new OptionError(
      'fetch',
      'cannot be had together with dispatcher, since only one of them can make the request; give your fetch the dispatcher instead',
    )
  }
  return {
    userAgent,
    productTokens: productTokens(options.productToken, userAgent),
    dialect,
    policy,
    timeoutMs: number('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, { min: 1, max: LONGEST_TIMER_MS }),
    retries: integer('retries', options.retries ?? DEFAULT_RETRIES, { min: 0, max: 20 }),
    maxBodyBytes: integer('maxBodyBytes', options.maxBodyBytes ?? LEAST_BODY_BYTES, {
      min: LEAST_BODY_BYTES,
      max: 2 ** 28,
    }),
    maxCacheBytes: integer('maxCacheBytes', options.maxCacheBytes ?? DEFAULT_CACHE_BYTES, { min: 1 }),
    store: withMethods('store', options.store, ['get', 'set', 'delete'], 'a Store, with get, set and delete'),
    maxFlights: integer('maxFlights', options.maxFlights ?? DEFAULT_MAX_FLIGHTS, { min: 1 }),
    maxFlightsPerDomain: integer('maxFlightsPerDomain', options.maxFlightsPerDomain ?? DEFAULT_MAX_FLIGHTS_PER_DOMAIN, {
      min: 1,
    }),
    logger: withMethods('logger', options.logger, [], 'an object with debug, info or warn, such as console'),
    dispatcher: withMethods('dispatcher', options.dispatcher, ['dispatch'], 'an undici dispatcher'),
    signal: withMethods('signal', options.signal, ['addEventListener'], 'an AbortSignal'),
    guard: new NetworkGuard({
      network: options.network,
      allowAddresses: options.allowAddresses,
      lookup: options.lookup,
    }),
    fetch: callable('fetch', options.fetch, 'a function like the global fetch'),
    now: callable('now', options.now, 'a function that returns milliseconds') ?? Date.now,
  }
}

/** Those of `checkMany`, checked. @throws {OptionError} */
export function checkedManyOptions({
  concurrency = DEFAULT_CONCURRENCY,
  order = 'input',
  signal,
}: CheckManyOptions): ConcurrentMapOptions {
  return {
    concurrency: integer('concurrency', concurrency, { min: 1 }),
    order: oneOf('order', order, ['input', 'ready']),
    signal: withMethods('signal', signal, ['addEventListener'], 'an AbortSignal'),
  }
}

function headerValue(userAgent: unknown): string {
  const example = 'write one such as "ExampleBot/1.0 (+https://example.com/bot)"'
  if (typeof userAgent !== 'string' || userAgent.trim() === '')
    throw new OptionError('userAgent', `is missing or empty; ${example}`)
  // Field values are visible ASCII, spaces and tabs. RFC 9110 §5.5.
  if (!/^[\t\x20-\x7e]+$/.test(userAgent))
    throw new OptionError('userAgent', `holds characters that no header may; ${example}`)
  return userAgent.trim()
}

function productTokens(given: string | readonly string[] | undefined, userAgent: string): readonly string[] {
  if (given === undefined) {
    const token = productTokenOf(userAgent)
    if (token !== undefined) return [token]
    throw new OptionError(
      'userAgent',
      `no product token can be taken from ${JSON.stringify(userAgent)}; begin it with a name such as ExampleBot/1.0, or give productToken`,
    )
  }
  const tokens: readonly unknown[] = Array.isArray(given) ? given : [given]
  const wrong = tokens.findIndex((token) => typeof token !== 'string' || !isProductToken(token))
  if (wrong === -1 && tokens.length > 0) return [...tokens] as readonly string[]
  throw new OptionError(
    'productToken',
    `${tokens.length === 0 ? 'an empty list' : describeValue(tokens[wrong])} is not one; write a name of letters, digits, "-" and "_", such as ExampleBot`,
  )
}
