// What RFC 9111 lets a private cache do, for tests. Written from the RFC, and never from our code. Pure.
//
// The model is more lenient than the RFC in one point: a 304 without ETag and Last-Modified confirms
// the response whose validators were sent, because RFC 9110 §13.2.2 says what such a 304 means.

export type Fields = Readonly<Record<string, string>>

export interface Request {
  readonly method: string
  /** What the caller wrote, by names in lower case. */
  readonly headers: Fields
  /** The mode of fetch (WHATWG Fetch §2.2.5). */
  readonly cache?: string | undefined
}

/** The head of a response of the site, and when it came. Times are milliseconds since 1970. */
export interface Reply {
  readonly status: number
  readonly headers: Fields
  readonly requestedAt: number
  readonly receivedAt: number
}

/** A response that a cache may have stored. */
export interface Entry extends Reply {
  /** The requests for which the site has sent or confirmed it. */
  readonly requests: readonly Request[]
  /** Whether the site has shown that it has changed (§4.3.5). */
  readonly isOutdated?: boolean
}

/** A longer time counts as this (§1.2.2). Seconds. */
const MAX_SECONDS = 2 ** 31

/** Reads Cache-Control (§5.2). Of two equal directives, the first one counts (§4.2.1). */
function directives(field: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const part of field?.match(/(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g) ?? []) {
    const [, name = '', value = ''] = /^\s*([^\s=]*)(?:=(.*?))?\s*$/s.exec(part) ?? ['', part.trim()]
    const unquoted = /^"(.*)"$/s.exec(value)?.[1] ?? value
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), unquoted)
  }
  return found
}

/** Reads delta-seconds (§1.2.2). Milliseconds; undefined if it is invalid. */
function milliseconds(text: string | undefined): number | undefined {
  return /^[0-9]+$/.test(text ?? '') ? Math.min(Number(text), MAX_SECONDS) * 1000 : undefined
}

/** Reads an IMF-fixdate (RFC 9110 §5.6.7). */
function date(text: string | undefined): number | undefined {
  return /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/.test(text ?? '') ? Date.parse(text as string) : undefined
}

/** What the request wants, in words of Cache-Control. The modes of fetch: WHATWG Fetch §4.6. */
export function wants({ headers, cache }: Request): ReadonlyMap<string, string> {
  const ofMode = {
    'no-store': [['no-store', '']],
    reload: [['no-cache', '']],
    'no-cache': [['no-cache', '']],
    'force-cache': [['max-stale', '']],
    'only-if-cached': [
      ['only-if-cached', ''],
      ['max-stale', ''],
    ],
  }[cache ?? ''] as [string, string][] | undefined
  return new Map([...directives(headers['cache-control']), ...(ofMode ?? [])])
}

/** Statuses that may be stored without an explicit lifetime (RFC 9110 §15.1), except 206. */
const HEURISTIC = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
/** 206 and 304 are no pages (§3). 428, 429, 431 and 511 are never stored (RFC 6585). */
const NEVER_STORED = [206, 304, 428, 429, 431, 511]

/** Whether a whole response may be stored (§3). */
export function mayStore(request: Request, { status, headers }: Reply): boolean {
  const says = directives(headers['cache-control'])
  if (request.method !== 'GET' || status < 200 || NEVER_STORED.includes(status)) return false
  if (wants(request).has('no-store') || says.has('no-store') || varied(headers).includes('*')) return false
  return (
    HEURISTIC.includes(status) ||
    headers.expires !== undefined ||
    ['public', 'private', 'max-age'].some((name) => says.has(name))
  )
}

/** How long a response is fresh (§4.2.1). Milliseconds. */
function lifetime({ headers, receivedAt, isOutdated }: Entry): number {
  const says = directives(headers['cache-control'])
  if (isOutdated || says.has('no-cache')) return 0
  if (says.has('max-age')) return milliseconds(says.get('max-age')) ?? 0
  const expires = date(headers.expires)
  return expires === undefined ? 0 : Math.max(0, expires - (date(headers.date) ?? receivedAt))
}

/** How old a response is (§4.2.3). Milliseconds. */
export function age({ headers, requestedAt, receivedAt }: Entry, now: number): number {
  const [first] = (headers.age ?? '').split(',')
  const apparent = Math.max(0, receivedAt - (date(headers.date) ?? receivedAt))
  const corrected = (milliseconds(first?.trim()) ?? 0) + receivedAt - requestedAt
  return Math.max(apparent, corrected) + now - receivedAt
}

