// Guards a browser or one of its contexts: starts the guard, and restores everything when the guard
// closes.
import { OptionError } from '@politely/core'
import { oneOf } from '@politely/fetcher/internal'
import type { GateOrOptions } from '@politely/gate'
import { type PoliteGate, type RobotsDisallowedError, resolveGate } from '@politely/gate'
import { assertGateOptions } from '@politely/gate/internal'
import { Guard, type GuardOptions } from './guard.ts'
import { type GuardedPage, GuardedPages } from './pages.ts'
import type { ErrorReason } from './paused-request.ts'
import type { FailedRequest } from './refusals.ts'
import { changePages, type DriverBrowser, type DriverPage, send, waitForPages, withSession } from './session.ts'
import { trafficOf } from './traffic.ts'

/**
 * Your own `gate`, or your own `robots` and the options of a gate, or the options of both; and how
 * page requests are treated.
 */
export type BrowserGuardOptions = GateOrOptions & {
  /**
   * How to treat the requests that a page makes for its content: images, scripts, frames, `fetch`.
   * Navigations are always checked and paced.
   *
   * `check`: each request is sent only if the robots.txt of its own origin allows it. These
   * requests do not wait: otherwise a page with fifty images would take minutes to load on a site
   * with a crawl-delay. Pages cannot start downloads, because Chromium would send some of them
   * without a check: open the file with `goto` instead.
   *
   * `ignore`: page requests are sent without a check, and pages can start downloads.
   *
   * Service workers are switched off in both cases.
   *
   * @default 'check'
   */
  readonly pageRequests?: 'check' | 'ignore' | undefined
}

/** A browser or one of its contexts: what one call of `withRobots` guards. */
export interface BrowserScope {
  readonly browser: DriverBrowser
  /** The driver's own object of the browser or the context. */
  readonly driverObject: object
  /** The name of the parameter of `withRobots`, for error messages. */
  readonly name: string
  /**
   * Driver objects that must not be guarded already: this scope, the scope that contains it, and
   * the scopes inside it.
   */
  readonly overlapping: readonly object[]
  /** The protocol's ID of the context. Default: the ID that its first page has. */
  readonly contextId?: string | undefined
  readonly refusedPage: ErrorReason
  /** Returns the open pages. */
  pages(): Promise<readonly GuardedPage[]>
  /**
   * Returns the open pages outside a context whose `contextId` is not given. Until the context has
   * its first page, all other requests of the browser are checked as if they were the context's.
   */
  otherPages?(): Promise<readonly DriverPage[]>
  /**
   * Calls `onPage` for each new page, and `onClose` when the scope itself closes. Returns a
   * function that stops this.
   */
  listen(onPage: (page: GuardedPage) => void, onClose: () => void): () => void
  /**
   * Adds a script to each new document of all pages, to run before the document's own scripts.
   * Returns a function that removes it.
   */
  prepare?(documentScript: string): Promise<() => Promise<void>>
}

/** The guard of a browser or a context. `R` is the driver's type of a request. */
export interface BrowserGuard<R extends FailedRequest> extends AsyncDisposable {
  readonly gate: PoliteGate
  /**
   * Returns why a request failed, if robots.txt was the reason. The guard remembers the last 1,000
   * refusals, or fewer if they exceed 16 MiB.
   */
  refusalOf(request: R): RobotsDisallowedError | undefined
  /**
   * Ends the guard. Requests are no longer checked, and waiting pages fail with `net::ERR_ABORTED`.
   * Closes the gate and the RobotsClient if it created them from the options; does not close a gate
   * or a RobotsClient that you passed in. Waits at most a few seconds for pages that do not
   * respond. The guard also closes by itself: with the context in Playwright, with the browser in
   * Puppeteer.
   */
  close(): Promise<void>
}

/** The driver objects of all scopes that are guarded now. */
const guardedObjects = new WeakSet<object>()

/**
 * @throws {OptionError} for an invalid option, and for a scope that is guarded already or overlaps
 * with a guarded one.
 */
