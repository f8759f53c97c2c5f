// Parses the Cache-Control directives of a response that matter for robots.txt. RFC 9111 §5.2.2.
import { membersOf } from './header-lines.ts'

/** What a Cache-Control header says (RFC 9111 §5.2.2). */
export interface CacheControl {
  /** Seconds; 0 for an invalid value, which RFC 9111 §4.2.1 treats as stale. */
  readonly maxAge: number | undefined
  /** Seconds; 0 for an invalid value. */
  readonly sMaxage: number | undefined
  /** The response must not be stored. */
  readonly noStore: boolean
  /** The response must be checked with the server before each use. */
  readonly noCache: boolean
}

/** Parses a Cache-Control header. If a directive is repeated, the shortest time counts. */
export function cacheControlOf(value: string | undefined): CacheControl {
  let maxAge: number | undefined
  let sMaxage: number | undefined
  let noStore = false
  let noCache = false
  for (const part of membersOf(value ?? '')) {
    const equals = part.indexOf('=')
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase()
    const argument = equals === -1 ? '' : part.slice(equals + 1).trim()
    if (name === 'max-age') maxAge = Math.min(maxAge ?? Number.POSITIVE_INFINITY, deltaSeconds(argument))
    else if (name === 's-maxage') sMaxage = Math.min(sMaxage ?? Number.POSITIVE_INFINITY, deltaSeconds(argument))
    else if (name === 'no-store') noStore = true
    else if (name === 'no-cache') noCache = true
  }
  return { maxAge, sMaxage, noStore, noCache }
}

/**
 * Parses a number of seconds, capped at 2^31 (RFC 9111 §1.2.2). Quoted numbers are accepted: they
 * are invalid but frequent.
 */
function deltaSeconds(argument: string): number {
  const digits = /^"?(\d+)"?$/.exec(argument)?.[1]
  return digits === undefined ? 0 : Math.min(Number(digits), 2 ** 31)
}
