// Recognises the requests of a RobotsClient that come back to it.
//
// A `fetch` or `dispatcher` that the caller gives may itself ask the client, directly or through a gate: the global fetch does so under a global
// `politeAgent`. The client would then wait for itself. The async context tells such a call from all others.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Reply } from '@politely/core'

interface OwnRequest {
  readonly url: string
  /** Where robots.txt of the origin is that the request is made for. */
  readonly robotsUrl: string
  /** The request in whose context this one is made. */
  readonly outer: OwnRequest | undefined
  /** A connection keeps the context in which it was made, and may outlive the request. */
  isOver: boolean
  error: ReentryError | undefined
}

/** The given `fetch` or `dispatcher` asked the client for the robots.txt that it was fetching, and so would wait for its own end. */
export class ReentryError extends Error {
  override readonly name = 'ReentryError'
  /** Stable; messages may change. */
  readonly code = 'ERR_POLITELY_REENTRY'

  constructor(robotsUrl: string) {
    super(
      `the fetch or dispatcher given to this RobotsClient asked the same client for ${robotsUrl} while it was fetching that; ` +
        'give the client a fetch or dispatcher that does not ask it',
    )
  }
}

export class OwnRequests {
  readonly #current = new AsyncLocalStorage<OwnRequest>()

  /**
   * Makes a request.
   * @param robotsUrl Where robots.txt of the origin is that the request is made for.
   * @throws {ReentryError} if the request waited for itself.
   */
  async run(url: string, robotsUrl: string, send: () => Promise<Reply>): Promise<Reply> {
    const request: OwnRequest = { url, robotsUrl, outer: this.#open(), isOver: false, error: undefined }
    try {
      const reply = await this.#current.run(request, send)
      // The reply of a request that was refused says nothing about the site.
      if (reply.kind === 'failure' && request.error !== undefined) throw request.error
      return reply
    } finally {
      request.isOver = true
    }
  }

  /** Whether the current async context belongs to a request for exactly this URL. */
  includes(url: string): boolean {
    const request = this.#open()
    return request !== undefined && URL.parse(url)?.href === request.url
  }

  /** @throws {ReentryError} in the context of a request for this robots.txt that has not ended. */
  assertOutside(robotsUrl: string): void {
    for (let request = this.#open(); request !== undefined; request = openOf(request.outer)) {
      if (request.robotsUrl !== robotsUrl) continue
      request.error ??= new ReentryError(robotsUrl)
      throw request.error
    }
  }

  #open(): OwnRequest | undefined {
    return openOf(this.#current.getStore())
  }
}

function openOf(request: OwnRequest | undefined): OwnRequest | undefined {
  let open = request
  while (open?.isOver === true) open = open.outer
  return open
}
