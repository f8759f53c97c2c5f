// Which headers of a request decide whose page its response is.
//
// HTTP leaves that to Vary, and most sites with API keys never name them there. A process may act for
// several users, so each header is one of these:
// - harmless: describes the crawler or traces the request. Only Vary makes it count.
// - credential: names a user. Its page is stored for requests with the same value alone.
// - unknown: treated like a credential when a page is looked up. Other than with a credential, the visit
//   counts for `due`, and requests with the same value wait for each other.
import { createHash } from 'node:crypto'
import { OptionError } from '@politely/core'
import { describeValue, oneOf } from '@politely/fetcher/internal'
import type { CachedRequest } from '@politely/gate'
import type { PageRecord } from './page-store.ts'
import { storedHeaderOf } from './response-fields.ts'

/** What a header of a request says. */
export type RequestHeaderKind = 'credential' | 'harmless'

type Headers = CachedRequest['headers']

const HARMLESS: ReadonlySet<string> = new Set(
  `accept accept-charset accept-datetime accept-encoding accept-language baggage b3 cache-control connection
  correlation-id device-memory dnt downlink dpr ect elastic-apm-traceparent expect from host keep-alive max-forwards
  newrelic origin pragma priority purpose referer request-id rtt save-data sec-fetch-user sentry-trace te traceparent tracestate
  uber-trace-id upgrade-insecure-requests user-agent viewport-width width x-amzn-trace-id x-client-trace-id
  x-cloud-trace-context x-correlation-id x-request-id x-trace-id`.split(/\s+/),
)
const HARMLESS_PREFIX = /^(?:if-|sec-(?:ch|fetch|gpc|purpose)|x-b3-|x-datadog-)/

/** How names of credentials end: `x-api-key`, `private-token`, `x-amz-security-token`, `x-auth-user`. */
const CREDENTIAL =
  /(?:key|token|secret|passw(?:or)?d|cookie|credentials?|session(?:-?id)?|sid|jwt|assertion|bearer|dpop|user|auth(?:orization|entication)?|(?:auth|client|user)-\w+)$/

/** Sorts the headers of requests for one cache. */
export class RequestHeaders {
  readonly #own: ReadonlyMap<string, RequestHeaderKind>

  /** @throws {OptionError} for an invalid option. */
  constructor(option: Readonly<Record<string, RequestHeaderKind>> = {}) {
    if (typeof option !== 'object' || option === null || Array.isArray(option))
      throw new OptionError(
        'requestHeaders',
        `${describeValue(option)} is invalid; expected names such as { "x-my-key": "credential" }`,
      )
    const own = Object.entries(option).map(([name, kind]) => {
      return [name.toLowerCase(), oneOf(`requestHeaders["${name}"]`, kind, ['credential', 'harmless'])] as const
    })
    this.#own = new Map(own)
  }

  /** Whether a request is for one user. */
  isPersonal(headers: Headers): boolean {
    return Object.keys(headers).some((name) => headers[name] !== undefined && this.#kindOf(name) === 'credential')
  }

  /** Tells apart requests whose headers are unknown, so that only equal ones wait for each other. */
  flightKey(url: string, headers: Headers): string {
    const own = this.#ownNames(headers)
    return own.length === 0 ? url : `${url} ${JSON.stringify(own.map((name) => [name, headers[name]]))}`
  }

  /** Returns the fields of a request that its response depends on: those that Vary names, and its own. */
  variedFields(vary: string | undefined, headers: Headers): PageRecord['varied'] {
    const own = this.#ownNames(headers)
    if (vary === undefined && own.length === 0) return []
    const names = new Set([...namesIn(vary), ...own])
    return [...names].toSorted().map((name) => [name, this.#stored(name, headers)])
  }

  /** Whether a stored response fits a request, and is for the same user (RFC 9111 §4.1). */
  fits({ varied, headers: stored }: PageRecord, headers: Headers): boolean {
    // A store may not have kept the fields that a 304 named.
    const needed = [...namesIn(storedHeaderOf(stored, 'vary')), ...this.#ownNames(headers)]
    return (
      varied.every(([name, value]) => name !== '*' && value === this.#stored(name, headers)) &&
      needed.every((name) => varied.some(([listed]) => listed === name))
    )
  }

  /** The headers that may name a user. */
  #ownNames(headers: Headers): readonly string[] {
    return Object.keys(headers).filter((name) => headers[name] !== undefined && this.#kindOf(name) !== 'harmless')
  }

  #kindOf(name: string): RequestHeaderKind | 'unknown' {
    const own = this.#own.get(name)
    if (own !== undefined) return own
    if (HARMLESS.has(name)) return 'harmless'
    if (CREDENTIAL.test(name)) return 'credential'
    return HARMLESS_PREFIX.test(name) ? 'harmless' : 'unknown'
  }

  /** The value as a record has it: of a header that may be secret, a hash. */
  #stored(name: string, headers: Headers): string | null {
    const value = headers[name]
    if (value === undefined) return null
    return this.#kindOf(name) === 'harmless' ? value : createHash('sha256').update(value).digest('base64url')
  }
}

/** Returns the names in a Vary header. */
function namesIn(vary: string | undefined): readonly string[] {
  if (vary === undefined) return []
  const names = vary.toLowerCase().split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '')
}
