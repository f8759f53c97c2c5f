// The traffic of one browser. Each request pauses here before it is sent, and the response to each
// document pauses before the page reads it.
//
// A session of the DevTools protocol intercepts the requests of the whole browser, instead of one
// interception per page or one route per context. This is the interception point closest to the
// network. Requests reach it after the handlers of pages, so that no handler can bypass it, and
// handlers need no change. It sees requests that pages do not see: the first request of a popup,
// frames in other processes, workers and what they load. The browser makes the requests itself,
// with its own cache, cookies and connections.
//
// When a session is detached, Chromium sends what it had paused. So there are two sessions, and each
// request pauses in both, one after the other. The first one decides. The second one lets pass what
// the first one has let pass, and decides about everything else: the first one is lost. A lost
// session is replaced at once if the driver reports the loss, and before the next navigation
// otherwise.
import { boundedMap } from '@politely/fetcher/internal'
import { isRedirect } from '@politely/gate'
import { BrowserSession, isDelivered } from './browser-session.ts'
import { documentHeaders, rememberRobotsTags } from './document-headers.ts'
import { Frames } from './frames.ts'
import { type ErrorReason, type PausedRequest, type RequestKind, responseHeader } from './paused-request.ts'
import { Popups } from './popups.ts'
import { unregisterServiceWorkers } from './service-workers.ts'
import {
  type DriverBrowser,
  type DriverSession,
  listen,
  listenForDetach,
  send,
  type TargetInfo,
  type TargetSession,
} from './session.ts'

/**
 * The guarded contexts: all of them, or the contexts for which the function returns true.
 * @inline
 */
export type GuardedContexts = 'all' | ((contextId: string) => boolean | Promise<boolean>)

/**
 * Decides about the requests of a browser, or of one of its contexts.
 * @inline
 */
export interface RequestListener {
  readonly contexts: GuardedContexts
  /** A script for each new document of a popup. Default: none. */
  readonly documentScript?: string | undefined
  /**
   * Resolves with undefined when the request may be sent, or with the reason why it must fail. The
   * request is sent right after the promise resolves, so a listener that waits for a turn resolves
   * it only when the turn has come.
   * @param sources Returns the origins of the documents that may have caused the request.
   */
  onRequest(
    paused: PausedRequest,
    kind: RequestKind,
    sources: () => readonly string[],
  ): Promise<ErrorReason | undefined>
  /** Called when a document request has its response headers or has failed. */
  onResponse(paused: PausedRequest): void
  /** Called when a request ends before it was sent. */
  onCanceled(paused: PausedRequest): void
  /** Called when a page or a worker was closed or has crashed. */
  onTargetClosed(targetId: string): void
}

/** A request that is being decided about. */
interface Deciding {
  readonly session: DriverSession
  readonly paused: PausedRequest
  readonly listeners: readonly RequestListener[]
  hasFailed: boolean
}

const trafficByBrowser = new WeakMap<object, Traffic>()

/**
 * Resolves when the lost sessions of a guarded browser are replaced, so that the next request is
 * intercepted.
 * @throws {Error} if the driver opens no session.
 */
export async function trafficReady(browser: DriverBrowser): Promise<void> {
  await trafficByBrowser.get(browser.driverObject)?.ready()
}

/** Returns the traffic of this browser. */
export function trafficOf(browser: DriverBrowser): Traffic {
  let traffic = trafficByBrowser.get(browser.driverObject)
  if (traffic === undefined) {
    traffic = new Traffic(browser)
    trafficByBrowser.set(browser.driverObject, traffic)
  }
  return traffic
}

/** One for the requests, and one that takes over when the first is lost. */
const SESSIONS = 2

/** How often lost sessions are replaced before the request that waits for them fails. Our choice. */
const MAX_ATTEMPTS = 5

/**
 * How many requests are remembered that the second session has not seen yet, and how many documents
 * whose response has not arrived.
 */
const MAX_REQUESTS = 10_000

/**
 * The requests of one browser. Two sessions of the DevTools protocol pause each request before it is
 * sent. The first one asks the listener of its context whether it may be sent.
 */
export class Traffic {
  readonly #browser: DriverBrowser
  readonly #listeners = new Set<RequestListener>()
  readonly #frames: Frames
  readonly #popups: Popups
  /** Paused requests that have not been continued or failed yet. */
  readonly #pausedRequests = new Set<Promise<void>>()
  #sessions: readonly BrowserSession[] = []
  /** Opens the missing sessions, while that is under way. */
  #restoring: Promise<void> | undefined
  /** Whether open pages may bypass a session that has replaced a lost one. */
  #isBypassed = false
  /** What one session has let pass and the other has not seen yet: its request ID, by `keyOf`. */
  readonly #passed = boundedMap<string>(MAX_REQUESTS)
  /** What a session decides about now, by `keyOf`. */
  readonly #deciding = new Map<string, Deciding>()
  /** The request IDs of documents in the session that has decided, by those in the other one. */
  readonly #decidedIds = boundedMap<string>(MAX_REQUESTS)

