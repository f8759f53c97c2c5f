// The pages of a browser or a context: finds out their target IDs, and makes their navigation
// methods reject with Politely's errors.
import { onAbort } from '@politely/fetcher/internal'
import { BrowserGoneError } from './browser-gone.ts'
import type { Guard } from './guard.ts'
import { unregisterServiceWorkers } from './service-workers.ts'
import { changePages, type DriverBrowser, type DriverPage, isResponding, send, withSession } from './session.ts'
import { trafficOf, trafficReady } from './traffic.ts'

/**
 * A page's request, in the form that Playwright and Puppeteer give it.
 * @inline
 */
export interface DriverRequest {
  isNavigationRequest(): boolean
  url(): string
  /** Playwright throws if the page's first request failed before the page had a frame. */
  frame(): unknown
}

/** A page whose `goto`, `reload`, `goBack` and `goForward` are guarded. */
export interface GuardedPage extends DriverPage {
  readonly driverObject: {
    on(event: 'requestfailed', listener: (request: DriverRequest) => void): unknown
    off(event: 'requestfailed', listener: (request: DriverRequest) => void): unknown
    once(event: 'close', listener: () => void): unknown
    mainFrame(): unknown
  }
  /**
   * Adds a script to each new document, to run before the document's own scripts. Returns a
   * function that removes it.
   */
  prepare?(documentScript: string): Promise<() => Promise<void>>
}

interface Identity {
  readonly targetId: string
  readonly contextId: string | undefined
  readonly undo: (() => Promise<void>) | undefined
}

const NAVIGATION_METHODS = ['goto', 'reload', 'goBack', 'goForward'] as const

type Navigate = (...args: unknown[]) => Promise<unknown>

/**
 * Runs a call of `goto` or a similar method. The wrapper lets its owner tell which requests of a
 * page belong to the call: the requests that the page makes while the call runs.
 * @inline
 */
export type WrapNavigation = (targetId: string, call: () => Promise<unknown>) => Promise<unknown>

interface PageEntry {
  /** Undefined if the page was closed before it could be identified. */
  readonly identity: Promise<Identity | undefined>
  /** Gives the page its own methods back and removes the listeners. */
  readonly restore: () => void
}

/**
 * The guarded pages of a browser or a context. Their navigation methods reject with the error of
 * the guard if a request was refused.
 */
export class GuardedPages {
  readonly #guard: Guard
  readonly #browser: DriverBrowser
  readonly #wrapNavigation: WrapNavigation
  /** By the driver's page object. */
  readonly #entries = new Map<object, PageEntry>()
  /** Contexts whose service workers have been unregistered. */
  readonly #clearedContexts = new Set<string | undefined>()
  #contextId: string | undefined

  constructor(guard: Guard, browser: DriverBrowser, wrapNavigation: WrapNavigation = (_, call) => call()) {
    this.#guard = guard
    this.#browser = browser
    this.#wrapNavigation = wrapNavigation
  }

