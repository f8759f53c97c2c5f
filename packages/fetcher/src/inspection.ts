// All that is known of one origin, for people who ask why.
import { type AccessPolicy, type Attempt, describeState, dueAt, type Entry, type State, stateOf } from '@politely/core'
import { displayUrl } from './display.ts'
import type { FlightPhase } from './flights.ts'

/** What `inspect` shows. JSON-safe. */
export interface Inspection {
  readonly origin: string
  /** With its host as people write it, `https://bücher.example`. */
  readonly displayOrigin: string
  readonly robotsUrl: string
  readonly state: State
  /** Why it is in that state, and what holds there: one sentence. */
  readonly why: string
  /** Where it is known from. */
  readonly source: 'memory' | 'store' | 'nowhere'
  /** Whether robots.txt is being asked for just now. */
  readonly flight: FlightPhase | 'none'
  /** The last attempts to get robots.txt, the latest first: status, redirects, time, and what each meant. */
  readonly attempts: readonly Attempt[]
  /** When the next is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number | undefined
  /** How many have failed in a row, and since when. */
  readonly failures: number
  readonly unreachableSince: number | undefined
  /** The last good copy, without its text. */
  readonly copy: CopyInspection | undefined
}

export interface CopyInspection {
  readonly bytes: number
  /** Whether the size limit cut it off. RFC 9309 §2.5. */
  readonly truncated: boolean
  /** When a server last said that this is the file. Milliseconds since 1970. */
  readonly confirmedAt: number
  readonly url: string
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

export function inspectionOf(
  { origin, robotsUrl }: { readonly origin: string; readonly robotsUrl: string },
  known: {
    readonly entry: Entry | undefined
    readonly source: Inspection['source']
    readonly flight: FlightPhase | undefined
  },
  now: number,
  policy: AccessPolicy,
): Inspection {
  const { entry, source, flight = 'none' } = known
  return {
    origin,
    displayOrigin: displayUrl(origin),
    robotsUrl,
    state: stateOf(entry, now, policy),
    why: describeState(entry, now, policy),
    source,
    flight,
    attempts: entry === undefined ? [] : [entry.latest, ...entry.earlier],
    nextAttemptAt: entry && dueAt(entry, policy),
    failures: entry?.failures ?? 0,
    unreachableSince: entry?.unreachableSince,
    copy: entry?.copy && copyInspection(entry.copy),
  }
}

function copyInspection({ bytes, ...rest }: NonNullable<Entry['copy']>): CopyInspection {
  return { bytes: bytes.length, ...rest }
}
