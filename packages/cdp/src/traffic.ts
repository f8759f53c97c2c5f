// The traffic of one browser. Each request pauses here before it is sent, and the response to each
// document pauses before the page reads it.
//
// One session of the DevTools protocol intercepts the requests of the whole browser, instead of one
// interception per page or one route per context. This is the interception point closest to the
// network. Requests reach it after the handlers of pages, so that no handler can bypass it, and
// handlers need no change. It sees requests that pages do not see: the first request of a popup,
// frames in other processes, workers and what they load. The browser makes the requests itself,
// with its own cache, cookies and connections.
import { isRedirect } from '@politely/gate'
import { documentHeaders } from './document-headers.ts'
import { rememberRobotsTags } from './document-tags.ts'
import { Frames } from './frames.ts'
import { type ErrorReason, type PausedRequest, type RequestKind, responseHeader } from './paused-request.ts'
import { Popups } from './popups.ts'
import { unregisterServiceWorkers } from './service-workers.ts'
import { type DriverBrowser, type DriverPage, type DriverSession, listen, send, withSession } from './session.ts'

/** The guarded contexts: all of them, or the contexts for which the function returns true. */
export type GuardedContexts = 'all' | ((contextId: string) => boolean | Promise<boolean>)

/** Decides about the requests of a browser, or of one of its contexts. */
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

const trafficByBrowser = new WeakMap<object, Traffic>()

/** Returns the traffic of this browser. */
export function trafficOf(browser: DriverBrowser): Traffic {
  let traffic = trafficByBrowser.get(browser.driverObject)
  if (traffic === undefined) {
    traffic = new Traffic(browser)
    trafficByBrowser.set(browser.driverObject, traffic)
  }
  return traffic
}

/**
 * The requests of one browser. One session of the DevTools protocol pauses each request before it
 * is sent, and asks the listener of its context whether it may be sent.
 */
export class Traffic {
  readonly #browser: DriverBrowser
  readonly #listeners = new Set<RequestListener>()
  /** Paused requests that have not been continued or failed yet. */
  readonly #pausedRequests = new Set<Promise<void>>()
  #session: Promise<DriverSession> | undefined

  /** `trafficOf` creates instances. */
  constructor(browser: DriverBrowser) {
    this.#browser = browser
  }

