// The options of a RobotsClient, and their checks at construction.
import type { LookupFunction } from 'node:net'
import { type Dialect, type DialectName, isProductToken, OptionError, productTokenOf } from '@politely/core'
import { type AccessPolicy, accessPolicyOf } from '@politely/core/engine'
import { dialectFor, explainMissingToken } from '@politely/core/internal'
import {
  abortSignal,
  assertOptions,
  callable,
  describeValue,
  integer,
  number,
  oneOf,
  withMethods,
} from '../base/option-checks.ts'
import { MAX_TIMEOUT_MS } from '../base/timeout.ts'
import { NetworkGuard, type NetworkPolicy } from '../network/network-guard.ts'
import { RobotsWay } from '../network/robots-way.ts'
import { requireSockets } from '../network/undici.ts'
import type { EvidenceSink } from '../report/evidence.ts'
import type { Logger } from '../report/telemetry.ts'
import type { Store } from '../store/store.ts'
import { type AnyDispatcher, type DispatcherByOrigin, dispatcherChooser } from './dispatchers.ts'
import { checkedSigner, type RequestSigner } from './request-signer.ts'

/** Options of a `RobotsClient`. Only `userAgent` is required. */
export interface RobotsClientOptions {
  /**
   * The User-Agent header to send, such as `ExampleBot/1.0 (+https://example.com/bot)`. It supplies
   * the default of `productToken`, and should contain the product token in any case (RFC 9309
   * §2.2.1).
   */
  readonly userAgent: string
  /**
   * The name to look for in robots.txt. Of a list, the first name with a group counts. Default: the
   * product token in `userAgent`.
   */
  readonly productToken?: string | readonly string[] | undefined
  /**
   * How robots.txt is parsed, and what its absence means: the name of a dialect, or a custom one.
   * Default `rfc9309`.
   */
  readonly dialect?: DialectName | Dialect | undefined
  /**
   * How long a response without Cache-Control or Expires is fresh, in milliseconds. Default: what
   * the dialect says, 24 hours. RFC 9309 §2.4.
   */
  readonly ttlMs?: number | undefined
  /**
   * The minimum time for which a response is fresh, in milliseconds. Waits after failures are
   * separate. Default 1 minute.
   */
  readonly minTtlMs?: number | undefined
  /** The maximum time for which a response is fresh, in milliseconds. Default 7 days. */
  readonly maxTtlMs?: number | undefined
  /**
   * The deadline of one attempt in milliseconds, redirects and retries included. Default 20,000.
   */
  readonly timeoutMs?: number | undefined
  /**
   * How often a request is repeated after 5xx or a temporary failure. Default 2. A request that a
   * redirect led to another registrable domain is not repeated, and neither is one whose response is
   * a 429 or has a Retry-After.
   */
  readonly retries?: number | undefined
  /**
   * How many redirects the client follows. Default 5; RFC 9309 §2.3.1.2 recommends at least five.
   */
  readonly maxRedirects?: number | undefined
  /**
   * The size limit of a decoded robots.txt, in bytes. Default and minimum 512,000: the 500 KiB of
   * RFC 9309 §2.5.
   */
  readonly maxBodyBytes?: number | undefined
  /**
   * The approximate size of the memory cache, in bytes. Default 64 MiB. The client evicts the least
   * recently used origins, but always keeps one.
   */
  readonly maxCacheBytes?: number | undefined
  /** Keeps entries for other processes, or after a restart. The caller closes it. */
  readonly store?: Store | undefined
  /**
   * How long before its end an entry is refreshed in the background, in milliseconds. The check
   * itself does not wait. Default 0: no early refresh. A refresh never starts in the first half of
   * the time for which the entry is fresh.
   */
  readonly refreshAheadMs?: number | undefined
  /**
   * The maximum number of concurrent robots.txt fetches. Further ones wait. Fetches that take
   * longer than five seconds do not count while others wait. Default 200.
   */
  readonly maxFlights?: number | undefined
  /**
   * The maximum number of concurrent fetches from one site. The current request of a fetch counts.
   * A site is a registrable domain or a tenant of a platform, and may have any number of hosts.
   * Default 8.
   */
  readonly maxFlightsPerDomain?: number | undefined
  /**
   * What applies while robots.txt is unreachable, if there is a last good copy: use it, or disallow
   * everything. Default: what the dialect says, `use-copy`. RFC 9309 §2.3.1.4, §2.4.
   */
  readonly whenUnreachable?: AccessPolicy['whenUnreachable'] | undefined
  /**
   * After how many days without a response `thenAssume` applies. `Infinity` means never.
   * Default 30. RFC 9309 §2.3.1.4.
   */
  readonly afterDays?: number | undefined
  /**
   * What applies after `afterDays`: the last good `copy` if there is one, or everything is allowed
   * as if robots.txt were `unavailable`. Default `copy`.
   */
  readonly thenAssume?: AccessPolicy['thenAssume'] | undefined
  /**
   * What a 5xx response means if its page says "not found". The title or a heading has to say so.
   * Default `by-status`: robots.txt is unreachable. Google treats it as `unavailable`. A 503, and a
   * 5xx with Retry-After, is unreachable in either case.
   */
  readonly notFoundPages?: AccessPolicy['notFoundPages'] | undefined
  /**
   * What a response means that is not a robots.txt, such as a login page; `access.looksLike` says
   * what it is. Default `obey`: its readable lines are obeyed. Usually it has no such line, so
   * everything is allowed (RFC 9309 §2.3.1.1). `unreachable`: everything is disallowed until the
   * site sends a robots.txt.
   */
  readonly foreignBodies?: AccessPolicy['foreignBodies'] | undefined
  /** Which addresses a fetch of robots.txt may connect to. Default `guarded`. */
  readonly network?: NetworkPolicy | undefined
  /**
   * Private addresses and blocks, such as `10.0.0.0/8`, that the guard treats as public. Default
   * none.
   */
  readonly allowAddresses?: readonly string[] | undefined
  /**
   * The caller's undici dispatcher, for a proxy, HTTP/2 or another CA; or a function that chooses one
   * by the origin of each request. It makes the connections, so the guard sees only URLs. Cannot be
   * combined with `fetch`. Default: none.
   */
  readonly dispatcher?: AnyDispatcher | DispatcherByOrigin | undefined
  /**
   * The caller's fetch, called with `redirect: 'manual'`. It makes the connections, so the guard
   * sees only URLs. Cannot be combined with `dispatcher`.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Which way requests for robots.txt take. An option `dispatcher` or `fetch` decides it first.
   * `auto` (the default): the way of pages if that is not the platform's plain one, and otherwise
   * the client's own connections. `own`: always the client's own connections, which the guard sees.
   * `pages`: always the fetch for pages: the fetch given to `politely`, or `globalThis.fetch`.
   */
  readonly robotsVia?: 'auto' | 'own' | 'pages' | undefined
  /**
   * What a cache on the way, such as a CDN, may send: its own copy of robots.txt (`allow`, the
   * default), or only a copy that the site has confirmed for this request (`revalidate`: the
   * request has `Cache-Control: no-cache`, RFC 9111 §5.2.1.4). A cache may ignore this.
   */
  readonly httpCaches?: 'allow' | 'revalidate' | undefined
  /**
   * The caller's resolver, with the signature of `dns.lookup`. With `dispatcher` or `fetch`, only
   * the guard uses it.
   */
  readonly lookup?: LookupFunction | undefined
  /**
   * Logs attempts (`info`, or `warn` if they failed), store failures (`warn`) and verdicts
   * (`debug`). A gate of this client logs long waits (`info`) and pauses (`warn`) there too.
   * `console` is one. Default: none.
   */
  readonly logger?: Logger | undefined
  /**
   * Signs each request over https, redirect hops included: `signer` of `@politely/web-bot-auth`.
   * `politely`, `politeAgent` and `politeInterceptor` with this client sign pages with it. A
   * browser does not, and `politeHttpAgent` cannot. A request that cannot be signed is not sent:
   * the call rejects with the error of the signer, and the client remembers nothing about the site.
   * Default: nothing is signed. Experimental.
   */
  readonly sign?: RequestSigner | undefined
  /**
   * Keeps each decision of the client, with everything that it depends on. Gates with this client
   * keep theirs there too, and what became of each request. `evidenceFiles` of
   * `@politely/evidence` creates such a sink; the caller closes it. If the sink cannot keep a
   * decision, the check rejects with its error. Default: none.
   */
  readonly evidence?: EvidenceSink | undefined
  /** Aborting it closes the client. */
  readonly signal?: AbortSignal | undefined
  /** The clock: returns milliseconds since 1970. For tests and simulations. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** The checked options, with defaults filled in. */
export interface ClientSettings {
  readonly userAgent: string
  readonly productTokens: readonly string[]
  readonly dialect: Dialect
  readonly policy: AccessPolicy
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly retries: number
  readonly maxBodyBytes: number
  readonly maxCacheBytes: number
  readonly store: Store | undefined
  readonly maxFlights: number
  readonly maxFlightsPerDomain: number
  readonly logger: Logger | undefined
  readonly guard: NetworkGuard
  readonly way: RobotsWay
  readonly httpCaches: 'allow' | 'revalidate'
  readonly sign: RequestSigner | undefined
  readonly evidence: EvidenceSink | undefined
  readonly signal: AbortSignal | undefined
  readonly now: () => number
}

const MIN_BODY_BYTES = 500 * 1024
const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024
/** Few servers on the internet respond faster. */
const MIN_PLAUSIBLE_TIMEOUT_MS = 100

type Check<T> = (option: string, value: T) => T
type Bounds = Parameters<typeof number>[2]
const aNumber = (bounds: Bounds) => (option: string, value: number) => number(option, value, bounds)
const aWhole = (bounds: Bounds) => (option: string, value: number) => integer(option, value, bounds)
const aWord =
  <const Word extends string>(...words: readonly Word[]) =>
  (option: string, value: Word) =>
    oneOf<Word, Word>(option, value, words)

type PolicyOption = keyof AccessPolicy & keyof RobotsClientOptions

/** The checks of the options that change the policy of the dialect. */
const POLICY_CHECKS: { readonly [Name in PolicyOption]: Check<AccessPolicy[Name]> } = {
  ttlMs: aNumber({ min: 0 }),
  minTtlMs: aNumber({ min: 0 }),
  maxTtlMs: aNumber({ min: 0 }),
  refreshAheadMs: aNumber({ min: 0 }),
  maxRedirects: aWhole({ min: 0, max: 50 }),
  afterDays: aNumber({ min: 0, infinite: 'allowed' }),
  whenUnreachable: aWord('use-copy', 'disallow'),
  thenAssume: aWord('copy', 'unavailable'),
  notFoundPages: aWord('by-status', 'unavailable'),
  foreignBodies: aWord('obey', 'unreachable'),
}

/** The options that are numbers: the default of each, and its check. */
const NUMBERS = {
  timeoutMs: [20_000, (option, ms) => plausibleTimeout(option, number(option, ms, { min: 1, max: MAX_TIMEOUT_MS }))],
  retries: [2, aWhole({ min: 0, max: 20 })],
  maxBodyBytes: [MIN_BODY_BYTES, aWhole({ min: MIN_BODY_BYTES, max: 2 ** 28 })],
  maxCacheBytes: [DEFAULT_CACHE_BYTES, aWhole({ min: 1, example: DEFAULT_CACHE_BYTES })],
  maxFlights: [200, aWhole({ min: 1, example: 200 })],
  maxFlightsPerDomain: [8, aWhole({ min: 1, example: 8 })],
} as const satisfies { readonly [Name in keyof RobotsClientOptions]?: readonly [byDefault: number, Check<number>] }

const namesOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]
const knownBy = <T extends object>(table: T) =>
  Object.fromEntries(namesOf(table).map((name) => [name, true])) as Readonly<Record<keyof T, true>>

