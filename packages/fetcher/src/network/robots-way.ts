// Chooses the way of a request for robots.txt: the client's own connections, or the way that pages
// take.
//
// Own connections are the safest way: the guard sees their addresses, and the client sees where a
// body ends. But robots.txt must reach the same server as the pages, even if these go through a
// proxy, or to a mock in a test. So the client leaves its own connections if pages don't take the
// platform's plain way:
//
//   the fetch for pages is not the built-in one    the same fetch         `pages-fetch`, `global-fetch`
//   the global dispatcher is not undici's default  the built-in fetch     `global-dispatcher`
//   a mock has replaced the sockets of node:net    the built-in fetch     `pages-fetch`
//   none of these                                  its own connections    `own`
//
// The fetch for pages is the caller's argument of `politely`, or else `globalThis.fetch`. Proxy
// variables need no extra case: where Node honours them (`NODE_USE_ENV_PROXY`), it sets a global
// dispatcher.
//
// Each request chooses again, since a test may replace fetch after it has created the client.
import type { Dispatcher } from 'undici'
import { areSocketsMocked, isPlainFetch, otherGlobalDispatcher, replacedGlobal } from './platform-fetch.ts'
import { isProxyExcluded, proxyVariableFor } from './proxy-variables.ts'
import { type PlatformFetch, withoutGates } from './wrapped-fetches.ts'

/**
 * The way that requests for robots.txt take: see `via` of `Inspection`.
 * @inline
 */
export type RobotsVia = Way['via']

/** The values of the option `robotsVia`. */
type RobotsViaOption = 'auto' | 'own' | 'pages'

export type Way = { readonly via: 'own' } | CallersWay

export type CallersWay =
  | { readonly via: 'dispatcher'; readonly dispatcher: Dispatcher }
  | { readonly via: 'fetch' | 'pages-fetch' | 'global-fetch' | 'global-dispatcher'; readonly fetch: PlatformFetch }

export interface WayOptions {
  readonly robotsVia: RobotsViaOption
  /** Returns the caller's dispatcher for a URL, or undefined to leave it to the client. */
  readonly choose: ((url: string) => Dispatcher | undefined) | undefined
  readonly fetch: PlatformFetch | undefined
}

const OWN: Way = { via: 'own' }

const ONLY_OWN = 'politeAgent makes its own connections, also for pages'

export class RobotsWay {
  readonly #given: WayOptions
  #pages: PlatformFetch | 'own' | undefined

  constructor(options: WayOptions) {
    this.#given = options
  }

  /**
   * Says how pages are requested, for a client that was created for one purpose only.
   * @param pages The fetch for pages; or `own`, if Politely makes the connections for pages too.
   */
  followPages(pages: PlatformFetch | 'own'): void {
    this.#pages = pages
  }

  /** Returns the way that the next request to a URL takes. Calls the caller's function. */
  current(url: string): Way {
    const dispatcher = this.#given.choose?.(url)
    return dispatcher === undefined ? this.#withoutDispatcher() : { via: 'dispatcher', dispatcher }
  }

  /** The way of all requests. `dispatcher` if the caller's function chooses it. */
  get via(): RobotsVia {
    return this.#given.choose === undefined ? this.#withoutDispatcher().via : 'dispatcher'
  }

  #withoutDispatcher(): Way {
    const { robotsVia, fetch: givenFetch } = this.#given
    if (givenFetch !== undefined) return { via: 'fetch', fetch: givenFetch }
    if (robotsVia === 'own' || this.#pages === 'own') return OWN
    const fetch = withoutGates(this.#pages ?? globalThis.fetch)
    if (typeof fetch !== 'function') return OWN // the environment of a test may have none
    const isPlain = isPlainFetch(fetch)
    if (isPlain && otherGlobalDispatcher() !== undefined) return { via: 'global-dispatcher', fetch }
    if (isPlain && robotsVia === 'auto' && !areSocketsMocked()) return OWN
    return { via: this.#pages === undefined ? 'global-fetch' : 'pages-fetch', fetch }
  }

  /**
   * Returns a mock or a proxy that the user has set up, but this way does not use, and what to
   * write. Returns undefined if all of them are used. To be called for a request that failed.
   */
  unusedSetup(url: string, way: Way): string | undefined {
    const isPlain = way.via === 'own' || (way.via === 'pages-fetch' && isPlainFetch(way.fetch))
    if (!isPlain && way.via !== 'dispatcher') return undefined
    const replaced = replacedGlobal()
    if (replaced !== undefined) return `${replaced}, but requests for robots.txt do not use it: ${this.#remedy(way)}`
    if (!isPlain) return undefined
    const variable = isProxyExcluded(url) ? undefined : proxyVariableFor(url)
    return variable && `${variable} is set, but this request did not use it: ${this.#proxyRemedy()}`
  }

  #proxyRemedy(): string {
    if (this.#pages === 'own') return ONLY_OWN
    const start = process.env.NODE_USE_ENV_PROXY ? '' : 'start Node with NODE_USE_ENV_PROXY=1, or '
    return `${start}write dispatcher: new EnvHttpProxyAgent()`
  }

  #remedy({ via }: Way): string {
    if (via === 'dispatcher') return 'leave the option dispatcher out'
    if (this.#given.robotsVia === 'own') return "leave robotsVia: 'own' out"
    if (this.#pages === 'own') return ONLY_OWN
    return 'politely has wrapped another fetch; write politely((...args) => fetch(...args), { … })'
  }
}