  /** `trafficOf` creates instances. */
  constructor(browser: DriverBrowser) {
    this.#browser = browser
    const frameTreeOf = async (targetId: string) => {
      const ask = (page: TargetSession) => send(page, 'Page.getFrameTree')
      return (await this.#anySession().withTarget(targetId, ask)).frameTree
    }
    this.#frames = new Frames(frameTreeOf, (targetId) => {
      this.#popups.delete(targetId)
      for (const listener of this.#listeners) listener.onTargetClosed(targetId)
    })
    this.#popups = new Popups(
      (targetId, onEnd) => this.#anySession().attach(targetId, onEnd),
      async (targetId) => (await this.#listenersFor(targetId))[0]?.documentScript,
    )
  }

  /**
   * Adds a listener. Resolves when its requests are intercepted. The first listener starts the
   * interception.
   */
  async add(listener: RequestListener): Promise<void> {
    this.#listeners.add(listener)
    await this.#restore()
  }

  /**
   * Removes a listener. Removing the last listener ends the interception. The listener must have
   * decided about all of its requests.
   */
  async remove(listener: RequestListener): Promise<void> {
    if (this.#listeners.size > 1 || !this.#listeners.has(listener)) {
      this.#listeners.delete(listener)
      return
    }
    trafficByBrowser.delete(this.#browser.driverObject) // a listener that is added from now on starts a new interception
    await this.#restoring?.catch(() => undefined) // `add` rejected with the error
    // Or the browser would continue them. The second session pauses what the first one continues. A
    // page may start others all the time, so this does not wait for all of them.
    for (let i = 0; i < SESSIONS; i++) await Promise.allSettled(this.#pausedRequests)
    const sessions = this.#sessions
    this.#sessions = []
    // Detaching fails when the browser is gone. `isConnected` may still return true then, so every
    // failure is ignored. A session that stayed open by mistake would continue each request,
    // because the listener is removed below.
    await Promise.all(sessions.map((session) => session.detach()))
    this.#listeners.delete(listener)
  }

  /** See `trafficReady`. */
  async ready(): Promise<void> {
    if (this.#listeners.size > 0) await this.#restore()
  }

  /** Returns whether the browser still waits for the response to this request. */
  async isPending(requestId: string): Promise<boolean> {
    // For a pending request the browser reports a missing body. A session where the request is
    // canceled, or that has not seen it, reports an unknown ID.
    const asked = this.#sessions.map(async ({ driverSession }) => {
      const result = await send(driverSession, 'Fetch.getResponseBody', { requestId }).catch(String)
      return typeof result !== 'string' || !result.includes('Invalid InterceptionId')
    })
    return (await Promise.all(asked)).includes(true)
  }

  /** @throws {Error} if all sessions are lost. Requests fail then. */
  #anySession(): BrowserSession {
    const session = this.#sessions.at(-1)
    if (session === undefined) throw new Error('the guard has no session with the browser')
    return session
  }