/** The names of all options. */
export const CLIENT_OPTIONS: Readonly<Record<keyof RobotsClientOptions, true>> = {
  userAgent: true,
  productToken: true,
  dialect: true,
  ...knownBy(POLICY_CHECKS),
  ...knownBy(NUMBERS),
  store: true,
  network: true,
  allowAddresses: true,
  dispatcher: true,
  fetch: true,
  robotsVia: true,
  httpCaches: true,
  lookup: true,
  logger: true,
  sign: true,
  evidence: true,
  signal: true,
  now: true,
}

/** The end of the error message about an option of pace. */
const OF_A_GATE = 'is an option of the gate; write it in politely(fetch, { … }) or new PoliteGate({ robots, … })'

/**
 * The options of pace, for the error message if a caller passes one to the client. `@politely/gate`
 * adds its options when it loads. Without it, the client knows the two that callers try first.
 */
export const OPTIONS_OF_GATE: Record<string, string> = { minDelayMs: OF_A_GATE, maxConcurrent: OF_A_GATE }

/** Adds the names of options of pace. */
export function registerPacingOptions(names: readonly string[]): void {
  for (const name of names) OPTIONS_OF_GATE[name] = OF_A_GATE
}

/**
 * Checks the options and fills in the defaults. @throws {OptionError} for an invalid or unknown
 * option.
 */