  /**
   * Adds a listener. Resolves when its requests are intercepted. The first listener starts the
   * interception.
   */
  async add(listener: RequestListener): Promise<void> {
    this.#listeners.add(listener)
    this.#session ??= this.#start()
    await this.#session
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
    const session = await this.#session?.catch(() => undefined) // `add` rejected with the error
    await Promise.allSettled(this.#pausedRequests) // or the browser would continue them
    // Detaching fails when the browser is gone. `isConnected` may still return true then, so every
    // failure is ignored. A session that stayed open by mistake would continue each request,
    // because the listener is removed below.
    await session?.detach().catch(() => undefined)
    this.#listeners.delete(listener)
  }

  /** Returns whether the browser still waits for the response to this request. */
  async isPending(requestId: string): Promise<boolean> {
    const session = await this.#session?.catch(() => undefined)
    if (session === undefined) return false
    // For a pending request the browser reports a missing body. For a canceled request it reports
    // an unknown ID.
    const result = await send(session, 'Fetch.getResponseBody', { requestId }).catch(String)
    return typeof result !== 'string' || !result.includes('Invalid InterceptionId')
  }

  async #start(): Promise<DriverSession> {
    const session = await this.#browser.newSession()
    const popups = new Popups(session)
    const frames = new Frames(this.#browser, session, (targetId) => {
      popups.delete(targetId)
      for (const listener of this.#listeners) listener.onTargetClosed(targetId)
    })
    listen(session, 'Target.targetCreated', ({ targetInfo: { type, targetId, openerId } }) => {
      if (type === 'page' && openerId !== undefined) popups.add(targetId, this.#scriptFor(frames, targetId))
    })
    listen(session, 'Fetch.requestPaused', (paused) => {
      const fail = () =>
        isDelivered(send(session, 'Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' }))
      const handled = this.#onPaused(session, frames, popups, paused)
        .catch(fail)
        .then(() => void this.#pausedRequests.delete(handled))
      this.#pausedRequests.add(handled)
    })
    await send(session, 'Target.setDiscoverTargets', { discover: true })
    await send(session, 'Fetch.enable', {
      patterns: [
        { urlPattern: '*', requestStage: 'Request' },
        { urlPattern: '*', requestStage: 'Response', resourceType: 'Document' },
      ],
    })
    return session
  }

  async #scriptFor(frames: Frames, targetId: string): Promise<string | undefined> {
    return (await this.#listenersFor(frames, targetId))[0]?.documentScript
  }

  async #onPaused(session: DriverSession, frames: Frames, popups: Popups, paused: PausedRequest): Promise<void> {
    const listeners = await this.#listenersFor(frames, paused.frameId)
    if (paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined) {
      if (isDocument(paused)) frames.receives(paused.frameId, paused.request.url)
      for (const listener of listeners) listener.onResponse(paused)
      await continueResponse(session, paused, listeners.length > 0)
      return
    }
    const { requestId } = paused
    const kind = requestKind(paused, frames)
    if (kind === 'page') await popups.prepared(paused.frameId)
    for (const listener of listeners) {
      const failureReason = await listener.onRequest(paused, kind, () => frames.sourcesOf(paused))
      if (failureReason === undefined) continue
      // With `BlockedByClient`, Chromium sometimes closes the tab that prerenders the page
      // (measured with the headless shell 156).
      const errorReason = frames.isPrerendered(paused.frameId) ? 'Aborted' : failureReason
      await isDelivered(send(session, 'Fetch.failRequest', { requestId, errorReason }))
      for (const each of listeners) each.onCanceled(paused)
      return
    }
    if (await isDelivered(send(session, 'Fetch.continueRequest', { requestId }))) return
    for (const listener of listeners) listener.onCanceled(paused)
  }

  /**
   * Returns the listener of the request's context, or none if the context is not guarded. Returns
   * all listeners if the context is unknown: the sender may be a closed frame of any context.
   */
  async #listenersFor(frames: Frames, frameId: string): Promise<readonly RequestListener[]> {
    const [first, second] = this.#listeners
    if (first === undefined) return []
    if (first.contexts === 'all') return [first]
    if (second === undefined && frames.knownContextIdOf(frameId) === undefined) {
      // No lookup is needed here: known or not, the result is the same.
      const onlyContextId = frames.onlyContextId()
      if (onlyContextId !== undefined && (await first.contexts(onlyContextId))) return [first]
    }
    const contextId = await frames.contextIdOf(frameId)
    if (contextId === undefined) return [...this.#listeners]
    for (const listener of this.#listeners)
      if (listener.contexts === 'all' || (await listener.contexts(contextId))) return [listener]
    return []
  }
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
    await isDelivered(send(session, 'Fetch.failRequest', { requestId, errorReason: 'Failed' }))
  } else {
    await isDelivered(send(session, 'Fetch.continueRequest', { requestId }))
  }
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

/**
 * Returns whether the browser accepted the command. It rejects commands for a page that was closed
 * meanwhile.
 */
async function isDelivered(sent: Promise<unknown>): Promise<boolean> {
  return sent.then(
    () => true,
    () => false,
  )
}

/**
 * Makes a page that was open before the interception use it. Such a page bypasses a later session
 * until it loads its next document. Starting and ending an interception of the page itself makes
 * the page renew its request paths. Until then the page could register service workers, so they are
 * unregistered again.
 */
export async function interceptOpenPage(page: DriverPage): Promise<void> {
  await withSession(page, async (session) => {
    await unregisterServiceWorkers(session)
    await send(session, 'Fetch.enable', { patterns: [{ urlPattern: 'politely:nothing' }] })
    await send(session, 'Fetch.disable')
  })
}
