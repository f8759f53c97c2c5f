// The traffic of one browser: each request stops here before it leaves, and the answer to each document before it is read.
//
// It is one session for the whole browser, and not a route of each context: this is the nearest to the network that one can come. It is
// behind every route, so that none can lead around it. It sees the hops of a redirect, the first request of a popup, frames in other
// processes and service workers; and the browser makes the requests itself, with its own cache, cookies and connections.
import type { Browser, CDPSession, Page } from 'playwright-core'
import { ask, Frames } from './frames.ts'
import { withoutSpeculationRules } from './speculation-rules.ts'

interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/** What the DevTools protocol says of a request that stands still (`Fetch.requestPaused`), as far as it is looked at. */
export interface PausedRequest {
  /** Of one hop: the same for the request and its answer, another one after a redirect. */
  readonly requestId: string
  readonly request: { readonly url: string }
  readonly frameId: string
  readonly resourceType: string
  /** At a hop of a redirect: the hop before. */
  readonly redirectedRequestId?: string | undefined
  readonly responseStatusCode?: number | undefined
  readonly responseHeaders?: readonly HeaderEntry[] | undefined
  /** There is no answer. */
  readonly responseErrorReason?: string | undefined
}

/**
 * How a request fails, in the browser's words. A page's own is `Aborted` (`net::ERR_ABORTED`): the page stays as it is. With any other word
 * it would become an error page, and that would come in the way of the next `goto` (measured). All else is `BlockedByClient`.
 */
export type Failure = 'Aborted' | 'BlockedByClient'

/** Who looks at the requests of one browser context. */
export interface Guest {
  /** May it leave? As late as it may, undefined; else why it fails. `sender` is the type of its target, if it is one. */
  request(paused: PausedRequest, sender: string | undefined): Promise<Failure | undefined>
  /** What became of a document's request. */
  answered(paused: PausedRequest): void
  /** The browser gave up a request before it left. */
  lost(paused: PausedRequest): void
  /** A page, or a worker, is no more. */
  gone(targetId: string): void
}

/** The id of a guest's context. Undefined as long as it has no page, and so sends nothing. */
type ContextId = () => Promise<string | undefined>

const open = new WeakMap<Browser, Promise<Traffic>>()

/** The one of this browser. */
export function trafficOf(browser: Browser): Promise<Traffic> {
  let traffic = open.get(browser)
  if (traffic === undefined) {
    traffic = Traffic.start(browser)
    open.set(browser, traffic)
    traffic.catch(() => open.delete(browser))
  }
  return traffic
}

export class Traffic {
  readonly #browser: Browser
  readonly #session: CDPSession
  readonly #frames: Frames
  readonly #guests = new Map<Guest, ContextId>()

  private constructor(browser: Browser, session: CDPSession) {
    this.#browser = browser
    this.#session = session
    this.#frames = new Frames(browser, session, (targetId) => {
      for (const guest of this.#guests.keys()) guest.gone(targetId)
    })
    session.on('Fetch.requestPaused', (paused) => void this.#paused(paused as PausedRequest))
  }

  static async start(browser: Browser): Promise<Traffic> {
    const session = await browser.newBrowserCDPSession()
    const traffic = new Traffic(browser, session)
    await session.send('Target.setDiscoverTargets', { discover: true })
    await session.send('Fetch.enable', {
      patterns: [
        { urlPattern: '*', requestStage: 'Request' },
        { urlPattern: '*', requestStage: 'Response', resourceType: 'Document' },
      ],
    })
    return traffic
  }

  add(guest: Guest, contextId: ContextId): void {
    this.#guests.set(guest, contextId)
  }

  /** Its requests are no longer looked at; with the last guest this ends. */
  async remove(guest: Guest): Promise<void> {
    this.#guests.delete(guest)
    if (this.#guests.size > 0) return
    open.delete(this.#browser)
    await this.#session.detach().catch((error: unknown) => {
      if (this.#browser.isConnected()) throw error
    })
  }

  /** Whether a request that was not answered yet is still wanted. */
  async stands(requestId: string): Promise<boolean> {
    // That there is no body yet is what it says of those that are wanted; others it does not know.
    const error = await this.#session.send('Fetch.getResponseBody', { requestId }).catch(String)
    return typeof error !== 'string' || !error.includes('Invalid InterceptionId')
  }

  async #paused(paused: PausedRequest): Promise<void> {
    const guest = await this.#guestOf(paused.frameId)
    const { requestId, responseStatusCode, responseHeaders, responseErrorReason } = paused
    if (responseStatusCode !== undefined || responseErrorReason !== undefined) {
      guest?.answered(paused)
      const kept = guest && responseHeaders && withoutSpeculationRules(responseHeaders)
      if (responseStatusCode === undefined || kept === undefined)
        await this.#send('Fetch.continueRequest', { requestId })
      else
        await this.#send('Fetch.continueResponse', {
          requestId,
          responseCode: responseStatusCode,
          responseHeaders: kept,
        })
      return
    }
    const errorReason = await guest?.request(paused, this.#frames.typeOf(paused.frameId))
    if (errorReason !== undefined) await this.#send('Fetch.failRequest', { requestId, errorReason })
    else if (!(await this.#send('Fetch.continueRequest', { requestId }))) guest?.lost(paused)
  }

  /** Whether there was still something to say it to: a page may be closed at any time. */
  async #send(
    method: 'Fetch.continueRequest' | 'Fetch.continueResponse' | 'Fetch.failRequest',
    params: object,
  ): Promise<boolean> {
    try {
      await this.#session.send(method, params as never)
      return true
    } catch {
      return false
    }
  }

  async #guestOf(frameId: string): Promise<Guest | undefined> {
    const contextId = await this.#frames.contextOf(frameId).catch(() => undefined)
    // Nobody knows whose it is: better asked once too often than once too little.
    if (contextId === undefined) return this.#anyGuest()
    for (const [guest, idOf] of this.#guests) if ((await idOf()) === contextId) return guest
    return undefined
  }

  #anyGuest(): Guest | undefined {
    const [first] = this.#guests.keys()
    return first
  }
}

/**
 * A page that is open already loads past a session that began later, until it goes to its next document. Another session makes it take new
 * ways for its requests, when it begins and ends.
 */
export async function sendThroughTraffic(page: Page): Promise<void> {
  await ask(page, async (session) => {
    await session.send('Fetch.enable', { patterns: [{ urlPattern: 'politely:nothing' }] })
    await session.send('Fetch.disable')
  })
}