export function clientSettingsOf(options: RobotsClientOptions, closing?: AbortSignal): ClientSettings {
  assertOptions(options, undefined, CLIENT_OPTIONS, {
    ...OPTIONS_OF_GATE,
    requestTimeoutMs: 'is an option of politely(fetch, { … }), for pages; for robots.txt write timeoutMs',
  })
  const userAgent = headerValue(options.userAgent)
  const dialect = dialectFor(options.dialect)
  const policy = policyOf(options, accessPolicyOf(dialect.access))
  if (policy.minTtlMs > policy.maxTtlMs) {
    throw new OptionError(
      'minTtlMs',
      `${policy.minTtlMs} is greater than maxTtlMs, which is ${policy.maxTtlMs}; write a smaller minTtlMs or a larger maxTtlMs`,
    )
  }
  if (options.ttlMs !== undefined && policy.ttlMs > policy.maxTtlMs) {
    throw new OptionError(
      'ttlMs',
      `${policy.ttlMs} is greater than maxTtlMs, which is ${policy.maxTtlMs}; write a smaller ttlMs or a larger maxTtlMs`,
    )
  }
  return {
    userAgent,
    productTokens: productTokens(options.productToken, userAgent),
    dialect,
    policy,
    ...numbersOf(options),
    store: checkedStore(options.store),
    logger: withMethods('logger', options.logger, [], 'an object with debug, info or warn, such as console'),
    way: wayOf(options),
    httpCaches: oneOf('httpCaches', options.httpCaches ?? 'allow', ['allow', 'revalidate']),
    sign: checkedSigner(options.sign),
    evidence: checkedSink(options.evidence),
    signal: abortSignal(options.signal),
    guard: new NetworkGuard({
      network: options.network,
      allowAddresses: options.allowAddresses,
      lookup: options.lookup,
      closing,
    }),
    now: callable('now', options.now, 'a function that returns milliseconds') ?? Date.now,
  }
}

