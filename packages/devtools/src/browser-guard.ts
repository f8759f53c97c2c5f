// A guard's watch over a browser, or over one of its contexts: how it begins, and how all is again as it was.
import { OptionError } from '@politely/core'
import { assertOptions, oneOf } from '@politely/fetcher/option-checks'
import { type GateOrOptions, type PoliteGate, type RobotsDisallowedError, resolveGate } from '@politely/gate'
import { Guard, type PageRequests } from './guard.ts'
import { type GuardedPage, Pages } from './pages.ts'
import type { Failure } from './paused-request.ts'
import type { FailedRequest } from './refusals.ts'
import type { DriverBrowser } from './session.ts'
import { sendThroughTraffic, trafficOf } from './traffic.ts'

/** How to be polite: a gate of your own, or what to make one of. */
export type BrowserGuardOptions = GateOrOptions & {
  /**
   * What a page loads: images, scripts, frames, `fetch`. `check` (the default): each is asked for only where the robots.txt of its origin allows
   * it; none waits for a turn, or a page with fifty images could never be shown. `ignore`: they are not looked at.
   */
  readonly pageRequests?: PageRequests | undefined
}

/** A browser, or one of its contexts, as a driver has it. */
export interface BrowserScope {
  readonly browser: DriverBrowser
  /** The driver's own object of it: that of the whole browser, or of a context. */
  readonly own: object
  /** What the caller of `withRobots` knows it as. */
  readonly name: string
  /** Itself, what it is a part of, and its own parts: none of them may be watched already. */
  readonly parts: readonly object[]
  readonly refusedPage: Failure
  /** Those that are open. */
  pages(): Promise<readonly GuardedPage[]>
  /** Listens: pages come, and it goes away itself. What it returns ends that. */
  listen(came: (page: GuardedPage) => void, gone: () => void): () => void
  /** Does what has to be done once for all pages. What it returns takes that back. */
  prepare?(): Promise<() => Promise<void>>
}

/** What `withRobots` has put in front of a browser, or of a context. `R` is a request, as its driver has it. */
export interface BrowserGuard<R extends FailedRequest> extends AsyncDisposable {
  readonly gate: PoliteGate
  /** Why this request failed, where it was robots.txt. The last thousand refusals are known. */
  refusalOf(request: R): RobotsDisallowedError | undefined
  /**
   * All is again as it was: requests are no longer looked at. Pages that wait fail with `net::ERR_ABORTED`. The gate and the RobotsClient
   * that were made for it are closed; those you gave stay yours. It closes with what it watches.
   */
  close(): Promise<void>
}

/** What is watched now. */
const watched = new WeakSet<object>()

/** @throws {OptionError} for an option that cannot be used, and for a place that is watched already. */
export async function guardBrowser<R extends FailedRequest>(
  place: BrowserScope,
  options: BrowserGuardOptions,
): Promise<BrowserGuard<R>> {
  const { pageRequests, forGate } = checked(options)
  if (place.parts.some((part) => watched.has(part))) {
    throw new OptionError(place.name, 'is polite already; call withRobots once, for the whole or for each of its parts')
  }
  const { gate, close: closeGate } = resolveGate(forGate)
  watched.add(place.own)

  const owns = place.own === place.browser.own ? 'all' : async (id: string) => id === (await pages.contextId())
  const guard = new Guard(gate, { owns, pageRequests, refusedPage: place.refusedPage })
  const pages = new Pages(guard, place.browser)
  const undo: (() => void | Promise<void>)[] = []
  const closeAll = async () => {
    try {
      await guard.close()
      for (const step of undo) await step()
    } finally {
      watched.delete(place.own)
      await closeGate()
    }
  }
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= closeAll()
    return closed
  }

  try {
    // Who navigates a page is told what became of it here.
    const came = (page: GuardedPage) => void pages.add(page).catch(() => undefined)
    undo.push(
      // `close` tells its callers what failed.
      place.listen(came, () => void close().catch(() => undefined)),
      () => trafficOf(place.browser).remove(guard),
      () => pages.close(),
    )
    const open = await place.pages()
    const adding = Promise.all(open.map((page) => pages.add(page)))
    adding.catch(() => undefined) // told below, unless there is something worse
    await trafficOf(place.browser).add(guard)
    await adding
    if (place.prepare !== undefined) undo.push(await place.prepare())
    await Promise.all(open.map(sendThroughTraffic))
  } catch (error) {
    await close()
    throw error
  }
  return { gate, refusalOf: (request) => guard.refusals.of(request), close, [Symbol.asyncDispose]: close }
}

function checked(options: BrowserGuardOptions): { pageRequests: PageRequests; forGate: GateOrOptions } {
  assertOptions(options)
  const { pageRequests = 'check', ...forGate } = options
  return { pageRequests: oneOf('pageRequests', pageRequests, ['check', 'ignore']), forGate }
}
