// Turns the facts of a decision into the JSON of its records.
//
// A crawl decides thousands of times by the same client and the same robots.txt. The JSON of these is
// made once, and kept for as long as their objects live. The rest of a decision is made by one call of
// JSON.stringify.
import { hash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { type DialectName, dialects } from '@politely/core'
import { type Copy, type Entry, type Headers, stateOf } from '@politely/core/engine'
import { decidingAttempt, escapeControls, textWithoutCredentials, withoutCredentials } from '@politely/core/internal'
import type { DecidingClient, Decision, DecisionResult } from '@politely/fetcher'
import { messageOf } from '@politely/fetcher/internal'
import manifest from '../package.json' with { type: 'json' }
import type { Settings } from './options.ts'
import type { EvidenceRecord } from './record.ts'

/** The headers of a robots.txt's response that a decision depends on, or that explain it. */
const HEADERS_THAT_MATTER =
  /^(?:age|cache-control|content-(?:signal|type|usage)|date|etag|expires|last-modified|link|location|retry-after|tdm-(?:policy|reservation)|x-robots-tag)$/

/**
 * The headers that may identify a person: they carry credentials or sessions, or some server writes
 * the address of the crawler's machine into them.
 */
const PERSONAL_HEADER =
  /cookie|auth|token|session|csrf|xsrf|secret|api-?key|^(?:x-)?forwarded|(?:client|real|remote|connecting|origin|your)-?(?:ip|addr)|^(?:x-)?(?:user|account|customer)(?:-|$)/

export const VERSION: string = manifest.version

/** Error messages are cut to this many characters. */
const MAX_ERROR_LENGTH = 1000

/** The hash of a copy, and the JSON that is made once for a client, an entry and headers. */
const parts = new WeakMap<object, string>()

function once<K extends object>(key: K, make: (key: K) => string): string {
  const text = parts.get(key) ?? make(key)
  parts.set(key, text)
  return text
}

/** The SHA-256 of a robots.txt. */
export function hashOf(copy: Copy): string {
  return once(copy, ({ bytes }) => hash('sha256', Buffer.from(bytes, 'latin1')))
}

/** The record of a robots.txt. @param copy That of the decision. */
export function robotsTxtText({ entry, at, headers, client }: Decision, copy: Copy, { dir }: Settings): string {
  const { kind, status } = decidingAttempt(entry as Entry, at, client.policy)
  return recordText('robots-txt', at, {
    sha256: hashOf(copy),
    bytes: copy.bytes.length,
    truncated: copy.truncated,
    url: copy.url,
    ...(kind === 'success' && headers && { status, headers: headersWhere(headers, isImpersonal) }),
    content: dir ? undefined : zstdCompressSync(Buffer.from(copy.bytes, 'latin1')).toString('base64'), // a stream has no files
  })
}

export function decisionText(decision: Decision, id: string, { urls, purpose }: Settings): string {
  const { at, use, verdict, entry, client, headers, redirectedFrom, obey, maxAgeMs, replaces } = decision
  const { url: written, origin, access, retryAt, crawlDelayMs, requestRates, visitTimes, ...why } = verdict
  const url = withoutCredentials(written)
  const asked = { crawlDelayMs, requestRates, visitTimes }
  const own = recordText('decision', at, {
    id,
    use,
    url: urls === 'whole' ? url : (origin ?? ''),
    hashed: urls === 'whole' ? undefined : hash('sha256', url),
    hadCredentials: url === written ? undefined : true,
    redirectedFrom: redirectedFrom.length > 0 ? redirectedFrom.map((from) => shortUrl(from, urls)) : undefined,
    replaces,
    verdict: why,
    origin,
    access,
    asked: (crawlDelayMs ?? requestRates ?? visitTimes) === undefined ? undefined : asked,
    obey,
    maxAgeMs,
  })
  const by = `${once(client, clientText)}${purpose === undefined ? '' : `,"purpose":${json(purpose)}`}}`
  const state = entry ? `${once(entry, entryText)},"name":"${stateOf(entry, at, client.policy)}"}` : ''
  return `${own.slice(0, -1)}${by}${state}${headers ? once(headers, headersText) : ''}}`
}

export function resultText(result: DecisionResult, { urls }: Settings): string {
  const { id, at, outcome, error, status, permit, tookMs, keyId, body, usage } = result
  const { waitedMs = 0, waitedFor, waitedLevel, key, delay } = permit ?? {}
  const time = permit && new Date(permit.at).toISOString()
  return recordText('result', at, {
    id,
    outcome,
    error: error === undefined ? undefined : errorText(error, urls),
    status,
    permit: permit && { time, waitedMs: rounded(waitedMs), waitedFor, waitedLevel, key, delay },
    tookMs: tookMs === undefined ? undefined : rounded(tookMs),
    keyId,
    body,
    usage,
  })
}

/** Clocks have more digits than they are right. Milliseconds. */
const rounded = (ms: number) => Math.round(ms * 1000) / 1000

/** A URL of `redirectedFrom`: if hashed, its origin and `#sha256=…`. */
function shortUrl(text: string, urls: Settings['urls']): string {
  const url = withoutCredentials(text)
  return urls === 'whole' ? url : `${URL.parse(url)?.origin ?? ''}#sha256=${hash('sha256', url)}`
}

/** A message may name the URL, so only the code is shown if URLs are hashed. */
function errorText(error: unknown, urls: Settings['urls']): string {
  const { code, cause } = Object(error) as NodeJS.ErrnoException
  const told = code === undefined && cause instanceof Error ? cause : error // "fetch failed" has a cause
  const { name = 'Error', code: shown } = Object(told) as { readonly name?: string; readonly code?: unknown }
  const label = typeof shown === 'string' ? shown : name // a DOMException has a number
  const text = urls === 'whole' ? textWithoutCredentials(`${label}: ${messageOf(told)}`) : `${label}`
  return escapeControls(text).slice(0, MAX_ERROR_LENGTH)
}

/** Who decides. Its end is missing. */
function clientText({ userAgent, productTokens, dialect: given, policy, maxBodyBytes }: DecidingClient): string {
  // The client may have its own copy of core.
  const isKnown = JSON.stringify(dialects[given.name as DialectName]) === JSON.stringify(given)
  const dialect = isKnown ? given.name : given
  const by = { userAgent, productTokens, dialect, policy, maxBodyBytes, politely: VERSION }
  return `,"by":${json(by).slice(0, -1)}`
}

/** The robots.txt and the state of an origin. Its end is missing. */
function entryText({ copy, earlier, origin, version, ...state }: Entry): string {
  const robotsTxt = copy && `,"robotsTxt":${json({ sha256: hashOf(copy), ...copy, bytes: undefined })}`
  return `${robotsTxt ?? ''},"state":${json(state).slice(0, -1)}`
}

/** The JSON of a record from `time` on. */
export function recordText(kind: EvidenceRecord['kind'], at: number, fields: object): string {
  const text = json(fields)
  return `"time":"${new Date(at).toISOString()}","kind":"${kind}"${text === '{}' ? text.slice(1) : `,${text.slice(1)}`}`
}

const isImpersonal = (name: string) => !PERSONAL_HEADER.test(name)

function headersText(headers: Headers): string {
  return `,"headers":${json(headersWhere(headers, (name) => HEADERS_THAT_MATTER.test(name)))}`
}

function headersWhere(headers: Headers, test: (name: string) => boolean): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => test(name)))
}

/** The JSON of a value without the credentials of URLs. Infinity becomes null. */
function json(value: unknown): string {
  const text = JSON.stringify(value)
  return /@|%40/.test(text) ? JSON.stringify(value, withoutSecrets) : text
}

function withoutSecrets(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return key === 'url' ? withoutCredentials(value) : textWithoutCredentials(value)
}
