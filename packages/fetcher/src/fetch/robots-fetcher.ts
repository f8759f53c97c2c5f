// Fetches robots.txt: makes the requests of one attempt, until core names its outcome. One deadline
// bounds the whole attempt.
import type { Copy, Outcome } from '@politely/core/engine'
import {
  type AttemptRequest,
  advance,
  type Failure,
  isWorthRetrying,
  type Reply,
  startAttempt,
  withoutCredentials,
} from '@politely/core/internal'
import { watchFakeTimers } from '../base/fake-timers.ts'
import { hasOtherDomain } from '../network/host-name.ts'
import type { RobotsVia } from '../network/robots-way.ts'
import type { ClientSettings } from '../options/options.ts'
import { Deadline } from './deadline.ts'
import type { OwnRequests } from './own-requests.ts'
import { sendSigned } from './signed-request.ts'
import { Transport } from './transport.ts'

/** What one attempt led to. */
export interface FetchResult {
  readonly outcome: Outcome
  /** The number of requests, including redirects and retries. */
  readonly requests: number
  /** Whether a request after a moment might have led to another outcome. */
  readonly isTemporary: boolean
}

/**
 * Whether the work may make its next request: undefined if it may, otherwise the failure with which
 * it ends. A promise of a turn rejects if the flight is removed while it waits.
 */
export type TurnFailure = Failure | undefined

/**
 * Called with the URL of each request after the first, and the URLs whose redirects led to it,
 * before the request. Returns a failure if the attempt has to end instead, and a promise if the
 * request has to wait for other attempts. The deadline does not run meanwhile.
 */
export type BeforeNext = (url: string, redirectedFrom: readonly string[]) => TurnFailure | Promise<TurnFailure>

export class RobotsFetcher {
  readonly #options: ClientSettings
  readonly #transport: Transport
  /**
   * The deadlines of the attempts under way. They are not abort listeners of one signal: Node scans
   * all listeners of a signal whenever one is removed.
   */
  readonly #deadlines = new Set<Deadline>()

  constructor(options: ClientSettings, ownRequests: OwnRequests) {
    this.#options = options
    this.#transport = new Transport(options, ownRequests)
  }

  /**
   * Makes one attempt. `maxRedirects` and `retries` bound the number of its requests. Whatever the
   * site does is an outcome.
   * @param copy The last copy, if there is one: the server may confirm it instead of sending the
   * file again.
   * @param chain The URLs that led to the origin of the file, if a public host has named it.
   * @throws {ReentryError} if the caller's `fetch` or `dispatcher` asked the client for this
   * robots.txt.
   * @throws the error with which the promise of `beforeNext` rejects, and what the signer or the
   * caller's function `dispatcher` throws.
   */
  async fetch(
    robotsUrl: string,
    copy: Copy | undefined,
    beforeNext: BeforeNext,
    chain: readonly string[] = [],
  ): Promise<FetchResult> {
    const deadline = new Deadline(this.#options.timeoutMs)
    this.#deadlines.add(deadline)
    try {
      return await new Attempt(this.#options, this.#transport, deadline, beforeNext, chain).run(robotsUrl, copy)
    } finally {
      deadline.clear()
      this.#deadlines.delete(deadline)
    }
  }

  /** Returns the way that the next request to a URL takes; without a URL, the way of all requests. */
  viaOf(url?: string): RobotsVia {
    return this.#transport.viaOf(url)
  }

  /** Ends all attempts under way, as if their deadlines had passed. */
  abortAll(): void {
    for (const deadline of this.#deadlines) deadline.end()
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    await this.#transport.close()
  }
}

/** The wait before the first retry, in milliseconds. Each further wait is twice the last. */
export const FIRST_RETRY_MS = 500

class Attempt {
  readonly #options: ClientSettings
  readonly #transport: Transport
  readonly #deadline: Deadline
  readonly #beforeNext: BeforeNext
  readonly #chain: readonly string[]
  #requests = 0
  #isTemporary = false

  constructor(
    options: ClientSettings,
    transport: Transport,
    deadline: Deadline,
    beforeNext: BeforeNext,
    chain: readonly string[],
  ) {
    this.#options = options
    this.#transport = transport
    this.#deadline = deadline
    this.#beforeNext = beforeNext
    this.#chain = chain
  }

  async run(robotsUrl: string, copy: Copy | undefined): Promise<FetchResult> {
    let state: AttemptRequest | Outcome = startAttempt(robotsUrl, copy)
    while (state.kind === 'request') {
      state = advance(state, await this.#sendWithRetries(state, robotsUrl), this.#options.policy)
      if (state.kind !== 'request') break
      const refusal = await this.#waitForTurn(state)
      if (refusal !== undefined) state = advance(state, refusal, this.#options.policy)
    }
    return { outcome: state, requests: this.#requests, isTemporary: this.#isTemporary }
  }

  async #waitForTurn({ url, hops }: AttemptRequest): Promise<TurnFailure> {
    if (this.#deadline.isOver) return undefined // no request follows
    const redirectedFrom = hops.map((hop) => hop.url)
    const turn = this.#beforeNext(url, redirectedFrom)
    return turn instanceof Promise ? this.#deadline.pauseDuring(turn) : turn
  }

  async #sendWithRetries(request: AttemptRequest, robotsUrl: string): Promise<Reply> {
    let last = await this.#send(request)
    if (!isWorthRetrying(last, this.#options.policy)) return last // the common case, without the cost of p-retry
    // Another site did not ask for this request, so the client does not repeat it.
    const isElsewhere = request.hops.length > 0 && hasOtherDomain(request.url, robotsUrl)
    if (isElsewhere) return last
    let waitEnded: (() => void) | undefined
    const attempt = async (number: number) => {
      waitEnded?.()
      if (number > 1) last = await this.#send(request)
      if (isWorthRetrying(last, this.#options.policy)) throw new TemporaryReplyError(last.kind)
      return last
    }
    const { default: pRetry } = await import('p-retry')
    try {
      return await pRetry(attempt, {
        retries: this.#options.retries,
        minTimeout: FIRST_RETRY_MS,
        factor: 2,
        signal: this.#deadline.signal,
        onFailedAttempt: ({ retriesLeft }) => {
          if (retriesLeft > 0)
            waitEnded = watchFakeTimers(
              () => `${withoutCredentials(request.url)} is unreachable, and waits for a retry`,
            )
        },
      })
    } catch (error) {
      // No retries are left, or the deadline passed between two of them: the site's last reply says
      // most.
      this.#isTemporary = error instanceof TemporaryReplyError
      if (this.#isTemporary || this.#deadline.isOver) return last
      throw error
    } finally {
      waitEnded?.()
    }
  }

  #send(request: AttemptRequest): Promise<Reply> {
    const send = (sent: AttemptRequest) => {
      this.#requests++
      return this.#transport.send(sent, this.#deadline, this.#chain)
    }
    const { sign } = this.#options
    return sign === undefined ? send(request) : sendSigned(sign, request, this.#deadline, send)
  }
}

/** Tells p-retry, which retries only after errors, that a reply is worth a retry. */
class TemporaryReplyError extends Error {}