  /**
   * Returns the ID of the context that the pages belong to. Undefined before the first page: a
   * context without pages sends no requests.
   */
  async contextId(): Promise<string | undefined> {
    for (const { identity } of this.#entries.values()) {
      if (this.#contextId !== undefined) break
      this.#contextId = (await identity.catch(() => undefined))?.contextId
    }
    return this.#contextId
  }

  /**
   * Guards a page and returns its target ID. Undefined if the page was closed at once. Rejects if
   * the page cannot be identified; its navigation methods then reject with the same error.
   */
  async add(page: GuardedPage): Promise<string | undefined> {
    const { driverObject } = page
    const known = this.#entries.get(driverObject)
    if (known !== undefined) return (await known.identity)?.targetId
    const identity = this.#identify(page).catch(() => this.#identify(page)) // its session may be detached meanwhile
    const unwrap = this.#wrap(page, identity)
    const onFailed = (request: DriverRequest) => {
      if (request.isNavigationRequest() && isOfMainFrame(request, driverObject))
        void this.#endCanceledNavigation(identity, request.url())
    }
    const restore = () => {
      unwrap()
      driverObject.off('requestfailed', onFailed)
    }
    driverObject.on('requestfailed', onFailed)
    driverObject.once('close', () => this.#entries.delete(driverObject))
    this.#entries.set(driverObject, { identity, restore })
    return (await identity)?.targetId
  }

  async #endCanceledNavigation(identity: Promise<Identity | undefined>, failedUrl: string): Promise<void> {
    const known = await identity.catch(() => undefined) // `add` rejects with the error
    const isPending = (requestId: string) => trafficOf(this.#browser).isPending(requestId)
    if (known !== undefined) await this.#guard.endCanceledNavigation(known.targetId, failedUrl, isPending)
  }

  /** Restores all pages. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()]
    for (const { restore } of entries) restore()
    await Promise.all(entries.map(async ({ identity }) => (await identity.catch(() => undefined))?.undo?.()))
  }

  /**
   * Finds out the target and the context of a page. The first page of a context also unregisters
   * the context's service workers. One session serves both purposes: Puppeteer loses a page if two
   * sessions are opened to it at once (measured with 25.16).
   */
  async #identify(page: GuardedPage): Promise<Identity | undefined> {
    return withSession(page, async (session) => {
      const [{ targetInfo }, undo] = await Promise.all([
        send(session, 'Target.getTargetInfo'),
        page.prepare && changePages(page.prepare(this.#guard.documentScript)),
      ])
      const { targetId, browserContextId: contextId } = targetInfo
      if (!this.#clearedContexts.has(contextId)) await unregisterServiceWorkers(session)
      this.#clearedContexts.add(contextId)
      return { targetId, contextId, undo }
    })
  }

  /**
   * Replaces the navigation methods of a page. Returns a function that removes the replacements.
   */
  #wrap(page: GuardedPage, identity: Promise<Identity | undefined>): () => void {
    const methods = page.driverObject as unknown as Record<string, Navigate>
    const last = { call: 0 }
    const wrapped = NAVIGATION_METHODS.map((name) => {
      const original = methods[name] as Navigate
      const navigate: Navigate = async (...args) => {
        const call = ++last.call
        const { signal } = (args.at(-1) ?? {}) as { readonly signal?: AbortSignal }
        signal?.throwIfAborted()
        const targetId = (await identity)?.targetId
        const callOriginal = () => original.apply(page.driverObject, args)
        if (targetId === undefined) return callOriginal()
        const url = name === 'goto' ? String(args[0]) : undefined
        return this.#navigate({ page, targetId, url, signal, isLast: () => call === last.call }, callOriginal)
      }
      methods[name] = navigate
      return { name, navigate }
    })
    return () => {
      for (const { name, navigate } of wrapped) if (methods[name] === navigate) delete methods[name]
    }
  }

  async #navigate({ page, targetId, url, signal, isLast }: Call, navigate: () => Promise<unknown>): Promise<unknown> {
    // The driver may ignore the signal while it waits for the response.
    const abandoning = new AbortController()
    const abandon = () => abandoning.abort()
    const removeListener = signal && onAbort(signal, abandon)
    this.#guard.beginCall(targetId, abandoning.signal, url)
    try {
      await trafficReady(this.#browser)
      const response = await this.#wrapNavigation(targetId, navigate)
      // Puppeteer's `reload` and `goBack` accept the error page as the page that they wait for, and
      // resolve without a response.
      const failure = response === null || response === undefined ? this.#guard.failureOf(targetId) : undefined
      if (failure !== undefined && isLast()) throw failure
      this.#guard.endCall(targetId, abandoning.signal, 'continues')
      return response
    } catch (error) {
      const isAbandoned = signal?.aborted === true || (error instanceof Error && error.name === 'TimeoutError')
      if (isAbandoned) abandon() // the browser would continue the navigation
      this.#guard.endCall(targetId, abandoning.signal, isAbandoned ? 'continues' : 'ended')
      if (signal?.aborted && !isAbortError(error)) throw signal.reason
      if (page.isClosed() && !(await isResponding(this.#browser))) throw new BrowserGoneError(error)
      // If a later call has replaced this one, the known failure may belong to the later call.
      throw isLast() ? withCause(this.#guard.failureOf(targetId), error) : error
    } finally {
      removeListener?.()
    }
  }
}

/** A call of `goto` or a similar method. */
interface Call {
  readonly page: GuardedPage
  readonly targetId: string
  /** The argument of `goto`. */
  readonly url: string | undefined
  readonly signal: AbortSignal | undefined
  readonly isLast: () => boolean
}

/** Returns whether the driver handled the aborted signal itself. */
function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/**
 * Returns the guard's failure if there is one, with the driver's error as its cause: the driver's
 * stack trace contains the line of the caller. Otherwise returns the driver's error.
 */
function withCause(failure: unknown, driverError: unknown): unknown {
  if (failure === undefined) return driverError
  if (failure instanceof Error && failure !== driverError) failure.cause ??= driverError
  return failure
}

function isOfMainFrame(request: DriverRequest, page: GuardedPage['driverObject']): boolean {
  try {
    return request.frame() === page.mainFrame()
  } catch {
    return true
  }
}
