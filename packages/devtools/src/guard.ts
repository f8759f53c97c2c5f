// What may leave. A page's own request waits for its turn at the gate; what the page loads is checked.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientVerdict } from '@politely/fetcher'
import { type Permit, RobotsDisallowedError } from '@politely/gate'
import type { Failure, Kind, PausedRequest } from './paused-request.ts'
import { Refusals } from './refusals.ts'
import type { Owns, RequestListener } from './traffic.ts'

export type PageRequests = 'check' | 'ignore'

/** Who is asked: a PoliteGate, or what stands in front of one. */
export interface Admission {
  enter(url: string, options: { readonly signal: AbortSignal }, targetId: string): Promise<Permit>
  check(url: string, options: { readonly signal: AbortSignal }, frameId: string): Promise<ClientVerdict>
}

export interface GuardOptions {
  readonly owns: Owns
  readonly pageRequests: PageRequests
  /**
   * How a page's own request fails that robots.txt refuses. `Aborted`: the page stays as it is. `BlockedByClient`: it becomes an error page, as
   * with all else that is blocked.
   */
  readonly refusedPage: Failure
}

/** Milliseconds after one another. One that is missed by all of them is noticed at its turn: it has taken it in vain then. */
const LOOKS_AFTER_MS = [0, 50, 200, 1_000]

/** The request for a page, from its coming to its answer. Each hop of a redirect is another one. */
interface Navigation {
  readonly frameId: string
  readonly requestId: string
  /** Of the call that wants it; none where the page goes on by itself. */
  readonly call: AbortSignal | undefined
  readonly ending: AbortController
  /** As soon as it has left. */
  pass: Permit | undefined
}

export class Guard implements RequestListener {
  readonly owns: Owns
  readonly refusals: Refusals = new Refusals()
  readonly #door: Admission
  readonly #pageRequests: PageRequests
  readonly #refusedPage: Failure
  /** By the page's target, which its main frame has its name from. There is one at a time. */
  readonly #navigations = new Map<string, Navigation>()
  /** Why the last navigation of a page did not leave. */
  readonly #failures = new Map<string, unknown>()
  /** Calls that navigate a page, by what tells that they are given up. There is one at a time. */
  readonly #calls = new Map<string, AbortSignal>()
  /** Pages whose last call was given up: what is under way goes on, and not to another hop. */
  readonly #givenUp = new Set<string>()
  readonly #closing = new AbortController()
  readonly #deciding = new Set<Promise<unknown>>()

  constructor(door: Admission, { owns, pageRequests, refusedPage }: GuardOptions) {
    this.#door = door
    this.owns = owns
    this.#pageRequests = pageRequests
    this.#refusedPage = refusedPage
  }

