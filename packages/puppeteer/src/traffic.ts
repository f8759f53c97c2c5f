// The traffic of one browser: each request stops here before it leaves, and the answer to each document before it is read.
//
// It is one session of the DevTools protocol for the whole browser, and not the interception of each page: this is the nearest to the network
// that one can come. It is behind the handlers of pages, cooperative or not, so that none can lead around it, and none has to know of it. It
// sees what pages do not: the first request of a popup, workers and what they load. The browser makes the requests itself, with its own cache,
// cookies and connections.
import { OptionError } from '@politely/core'
import type { Browser, CDPSession, Page, Protocol } from 'puppeteer-core'
import { ask, Frames } from './frames.ts'
import { withoutSpeculationRules } from './speculation-rules.ts'

/** A request that stands still, or the answer to a document. */
export type PausedRequest = Protocol.Fetch.RequestPausedEvent

/**
 * How a request fails, in the browser's words: `Aborted` (`net::ERR_ABORTED`) where nobody wants it any more or nobody can tell, and
 * `BlockedByClient` (`net::ERR_BLOCKED_BY_CLIENT`) where robots.txt says no.
 */
export type Failure = 'Aborted' | 'BlockedByClient'

/** A page's own request, one of a service worker, and whatever else a page loads. */
export type Kind = 'page' | 'service-worker' | 'other'

/** Which contexts: all, or those for which it is true. */
export type Owns = 'all' | ((contextId: string) => boolean)

/** Who looks at the requests of a browser, or of one of its contexts. */
export interface Guest {
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

const open = new WeakMap<Browser, Promise<Traffic>>()

/**
 * The one of this browser.
 *
 * @throws {OptionError} for a browser that does not speak the DevTools protocol.
 */
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
  readonly #guests = new Set<Guest>()

  private constructor(browser: Browser, session: CDPSession) {
    this.#browser = browser
    this.#session = session
    this.#frames = new Frames(browser, session, (targetId) => {
      for (const guest of this.#guests) guest.gone(targetId)
    })
    session.on('Fetch.requestPaused', (paused) => void this.#paused(paused))
  }

  static async start(browser: Browser): Promise<Traffic> {
    const session = await sessionOf(browser)
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

  add(guest: Guest): void {
    this.#guests.add(guest)
  }

  /** Its requests are no longer looked at; with the last guest this ends. */
  async remove(guest: Guest): Promise<void> {
    this.#guests.delete(guest)
    if (this.#guests.size > 0) return
    open.delete(this.#browser)
    await this.#session.detach().catch((error: unknown) => {
      if (this.#browser.connected) throw error
    })
  }

  async #paused(paused: PausedRequest): Promise<void> {
    const guest = await this.#guestOf(paused.frameId)
    const { requestId, responseStatusCode: responseCode, responseHeaders, responseErrorReason } = paused
    if (responseCode !== undefined || responseErrorReason !== undefined) {
      guest?.answered(paused)
      const kept = guest && responseHeaders && withoutSpeculationRules(responseHeaders)
      if (responseCode === undefined || kept === undefined) await this.#continue(requestId)
      else await heard(this.#session.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders: kept }))
      return
    }
    const errorReason = await guest?.request(paused, this.#kindOf(paused))
    if (errorReason !== undefined) await heard(this.#session.send('Fetch.failRequest', { requestId, errorReason }))
    else if (!(await this.#continue(requestId))) guest?.lost(paused)
  }

  #continue(requestId: string): Promise<boolean> {
    return heard(this.#session.send('Fetch.continueRequest', { requestId }))
  }

  #kindOf({ frameId, resourceType }: PausedRequest): Kind {
    const sender = this.#frames.typeOf(frameId)
    if (sender === 'page' && resourceType === 'Document') return 'page'
    return sender === 'service_worker' ? 'service-worker' : 'other'
  }

  async #guestOf(frameId: string): Promise<Guest | undefined> {
    const guests = [...this.#guests]
    const [first] = guests
    if (first?.owns === 'all') return first
    // Where nobody knows whose it is: better asked once too often than once too little.
    const contextId = await this.#frames.contextOf(frameId).catch(() => undefined)
    if (contextId === undefined) return first
    return guests.find(({ owns }) => owns === 'all' || owns(contextId))
  }
}

/** Whether there was still something to say it to: a page may be closed at any time. */
async function heard(said: Promise<unknown>): Promise<boolean> {
  return said.then(
    () => true,
    () => false,
  )
}

async function sessionOf(browser: Browser): Promise<CDPSession> {
  try {
    return await browser.target().createCDPSession()
  } catch (error) {
    if (!browser.connected) throw error
    const why = 'does not speak the DevTools protocol, as Firefox and WebDriver BiDi; it has to be Chromium'
    throw Object.assign(new OptionError('target', why), { cause: error })
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
