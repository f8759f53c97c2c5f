// The pages of a browser, or of a context: which targets they are, and what their `goto` rejects with.
import { onAbort } from '@politely/fetcher/abort-listeners'
import { BrowserGoneError } from './browser-gone.ts'
import type { Guard } from './guard.ts'
import { unregisterServiceWorkers } from './service-workers.ts'
import { answers, ask, type DriverBrowser, type DriverPage, send } from './session.ts'
import { trafficOf } from './traffic.ts'

/** A request of a page, as drivers tell of it. */
interface SeenRequest {
  isNavigationRequest(): boolean
}

/** A page whose `goto`, `reload`, `goBack` and `goForward` are guarded. */
export interface GuardedPage extends DriverPage {
  readonly own: {
    on(event: 'requestfailed', hear: (request: SeenRequest) => void): unknown
    off(event: 'requestfailed', hear: (request: SeenRequest) => void): unknown
    once(event: 'close', hear: () => void): unknown
  }
  /** Does what has to be done in each page. What it returns takes that back. */
  prepare?(): Promise<() => Promise<void>>
}

/** What is known of a page. */
interface Identity {
  readonly targetId: string
  readonly contextId: string | undefined
  readonly undo: (() => Promise<void>) | undefined
}

const NAVIGATING = ['goto', 'reload', 'goBack', 'goForward'] as const

type Navigate = (...args: unknown[]) => Promise<unknown>

/** Does a call of `goto` or the like: what is asked for meanwhile in this page, the caller of `goto` wants. */
export type Around = (targetId: string, call: () => Promise<unknown>) => Promise<unknown>

interface Added {
  /** Nothing where it was closed at once. */
  readonly identity: Promise<Identity | undefined>
  /** It has its own methods again, and is not listened to. */
  readonly restore: () => void
}

export class Pages {
  readonly #guard: Guard
  readonly #browser: DriverBrowser
  readonly #around: Around
  /** By the driver's own. */
  readonly #added = new Map<object, Added>()
  /** Contexts whose service workers have been unregistered. */
  readonly #withoutWorkers = new Set<string | undefined>()
  #contextId: string | undefined

  constructor(guard: Guard, browser: DriverBrowser, around: Around = (_, call) => call()) {
    this.#guard = guard
    this.#browser = browser
    this.#around = around
  }

  /** Of the context that they are in, as soon as there is one of them: before, it sends nothing. */
  async contextId(): Promise<string | undefined> {
    for (const { identity } of this.#added.values()) {
      if (this.#contextId !== undefined) break
      this.#contextId = (await identity.catch(() => undefined))?.contextId
    }
    return this.#contextId
  }

  /** Gives the page's target; none where it was closed at once. Rejects where that cannot be learnt; so do its `goto` and the like then. */
  async add(page: GuardedPage): Promise<string | undefined> {
    const { own } = page
    const known = this.#added.get(own)
    if (known !== undefined) return (await known.identity)?.targetId
    const identity = this.#identify(page)
    const unwrap = this.#wrap(page, identity)
    const lookAfter = (request: SeenRequest) => {
      const stands = (requestId: string) => trafficOf(this.#browser).stands(requestId)
      if (request.isNavigationRequest()) void this.#guard.lookAfter(stands)
    }
    const restore = () => {
      unwrap()
      own.off('requestfailed', lookAfter)
    }
    own.on('requestfailed', lookAfter)
    own.once('close', () => this.#added.delete(own))
    this.#added.set(own, { identity, restore })
    return (await identity)?.targetId
  }

  /** They are again as they were. */
  async close(): Promise<void> {
    const added = [...this.#added.values()]
    for (const { restore } of added) restore()
    await Promise.all(added.map(async ({ identity }) => (await identity.catch(() => undefined))?.undo?.()))
  }

  /**
   * Learns which target and context the page is. The first page of a context unregisters the service workers that the context had. It is one
   * session for both: Puppeteer loses a page that two sessions are opened to at once (measured with 25.16).
   */
  async #identify(page: GuardedPage): Promise<Identity | undefined> {
    return ask(page, async (session) => {
      const [{ targetInfo }, undo] = await Promise.all([send(session, 'Target.getTargetInfo'), page.prepare?.()])
      const { targetId, browserContextId: contextId } = targetInfo
      if (!this.#withoutWorkers.has(contextId)) await unregisterServiceWorkers(session)
      this.#withoutWorkers.add(contextId)
      return { targetId, contextId, undo }
    })
  }

  #wrap(page: GuardedPage, identity: Promise<Identity | undefined>): () => void {
    const methods = page.own as unknown as Record<string, Navigate>
    const last = { call: 0 }
    const wrapped = NAVIGATING.map((name) => {
      const original = methods[name] as Navigate
      const navigate: Navigate = async (...args) => {
        const call = ++last.call
        const { signal } = (args.at(-1) ?? {}) as { readonly signal?: AbortSignal }
        signal?.throwIfAborted()
        const targetId = (await identity)?.targetId
        const ownWay = () => original.apply(page.own, args)
        if (targetId === undefined) return ownWay()
        return this.#navigate({ page, targetId, signal, isLast: () => call === last.call }, ownWay)
      }
      methods[name] = navigate
      return { name, navigate }
    })
    return () => {
      for (const { name, navigate } of wrapped) if (methods[name] === navigate) delete methods[name]
    }
  }

  async #navigate({ page, targetId, signal, isLast }: Call, navigate: () => Promise<unknown>): Promise<unknown> {
    // A driver may not look at the signal while it waits for an answer.
    const givingUp = new AbortController()
    const giveUp = () => givingUp.abort()
    const unlisten = signal && onAbort(signal, giveUp)
    this.#guard.begin(targetId, givingUp.signal)
    try {
      const response = await this.#around(targetId, navigate)
      // Puppeteer takes the error page for the one that `reload` and `goBack` wait for, and has no answer of it.
      const failure = response === null || response === undefined ? this.#guard.failureOf(targetId) : undefined
      if (failure !== undefined && isLast()) throw failure
      this.#guard.over(targetId, givingUp.signal, 'goes on')
      return response
    } catch (error) {
      const isGivenUp = signal?.aborted === true || (error instanceof Error && error.name === 'TimeoutError')
      if (isGivenUp) giveUp() // the browser would go on
      this.#guard.over(targetId, givingUp.signal, isGivenUp ? 'goes on' : 'ended')
      if (signal?.aborted && !isAbort(error)) throw signal.reason
      if (page.isGone() && !(await answers(this.#browser))) throw new BrowserGoneError(error)
      // Another call may have taken this one's place, and what is known now is about that.
      throw isLast() ? withCause(this.#guard.failureOf(targetId), error) : error
    } finally {
      unlisten?.()
    }
  }
}

/** A call of `goto` and the like. */
interface Call {
  readonly page: GuardedPage
  readonly targetId: string
  readonly signal: AbortSignal | undefined
  readonly isLast: () => boolean
}

/** Did the driver look at the signal itself? */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Ours, if there is one, with the driver's as its cause: that knows the line of the caller. */
function withCause(ours: unknown, drivers: unknown): unknown {
  if (ours === undefined) return drivers
  if (ours instanceof Error && ours !== drivers) ours.cause ??= drivers
  return ours
}
