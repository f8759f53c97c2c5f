// What may leave of one browser context. A page's own request waits for its turn at the gate; what the page loads is checked.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Pass, type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import type { Failure, Guest, PausedRequest } from './traffic.ts'

export type Subresources = 'check' | 'pass'

/** Refusals that are remembered, so that `refusalOf` finds them. */
const MAX_REFUSALS = 1_000

/** Milliseconds after one another. One that is missed by all of them is noticed at its turn: it has taken it in vain then. */
const LOOKS_AFTER_MS = [0, 50, 200, 1_000]

/** The request for a page, from its coming to its answer. Each hop of a redirect is another one. */
interface Navigation {
  readonly frameId: string
  readonly requestId: string
  readonly ending: AbortController
  /** As soon as it has left. */
  pass: Pass | undefined
}

export class Guard implements Guest {
  readonly #gate: PoliteGate
  readonly #subresources: Subresources
  /** By the page's target, which its main frame has its name from. There is one at a time. */
  readonly #navigations = new Map<string, Navigation>()
  /** Why the last navigation of a page did not leave. */
  readonly #failures = new Map<string, unknown>()
  /** Pages whose last call has given up: its redirects are followed no further. */
  readonly #abandoned = new Set<string>()
  /** By URL, the latest last. */
  readonly #refusals = new Map<string, RobotsDisallowedError>()
  readonly #closing = new AbortController()

  constructor(gate: PoliteGate, subresources: Subresources) {
    this.#gate = gate
    this.#subresources = subresources
  }

  /** May it leave? */
  async request(paused: PausedRequest, sender: string | undefined): Promise<Failure | undefined> {
    if (!/^https?:/i.test(paused.request.url)) return undefined
    const isPage = sender === 'page' && paused.resourceType === 'Document'
    // What a service worker asks for may be a page: nobody can tell.
    const isChecked = this.#subresources === 'check' || sender === 'service_worker'
    if (!isPage && !isChecked) return undefined
    return isPage ? this.#navigate(paused) : this.#load(paused.request.url)
  }

  answered({ frameId, requestId, responseStatusCode, responseHeaders = [] }: PausedRequest): void {
    const navigation = this.#navigations.get(frameId)
    if (navigation?.requestId !== requestId) return
    if (responseStatusCode !== undefined) {
      const get = (name: string) => responseHeaders.find((header) => header.name.toLowerCase() === name)?.value ?? null
      navigation.pass?.leave({ status: responseStatusCode, headers: { get } })
    }
    this.#end(frameId)
  }

  lost({ frameId, requestId }: Pick<PausedRequest, 'frameId' | 'requestId'>): void {
    if (this.#navigations.get(frameId)?.requestId === requestId) this.#end(frameId)
  }

  gone(targetId: string): void {
    this.#end(targetId)
    this.forget(targetId)
  }

  /** Nobody waits for the page any more: it leaves the queue. What is under way already goes on, and not to another hop. */
  abandon(targetId: string): void {
    this.#abandoned.add(targetId)
    if (this.#navigations.get(targetId)?.pass === undefined) this.#end(targetId)
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

  /** A page begins anew: what was known of its last navigation is of no interest. */
  forget(targetId: string): void {
    this.#failures.delete(targetId)
    this.#abandoned.delete(targetId)
  }

  refusalOf(url: string): RobotsDisallowedError | undefined {
    return this.#refusals.get(url)
  }

  /** Who waits fails, and so does who comes. */
  close(): void {
    this.#closing.abort()
    for (const targetId of [...this.#navigations.keys()]) this.#end(targetId)
  }

  /** It waits no longer, and is not under way. */
  #end(targetId: string): void {
    const navigation = this.#navigations.get(targetId)
    this.#navigations.delete(targetId)
    navigation?.ending.abort()
    navigation?.pass?.leave()
  }

  async #navigate(paused: PausedRequest): Promise<Failure | undefined> {
    const { frameId, requestId, redirectedRequestId, request } = paused
    this.#end(frameId) // the browser gives one up for another
    if (redirectedRequestId === undefined) this.forget(frameId)
    if (this.#closing.signal.aborted || this.#abandoned.has(frameId)) return 'Aborted'
    const navigation: Navigation = { frameId, requestId, ending: new AbortController(), pass: undefined }
    const { signal } = navigation.ending
    this.#navigations.set(frameId, navigation)
    try {
      const pass = await this.#gate.enter(request.url, { signal })
      navigation.pass = pass
      if (!signal.aborted) return undefined
      pass.leave()
      return 'Aborted'
    } catch (error) {
      if (signal.aborted) return 'Aborted'
      this.#end(frameId)
      this.#failures.set(frameId, error)
      if (error instanceof RobotsDisallowedError) this.#remember(request.url, error)
      return 'Aborted'
    }
  }

  async #load(url: string): Promise<Failure | undefined> {
    const { signal } = this.#closing
    try {
      const verdict = await this.#gate.robots.check(url, { signal })
      if (verdict.allowed) return undefined
      this.#remember(url, new RobotsDisallowedError(verdict))
      return 'BlockedByClient'
    } catch {
      // It is closing, or the RobotsClient is closed: then the next page fails, too, and that is told.
      return 'Aborted'
    }
  }

  #remember(url: string, refusal: RobotsDisallowedError): void {
    this.#refusals.delete(url)
    this.#refusals.set(url, refusal)
    const [oldest] = this.#refusals.keys()
    if (this.#refusals.size > MAX_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest)
  }
}
