// Fetches robots.txt with the caller's fetch: Node's fetch, undici's fetch, or one that signs
// requests. The fetch decodes bodies itself.

import type { Body, Headers as ReplyHeaders } from '@politely/core/engine'
import { type Failure, type Reply, withoutCredentials } from '@politely/core/internal'
import { discard } from '../base/discard.ts'
import { HAS_OWN_WAY } from '../network/undici.ts'
import { fetchAtImport } from '../network/wrapped-fetches.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Deadline } from './deadline.ts'
import { failure, replyOf } from './failure.ts'
import { FetchObserver, readStream } from './fetched-body.ts'
import {
  ACCEPT,
  BYPASS_CACHES,
  HTTP_CACHE_HEADERS,
  isBodyWanted,
  type RobotsTransport,
  type TransportRequest,
} from './robots-transport.ts'

export class FetchTransport implements RobotsTransport {
  readonly #settings: ClientSettings
  readonly #fetch: typeof globalThis.fetch

  constructor(settings: ClientSettings, fetch: typeof globalThis.fetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  async send({ url, conditions }: TransportRequest, deadline: Deadline): Promise<Reply> {
    const { policy, maxBodyBytes } = this.#settings
    const observer = new FetchObserver(url, maxBodyBytes)
    let phase: 'request' | 'body' = 'request'
    try {
      const response = await this.#fetchResponse(url, conditions, deadline)
      phase = 'body'
      if (!isReadable(response)) {
        return failure(
          'unusable-transport',
          'the given fetch must return a Response with `status`, `headers`, and as `body` null or a ReadableStream that was not read',
        )
      }
      const { status, body: stream } = response
      const problem = problemOfHead(response, url, observer)
      if (problem !== undefined) {
        void discard(response.body)
        return problem
      }
      const headers: ReplyHeaders = Object.fromEntries(response.headers)
      const isRead = isBodyWanted(status, headers, policy) && status !== 204
      const codingProblem = isRead ? problemOfCodings(headers) : undefined
      if (!isRead || codingProblem !== undefined) {
        void discard(response.body)
        return codingProblem ?? { kind: 'response', status, headers }
      }
      const missing = stream === null ? problemOfMissingBody(status, headers) : undefined
      if (missing !== undefined) return missing
      // A stream that the caller's code made may ignore the signal and never end.
      const body =
        stream === null ? EMPTY_BODY : await deadline.orBefore(readStream(stream, maxBodyBytes, deadline.signal))
      const bodyProblem = await observer.problemOfBody(body, status, headers, codingsOf(headers))
      return bodyProblem ?? { kind: 'response', status, headers, body }
    } catch (error) {
      const reply = replyOf(error, phase, deadline)
      // The error of some fetches only says that the body was "terminated".
      const isUnexplained = phase === 'body' && reply.kind === 'failure' && reply.reason === 'network'
      return (
        (isUnexplained ? observer.truncation : undefined) ??
        (this.#fetch === fetchAtImport ? reply : withHintOfThrow(reply, error, phase))
      )
    } finally {
      observer.stop()
    }
  }

  async #fetchResponse(url: string, conditions: TransportRequest['conditions'], deadline: Deadline): Promise<Response> {
    const { userAgent, httpCaches } = this.#settings
    const fetch = this.#fetch // the platform's fetch must not be called as a method of another object
    const pending = fetch(url, {
      method: 'GET',
      // Asks for an uncoded body: some fetches return the decoded beginning of a truncated coded
      // body as if it were complete.
      headers: {
        'user-agent': userAgent,
        accept: ACCEPT,
        'accept-encoding': 'identity',
        ...BYPASS_CACHES,
        ...HTTP_CACHE_HEADERS[httpCaches],
        ...conditions,
      },
      redirect: 'manual', // the client follows redirects itself: it counts each hop, and the guard checks it
      credentials: 'omit',
      referrer: '',
      referrerPolicy: 'no-referrer',
      signal: deadline.signal,
    })
    try {
      return await deadline.orBefore(pending)
    } catch (error) {
      pending.then(({ body }) => discard(body)).catch(() => undefined) // a fetch that ignores the signal may still return a response
      throw error
    }
  }
}

/**
 * A caller's fetch may throw for a 404, as wrappers of fetch do. It looks like a broken network
 * then. The errors of a network have a `code`, or a cause with one; in workerd they have neither.
 */
function withHintOfThrow(reply: Reply, error: unknown, phase: 'request' | 'body'): Reply {
  if (phase === 'body' || reply.kind !== 'failure' || reply.reason !== 'network' || hasCode(error)) return reply
  return {
    ...reply,
    detail: `${reply.detail}; the fetch threw this itself: it must return responses of every status${HAS_OWN_WAY ? ", or write robotsVia: 'own'" : ''}`,
  }
}

function hasCode(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  return code !== undefined || cause?.code !== undefined
}

const EMPTY_BODY: Body = { bytes: '', truncated: false }

/** Returns whether the value that a caller's fetch returned is a Response with an unread body. */
function isReadable(response: unknown): boolean {
  const { status, headers, body } = (response ?? {}) as Partial<Response>
  const isUnread = body === null || (typeof body?.getReader === 'function' && !body.locked)
  return Number.isInteger(status) && typeof headers?.[Symbol.iterator] === 'function' && isUnread
}

/** Returns why a response cannot be the reply to a request for this URL, if so. */
function problemOfHead(response: Response, url: string, observer: FetchObserver): Failure | undefined {
  const { type, status, redirected, url: responseUrl } = response
  if (redirected || observer.wasRedirected(status)) {
    return failure(
      'unusable-transport',
      'the given fetch follows redirects itself; it must support `redirect: "manual"`',
    )
  }
  if (type === 'opaqueredirect' || status === 0) {
    return failure(
      'unusable-transport',
      'the given fetch hides redirects; with `redirect: "manual"` it must return the 3xx response, as the fetch of Node does',
    )
  }
  // A Response that the caller's code made has no URL.
  if (responseUrl !== '' && !isSameUrl(responseUrl, url)) {
    return failure(
      'unusable-transport',
      `the given fetch returned a response from ${withoutCredentials(responseUrl)} to a request for ${url}; it must support \`redirect: "manual"\` and request the URL it is given`,
    )
  }
  return undefined
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href.replace(/#.*/, '') === new URL(other).href.replace(/#.*/, '')
}

/**
 * Fewer than with the other transports: a fetch does not limit what its first decoder passes to the
 * second one, and its decoders continue after the request was aborted.
 */
const MAX_CODINGS = 1

/**
 * Returns why some fetches would not decode a body with these headers, if so. The fetches of Node
 * return the bytes as received if they do not know one member of the list, which includes
 * `identity` and an empty member. So a list is not accepted. No fetch decodes a transfer coding.
 */
function problemOfCodings(headers: ReplyHeaders): Failure | undefined {
  const content = String(headers['content-encoding'] ?? '')
  const transfer = String(headers['transfer-encoding'] ?? '')
  const codings = codingsOf(headers)
  if (codings.length > MAX_CODINGS || codings.includes('zstd')) {
    return failure('undecodable', `not every fetch decodes Content-Encoding ${JSON.stringify(content)}`)
  }
  if (!['', 'identity', 'chunked'].includes(transfer.trim().toLowerCase())) {
    return failure('undecodable', `no fetch decodes Transfer-Encoding ${JSON.stringify(transfer)}`)
  }
  return undefined
}

/** Returns all members of Content-Encoding, known or unknown; an empty list if the body is not coded. */
function codingsOf(headers: ReplyHeaders): readonly string[] {
  const codings = String(headers['content-encoding'] ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
  return codings.length === 1 && (codings[0] === '' || codings[0] === 'identity') ? [] : codings
}

/**
 * Returns why a Response without a stream does not have an empty body, if so. A fetch drops the
 * body of a 205 (WHATWG Fetch), so only a Content-Length of 0 shows that it was empty.
 */
function problemOfMissingBody(status: number, headers: ReplyHeaders): Failure | undefined {
  const length = headers['content-length']
  if (length === '0' || (length === undefined && status !== 205)) return undefined
  const framing = length === undefined ? 'no Content-Length' : `Content-Length ${length}`
  return failure('unusable-transport', `the given fetch returned no body with status ${status} and ${framing}`)
}
