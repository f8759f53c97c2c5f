// The options of PageCache. The constructor validates them.
import { OptionError } from '@politely/core'
import { nextVisit } from '@politely/core/revisit'
import { assertOptions, callable, describeValue, integer, oneOf } from '@politely/fetcher/internal'
import { FreshnessRules } from './freshness.ts'
import { MemoryPageStore } from './memory-page-store.ts'
import type { PageStore } from './page-store.ts'
import { type RequestHeaderKind, RequestHeaders } from './request-headers.ts'
import { SqlitePageStore } from './sqlite/sqlite-page-store.ts'
import type { RevisitOptions } from './visits.ts'

/** Options of a `PageCache`. None is required. */
export interface PageCacheOptions {
  /**
   * The SQLite file that keeps the responses, for later runs and other processes. It is created if
   * it does not exist. Default: in memory.
   */
  readonly file?: string | undefined
  /** Your own store instead. The cache closes it. */
  readonly store?: PageStore | undefined
  /**
   * How many bytes to keep. The URLs that were used longest ago are deleted first. Default 1 GiB in a
   * file, and 100 MiB in memory.
   */
  readonly maxBytes?: number | undefined
  /** The longest body that is stored. Bytes. Default 20 MiB. */
  readonly maxEntryBytes?: number | undefined
  /**
   * Whether a page without a lifetime is fresh for a tenth of its age. Its age is the time since
   * its Last-Modified (RFC 9111 §4.2.2). Default false: it is revalidated at each visit.
   */
  readonly heuristic?: boolean | undefined
  /**
   * `if-error`: returns a stored response if the site fails. It may be of any age, unless the site
   * forbids that (`must-revalidate`). A failure is a status from 500, a lost connection, or an open
   * circuit. Default: only for as long as the site allows (`stale-if-error`, RFC 5861).
   */
  readonly stale?: 'if-error' | undefined
  /**
   * Answers from what is stored, of any age, and sends no request: not even for robots.txt, which is
   * taken from the `store` of the RobotsClient. What is missing rejects with `CacheMissError`. Default
   * false.
   */
  readonly offline?: boolean | undefined
  /** Revalidates each stored response, however fresh. Default false. */
  readonly refresh?: boolean | undefined
  /** How often pages are due again (`due`), for `nextVisit`. */
  readonly revisit?: RevisitOptions | undefined
  /**
   * Identifies the content of a page, to tell whether it has changed. It gets the whole body, as it
   * was stored. Return a hash of the text, for example, if each copy has another advertisement.
   * Default: a hash of the bytes.
   */
  readonly fingerprint?:
    | ((body: Uint8Array, page: { readonly url: string; readonly headers: Headers }) => string)
    | undefined
  /**
   * What headers of your requests say, by name: a `credential` names a user, so its page is given to
   * requests with the same value alone. A `harmless` header, such as the ID of a request, matters only
   * if Vary names it. Names like Authorization, Cookie, `x-api-key` and `private-token` are
   * credentials already, and the fields of HTTP and of tracing are harmless. The page of a request with
   * any other header is given to requests with the same value alone.
   */
  readonly requestHeaders?: Readonly<Record<string, RequestHeaderKind>> | undefined
  /** The clock, in milliseconds since 1970. For tests and simulations. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

export interface CacheSettings {
  readonly store: PageStore
  readonly maxEntryBytes: number
  readonly freshness: FreshnessRules
  readonly isStaleIfError: boolean
  readonly offline: boolean
  readonly refresh: boolean
  readonly revisit: RevisitOptions
  readonly fingerprint: PageCacheOptions['fingerprint']
  readonly requestHeaders: RequestHeaders
  readonly now: () => number
}

const KNOWN: Readonly<Record<keyof PageCacheOptions, true>> = {
  file: true,
  store: true,
  maxBytes: true,
  maxEntryBytes: true,
  heuristic: true,
  stale: true,
  offline: true,
  refresh: true,
  revisit: true,
  fingerprint: true,
  requestHeaders: true,
  now: true,
}
const MIB = 1024 * 1024
/** As a `SqlitePageStore` requires. */
const MIN_FILE_BYTES = 16 * MIB

/** Fills in defaults. @throws {OptionError} for an invalid option. */
export function cacheSettingsOf(options: PageCacheOptions): CacheSettings {
  assertOptions(options, '{ file: "pages.sqlite" }, or { store: new MemoryPageStore() }', KNOWN)
  const { maxEntryBytes = 20 * MIB, stale, offline = false, refresh = false, now = Date.now, revisit = {} } = options
  const { fingerprint } = options
  if (offline && refresh) throw new OptionError('refresh', 'contradicts `offline`; leave one out')
  assertOptions(revisit, '{ defaultIntervalMs: 86_400_000 }', {
    minIntervalMs: true,
    maxIntervalMs: true,
    defaultIntervalMs: true,
  })
  nextVisit([{ at: 0, status: 200, changed: false }], revisit) // validates them
  const settings = {
    maxEntryBytes: integer('maxEntryBytes', maxEntryBytes, { min: 0 }),
    freshness: new FreshnessRules(flag('heuristic', options.heuristic ?? false) ? 0.1 : 0),
    isStaleIfError: stale !== undefined && oneOf('stale', stale, ['if-error']) === 'if-error',
    offline: flag('offline', offline),
    refresh: flag('refresh', refresh),
    revisit,
    fingerprint:
      fingerprint && callable('fingerprint', fingerprint, 'a function that gets the body and returns a string'),
    requestHeaders: new RequestHeaders(options.requestHeaders),
    now: callable('now', now, 'a function that returns milliseconds'),
  }
  return { ...settings, store: storeOf(options, settings.now) }
}

function storeOf({ file, store, maxBytes }: PageCacheOptions, now: () => number): PageStore {
  if (store !== undefined) {
    const other = (file !== undefined && 'file') || (maxBytes !== undefined && 'maxBytes')
    if (other) throw new OptionError(other, 'has no effect together with `store`; pass it to the store')
    return store
  }
  const size =
    maxBytes === undefined
      ? undefined
      : integer('maxBytes', maxBytes, { min: file === undefined ? MIB : MIN_FILE_BYTES, example: 100 * MIB })
  return file === undefined
    ? new MemoryPageStore({ maxBytes: size ?? 100 * MIB })
    : new SqlitePageStore({ file, maxBytes: size, now })
}

function flag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new OptionError(name, `${describeValue(value)} is invalid; expected true or false`)
}