function policyOf(options: RobotsClientOptions, defaults: AccessPolicy): AccessPolicy {
  const policy: { -readonly [Name in keyof AccessPolicy]: AccessPolicy[Name] } = { ...defaults }
  const set = <Name extends PolicyOption>(name: Name) => {
    const value = (options[name] ?? defaults[name]) as AccessPolicy[Name]
    policy[name] = POLICY_CHECKS[name](name, value)
  }
  for (const name of namesOf(POLICY_CHECKS)) set(name)
  return policy
}

function numbersOf(options: RobotsClientOptions): Readonly<Record<keyof typeof NUMBERS, number>> {
  const checked = (name: keyof typeof NUMBERS) => {
    const [byDefault, check] = NUMBERS[name]
    return check(name, options[name] ?? byDefault)
  }
  return Object.fromEntries(namesOf(NUMBERS).map((name) => [name, checked(name)])) as never
}

function wayOf({ robotsVia: given, fetch, dispatcher }: RobotsClientOptions): RobotsWay {
  if (fetch !== undefined && dispatcher !== undefined) {
    throw new OptionError(
      'fetch',
      'cannot be combined with dispatcher, since only one of them can make the request; pass the dispatcher to your fetch instead',
    )
  }
  const robotsVia = oneOf('robotsVia', given ?? 'auto', ['auto', 'own', 'pages'])
  const other = fetch !== undefined ? 'fetch' : 'dispatcher'
  if (robotsVia !== 'auto' && (fetch ?? dispatcher) !== undefined) {
    throw new OptionError(
      'robotsVia',
      `cannot be combined with ${other}, which is a way of its own; leave one of them out`,
    )
  }
  if (dispatcher !== undefined) requireSockets('dispatcher', 'write fetch: your fetch, or leave it out')
  if (robotsVia === 'own') requireSockets("robotsVia: 'own'", 'leave it out')
  return new RobotsWay({
    robotsVia,
    choose: dispatcherChooser(dispatcher),
    fetch: callable('fetch', fetch, 'a function like the global fetch'),
  })
}

