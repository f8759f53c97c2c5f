// Turns the facts of a decision into the JSON of its records.
//
// A crawl decides thousands of times by the same client and the same robots.txt. The JSON of these is
// made once, and kept for as long as their objects live. The rest of a decision is made by one call of
// JSON.stringify.
import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { type DialectName, dialects } from '@politely/core'
import { type Copy, type Entry, type Headers, stateOf } from '@politely/core/engine'
import { decidingAttempt, escapeControls, textWithoutCredentials, withoutCredentials } from '@politely/core/internal'
import type { DecidingClient, Decision, DecisionResult } from '@politely/fetcher'
import { messageOf } from '@politely/fetcher/internal'
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

/** The version of Politely. `unknown` if this code was bundled without its package.json. */
export const VERSION: string = readVersion()

/** Error messages are cut to this many characters. */
const MAX_ERROR_LENGTH = 1000

/** Makes records, each as JSON from `time` on: what comes before links it to its chain. */
export class Recorder {
  readonly #settings: Settings
  /** The hash of a copy, and the JSON that is made once for a client and an entry. */
  readonly #parts = new WeakMap<DecidingClient | Entry | Copy, string>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** The SHA-256 of a robots.txt. */
  hashOf(copy: Copy): string {
    return this.#once(copy, ({ bytes }) => hash('sha256', Buffer.from(bytes, 'latin1')))
  }

  /** @param copy The robots.txt of the decision. A stream has no files, so the record has its bytes. */
  robotsTxt({ entry, at, headers, client }: Decision, copy: Copy): string {
    const { kind, status } = decidingAttempt(entry as Entry, at, client.policy)
    const isItsResponse = kind === 'success' && headers !== undefined
    return record('robots-txt', at, {
      sha256: this.hashOf(copy),
      bytes: copy.bytes.length,
      truncated: copy.truncated,
      url: copy.url,
      ...(isItsResponse && { status, headers: headersWhere(headers, (name) => !PERSONAL_HEADER.test(name)) }),
      content: this.#settings.dir ? undefined : zstdCompressSync(Buffer.from(copy.bytes, 'latin1')).toString('base64'),
    })
  }

  decision({ at, verdict, entry, client, headers, redirectedFrom, ...more }: Decision, id: string): string {
    const { url: written, origin, access, retryAt, crawlDelayMs, requestRates, visitTimes, ...why } = verdict
    const url = withoutCredentials(written)
    const isHashed = this.#settings.urls === 'hashed'
    const asked = { crawlDelayMs, requestRates, visitTimes }
    const own = record('decision', at, {
      id,
      url: isHashed ? (origin ?? '') : url,
      hashed: isHashed ? hash('sha256', url) : undefined,
      hadCredentials: url === written ? undefined : true,
      redirectedFrom: redirectedFrom.length > 0 ? redirectedFrom.map((from) => this.#shortUrl(from)) : undefined,
      verdict: why,
      origin,
      access,
      headers: headers && headersWhere(headers, (name) => HEADERS_THAT_MATTER.test(name)),
      asked: (crawlDelayMs ?? requestRates ?? visitTimes) === undefined ? undefined : asked,
      ...more,
    })
    const by = this.#once(client, (all) => this.#clientText(all))
    const state =
      entry && `${this.#once(entry, (all) => this.#entryText(all))},"name":"${stateOf(entry, at, client.policy)}"}`
    return `${own.slice(0, -1)}${by}${state ?? ''}}`
  }

  result({ at, error, permit, ...more }: DecisionResult): string {
    return record('result', at, {
      ...more,
      error: error === undefined ? undefined : this.#errorText(error),
      permit: permit && { ...permit, at: undefined, time: new Date(permit.at).toISOString() },
    })
  }

  /** A URL of `redirectedFrom`: if hashed, its origin and `#sha256=…`. */
  #shortUrl(text: string): string {
    const url = withoutCredentials(text)
    if (this.#settings.urls === 'whole') return url
    return `${URL.parse(url)?.origin ?? ''}#sha256=${hash('sha256', url)}`
  }

  /** A message may name the URL, so only the code is shown if URLs are hashed. */
  #errorText(error: unknown): string {
    const { code, cause } = Object(error) as NodeJS.ErrnoException
    const told = code === undefined && cause instanceof Error ? cause : error // "fetch failed" has a cause
    const { name = 'Error', code: label = name } = Object(told) as NodeJS.ErrnoException
    const text = this.#settings.urls === 'whole' ? textWithoutCredentials(`${label}: ${messageOf(told)}`) : `${label}`
    return escapeControls(text).slice(0, MAX_ERROR_LENGTH)
  }

  #clientText({ userAgent, productTokens, dialect: given, policy, maxBodyBytes }: DecidingClient): string {
    const dialect = dialects[given.name as DialectName] === given ? given.name : given
    const by = { purpose: this.#settings.purpose, politely: VERSION }
    return `,"by":${json({ userAgent, productTokens, dialect, policy, maxBodyBytes, ...by })}`
  }

  /** The robots.txt, and the state without its end. */
  #entryText({ copy, earlier, origin, version, ...state }: Entry): string {
    const robotsTxt = copy && `,"robotsTxt":${json({ sha256: this.hashOf(copy), ...copy, bytes: undefined })}`
    return `${robotsTxt ?? ''},"state":${json(state).slice(0, -1)}`
  }

  #once<K extends DecidingClient | Entry | Copy>(key: K, make: (key: K) => string): string {
    const text = this.#parts.get(key) ?? make(key)
    this.#parts.set(key, text)
    return text
  }
}

/** The JSON of a record from `time` on. */
export function record(kind: EvidenceRecord['kind'], at: number, fields: object): string {
  return json({ time: new Date(at).toISOString(), kind, ...fields }).slice(1)
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

function readVersion(): string {
  try {
    return (createRequire(import.meta.url)('@politely/evidence/package.json') as { readonly version: string }).version
  } catch {
    return 'unknown'
  }
}
