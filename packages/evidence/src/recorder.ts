// Turns the facts of a decision into the JSON of its records.
//
// A crawl decides thousands of times by the same client and the same robots.txt. So the parts that
// depend on these alone are serialized once, and kept for as long as their objects live. A record is
// a concatenation of such parts.
import { hash } from 'node:crypto'
import { type DialectName, dialects } from '@politely/core'
import { type Copy, type Entry, type Headers, stateOf } from '@politely/core/engine'
import { decidingAttempt, escapeControls, textWithoutCredentials, withoutCredentials } from '@politely/core/internal'
import { type DecidingClient, type Decision, type DecisionResult, loggableVerdict } from '@politely/fetcher'
import { messageOf } from '@politely/fetcher/internal'
import type { Settings } from './options.ts'

/** The headers of a robots.txt's response that a decision depends on, or that explain it. */
const HEADERS_THAT_MATTER =
  /^(?:age|cache-control|content-(?:signal|type|usage)|date|etag|expires|last-modified|link|location|retry-after|tdm-(?:policy|reservation)|x-robots-tag)$/

/**
 * The headers that may identify a person: they carry credentials or sessions, or some server writes
 * the address of the crawler's machine into them.
 */
const PERSONAL_HEADER =
  /cookie|auth|token|session|csrf|xsrf|secret|api-?key|^(?:x-)?forwarded|(?:client|real|remote|connecting|origin|your)-?(?:ip|addr)|^(?:x-)?(?:user|account|customer)(?:-|$)/

/** Error messages are cut to this many characters. */
const MAX_ERROR_LENGTH = 1000

/** A robots.txt to keep. */
export interface RobotsFile {
  readonly sha256: string
  readonly bytes: Buffer
  readonly copy: Copy
  /** The URL after redirects, without credentials. */
  readonly url: string
  /** The status and headers, if this process has received the response that sent or confirmed it. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
}

/** The parts of a decision that are the same for an entry. */
interface EntryParts {
  readonly copyHash: string | undefined
  readonly robotsTxt: string
  /** The field `state`, without the name and the end. */
  readonly state: string
}

export class Recorder {
  readonly #options: Pick<Settings, 'urls' | 'purpose'>
  readonly #politely: string
  readonly #clients = new WeakMap<DecidingClient, string>()
  readonly #entries = new WeakMap<Entry, EntryParts>()
  readonly #hashes = new WeakMap<Copy, string>()
  readonly #headers = new WeakMap<Headers, string>()

  /** @param politely The version that decides. */
  constructor(options: Pick<Settings, 'urls' | 'purpose'>, politely: string) {
    this.#options = options
    this.#politely = politely
  }

  /** Returns the hash of the decision's robots.txt; undefined if the client has none. */
  hashOf({ entry }: Decision): string | undefined {
    return entry && this.#partsOf(entry).copyHash
  }

  /** Returns the decision's robots.txt, which must exist. */
  fileOf({ entry, at, headers, client }: Decision): RobotsFile {
    const { copy } = entry as Entry & { readonly copy: Copy }
    const { kind, status } = decidingAttempt(entry as Entry, at, client.policy)
    const isItsResponse = kind === 'success' && headers !== undefined
    const shown = headers && headersWhere(headers, (name) => !PERSONAL_HEADER.test(name))
    return {
      sha256: this.#hashOf(copy),
      bytes: Buffer.from(copy.bytes, 'latin1'),
      copy,
      url: withoutCredentials(copy.url),
      ...(isItsResponse && { status, headers: shown }),
    }
  }

  /** Returns the record of a robots.txt, from `kind` on. @param more More fields. */
  robotsTxt({ sha256, bytes, copy, url, status, headers }: RobotsFile, more: object): string {
    const size = { bytes: bytes.length, truncated: copy.truncated }
    return fields({ kind: 'robots-txt', sha256, ...size, url, status, headers, ...more })
  }

