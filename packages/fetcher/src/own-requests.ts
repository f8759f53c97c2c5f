// Recognises the requests of a RobotsClient that come back to it.
//
// A `fetch` or `dispatcher` that the caller gives may itself ask the client, directly or through a gate: the global fetch does so under a global
// `politeAgent`. The client would then wait for itself. The async context tells such a call from all others.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Reply } from '@politely/core'

interface OwnRequest {
  readonly url: string
  /** A connection keeps the context in which it was made, and may outlive the request. */
  isOver: boolean
  error: ReentryError | undefined
}

/** The given `fetch` or `dispatcher` asked the client about another URL, and so would wait for its own end. */
export class ReentryError extends Error {
  override readonly name = 'ReentryError'
  /** Stable; messages may change. */
  readonly code = 'ERR_POLITELY_REENTRY'

  constructor(url: string, requestUrl: string) {
    super(
      `the fetch or dispatcher given to this RobotsClient asked the same client about ${url} while it was fetching ${requestUrl}; ` +
        'give the client a fetch or dispatcher that does not ask it',
    )
  }
}

export class OwnRequests {
  readonly #current = new AsyncLocalStorage<OwnRequest>()

  /** Makes a request. @throws {ReentryError} if the request asked the client. */
  async run(url: string, send: () => Promise<Reply>): Promise<Reply> {
    const request: OwnRequest = { url, isOver: false, error: undefined }
    const reply = await this.#current.run(request, send)
    request.isOver = true
    if (request.error !== undefined) throw request.error
    return reply
  }

  /** Whether the current async context belongs to a request for exactly this URL. */
  includes(url: string): boolean {
    const request = this.#currentRequest()
    return request !== undefined && URL.parse(url)?.href === request.url
  }

  /** @throws {ReentryError} in the context of a request that has not ended. */
  assertOutside(url: string): void {
    const request = this.#currentRequest()
    if (request === undefined) return
    request.error ??= new ReentryError(url, request.url)
    throw request.error
  }

  #currentRequest(): OwnRequest | undefined {
    const request = this.#current.getStore()
    return request?.isOver === false ? request : undefined
  }
}
