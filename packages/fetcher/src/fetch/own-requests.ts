// Detects calls of a RobotsClient from within its own requests.
//
// The caller's `fetch` or `dispatcher` may itself ask the client, directly or through a gate. The
// global fetch does that under a global `politeAgent`. The client would then wait for itself. The
// async context tells such a call from all others.
import type { Reply } from '@politely/core/internal'
import { AsyncVariable } from '../base/async-variable.ts'
import { ReentryError } from '../base/errors.ts'

interface OwnRequest {
  readonly url: string
  /** The robots.txt that the request is part of fetching. */
  readonly robotsUrl: string
  /** The request in whose async context this one is made. */
  readonly outer: OwnRequest | undefined
  /**
   * Whether the request has ended. A connection keeps the async context in which it was created,
   * and may outlive the request.
   */
  isOver: boolean
  error: ReentryError | undefined
}

export class OwnRequests {
  readonly #current = new AsyncVariable<OwnRequest>()

  /**
   * Calls `send` in the async context of a new request.
   * @param robotsUrl The robots.txt that the request is part of fetching. After a redirect, it
   * differs from `url`.
   * @throws {ReentryError} if `send` asked the client for the same robots.txt and failed for that
   * reason.
   */
  async run(url: string, robotsUrl: string, send: () => Promise<Reply>): Promise<Reply> {
    const request: OwnRequest = { url, robotsUrl, outer: this.#open(), isOver: false, error: undefined }
    try {
      const reply = await this.#current.run(request, send)
      // A failure that this error caused says nothing about the site.
      if (reply.kind === 'failure' && request.error !== undefined) throw request.error
      return reply
    } finally {
      request.isOver = true
    }
  }

  /** Returns whether the current async context belongs to a request for exactly this URL. */
  includes(url: string): boolean {
    const request = this.#open()
    return request !== undefined && URL.parse(url)?.href === request.url
  }

  /**
   * @throws {ReentryError} in the async context of a request for this robots.txt that has not
   * ended.
   */
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