  /** Replaces the sessions that were detached. */
  async #restore(): Promise<void> {
    if (trafficByBrowser.get(this.#browser.driverObject) !== this) return // the interception ends
    this.#restoring ??= this.#openMissing().finally(() => {
      this.#restoring = undefined
    })
    await this.#restoring
  }

  async #openMissing(): Promise<void> {
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const isAttached = await Promise.all(this.#sessions.map((session) => session.isAttached()))
      const lost = this.#sessions.filter((_, i) => !isAttached[i])
      if (lost.length > 0) {
        this.#isBypassed = true
        this.#sessions = this.#sessions.filter((_, i) => isAttached[i])
        this.#passed.clear() // or it would let pass later requests with the same key
        await Promise.all(lost.map((session) => session.detach())) // rejects what waits for a reply
      }
      if (this.#sessions.length === SESSIONS && !this.#isBypassed) return
      const kept = this.#sessions
      if (this.#isBypassed) await this.#failHeldBy(kept)
      while (this.#sessions.length < SESSIONS) this.#sessions = [...this.#sessions, await this.#open()]
      if (!this.#isBypassed) continue
      await this.interceptOpenPages()
      await this.#failHeldBy(kept) // what was paused meanwhile
      this.#isBypassed = false
    }
    throw new Error(`the sessions of the guard with the browser were detached ${MAX_ATTEMPTS} times in a row`)
  }

  /**
   * Fails the undecided requests that these sessions hold. A session that is opened later does not
   * pause them, so the browser would send them if the session that holds them were lost too.
   */
  async #failHeldBy(sessions: readonly BrowserSession[]): Promise<void> {
    const fail = async (deciding: Deciding) => {
      const { session, paused, listeners } = deciding
      if (!sessions.some(({ driverSession }) => driverSession === session)) return
      deciding.hasFailed = true
      await failRequest(session, paused, 'Aborted')
      for (const listener of listeners) listener.onCanceled(paused)
    }
    await Promise.all([...this.#deciding.values()].map(fail))
  }

  async #open(): Promise<BrowserSession> {
    const session = await this.#browser.newSession()
    this.#frames.follow(session)
    listen(session, 'Target.targetCreated', ({ targetInfo: { type, targetId, openerId } }) => {
      if (type === 'page' && openerId !== undefined) this.#popups.add(targetId)
    })
    listen(session, 'Fetch.requestPaused', (paused) => {
      const handled = this.#onPaused(session, paused)
        .catch(() => failRequest(session, paused, 'Aborted'))
        .then(() => void this.#pausedRequests.delete(handled))
      this.#pausedRequests.add(handled)
    })
    const opened = new BrowserSession(session)
    await send(session, 'Target.setDiscoverTargets', { discover: true })
    await send(session, 'Fetch.enable', {
      patterns: [
        { urlPattern: '*', requestStage: 'Request' },
        { urlPattern: '*', requestStage: 'Response', resourceType: 'Document' },
      ],
    })
    listenForDetach(session, () => {
      if (this.#sessions.includes(opened)) this.#restore().catch(() => undefined) // tried again before the next navigation
    })
    return opened
  }

  async #onPaused(session: DriverSession, paused: PausedRequest): Promise<void> {
    const { requestId, frameId } = paused
    const key = keyOf(paused)
    const passedId = this.#passed.get(key)
    if (passedId !== undefined) {
      this.#passed.delete(key)
      if (paused.resourceType === 'Document' && !isResponse(paused)) this.#decidedIds.set(requestId, passedId)
      await isDelivered(send(session, 'Fetch.continueRequest', { requestId }))
      return
    }
    const listeners = await this.#listenersFor(frameId)
    if (isResponse(paused)) {
      if (isDocument(paused)) this.#frames.receives(frameId, paused.request.url)
      const decidedId = this.#decidedIds.get(requestId)
      this.#decidedIds.delete(requestId)
      for (const listener of listeners) listener.onResponse({ ...paused, requestId: decidedId ?? requestId })
      if (decidedId !== undefined) this.#pass(key, decidedId)
      await continueResponse(session, paused, listeners.length > 0)
      return
    }
    if (await this.#hasLostDecider(session, key, listeners)) throw new Error('the first session was detached')
    const deciding = { session, paused, listeners, hasFailed: false }
    this.#deciding.set(key, deciding)
    try {
      await this.#decide(deciding, key)
    } finally {
      if (this.#deciding.get(key) === deciding) this.#deciding.delete(key)
    }
  }

  /**
   * Returns whether another session that waited for the decision about this request was detached,
   * and cancels that wait. The request fails then: no other session would pause it if this one were
   * detached too.
   */
  async #hasLostDecider(session: DriverSession, key: string, listeners: readonly RequestListener[]): Promise<boolean> {
    const decider = this.#deciding.get(key)
    if (decider === undefined || decider.session === session) return false
    await this.#restore()
    if (this.#sessions.some(({ driverSession }) => driverSession === decider.session)) return false
    for (const listener of listeners) listener.onCanceled(decider.paused)
    return true
  }

  async #decide(deciding: Deciding, key: string): Promise<void> {
    const { session, paused, listeners } = deciding
    const { requestId, frameId } = paused
    const sessions = this.#sessions
    const kind = requestKind(paused, this.#frames)
    if (kind === 'page') {
      await this.#restore()
      if (!(await this.#popups.prepared(frameId))) throw new Error('the popup has no document script')
      if (deciding.hasFailed) throw new Error('a session was detached')
    }
    for (const listener of listeners) {
      const failureReason = await listener.onRequest(paused, kind, () => this.#frames.sourcesOf(paused))
      if (failureReason === undefined) continue
      // With `BlockedByClient`, Chromium sometimes closes the tab that prerenders the page
      // (measured with the headless shell 156).
      const errorReason = this.#frames.isPrerendered(frameId) ? 'Aborted' : failureReason
      await failRequest(session, paused, errorReason)
      for (const each of listeners) each.onCanceled(paused)
      return
    }
    if (this.#sessions === sessions) this.#pass(key, requestId) // a session opened since then does not pause it
    if (await isDelivered(send(session, 'Fetch.continueRequest', { requestId }))) return
    this.#passed.delete(key)
    for (const listener of listeners) listener.onCanceled(paused)
  }

  /** Lets a request or a response pass in the other session too. */
  #pass(key: string, requestId: string): void {
    this.#passed.set(key, requestId)
  }

  /**
   * Makes the guarded pages that were open before the interception use it. Such a page bypasses a
   * later session until it loads its next document. Starting and ending an interception of the page
   * itself makes the page renew its request paths. Until then the page could register service
   * workers, so they are unregistered again.
   * @param only The listener whose pages they are. Default: the pages of all listeners.
   */
  async interceptOpenPages(only?: RequestListener): Promise<void> {
    const intercept = async (page: TargetSession) => {
      await unregisterServiceWorkers(page)
      await send(page, 'Fetch.enable', { patterns: [{ urlPattern: 'politely:nothing' }] })
      await send(page, 'Fetch.disable')
    }
    const isOpen = (targetId: string) => this.#frames.targetTypeOf(targetId) !== undefined
    const interceptIfGuarded = async ({ targetId }: TargetInfo) => {
      const listeners = await this.#listenersFor(targetId)
      if (only === undefined ? listeners.length === 0 : !listeners.includes(only)) return
      await this.#anySession()
        .withTarget(targetId, intercept)
        .catch((error: unknown) => {
          if (isOpen(targetId)) throw error
        })
    }
    await Promise.all(this.#frames.pages().map(interceptIfGuarded))
  }

  /**
   * Returns the listener of the request's context, or none if the context is not guarded. Returns
   * all listeners if the context is unknown: the sender may be a closed frame of any context.
   */
  async #listenersFor(frameId: string): Promise<readonly RequestListener[]> {
    const [first, second] = this.#listeners
    if (first === undefined) return []
    if (first.contexts === 'all') return [first]
    if (second === undefined && this.#frames.knownContextIdOf(frameId) === undefined) {
      // No lookup is needed here: known or not, the result is the same.
      const onlyContextId = this.#frames.onlyContextId()
      if (onlyContextId !== undefined && (await first.contexts(onlyContextId))) return [first]
    }
    const contextId = await this.#frames.contextIdOf(frameId)
    if (contextId === undefined) return [...this.#listeners]
    for (const listener of this.#listeners)
      if (listener.contexts === 'all' || (await listener.contexts(contextId))) return [listener]
    return []
  }
}

function failRequest(
  session: DriverSession,
  { requestId }: PausedRequest,
  errorReason: ErrorReason | 'Failed',
): Promise<boolean> {
  return isDelivered(send(session, 'Fetch.failRequest', { requestId, errorReason }))
}

/** Lets the browser read the response. A guarded document is given changed headers. */
async function continueResponse(session: DriverSession, paused: PausedRequest, isGuarded: boolean): Promise<void> {
  const { requestId, responseStatusCode: responseCode, responseStatusText, responseHeaders } = paused
  if (isGuarded && isDocument(paused) && responseHeaders !== undefined) {
    rememberRobotsTags(paused)
    // Chromium knows a phrase for standard status codes only, and rejects other codes without one,
    // such as 520.
    const changed = {
      responseCode,
      responsePhrase: responseStatusText || '-',
      responseHeaders: documentHeaders(responseHeaders),
    }
    if (await isDelivered(send(session, 'Fetch.continueResponse', { requestId, ...changed }))) return
    // A response that Chromium rejects would stay paused.
    await failRequest(session, paused, 'Failed')
  } else {
    await isDelivered(send(session, 'Fetch.continueRequest', { requestId }))
  }
}

/** Returns what both sessions report alike about a request or a response, and no other one has. */
function keyOf(paused: PausedRequest): string {
  return `${isResponse(paused) ? 'response' : 'request'} ${paused.networkId ?? paused.frameId} ${paused.request.url}`
}

function isResponse({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode !== undefined || responseErrorReason !== undefined
}

/** Returns whether the paused response is a document, and not a redirect or a failure. */
function isDocument(paused: PausedRequest): boolean {
  const { responseStatusCode: status } = paused
  return status !== undefined && !isRedirect(status, responseHeader(paused, 'location'))
}

function requestKind({ frameId, resourceType, request }: PausedRequest, frames: Frames): RequestKind {
  const sender = frames.targetTypeOf(frameId)
  if (sender === 'page' && resourceType === 'Document') return 'page'
  // Only the browser's request for a service worker's main script must carry this header (Service
  // Workers, "Update").
  const isServiceWorker = sender === 'service_worker' || request.headers?.['Service-Worker'] === 'script'
  return isServiceWorker ? 'service-worker' : 'other'
}
