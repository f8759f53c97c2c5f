// How a reader requests pages.
//
//   by the caller's fetch     the guard sees only URLs
//   on Bun, by its fetch      the guard looks up the name of each URL before the request
//   elsewhere, by undici      the guard sees the address of each connection
import { NetworkGuard, type NetworkGuardOptions } from '@politely/fetcher'
import { HAS_OWN_CONNECTIONS, LOOKED_UP, loadUndici, orAborted } from '@politely/fetcher/internal'

type Fetch = typeof globalThis.fetch
type Undici = Awaited<ReturnType<typeof loadUndici>>

export interface ToolNetwork {
  /** Sends one request. The gate follows redirects. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  /** Ends all requests. */
  readonly close: () => Promise<void>
  /** Aborted by `close`, if the signals of requests have to be aborted too. */
  readonly closed?: AbortSignal
}

/** @throws {OptionError} for an invalid option of the guard. */
export function pageNetwork(options: NetworkGuardOptions, fetch?: Fetch): ToolNetwork {
  const guard = new NetworkGuard(options)
  if (fetch !== undefined) return new FetchNetwork(guard, fetch, 'if-lookup-given')
  return HAS_OWN_CONNECTIONS ? new GuardedNetwork(guard) : new FetchNetwork(guard, globalThis.fetch, LOOKED_UP)
}

class FetchNetwork implements ToolNetwork {
  readonly #guard: NetworkGuard
  readonly #fetch: Fetch
  readonly #lookUp: 'always' | 'if-lookup-given'
  readonly #closing = new AbortController()
  readonly closed: AbortSignal = this.#closing.signal

  constructor(guard: NetworkGuard, fetch: Fetch, lookUp: 'always' | 'if-lookup-given') {
    this.#guard = guard
    this.#fetch = fetch
    this.#lookUp = lookUp
  }

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const refusal = await this.#guard.refusalBeforehand(url, this.#lookUp)
    if (refusal !== undefined) throw refusal
    const fetch = this.#fetch // a platform's fetch may reject another `this`
    return orAborted(fetch(url, init), init.signal ? [init.signal] : []) // it may ignore the signal
  }

  readonly close = async (): Promise<void> => this.#closing.abort()
}

/** The first request loads undici. */
class GuardedNetwork implements ToolNetwork {
  readonly #guard: NetworkGuard
  #loading: Promise<{ readonly agent: InstanceType<Undici['Agent']>; readonly fetch: Undici['fetch'] }> | undefined

  constructor(guard: NetworkGuard) {
    this.#guard = guard
  }

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    this.#loading ??= this.#load()
    const { agent, fetch } = await this.#loading
    // undici and Node each declare the types of fetch.
    const options = { ...init, dispatcher: agent } as unknown as Parameters<Undici['fetch']>[1]
    return (await fetch(url, options)) as unknown as Response
  }

  readonly close = async (): Promise<void> => (await this.#loading)?.agent.destroy()

  async #load() {
    const { Agent, fetch } = await loadUndici()
    return { agent: new Agent({ connect: this.#guard.connector({ allowH2: false }), allowH2: false }), fetch }
  }
}

// Caches the last few pages, so that a client can read one page in parts with one request.

const MAX_PAGES = 8
const MAX_AGE_MS = 5 * 60 * 1000

export class RecentPages<Page> {
  readonly #pages = new Map<string, { readonly page: Page; readonly expiresAt: number }>()

  get(key: string): Page | undefined {
    const cached = this.#pages.get(key)
    return cached !== undefined && cached.expiresAt > performance.now() ? cached.page : undefined
  }

  set(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#pages.set(key, { page, expiresAt: performance.now() + MAX_AGE_MS })
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }

  clear(): void {
    this.#pages.clear()
  }
}
