// Classifies responses and errors of requests for pages.

import { charsetOfMeta } from '../access/html-text.ts'
import { isChallengeBy } from '../access/looks-like.ts'
import { latin1Of } from '../bytes.ts'
import { isOfClass } from '../errors.ts'
import { httpDate } from '../http/date.ts'
import { headerLines, type ResponseHeaders } from '../http/header-lines.ts'
import { pushbackOf } from '../pace/pushback.ts'
import { warnOfNoResponse } from '../runtime/no-response.ts'
import { urlOrNull } from '../url/url-or-null.ts'
import { isChallengeJson, isChallengePage } from './challenge-page.ts'
import { fieldOf, readError } from './error-chain.ts'
import { isLoginPage, isLoginUrl } from './login-page.ts'
import type { PageOutcome, PageOutcomeKind, PageOutcomeReason } from './outcome.ts'
import { STATUS_KINDS } from './outcome.ts'
import { askedPrice, moneyOf, type PagePrice } from './price.ts'

/** The mark of the responses that a gate makes in place of a site's: see `refusalOf`. */
export const REFUSED_RESPONSE = 'refused-response'

/**
 * Returns what became of a request for a page: the kind says what a crawler does next, and
 * `because` what shows it. `PageOutcomeKind` has the table of statuses. Never throws.
 *
 * ```ts
 * try {
 *   outcome = outcomeOf(await fetch(url))
 * } catch (error) {
 *   outcome = outcomeOf(error)
 * }
 * ```
 *
 * Returns undefined for what says nothing about the site: an abort by the caller, an error or a
 * response of Politely's own, the caller's mistakes (such as an invalid URL), and values that are
 * neither a response nor an error of a request. A time limit that passed is a `connection`. A number
 * and a promise lead to a process warning (`POLITELY_NOT_A_RESPONSE`), since neither says anything.
 *
 * @param result A `PageResponse`, such as a `Response`, whose stream is not read; or what a request
 * rejected with. The errors of fetch, undici, node:http, got, axios, ky and of browsers are known.
 * If an error carries a response, the response counts.
 * @param now Milliseconds since 1970, for a date in Retry-After. Default: the Date header.
 */
export function outcomeOf(result: unknown, now?: number): PageOutcome | undefined {
  if (isResponse(result)) return outcomeOfResponse(result, now)
  const read = readError(result)
  if (read === undefined) {
    warnOfNoResponse('outcomeOf', result, ' or outcomeOf({ status: STATUS, headers: {} })')
    return undefined
  }
  return 'response' in read ? outcomeOfResponse(read.response, now) : read
}

/** An error of an HTTP library may have a status too, and has a message. */
function isResponse(value: unknown): value is object {
  return statusOf(value) !== undefined && typeof fieldOf(value, 'message') !== 'string'
}

function statusOf(value: unknown): number | undefined {
  const status = fieldOf(value, 'status')
  const found = typeof status === 'number' ? status : fieldOf(value, 'statusCode')
  return typeof found === 'number' ? found : undefined
}

function outcomeOfResponse(response: object, now: number | undefined): PageOutcome | undefined {
  const status = statusOf(response) ?? 0
  // HTTP has three digits; the 0 of browsers means that they hide the response. RFC 9110 §15.
  if (!Number.isInteger(status) || status < 100 || status > 999 || isOfClass(REFUSED_RESPONSE, response))
    return undefined
  const header = headersOf(fieldOf(response, 'headers'))
  const head = ['head', 'body', 'data'].map((name) => fieldOf(response, name)).find(isText)
  const contentType = head === undefined ? undefined : header('content-type')
  const body = textOfHead(head, contentType)
  const html = isHtml(contentType, body) ? body : ''
  const [kind, because] =
    challenged(header, html, body) ?? wantsLogin(status, header, html, response) ?? byStatus(status, header)
  const retryAfterMs = requestedWait(status, header, now)
  const price = priceOf(kind, header, body)
  return { kind, because, status, ...(retryAfterMs && { retryAfterMs }), ...(price && { price }) }
}

type Header = (name: string) => string | undefined
type Found = readonly [PageOutcomeKind, PageOutcomeReason]

function challenged(header: Header, html: string, body: string): Found | undefined {
  if (isChallengeBy(header)) return ['challenge', 'challenge-header']
  return (html === '' ? isChallengeJson(body) : isChallengePage(html)) ? ['challenge', 'challenge-page'] : undefined
}