  /** May it leave? */
  async request(paused: PausedRequest, kind: Kind): Promise<Failure | undefined> {
    if (!/^https?:/i.test(paused.request.url)) return undefined
    // See service-workers.ts.
    if (kind === 'service-worker') return 'BlockedByClient'
    if (kind === 'other' && this.#pageRequests === 'ignore') return undefined
    const deciding = kind === 'page' ? this.#navigate(paused) : this.#load(paused)
    this.#deciding.add(deciding)
    try {
      return await deciding
    } finally {
      this.#deciding.delete(deciding)
    }
  }

  answered({ frameId, requestId, responseStatusCode, responseHeaders = [] }: PausedRequest): void {
    const navigation = this.#navigations.get(frameId)
    if (navigation?.requestId !== requestId) return
    if (responseStatusCode !== undefined) {
      const get = (name: string) => responseHeaders.find((header) => header.name.toLowerCase() === name)?.value ?? null
      navigation.pass?.release({ status: responseStatusCode, headers: { get } })
    }
    this.#end(frameId)
  }

  lost({ frameId, requestId }: Pick<PausedRequest, 'frameId' | 'requestId'>): void {
    if (this.#navigations.get(frameId)?.requestId === requestId) this.#end(frameId)
  }

  gone(targetId: string): void {
    this.#end(targetId)
    this.#forget(targetId)
    this.#calls.delete(targetId)
  }

  /** A call navigates a page. Where its signal is aborted, nobody waits for the page any more: it leaves the queue. */
  begin(targetId: string, call: AbortSignal): void {
    this.#forget(targetId)
    this.#calls.set(targetId, call)
    const leave = () => {
      const navigation = this.#navigations.get(targetId)
      if (navigation?.call === call && navigation.pass === undefined) this.#end(targetId)
      if (this.#calls.get(targetId) === call) this.#givenUp.add(targetId)
    }
    call.addEventListener('abort', leave, { once: true })
  }

  /** The call is over, and its request has `ended` with it, or the browser `goes on`: a page that has its answer may. */
  over(targetId: string, call: AbortSignal, how: 'ended' | 'goes on'): void {
    if (how === 'ended' && this.#navigations.get(targetId)?.call === call) this.#end(targetId)
    if (this.#calls.get(targetId) === call) this.#calls.delete(targetId)
  }

  /**
   * The browser gave up the request for some page, and tells of none by the name that it has here. So it is asked which of them still stand.
   * It forgets one a moment after it gave it up: hence several looks.
   */
  async lookAfter(stands: (requestId: string) => Promise<boolean>): Promise<void> {
    for (const afterMs of LOOKS_AFTER_MS) {
      await sleep(afterMs, undefined, { ref: false })
      const looks = Array.from(this.#navigations.values(), async (navigation) => {
        if (!(await stands(navigation.requestId))) this.lost(navigation)
      })
      await Promise.all(looks)
    }
  }

  failureOf(targetId: string): unknown {
    return this.#failures.get(targetId)
  }

  /** Who waits fails, and so does who comes; resolves when nobody waits. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const targetId of [...this.#navigations.keys()]) this.#end(targetId)
    await Promise.allSettled(this.#deciding)
  }

  /** A page begins anew: what became of it before is no longer of interest. */
  #forget(targetId: string): void {
    this.#failures.delete(targetId)
    this.#givenUp.delete(targetId)
  }

  /** It waits no longer, and is not under way. */
  #end(targetId: string): void {
    const navigation = this.#navigations.get(targetId)
    this.#navigations.delete(targetId)
    navigation?.ending.abort()
    navigation?.pass?.release()
  }

  async #navigate(paused: PausedRequest): Promise<Failure | undefined> {
    const { frameId, requestId, redirectedRequestId, request } = paused
    this.#end(frameId) // the browser gives one up for another
    const call = this.#calls.get(frameId)
    if (redirectedRequestId === undefined && !call?.aborted) this.#forget(frameId)
    if (this.#closing.signal.aborted || this.#givenUp.has(frameId)) return 'Aborted'
    const navigation: Navigation = { frameId, requestId, call, ending: new AbortController(), pass: undefined }
    const { signal } = navigation.ending
    this.#navigations.set(frameId, navigation)
    try {
      const pass = await this.#door.enter(request.url, { signal }, frameId)
      navigation.pass = pass
      if (!signal.aborted) return undefined
      pass.release()
      return 'Aborted'
    } catch (error) {
      if (signal.aborted) return 'Aborted'
      this.#end(frameId)
      this.#failures.set(frameId, error)
      if (!(error instanceof RobotsDisallowedError)) return 'Aborted'
      this.refusals.add(request.url, error)
      return this.#refusedPage
    }
  }

  async #load({ request: { url }, frameId }: PausedRequest): Promise<Failure | undefined> {
    try {
      const verdict = await this.#door.check(url, { signal: this.#closing.signal }, frameId)
      if (verdict.allowed) return undefined
      this.refusals.add(url, new RobotsDisallowedError(verdict))
      return 'BlockedByClient'
    } catch {
      // It is closing, or nobody can tell what robots.txt says: then the next page fails, too, and that is told.
      return 'Aborted'
    }
  }
}
