// The traffic of one browser: each request stops here before it leaves, and the answer to each document before it is read.
//
// It is one session of the DevTools protocol for the whole browser, and not the interception of each page, or a route of each context: this is
// the nearest to the network that one can come. It is behind the handlers of pages, so that none can lead around it, and none has to know of it.
// It sees what pages do not: the first request of a popup, frames in other processes, workers and what they load. The browser makes the requests
// itself, with its own cache, cookies and connections.
import { documentHeaders } from './document-headers.ts'
import { Frames } from './frames.ts'
import type { Failure, Kind, PausedRequest } from './paused-request.ts'
import { unregisterServiceWorkers } from './service-workers.ts'
import { ask, type DriverBrowser, type DriverPage, type DriverSession, listen, send } from './session.ts'

/** Which contexts: all, or those for which it is true. */
export type Owns = 'all' | ((contextId: string) => boolean | Promise<boolean>)

/** Who looks at the requests of a browser, or of one of its contexts. */
export interface RequestListener {
  readonly owns: Owns
  /** May it leave? As late as it may, undefined; else why it fails. */
  request(paused: PausedRequest, kind: Kind): Promise<Failure | undefined>
  /** What became of a document's request. */
  answered(paused: PausedRequest): void
  /** The browser gave up a request before it left. */
  lost(paused: PausedRequest): void
  /** A page, or a worker, is no more. */
  gone(targetId: string): void
}

const open = new WeakMap<object, Traffic>()

/** The one of this browser. */
export function trafficOf(browser: DriverBrowser): Traffic {
  let traffic = open.get(browser.own)
  if (traffic === undefined) {
    traffic = new Traffic(browser)
    open.set(browser.own, traffic)
  }
  return traffic
}

export class Traffic {
  readonly #browser: DriverBrowser
  readonly #guests = new Set<RequestListener>()
  /** Requests that stand still, until the browser has been told what becomes of them. */
  readonly #standing = new Set<Promise<void>>()
  #session: Promise<DriverSession> | undefined

  /** @internal Made by `trafficOf`. */
  constructor(browser: DriverBrowser) {
    this.#browser = browser
  }

  /** Resolves as soon as its requests are looked at. With the first guest this begins. */
  async add(guest: RequestListener): Promise<void> {
    this.#guests.add(guest)
    this.#session ??= this.#start()
    await this.#session
  }

  /** Its requests are no longer looked at. With the last guest this ends. None of its requests may be waiting for anything any more. */
  async remove(guest: RequestListener): Promise<void> {
    if (this.#guests.size > 1 || !this.#guests.has(guest)) {
      this.#guests.delete(guest)
      return
    }
    open.delete(this.#browser.own) // who comes from now on begins another one
    const session = await this.#session?.catch(() => undefined) // why it did not begin, `add` has said
    await Promise.allSettled(this.#standing) // or the browser would let them go
    // Detaching fails when the browser is gone. `isConnected` may still say true then, so every failure is ignored. A session that stayed
    // open by mistake would continue each request, because the guard is removed below.
    await session?.detach().catch(() => undefined)
    this.#guests.delete(guest)
  }

  /** Whether a request that was not answered yet is still wanted. */
  async stands(requestId: string): Promise<boolean> {
    const session = await this.#session?.catch(() => undefined)
    if (session === undefined) return false
    // That there is no body yet is what it says of those that are wanted; others it does not know.
    const answer = await send(session, 'Fetch.getResponseBody', { requestId }).catch(String)
    return typeof answer !== 'string' || !answer.includes('Invalid InterceptionId')
  }

  async #start(): Promise<DriverSession> {
    const session = await this.#browser.newSession()
    const frames = new Frames(this.#browser, session, (targetId) => {
      for (const guest of this.#guests) guest.gone(targetId)
    })
    listen(session, 'Fetch.requestPaused', (paused) => {
      const fail = () =>
        heard(send(session, 'Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' }))
      const standing = this.#paused(session, frames, paused)
        .catch(fail)
        .then(() => void this.#standing.delete(standing))
      this.#standing.add(standing)
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

  async #paused(session: DriverSession, frames: Frames, paused: PausedRequest): Promise<void> {
    const guests = await this.#guestsOf(frames, paused.frameId)
    const { requestId, responseStatusCode: responseCode, responseHeaders, responseErrorReason } = paused
    if (responseCode !== undefined || responseErrorReason !== undefined) {
      for (const guest of guests) guest.answered(paused)
      const isChanged = guests.length > 0 && responseHeaders !== undefined && !isRedirect(paused)
      const changed = isChanged ? documentHeaders(responseHeaders) : undefined
      if (responseCode === undefined || changed === undefined)
        await heard(send(session, 'Fetch.continueRequest', { requestId }))
      else await heard(send(session, 'Fetch.continueResponse', { requestId, responseCode, responseHeaders: changed }))
      return
    }
    const kind = kindOf(paused, frames)
    for (const guest of guests) {
      const errorReason = await guest.request(paused, kind)
      if (errorReason === undefined) continue
      await heard(send(session, 'Fetch.failRequest', { requestId, errorReason }))
      for (const other of guests) other.lost(paused)
      return
    }
    if (await heard(send(session, 'Fetch.continueRequest', { requestId }))) return
    for (const guest of guests) guest.lost(paused)
  }

  /** Those that a request must pass: that of its context; all of them where the context is unknown; none for a context without one. */
  async #guestsOf(frames: Frames, frameId: string): Promise<readonly RequestListener[]> {
    const [first] = this.#guests
    if (first === undefined) return []
    if (first.owns === 'all') return [first]
    const contextId = await frames.contextOf(frameId)
    if (contextId === undefined) return [...this.#guests]
    for (const guest of this.#guests) if (guest.owns === 'all' || (await guest.owns(contextId))) return [guest]
    return []
  }
}

function kindOf({ frameId, resourceType, request }: PausedRequest, frames: Frames): Kind {
  const sender = frames.typeOf(frameId)
  if (sender === 'page' && resourceType === 'Document') return 'page'
  // Only the browser's request for a service worker's main script must carry this header (Service Workers, "Update").
  const isServiceWorker = sender === 'service_worker' || request.headers?.['Service-Worker'] === 'script'
  return isServiceWorker ? 'service-worker' : 'other'
}

/** Whether the browser goes on to another URL. Without `location` it shows the body. */
function isRedirect({ responseStatusCode = 0, responseHeaders = [] }: PausedRequest): boolean {
  const isThere = responseHeaders.some(({ name }) => name.toLowerCase() === 'location')
  return isThere && [301, 302, 303, 307, 308].includes(responseStatusCode)
}

/** Whether there was still something to say it to: a page may be closed at any time. */
async function heard(said: Promise<unknown>): Promise<boolean> {
  return said.then(
    () => true,
    () => false,
  )
}

/**
 * A page that is open already loads past a session that began later, until it goes to its next document. Another session makes it take new
 * ways for its requests, when it begins and ends. Until then the page could register service workers, so they are unregistered again.
 */
export async function sendThroughTraffic(page: DriverPage): Promise<void> {
  await ask(page, async (session) => {
    await unregisterServiceWorkers(session)
    await send(session, 'Fetch.enable', { patterns: [{ urlPattern: 'politely:nothing' }] })
    await send(session, 'Fetch.disable')
  })
}
