// Requests for robots.txt through the caller's dispatcher of undici.
//
// The dispatcher may be a ProxyAgent, an Agent with interceptors, or a mock. It may follow
// redirects, decode or drop the body, or end a truncated body as if it were complete. Its handler
// can't see this. So a `RequestObserver` records what undici received from the site, and
// `problemOfBody` compares that with what the handler received. Example: undici received a complete
// body of 900 bytes, and the handler received none. An interceptor has dropped the body, so the
// reply is the failure `unusable-transport`.

import { type Failure, headerOf } from '@politely/core/internal'
import type { Dispatcher } from 'undici'
import { failure } from '../failure.ts'
import { isChunked, isCoded, UNSEEN_END } from '../framing.ts'
import { type ObservedRequest, RequestObserver, truncationOf } from '../request-observer.ts'
import { BYPASS_CACHES } from '../robots-transport.ts'
import { type Connection, FOLLOWS_REDIRECTS, type ReceivedBody } from './undici-connection.ts'

/**
 * A connection of the caller's dispatcher. A body counts as complete only if the observed request or
 * its length shows that it is.
 */
export class CallersConnection implements Connection {
  readonly dispatcher: Dispatcher
  // `maxRedirections` turns off undici's redirect interceptor. A caching interceptor would return a
  // body whose end was not observed.
  readonly options: Connection['options'] & { maxRedirections: 0 } = { maxRedirections: 0, headers: BYPASS_CACHES }
  readonly #observer: RequestObserver

  constructor(dispatcher: Dispatcher, url: string, maxBodyBytes: number) {
    this.dispatcher = dispatcher
    this.#observer = new RequestObserver(url, maxBodyBytes)
  }

  problemOfHead(status: number): Failure | undefined {
    return this.#observer.wasRedirected(status) ? FOLLOWS_REDIRECTS : undefined
  }

  problemOfBody({ status, headers, size }: ReceivedBody): Failure | undefined | Promise<Failure | undefined> {
    const exchanges = this.#observer.withStatus(status)
    const truncation = truncationOf(exchanges)
    if (truncation !== undefined) return truncation
    if (exchanges.some(({ end }) => end === 'unseen')) return failure('truncated', UNSEEN_END)
    const complete = exchanges.filter(({ end }) => end === 'complete')
    const decoded = isCoded(headers) ? undefined : complete.find((exchange) => isCoded(exchange.headers))
    if (decoded !== undefined) return this.#observer.problemOfCoding(decoded)
    if (status === 204) return undefined
    if (complete.length > 0) {
      return complete.some((exchange) => sizeOf(exchange, size) === size) ? undefined : CHANGED_BODY
    }
    if (isChunked(headerOf(headers, 'transfer-encoding') ?? '')) return undefined
    return headerOf(headers, 'content-length') === String(size) ? undefined : UNOBSERVED_END
  }

  close(): void {
    this.#observer.stop()
  }
}

/**
 * Returns the number of body bytes received. undici 6 does not report it; then the Content-Length
 * counts, or else `fallback`.
 */
function sizeOf({ size, headers }: ObservedRequest, fallback: number): number {
  return size || Number(headerOf(headers, 'content-length') ?? fallback)
}

const UNOBSERVED_END = failure(
  'truncated',
  'the given dispatcher does not show whether the body is complete; give an Agent, Pool, Client or ProxyAgent of undici, or send a correct Content-Length',
)

const CHANGED_BODY = failure(
  'unusable-transport',
  'the given dispatcher did not return the body that was received; remove interceptors that change or drop it, such as `interceptors.dump()`',
)