function varied(headers: Fields): readonly string[] {
  return (headers.vary ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Whether the response is for such a request: one of the site's own requests has the same fields (§4.1). */
export function matches({ headers, requests }: Entry, request: Request): boolean {
  return requests.some((one) => agree(headers, one, request))
}

/** Whether each of the site's requests has the same fields. Then a cache finds it, whichever it has kept. */
export function surelyMatches({ headers, requests }: Entry, request: Request): boolean {
  return requests.every((one) => agree(headers, one, request))
}

function agree(headers: Fields, one: Request, other: Request): boolean {
  return varied(headers).every((name) => name !== '*' && one.headers[name] === other.headers[name])
}

/** Says whether the stored response may be given without asking the site (§4, §5.2.1), and as what. */
export function withoutAsking(entry: Entry, request: Request, now: number): 'fresh' | 'stale' | undefined {
  const wanted = wants(request)
  const [is, may] = [age(entry, now), lifetime(entry)]
  const [oldest, rest] = [milliseconds(wanted.get('max-age')), milliseconds(wanted.get('min-fresh'))]
  if (wanted.has('no-cache') || wanted.has('no-store') || (request.method !== 'GET' && request.method !== 'HEAD'))
    return undefined
  if (oldest !== undefined && (oldest === 0 || is > oldest)) return undefined
  if (rest !== undefined && may - is < rest) return undefined
  if (is < may) return 'fresh'
  if (!wanted.has('max-stale') || mustValidate(entry)) return undefined
  const text = wanted.get('max-stale')
  return is - may <= (text === '' ? Number.POSITIVE_INFINITY : (milliseconds(text) ?? -1)) ? 'stale' : undefined
}

/**
 * Whether the stored response may be given because the site fails (RFC 5861 §4).
 * @param isAgreed Whether the client has agreed to any age (§4.2.4).
 */
export function afterFailure(entry: Entry, request: Request, now: number, isAgreed: boolean): boolean {
  const wanted = wants(request)
  if (wanted.has('no-cache') || wanted.has('no-store') || wanted.get('max-age') === '0' || mustValidate(entry))
    return false
  const allowed = [directives(entry.headers['cache-control']), wanted].map((one) =>
    milliseconds(one.get('stale-if-error')),
  )
  return isAgreed || age(entry, now) - lifetime(entry) <= Math.max(...allowed.map((ms) => ms ?? -1))
}

/** Whether the response must not be given when it is stale, or never unasked (§5.2.2.2, §5.2.2.4). */
function mustValidate({ headers }: Entry): boolean {
  const says = directives(headers['cache-control'])
  return says.has('must-revalidate') || says.has('no-cache')
}

const opaque = (etag: string) => etag.replace(/^W\//, '')

/** Whether a 304 to the validators of a stored response confirms it (§4.3.4). */
export function isConfirmedBy({ headers }: Entry, { headers: news }: Reply): boolean {
  // If-None-Match compares weakly (RFC 9110 §13.1.2), so W/"a" and "a" are the same page.
  if (news.etag !== undefined) return headers.etag !== undefined && opaque(headers.etag) === opaque(news.etag)
  return news['last-modified'] === undefined || news['last-modified'] === headers['last-modified']
}

/** These describe the stored body, so a 304 does not change them (§3.2). */
const OF_BODY = ['content-encoding', 'content-type', 'content-range', 'content-length', 'transfer-encoding']

/** Returns a stored response after a 304 to a request (§3.2, §4.3.4). Without Date and Age, the 304 is new. */
export function confirmed(entry: Entry, request: Request, reply: Reply): Entry {
  const { age: _age, date: _date, ...kept } = entry.headers
  const news = Object.entries(reply.headers).filter(([name]) => !OF_BODY.includes(name))
  const headers = { ...kept, ...Object.fromEntries(news) }
  const { requestedAt, receivedAt } = reply
  return { ...entry, headers, requestedAt, receivedAt, requests: [...entry.requests, request], isOutdated: false }
}

/** Whether a HEAD that was answered with 200 shows that a stored response has changed (§4.3.5). */
export function isOutdatedBy({ headers }: Entry, { headers: news }: Reply): boolean {
  return ['etag', 'last-modified', 'content-length'].some((name) => {
    const [before, now] = [headers[name], news[name]]
    return before !== undefined && now !== undefined && opaque(before) !== opaque(now)
  })
}
