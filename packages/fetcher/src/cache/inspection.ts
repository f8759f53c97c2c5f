// Builds the report of `inspect` about one origin.
import { type Attempt, type Dialect, parseRobots } from '@politely/core'
import { dueAt, type Entry, type State, stateOf } from '@politely/core/engine'
import type { OtherRecord } from '@politely/core/internal'
import { describeState } from '@politely/core/internal'
import type { RobotsVia } from '../network/robots-way.ts'
import type { ClientSettings } from '../options/options.ts'
import { displayUrl } from '../report/display.ts'
import type { FlightPhase } from './flights.ts'

/** What a client knows about one origin. JSON-safe. */
export interface Inspection {
  readonly origin: string
  /** The origin with its host in Unicode, such as `https://bücher.example`. For display only. */
  readonly displayOrigin: string
  readonly robotsUrl: string
  /**
   * The names that the client looks for in robots.txt. Of these, the first name with a group
   * counts.
   */
  readonly productTokens: readonly string[]
  readonly state: State
  /** One sentence: why the origin is in this state, and what applies in it. */
  readonly why: string
  /** Where the client found the entry. */
  readonly source: 'memory' | 'store' | 'nowhere'
  /**
   * Whether a fetch of robots.txt is under way, or `waiting` for other fetches to end: at its start or
   * after a redirect.
   */
  readonly flight: 'waiting' | 'under-way' | 'none'
  /**
   * The way that a request for robots.txt takes now. `own`: connections of the client's own.
   * `dispatcher`, `fetch`: these options of the client. `pages-fetch`: the fetch that was given to
   * `politely`. `global-fetch`: `globalThis.fetch`. `global-dispatcher`: the built-in fetch, with the
   * global dispatcher of undici.
   */
  readonly via: RobotsVia
  /**
   * The last attempts to fetch robots.txt, the latest first: status, redirects, time and outcome of
   * each.
   */
  readonly attempts: readonly Attempt[]
  /** When the next attempt is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number | undefined
  /** The number of failed attempts in a row. */
  readonly failures: number
  /** The time of the first of these failures. Milliseconds since 1970. */
  readonly unreachableSince: number | undefined
  /** The last good copy, without its content. */
  readonly copy:
    | {
        /** The size of the copy, in bytes. */
        readonly bytes: number
        /** Whether the copy was cut at the size limit. RFC 9309 §2.5. */
        readonly truncated: boolean
        /** When the server last sent or confirmed this file. Milliseconds since 1970. */
        readonly confirmedAt: number
        /** The URL that the copy came from, after redirects. */
        readonly url: string
        /** The ETag header of its response. */
        readonly etag: string | undefined
        /** The Last-Modified header of its response. */
        readonly lastModified: string | undefined
        /**
         * The fields that are neither user-agent lines nor rules, in the order of the file. Parsed when
         * first read. RFC 9309 §2.2.4.
         */
        readonly records: readonly OtherRecord[]
      }
    | undefined
}

/** What the cache knows about one origin. */
export interface KnownOrigin extends Pick<Inspection, 'source' | 'via'> {
  readonly entry: Entry | undefined
  readonly flight: FlightPhase | undefined
}

export function inspectionOf(
  { origin, robotsUrl }: Pick<Inspection, 'origin' | 'robotsUrl'>,
  known: KnownOrigin,
  now: number,
  settings: Pick<ClientSettings, 'policy' | 'dialect' | 'productTokens'>,
): Inspection {
  const { entry, source, flight = 'none', via } = known
  const { policy, dialect, productTokens } = settings
  return {
    origin,
    displayOrigin: displayUrl(origin),
    robotsUrl,
    productTokens,
    state: stateOf(entry, now, policy),
    why: describeState(entry, now, policy),
    source,
    flight,
    via,
    attempts: entry === undefined ? [] : structuredClone([entry.latest, ...entry.earlier]), // the caller may change them
    nextAttemptAt: entry && dueAt(entry, policy),
    failures: entry?.failures ?? 0,
    unreachableSince: entry?.unreachableSince,
    copy: entry?.copy && copyInspection(entry.copy, dialect),
  }
}

function copyInspection(copy: NonNullable<Entry['copy']>, dialect: Dialect): NonNullable<Inspection['copy']> {
  const { bytes, truncated, confirmedAt, url, etag, lastModified } = copy
  let records: readonly OtherRecord[] | undefined
  return {
    bytes: bytes.length,
    truncated,
    confirmedAt,
    url,
    etag,
    lastModified,
    get records() {
      records ??= parseRobots(copy, { dialect }).records
      return records
    },
  }
}