const warnedTimeouts = new Set<string>()

/**
 * Emits a process warning, once for each value, if the timeout is so short that the caller probably
 * took the unit for seconds. It is a warning and no error, since a test with a local server may
 * mean it.
 */
export function plausibleTimeout(option: string, ms: number): number {
  const written = `${option}: ${ms}`
  if (ms < MIN_PLAUSIBLE_TIMEOUT_MS && !warnedTimeouts.has(written)) {
    warnedTimeouts.add(written)
    process.emitWarning(
      `${written} is a time in milliseconds, so most sites will be unreachable; write ${option}: ${ms * 1000} for ${ms} seconds`,
      { type: 'PolitelyWarning', code: 'POLITELY_TIMEOUT' },
    )
  }
  return ms
}

/** @throws {OptionError} for a value that is not a sink. */
export function checkedSink(sink: EvidenceSink | undefined): EvidenceSink | undefined {
  const expected = 'a sink, such as evidenceFiles({ dir: "evidence" }) of @politely/evidence'
  return withMethods('evidence', sink, ['decided', 'ended'], expected)
}

function checkedStore(store: Store | undefined): Store | undefined {
  const expected =
    typeof store === 'string'
      ? 'a Store, such as new SqliteStore({ path: "robots.sqlite" }) of @politely/sqlite'
      : 'a Store, with get, set and delete'
  withMethods('store', store, ['get', 'set', 'delete'], expected)
  // A Keyv has the methods of a Store, but would take the third argument of `set`, a time, for a
  // duration.
  if (store !== undefined && 'getMany' in store && 'namespace' in store)
    throw new OptionError('store', 'a Keyv is not a Store; write fromKeyv(keyv)')
  return store
}

/**
 * Returns whether the User-Agent contains one of the product tokens, in any case. RFC 9309 §2.2.1.
 */
export function namesItself({
  userAgent,
  productTokens,
}: Pick<ClientSettings, 'userAgent' | 'productTokens'>): boolean {
  const header = userAgent.toLowerCase()
  return productTokens.some((token) => header.includes(token.toLowerCase()))
}

function headerValue(userAgent: unknown): string {
  const example = 'write one such as "ExampleBot/1.0 (+https://example.com/bot)"'
  if (userAgent === undefined || userAgent === '') throw new OptionError('userAgent', `is missing or empty; ${example}`)
  if (typeof userAgent !== 'string' || userAgent.trim() === '')
    throw new OptionError('userAgent', `${describeValue(userAgent)} is not a User-Agent; ${example}`)
  // Field values are visible ASCII, spaces and tabs. RFC 9110 §5.5.
  const [invalid] = /[^\t\x20-\x7e]/u.exec(userAgent) ?? []
  if (invalid !== undefined) {
    const problem = `${JSON.stringify(userAgent)} contains ${describeValue(invalid)}, which a header must not contain`
    throw new OptionError('userAgent', `${problem}; ${example}`)
  }
  return userAgent.trim()
}

function productTokens(given: string | readonly string[] | undefined, userAgent: string): readonly string[] {
  if (given === undefined) {
    const token = productTokenOf(userAgent)
    if (token !== undefined) return [token]
    throw new OptionError(
      'userAgent',
      `${explainMissingToken(userAgent)}; write the name to look for in robots.txt as productToken, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0`,
    )
  }
  const tokens: readonly unknown[] = Array.isArray(given) ? given : [given]
  const invalid = tokens.findIndex((token) => typeof token !== 'string' || !isProductToken(token))
  if (invalid === -1 && tokens.length > 0) return [...tokens] as readonly string[]
  throw new OptionError(
    'productToken',
    `${tokens.length === 0 ? 'an empty list' : describeValue(tokens[invalid])} is not a product token; write a name of letters, digits, "-" and "_", such as ExampleBot`,
  )
}
