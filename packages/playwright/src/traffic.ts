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

const open = new WeakMap<Browser, Traffic>()

/** The one of this browser. */
export function trafficOf(browser: Browser): Traffic {
  let traffic = open.get(browser)
  if (traffic === undefined) {
    traffic = new Traffic(browser)
    open.set(browser, traffic)
  }
  return traffic
}

export class Traffic {
  readonly #browser: Browser
  readonly #guests = new Map<Guest, ContextId>()
  /** Requests that stand still, until the browser has been told what becomes of them. */
  readonly #standing = new Set<Promise<void>>()
  #session: Promise<CDPSession> | undefined

  /** @internal Made by `trafficOf`. */
  constructor(browser: Browser) {
    this.#browser = browser
  }

  /** Resolves as soon as its requests are looked at. With the first guest this begins. */
  async add(guest: Guest, contextId: ContextId): Promise<void> {
    this.#guests.set(guest, contextId)
    this.#session ??= this.#start()
    await this.#session
  }

  /** Its requests are no longer looked at. With the last guest this ends. None of its requests may be waiting for anything any more. */
  async remove(guest: Guest): Promise<void> {
    this.#guests.delete(guest)
    if (this.#guests.size > 0) return
    open.delete(this.#browser) // who comes from now on begins another one
    const session = await this.#session?.catch(() => undefined) // why it did not begin, `add` has said
    await Promise.allSettled(this.#standing) // or the browser would let them go
    await session?.detach().catch((error: unknown) => {
      if (this.#browser.isConnected()) throw error
    })
  }

  async #start(): Promise<CDPSession> {
    const session = await this.#browser.newBrowserCDPSession()
    const frames = new Frames(this.#browser, session, (targetId) => {
      for (const guest of this.#guests.keys()) guest.gone(targetId)
    })
    session.on('Fetch.requestPaused', (paused) => {
      const standing = this.#paused(session, frames, paused as PausedRequest)
      this.#standing.add(standing)
      standing.finally(() => this.#standing.delete(standing))
    })
    await session.send('Target.setDiscoverTargets', { discover: true })
    await session.send('Fetch.enable', {
      patterns: [
        { urlPattern: '*', requestStage: 'Request' },
        { urlPattern: '*', requestStage: 'Response', resourceType: 'Document' },
      ],
    })
    return session
  }

  /** Whether a request that was not answered yet is still wanted. */
  async stands(requestId: string): Promise<boolean> {
    // That there is no body yet is what it says of those that are wanted; others it does not know.
    const session = await this.#session
    const answer = await session?.send('Fetch.getResponseBody', { requestId }).catch(String)
    return typeof answer !== 'string' || !answer.includes('Invalid InterceptionId')
  }

  async #paused(session: CDPSession, frames: Frames, paused: PausedRequest): Promise<void> {
    const guest = await this.#guestOf(frames, paused.frameId)
    const { requestId, responseStatusCode: responseCode, responseHeaders, responseErrorReason } = paused
    if (responseCode !== undefined || responseErrorReason !== undefined) {
      guest?.answered(paused)
      const kept = guest && responseHeaders && withoutSpeculationRules(responseHeaders)
      if (responseCode === undefined || kept === undefined)
        await heard(session.send('Fetch.continueRequest', { requestId }))
      else await heard(session.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders: kept }))
      return
    }
    const errorReason = await guest?.request(paused, frames.typeOf(paused.frameId))
    if (errorReason !== undefined) await heard(session.send('Fetch.failRequest', { requestId, errorReason }))
    else if (!(await heard(session.send('Fetch.continueRequest', { requestId })))) guest?.lost(paused)
  }

  async #guestOf(frames: Frames, frameId: string): Promise<Guest | undefined> {
    const contextId = await frames.contextOf(frameId)
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

/** Whether there was still something to say it to: a page may be closed at any time. */
async function heard(said: Promise<unknown>): Promise<boolean> {
  return said.then(
    () => true,
    () => false,
  )
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
