// Decides which requests may be sent. A navigation waits at the gate for its turn. Every other page
// request is checked and does not wait.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientVerdict } from '@politely/fetcher'
import { isPrivateHost } from '@politely/fetcher/internal'
import { type Permit, type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { Exchange, warnOfOtherName } from '@politely/gate/internal'
import { FORBID_DOWNLOADS } from './page-downloads.ts'
import {
  type ErrorReason,
  type PausedRequest,
  type RequestKind,
  responseHeader,
  siteErrorOf,
} from './paused-request.ts'
import { RedirectChains } from './redirect-chains.ts'
import { Refusals } from './refusals.ts'
import { LEAVE_OUT_SPECULATION_RULES } from './speculation-rules.ts'
import type { GuardedContexts, RequestListener } from './traffic.ts'

/** Admits requests: a PoliteGate, or an object that calls one. */
export interface RequestAdmission {
  enter(url: string, options: PageRequestOptions, targetId: string): Promise<Permit>
  check(url: string, options: PageRequestOptions, frameId: string): Promise<ClientVerdict>
}

/** Options of `RequestAdmission`. */
export interface PageRequestOptions {
  readonly signal: AbortSignal
  /**
   * The origins that led to this URL: of the documents that have named it, if its host is private,
   * and of redirects.
   */
  readonly redirectedFrom: readonly string[]
}

/** Options of a `Guard`. */
export interface GuardOptions {
  /**
   * The gate that admits the requests. Pages with a User-Agent that names another crawler than its
   * client cause a process warning. Default: no warning.
   */
  readonly gate?: PoliteGate | undefined
  readonly contexts: GuardedContexts
  /**
   * How to treat the requests that a page makes for its content. `check`: each is sent only if
   * robots.txt allows it, and pages cannot start downloads. `ignore`: they are sent without a
   * check.
   */
  readonly pageRequests: 'check' | 'ignore'
  /**
   * How a navigation fails that robots.txt refuses. `Aborted`: the page stays as it is.
   * `BlockedByClient`: the browser shows an error page, as for every blocked request.
   */
  readonly refusedPage: ErrorReason
}

/**
 * Pauses before the checks for canceled navigations. Milliseconds, each after the previous check. A
 * cancellation that all checks miss is noticed when the navigation's turn comes; its slot is wasted
 * then.
 */
const CANCEL_CHECK_DELAYS_MS = [0, 50, 200, 1_000]

const SET_IN_BROWSER =
  "give the browser the same User-Agent as the RobotsClient: browser.newContext({ userAgent }) in Playwright, page.setUserAgent({ userAgent }) in Puppeteer, launchContext: { userAgent } in Crawlee, or Chromium's switch --user-agent"

/** One hop of a page's navigation, from the paused request to the response headers. */
interface Navigation {
  readonly frameId: string
  readonly requestId: string
  /** Without a fragment. */
  readonly url: string
  /**
   * The signal of the `goto` call that this hop belongs to. Undefined if the page navigates by
   * itself.
   */
  readonly callSignal: AbortSignal | undefined
  readonly controller: AbortController
  readonly exchange: Exchange
  /**
   * Whether the driver reported that a navigation of the page to this URL failed. It may have been
   * an earlier one.
   */
  hasFailed: boolean
}

/**
 * Decides which requests of a browser or a context may be sent. A navigation enters the gate and
 * waits for its slot. Every other page request is checked and does not wait.
 */
export class Guard implements RequestListener {
  readonly contexts: GuardedContexts
  /** A script for each new document, to run before the document's own scripts. */
  readonly documentScript: string
  readonly refusals: Refusals = new Refusals()
  readonly #redirectChains = new RedirectChains()
  readonly #admission: RequestAdmission
  readonly #pageRequests: GuardOptions['pageRequests']
  readonly #refusedPage: ErrorReason
  readonly #gate: PoliteGate | undefined
  /**
   * The current navigation of each page, by the page's target ID, which is also the ID of its main
   * frame.
   */
  readonly #navigations = new Map<string, Navigation>()
  /** Why the last navigation of a page was not sent, by target ID. */
  readonly #failures = new Map<string, unknown>()
  /**
   * The signal of the current `goto` or similar call of each page, by target ID. It is aborted when
   * the call is abandoned.
   */
  readonly #callSignals = new Map<string, AbortSignal>()
  /** The URL that this call has as its argument, if it is a `goto`. */
  readonly #calledUrls = new Map<string, string>()
  /** The private origins that `goto` has opened in each page. `goBack` may return to them. */
  readonly #openedOrigins = new Map<string, Set<string>>()
  /**
   * Pages whose last call was abandoned. A request that was sent already continues, but its
   * redirects are not followed.
   */
  readonly #abandonedPages = new Set<string>()
  /**
   * The series of checks for a canceled navigation that runs for a page, by target ID. `repeat`:
   * one more series must follow.
   */
  readonly #cancelChecks = new Map<string, { repeat: boolean }>()
  readonly #closing = new AbortController()
  readonly #pendingDecisions = new Set<Promise<unknown>>()

  constructor(admission: RequestAdmission, { contexts, pageRequests, refusedPage, gate }: GuardOptions) {
    this.#gate = gate
    this.#admission = admission
    this.contexts = contexts
    this.#pageRequests = pageRequests
    const forbidDownloads = pageRequests === 'check' ? FORBID_DOWNLOADS : ''
    this.documentScript = `${LEAVE_OUT_SPECULATION_RULES};${forbidDownloads}`
    this.#refusedPage = refusedPage
  }

  async onRequest(
    paused: PausedRequest,
    kind: RequestKind,
    sources: () => readonly string[] = () => [],
  ): Promise<ErrorReason | undefined> {
    if (!/^https?:/i.test(paused.request.url)) return undefined
    // See service-workers.ts.
    if (kind === 'service-worker') return 'BlockedByClient'
    if (kind === 'other' && this.#pageRequests === 'ignore') return undefined
    // See page-downloads.ts. While it waited, Chromium would send others.
    if (this.#pageRequests === 'check' && isDownload(paused)) return 'BlockedByClient'
    const decision = kind === 'page' ? this.#enterGate(paused, sources) : this.#checkPageRequest(paused, sources)
    this.#pendingDecisions.add(decision)
    try {
      return await decision
    } finally {
      this.#pendingDecisions.delete(decision)
    }
  }

  onResponse(paused: PausedRequest): void {
    const { frameId, requestId, responseStatusCode: status } = paused
    const navigation = this.#navigations.get(frameId)
    if (navigation?.requestId !== requestId) return
    const error = siteErrorOf(paused)
    if (status !== undefined)
      navigation.exchange.end({ status, headers: { get: (name) => responseHeader(paused, name) } })
    else if (error !== undefined) navigation.exchange.end({ failed: true, error })
    this.#endNavigation(frameId)
  }

  onCanceled({ frameId, requestId }: Pick<PausedRequest, 'frameId' | 'requestId'>): void {
    if (this.#navigations.get(frameId)?.requestId === requestId) this.#endNavigation(frameId)
  }

  onTargetClosed(targetId: string): void {
    this.#endNavigation(targetId)
    this.#clearOutcome(targetId)
    this.#callSignals.delete(targetId)
    this.#calledUrls.delete(targetId)
    this.#openedOrigins.delete(targetId)
  }

  /**
   * Registers a `goto` or similar call of a page. When `callSignal` is aborted, a navigation that
   * still waits leaves the queue.
   * @param url The argument of `goto`. Undefined for another method.
   */
  beginCall(targetId: string, callSignal: AbortSignal, url: string | undefined): void {
    this.#clearOutcome(targetId)
    this.#callSignals.set(targetId, callSignal)
    if (url === undefined) this.#calledUrls.delete(targetId)
    else this.#calledUrls.set(targetId, url)
    const abandon = () => {
      const navigation = this.#navigations.get(targetId)
      if (navigation?.callSignal === callSignal && !navigation.exchange.hasEntered) this.#endNavigation(targetId)
      if (this.#callSignals.get(targetId) === callSignal) this.#abandonedPages.add(targetId)
    }
    callSignal.addEventListener('abort', abandon, { once: true })
  }

  /**
   * Unregisters a call. `ended`: its navigation ended with it. `continues`: the browser may
   * continue the navigation, for example when it still loads the rest of a page.
   */
  endCall(targetId: string, callSignal: AbortSignal, navigation: 'ended' | 'continues'): void {
    if (navigation === 'ended' && this.#navigations.get(targetId)?.callSignal === callSignal) {
      this.#endNavigation(targetId)
    }
    if (this.#callSignals.get(targetId) === callSignal) this.#callSignals.delete(targetId)
  }

  /**
   * Ends the navigation of a page if the browser has canceled it. To be called when the driver
   * reports that a navigation of the page's main frame has failed: the driver does not report the
   * request's ID in this session, so the browser is asked. It forgets a request a moment after it
   * canceled it, so the check is repeated. A page has one series of checks at a time. A failure
   * during a series causes one more series.
   *
   * If the browser is asked while a document arrives, it withholds the document until its end.
   * About a request that was sent it is therefore asked only if the failed URL is the URL of this
   * request.
   */
  async endCanceledNavigation(
    targetId: string,
    failedUrl: string,
    isPending: (requestId: string) => Promise<boolean>,
  ): Promise<void> {
    const current = this.#navigations.get(targetId)
    if (current !== undefined && current.url === failedUrl.split('#', 1)[0]) current.hasFailed = true
    const running = this.#cancelChecks.get(targetId)
    if (running !== undefined) {
      running.repeat = true
      return
    }
    const checks = { repeat: false }
    this.#cancelChecks.set(targetId, checks)
    try {
      do {
        checks.repeat = false
        for (const delayMs of CANCEL_CHECK_DELAYS_MS) {
          await sleep(delayMs, undefined, { ref: false })
          const navigation = this.#navigations.get(targetId)
          if (navigation === undefined || (navigation.exchange.hasEntered && !navigation.hasFailed)) continue
          if (!(await isPending(navigation.requestId))) this.onCanceled(navigation)
        }
      } while (checks.repeat)
    } finally {
      this.#cancelChecks.delete(targetId)
    }
  }

  /** Returns why the last navigation of a page was not sent. Undefined if it was sent. */
  failureOf(targetId: string): unknown {
    return this.#failures.get(targetId)
  }

  /**
   * Fails waiting navigations and all later ones. Resolves when no request waits for a decision.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const targetId of [...this.#navigations.keys()]) this.#endNavigation(targetId)
    await Promise.allSettled(this.#pendingDecisions)
  }

  /** Clears the outcome of a page's previous navigation. */
  #clearOutcome(targetId: string): void {
    this.#failures.delete(targetId)
    this.#abandonedPages.delete(targetId)
  }

  /**
   * Removes a waiting navigation from the queue, and releases the permit of one that is under way.
   */
  #endNavigation(targetId: string): void {
    const navigation = this.#navigations.get(targetId)
    this.#navigations.delete(targetId)
    navigation?.controller.abort()
    navigation?.exchange.end()
  }

  async #enterGate(
    { frameId, requestId, redirectedRequestId, request }: PausedRequest,
    sources: () => readonly string[],
  ): Promise<ErrorReason | undefined> {
    this.#endNavigation(frameId) // a new navigation replaces the previous one of the page
    const callSignal = this.#callSignals.get(frameId)
    if (redirectedRequestId === undefined && !callSignal?.aborted) this.#clearOutcome(frameId)
    if (this.#closing.signal.aborted || this.#abandonedPages.has(frameId)) return 'Aborted'
    const controller = new AbortController()
    const { signal } = controller
    const { url } = request
    try {
      // The gate has seen the redirects of a page.
      const isNamed = redirectedRequestId === undefined && isPrivate(url) && !this.#isCalled(frameId, url)
      const options = { signal, redirectedFrom: isNamed ? sources() : [] }
      const exchange = new Exchange({ url, ...options })
      this.#navigations.set(frameId, { frameId, requestId, url, callSignal, controller, exchange, hasFailed: false })
      await exchange.enter(this.#admission.enter(url, options, frameId))
      if (!signal.aborted) {
        this.#warnOfUserAgent(request)
        return undefined
      }
      exchange.end()
      return 'Aborted'
    } catch (error) {
      if (signal.aborted) return 'Aborted'
      this.#endNavigation(frameId)
      this.#failures.set(frameId, error)
      if (!(error instanceof RobotsDisallowedError)) return 'Aborted'
      this.refusals.add(url, error)
      return this.#refusedPage
    }
  }

  /**
   * Returns whether a navigation to a private URL is the caller's own, and not a link or a script of
   * the page. The page could navigate while `goto` is called, so the URL decides.
   */
  #isCalled(targetId: string, url: string): boolean {
    if (!this.#callSignals.has(targetId)) return false
    const { origin } = new URL(url)
    const opened = this.#openedOrigins.get(targetId) ?? new Set()
    const called = this.#calledUrls.get(targetId)
    if (called === undefined) return opened.has(origin)
    if (!isSameUrl(called, url)) return false
    this.#openedOrigins.set(targetId, opened.add(origin))
    return true
  }

  #warnOfUserAgent({ headers = {} }: PausedRequest['request']): void {
    const name = Object.keys(headers).find((header) => header.toLowerCase() === 'user-agent')
    if (this.#gate !== undefined && name !== undefined) warnOfOtherName(this.#gate, headers[name], SET_IN_BROWSER)
  }

  async #checkPageRequest(paused: PausedRequest, sources: () => readonly string[]): Promise<ErrorReason | undefined> {
    const { url } = paused.request
    const redirects = this.#redirectChains.take(paused.redirectedRequestId)
    if (redirects === undefined) return 'BlockedByClient'
    try {
      const redirectedFrom = redirects.length === 0 && isPrivate(url) ? sources() : redirects
      const options = { signal: this.#closing.signal, redirectedFrom }
      const verdict = await this.#admission.check(url, options, paused.frameId)
      if (verdict.allowed || this.#gate?.admits(verdict)) {
        this.#redirectChains.add(paused.requestId, [...redirectedFrom, verdict.origin])
        return undefined
      }
      this.refusals.add(url, new RobotsDisallowedError(verdict))
      return 'BlockedByClient'
    } catch {
      // The guard is closing, or the gate or its client has failed. In the second case the next
      // navigation rejects with the same error.
      return 'Aborted'
    }
  }
}

function isPrivate(url: string): boolean {
  return isPrivateHost(new URL(url).hostname)
}

/**
 * Returns whether the argument of `goto` is this URL. The driver may complete the argument: by a
 * base URL, or by `http://`. The browser reports a URL without its credentials and its fragment.
 */
function isSameUrl(called: string, url: string): boolean {
  const { origin, pathname, search } = new URL(url)
  return [called, `http://${called}`].some((text) => {
    const target = URL.parse(text, url)
    return target?.origin === origin && target.pathname === pathname && target.search === search
  })
}

/**
 * Returns whether a link with the attribute `download` caused this request. It looks like a
 * navigation, but only navigations have the header `Upgrade-Insecure-Requests`. The first
 * navigation of a popup may have no network ID either (measured with Puppeteer).
 */
function isDownload({ resourceType, networkId, request }: PausedRequest): boolean {
  const isDocument = resourceType === 'Document' && networkId === undefined
  return isDocument && request.headers?.['Upgrade-Insecure-Requests'] === undefined
}