  /** Returns the record of a decision, from `kind` on, and its URL as the record shows it. */
  decision(decision: Decision, id: string): { readonly text: string; readonly url: string } {
    const { at, verdict, entry, client, headers, use, redirectedFrom, replaces, obey, maxAgeMs } = decision
    const { url, origin, access, retryAt, crawlDelayMs, requestRates, visitTimes, ...why } = loggableVerdict(verdict)
    const isHashed = this.#options.urls === 'hashed'
    const shownUrl = isHashed ? (origin ?? '') : url
    let text = `"kind":"decision","id":"${id}","use":"${use}","url":${JSON.stringify(shownUrl)}`
    if (isHashed) text += `,"hashed":"${hash('sha256', url)}"`
    if (url !== verdict.url) text += ',"hadCredentials":true'
    if (redirectedFrom.length > 0)
      text += `,"redirectedFrom":${json(redirectedFrom.map((from) => this.#shortUrl(from)))}`
    if (replaces !== undefined) text += `,"replaces":${json(replaces)}`
    text += `,"by":${this.#byOf(client)},"verdict":${json(why)}`
    if (origin !== undefined) text += `,"origin":${json(origin)},"access":${json(access)}`
    if (entry !== undefined) {
      const { robotsTxt, state } = this.#partsOf(entry)
      text += `${robotsTxt}${state}"name":"${stateOf(entry, at, client.policy)}"}`
    }
    if (headers !== undefined) text += this.#headersOf(headers)
    if (crawlDelayMs !== undefined || requestRates !== undefined || visitTimes !== undefined)
      text += `,"asked":${json({ crawlDelayMs, requestRates, visitTimes })}`
    if (obey !== undefined) text += `,"obey":${json(obey)}`
    if (maxAgeMs !== undefined) text += `,"maxAgeMs":${json(maxAgeMs)}`
    return { text: `${text}}`, url: shownUrl }
  }

  /** Returns the record of a result, from `kind` on. */
  result({ id, outcome, error: given, status, permit, tookMs, keyId, body, usage }: DecisionResult): string {
    const error = given === undefined ? undefined : this.#errorOf(given)
    const shown = permit && { ...permit, at: undefined, time: new Date(permit.at).toISOString() }
    return fields({ kind: 'result', id, outcome, error, status, permit: shown, tookMs, keyId, body, usage })
  }

  /** A URL of `redirectedFrom`: if hashed, its origin and `#sha256=…`. */
  #shortUrl(text: string): string {
    const url = withoutCredentials(text)
    if (this.#options.urls === 'whole') return url
    return `${URL.canParse(url) ? new URL(url).origin : ''}#sha256=${hash('sha256', url)}`
  }

  /** A message may name the URL, so only the code is shown if URLs are hashed. */
  #errorOf(error: unknown): string {
    const { code, cause, name } = Object(error) as { readonly [field: string]: unknown }
    const ownCode = typeof code === 'string' ? code : undefined
    const causeCode = (cause as { readonly code?: unknown } | null | undefined)?.code
    const shown = ownCode ?? (typeof causeCode === 'string' ? causeCode : (name ?? 'Error'))
    if (this.#options.urls === 'hashed') return escapeControls(`${shown}`)
    const because = ownCode === undefined && cause !== undefined ? ` (${messageOf(cause)})` : ''
    const text = textWithoutCredentials(`${shown}: ${messageOf(error)}${because}`)
    return escapeControls(text).slice(0, MAX_ERROR_LENGTH)
  }

  #byOf(client: DecidingClient): string {
    return kept(this.#clients, client, ({ userAgent, productTokens, dialect, policy, maxBodyBytes }) => {
      const shown = dialects[dialect.name as DialectName] === dialect ? dialect.name : dialect
      const { purpose } = this.#options
      const politely = this.#politely
      return json({ userAgent, productTokens, purpose, dialect: shown, policy, maxBodyBytes, politely })
    })
  }

  #partsOf(entry: Entry): EntryParts {
    return kept(this.#entries, entry, ({ copy, earlier, origin, version, ...state }) => {
      const copyHash = copy && this.#hashOf(copy)
      const robotsTxt = copy && `,"robotsTxt":${json({ sha256: copyHash, ...copy, bytes: undefined })}`
      return { copyHash, robotsTxt: robotsTxt ?? '', state: `,"state":${json(state).slice(0, -1)},` }
    })
  }

  #hashOf(copy: Copy): string {
    return kept(this.#hashes, copy, ({ bytes }) => hash('sha256', Buffer.from(bytes, 'latin1')))
  }

  #headersOf(headers: Headers): string {
    return kept(this.#headers, headers, (all) => {
      const shown = json(headersWhere(all, (name) => HEADERS_THAT_MATTER.test(name)))
      return shown === '{}' ? '' : `,"headers":${shown}`
    })
  }
}

/** Returns the value for an object, which is made once. */
function kept<K extends object, V>(map: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make(key)
  map.set(key, value)
  return value
}

function headersWhere(headers: Headers, test: (name: string) => boolean): Record<string, string | readonly string[]> {
  const entries = Object.entries(headers).filter(([name, value]) => value !== undefined && test(name))
  return Object.fromEntries(entries) as Record<string, string | readonly string[]>
}

/** The JSON of an object without its first brace: the record continues it. */
export function fields(record: object): string {
  return json(record).slice(1)
}

/** The JSON of a value without the credentials of URLs. Infinity becomes null. */
function json(value: unknown): string {
  const text = JSON.stringify(value)
  if (!/@|%40/.test(text)) return text
  return JSON.stringify(value, (key, part: unknown) => {
    if (typeof part !== 'string') return part
    return key === 'url' ? withoutCredentials(part) : textWithoutCredentials(part)
  })
}
