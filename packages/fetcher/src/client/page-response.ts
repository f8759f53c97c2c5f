// What `usage` reads of the response for a page: its headers, and the head of its HTML.
//
// The caller reads the body too. So the head is read from a clone, in three steps:
//
// 1. `openPage` clones the response, before the caller can read it.
// 2. `readHead` reads the clone until the head ends. What it reads is buffered for the caller: at most
//    the bytes of the head, and the chunk in which it ends.
// 3. `readHead` cancels the clone. From then on, the caller is the only reader.
import { OptionError } from '@politely/core'
import { isChallengeBy } from '@politely/core/internal'
import type { PageHead, ResponseHeaders } from '@politely/core/usage'
import { describeValue } from '../base/option-checks.ts'
import type { Decisions } from '../report/decisions.ts'
import { hiddenField } from './hidden-field.ts'

/**
 * The response for a page: a `Response` of fetch; or its headers, its HTML if it is HTML, and its
 * status.
 */
export type PageResponse =
  | Response
  | {
      readonly headers: ResponseHeaders
      readonly html?: string | Uint8Array | PageHead | undefined
      /**
       * The headers line by line, as responses of Node and Got have them. Read instead of `headers`,
       * in which Node has joined repeated lines.
       */
      readonly rawHeaders?: readonly string[] | undefined
      /** Of another status than 2xx and 304, nothing is read. Default 200. */
      readonly status?: number | undefined
      /** The same as `status`, in the responses of Node, undici and Got. */
      readonly statusCode?: number | undefined
    }

/**
 * What `usage` has looked at of the page, and why not more. JSON-safe.
 * @inline
 */
export type PageReadingReport = OpenedPage['report']

/** What follows for a page that the crawler may not fetch. */
export const UNSEEN_TAGS = 'a noindex there cannot be seen, so its URL may still be in an index'

/** A response that was checked. */
export interface OpenedPage {
  readonly report: {
    /**
     * What `usage` has looked at of the page:
     *
     * - `read`: headers and the head of the HTML.
     * - `headers-only`: headers. The response is not HTML, or has no body.
     * - `incomplete`: headers, and a part of the head.
     * - `not-the-page`: nothing. The response is not the page: a challenge for browsers, an error, a
     *   redirect, or a refusal of the gate.
     * - `not-given`: nothing. The caller has passed no response.
     */
    readonly reading: 'read' | 'headers-only' | 'incomplete' | 'not-the-page' | 'not-given'
    /** Why not everything was read; undefined for `read`. */
    readonly why: string | undefined
  }
  readonly headers?: ResponseHeaders | undefined
  readonly html?: string | Uint8Array | PageHead | undefined
  /** The body of the clone, from which the HTML is read. */
  readonly clone?: ReadableStream<Uint8Array> | undefined
  /** The character encoding of that body, as Content-Type names it. */
  readonly charset?: string | undefined
}

/** What the wrapped fetch of `politely` knows about a response that it returned. */
export interface SentPage {
  /** The lines of X-Robots-Tag, which fetch joins. */
  readonly robotsTags?: readonly string[] | undefined
  /** Stops the time limit of the response while `work` runs. */
  readonly pauseDuring?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
  /** The receipt of the decision that let it be sent, with the option `evidence`. */
  readonly decision?: string | undefined
  /** Where the gate that let it be sent keeps its decisions. */
  readonly decisions?: Decisions | undefined
}

const sentPages = hiddenField<SentPage>()

/** Remembers what is known about a response, until it is garbage-collected. Returns the response. */
export function rememberSentPage<R extends object>(response: R, page: SentPage): R {
  sentPages.set(response, page)
  return response
}

/** Returns what was remembered about a response. */
export function sentPageOf(response: unknown): SentPage | undefined {
  return sentPages.get(response)
}

/**
 * Checks the argument `response`. Clones a response whose head has to be read.
 * @throws {OptionError} for another type, and for a response whose body was read already.
 */
export function openPage(response: PageResponse | undefined): OpenedPage {
  if (response === undefined) return { report: { reading: 'not-given', why: 'no response was given' } }
  if (typeof response !== 'object' || response === null || typeof response.headers !== 'object') {
    throw new OptionError(
      'response',
      `${describeValue(response)} is not a response; expected a Response of fetch, or { headers, html }`,
    )
  }
  if (!isResponse(response)) {
    const { html, statusCode = 200, status = statusCode, rawHeaders } = response
    const headers = Array.isArray(rawHeaders) && rawHeaders.length > 0 ? rawHeaders : response.headers
    if (!isPage(status)) return notThePage(`the response has the status ${status}`)
    if (html === undefined) return headersOnly(headers, 'no HTML was given')
    const isPart = typeof html === 'object' && 'isComplete' in html && !html.isComplete
    return { report: isPart ? PART : READ, headers, html }
  }
  const { status, body } = response
  if (isChallengeBy((name) => response.headers.get(name))) return CHALLENGE
  if (!isPage(status)) return notThePage(`the response has the status ${status}`)
  const headers = headersOf(response)
  const type = response.headers.get('content-type') ?? ''
  if (!isHtml(type)) return headersOnly(headers, 'the response is not HTML')
  if (body === null) return headersOnly(headers, 'the response has no body')
  if (typeof body.getReader !== 'function')
    // node-fetch has streams of Node
    return headersOnly(headers, 'its body is not a ReadableStream; pass { headers, html }')
  if (response.bodyUsed || body.locked) {
    throw new OptionError(
      'response',
      'its body was read already; call usage before you read the body, or pass { headers, html }',
    )
  }
  const [, charset] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? []
  return { report: READ, headers, charset, clone: response.clone().body as ReadableStream<Uint8Array> }
}

/** Returns the headers of a response, with the lines of X-Robots-Tag apart if they are known. */
function headersOf(response: Response): ResponseHeaders {
  const { headers } = response
  const lines = sentPageOf(response)?.robotsTags
  // An interceptor may have replaced the response that had these lines.
  if (lines === undefined || lines.join(', ') !== headers.get('x-robots-tag')) return headers
  return { get: (name) => (name === 'x-robots-tag' ? lines : headers.get(name)) }
}

/** Returns whether a Content-Type names an HTML page. */
export function isHtml(type: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type)
}

/** Returns the URL of a response whose fetch has followed redirects; undefined for another one. */
export function redirectedUrl(response: PageResponse | undefined): string | undefined {
  const isFollowed = typeof response === 'object' && response !== null && isResponse(response) && response.redirected
  return isFollowed && response.url !== '' ? response.url : undefined
}

const READ: PageReadingReport = { reading: 'read', why: undefined }
const PART: PageReadingReport = { reading: 'incomplete', why: 'the given head is not complete' }

function isPage(status: number): boolean {
  return (status >= 200 && status <= 299) || status === 304
}

/** Recognises also a Response of another realm or library. */
function isResponse(response: PageResponse): response is Response {
  return 'clone' in response && typeof response.clone === 'function'
}

/** The report about a challenge for browsers. */
export const CHALLENGE: OpenedPage = notThePage('the response is a challenge for browsers')

function notThePage(why: string): OpenedPage {
  return { report: { reading: 'not-the-page', why } }
}

function headersOnly(headers: ResponseHeaders, why: string): OpenedPage {
  return { report: { reading: 'headers-only', why }, headers }
}