export async function guardBrowser<R extends FailedRequest>(
  scope: BrowserScope,
  options: BrowserGuardOptions,
): Promise<BrowserGuard<R>> {
  const { pageRequests, forGate } = parseOptions(options)
  if (scope.overlapping.some((object) => guardedObjects.has(object))) {
    throw new OptionError(
      scope.name,
      'is polite already; call withRobots once for the browser, or once for each of its contexts',
    )
  }
  const { gate, close: closeGate } = resolveGate(forGate, { pageRequests: true })
  guardedObjects.add(scope.driverObject)

  const isWholeBrowser = scope.driverObject === scope.browser.driverObject
  const contexts = isWholeBrowser ? 'all' : (id: string) => isGuarded(id)
  const guard = new Guard(gate, { gate, contexts, pageRequests, refusedPage: scope.refusedPage })
  const pages = new GuardedPages(guard, scope.browser)
  const isGuarded = guardedContext(scope, pages)
  const undo: (() => void | Promise<void>)[] = []
  /** Steps that wait for pages. */
  const undoInPages: (() => Promise<void>)[] = [() => pages.close()]
  const closeAll = async () => {
    try {
      await guard.close()
      for (const step of undo) await step()
      const reverted = Promise.all(undoInPages.map((step) => step()))
      await waitForPages(reverted)
    } finally {
      guardedObjects.delete(scope.driverObject)
      await closeGate()
    }
  }
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= closeAll()
    return closed
  }

  try {
    // If a page cannot be added, its navigations reject with the error.
    const onPage = (page: GuardedPage) => void pages.add(page).catch(() => undefined)
    undo.push(
      // An explicit call of `close` rejects with the same error.
      scope.listen(onPage, () => void close().catch(() => undefined)),
      () => trafficOf(scope.browser).remove(guard),
    )
    const open = await scope.pages()
    const adding = Promise.all(open.map((page) => pages.add(page)))
    adding.catch(() => undefined) // awaited below, unless `add` of the traffic fails first
    await trafficOf(scope.browser).add(guard)
    await adding
    if (scope.prepare !== undefined) undoInPages.push(await changePages(scope.prepare(guard.documentScript)))
    const isKnown = isWholeBrowser || scope.contextId !== undefined || open.length > 0
    if (isKnown) await trafficOf(scope.browser).interceptOpenPages(guard)
  } catch (error) {
    await close()
    throw error
  }
  return { gate, refusalOf: (request) => guard.refusals.of(request), close, [Symbol.asyncDispose]: close }
}

function parseOptions(options: BrowserGuardOptions): Pick<GuardOptions, 'pageRequests'> & { forGate: GateOrOptions } {
  assertGateOptions(options)
  const { pageRequests = 'check', ...forGate } = options
  return { pageRequests: oneOf('pageRequests', pageRequests, ['check', 'ignore']), forGate }
}

/**
 * Returns a function that returns whether a context may be the guarded one. While the ID of the
 * guarded context is unknown, this is every context but those of `otherPages`: a request of the
 * guarded context is never sent without a check.
 */
function guardedContext(scope: BrowserScope, pages: GuardedPages): (contextId: string) => Promise<boolean> {
  const others = new Set<string | undefined>()
  const lookUpOthers = async () => {
    const lookUp = async (page: DriverPage) => {
      const found = await withSession(page, (session) => send(session, 'Target.getTargetInfo'))
      others.add(found?.targetInfo.browserContextId)
    }
    const looked = (await scope.otherPages?.())?.map((page) => waitForPages(lookUp(page)).catch(() => undefined))
    await Promise.all(looked ?? [])
  }
  const ownId = async () => scope.contextId ?? (await pages.contextId())
  return async (contextId) => {
    if ((await ownId()) === undefined && !others.has(contextId)) await lookUpOthers()
    const own = await ownId()
    return own === undefined ? !others.has(contextId) : own === contextId
  }
}