function wantsLogin(status: number, header: Header, html: string, response: object): Found | undefined {
  const isRedirect = status >= 300 && status <= 399 && status !== 304
  if (!isRedirect && !(status >= 200 && status <= 299)) return undefined
  const isAtLogin = () => {
    const at = urlOf(fieldOf(response, 'url'))
    return at !== undefined && isLoginUrl(at)
  }
  if (isRedirect) {
    const target = urlOf(header('location'), urlOf(fieldOf(response, 'url'))?.href ?? 'http://unknown.invalid/')
    return target !== undefined && isLoginUrl(target) && !isAtLogin() ? ['login', 'login-redirect'] : undefined
  }
  if (fieldOf(response, 'redirected') === true && isAtLogin()) return ['login', 'login-redirect']
  return html !== '' && isLoginPage(html, isAtLogin) ? ['login', 'password-form'] : undefined
}

function byStatus(status: number, header: Header): Found {
  if (status < 200) return ['connection', 'malformed'] // RFC 9110 §15.2: a final response follows
  if (status < 300 || status === 304) return ['served', 'status']
  if (status < 400) return ['redirect', header('location')?.trim() ? 'status' : 'no-usable-location']
  const kind = STATUS_KINDS[status]
  if (kind !== undefined) return [kind, kind === 'connection' ? 'proxy' : 'status']
  return [status < 500 ? 'not-found' : 'server-error', 'status']
}

function priceOf(kind: PageOutcomeKind, header: Header, body: string): PagePrice | undefined {
  if (kind === 'payment-required') return askedPrice(header, body)
  const charged = kind === 'served' ? header('crawler-charged') : undefined
  return charged === undefined ? undefined : moneyOf('crawler-charged', charged)
}

/** A longer value of a header is cut. Our choice. */
const MAX_VALUE_LENGTH = 32_768

/**
 * Returns a function that reads a header by its name in lower case. Invalid headers count as absent:
 * the outcome of a request must not depend on them.
 */
function headersOf(headers: unknown): Header {
  // undici's handlers get the lines as bytes.
  const given = Array.isArray(headers)
    ? headers.map((item) => (item instanceof Uint8Array ? latin1Of(item) : item))
    : headers
  return (name) => {
    try {
      const lines = headerLines((given ?? undefined) as ResponseHeaders | undefined, name)
      return lines.length === 0
        ? undefined
        : lines
            .map(({ text }) => text)
            .join(', ')
            .slice(0, MAX_VALUE_LENGTH)
    } catch {
      return undefined
    }
  }
}

/**
 * The time for two-digit years of a Date header, whose century no clock says here. Our choice.
 */
const THIS_CENTURY = Date.UTC(2026)

/** Returns how long the response asks to wait. If the time is unknown, only durations count. */
function requestedWait(status: number, header: Header, now: number | undefined): number | undefined {
  const retryAfter = header('retry-after')
  if (retryAfter === undefined) return undefined
  const utc = now ?? httpDate(header('date') ?? '', THIS_CENTURY) ?? Number.NaN
  return pushbackOf({ status, retryAfter }, utc)?.requestedMs
}

function urlOf(text: unknown, base?: string): URL | undefined {
  return typeof text === 'string' ? (urlOrNull(text, base) ?? undefined) : undefined
}

/** More of a page is not searched: its start shows what it is. Our choice. */
const MAX_HEAD_BYTES = 65_536

type Text = string | Uint8Array | ArrayBuffer

/** A stream, and JSON that a library has parsed, are neither. */
function isText(value: unknown): value is Text {
  try {
    return typeof value === 'string' || value instanceof Uint8Array || value instanceof ArrayBuffer
  } catch {
    return false // a proxy, whose handler threw
  }
}

/** Decodes the start of a page, by its byte order mark, Content-Type or meta element. */
function textOfHead(head: Text | undefined, contentType: string | undefined): string {
  try {
    if (head === undefined || typeof head === 'string') return head?.slice(0, MAX_HEAD_BYTES) ?? ''
    const bytes = (head instanceof Uint8Array ? head : new Uint8Array(head)).subarray(0, MAX_HEAD_BYTES)
    return decode(bytes, utf16Of(bytes) ?? charsetIn(contentType) ?? charsetOfMeta(latin1Of(bytes.subarray(0, 1024))))
  } catch {
    return '' // an object that only claims to be an array
  }
}

/** Reads the byte order mark. */
function utf16Of(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined
}

function charsetIn(text: string | undefined): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(text ?? '')?.[1]
}

function decode(bytes: Uint8Array, charset = 'utf-8'): string {
  try {
    return (charset.toLowerCase() === 'utf-8' ? UTF8 : new TextDecoder(charset)).decode(bytes)
  } catch {
    return UTF8.decode(bytes) // the site names an unknown encoding
  }
}

const UTF8 = new TextDecoder()

/** Returns whether a body is HTML: by its type, or without one by its first character. */
function isHtml(contentType: string | undefined, body: string): boolean {
  return contentType === undefined ? /^\s*</.test(body) : /html/i.test(contentType)
}
