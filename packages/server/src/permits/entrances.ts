// Finds where a URL enters the gate. Bounds how many robots.txt are fetched for one tenant, and
// remembers for a moment what the guard says of private names.
import { isIP } from 'node:net'
import type { ClientVerdict } from '@politely/fetcher'
import { isPrivateHost, setBounded, withTimeout } from '@politely/fetcher/internal'
import type { Forecast } from '@politely/gate'
import type { Entrance, GatePort } from '@politely/gate/internal'
import type { Tenant } from '../tenants.ts'

/** Why a URL may not enter. */
type Refused = Extract<Forecast, { allowed: false }>
export type Refusal = Pick<Refused, 'allowed' | 'verdict' | 'retryAt'> & Partial<Refused>

/** The robots.txt of the URL is being fetched, or has to be. */
export interface UnknownEntrance {
  /** Undefined if too many are being fetched for the tenant. */
  readonly pending: Promise<unknown> | undefined
  /** When the URL asks again. */
  readonly waitMs: number
}

/**
 * The source of a URL whose caller may not reach private hosts. The guard treats the URL like a
 * link on a public page.
 */
export const PUBLIC_SOURCE: readonly string[] = ['https://politely.example.com/']
const NO_SOURCE: readonly string[] = []
/** How often a URL asks whether its robots.txt has come. It grows with the number that is being fetched. */
const ROBOTS_WAIT_MS = 200
const MAX_ROBOTS_WAIT_MS = 30_000
/** How many robots.txt one tenant may have fetched at a time, next to other tenants, and alone. */
const MAX_FETCHES_SHARED = 32
const MAX_FETCHES_ALONE = 10_000
/** How long it is remembered what the guard says of a private name. */
const PRIVATE_MS = 10_000
const MAX_PRIVATE = 10_000
/** How long a call waits for what the guard says of an address. */
const LITERAL_MS = 20

export class Entrances {
  readonly #port: GatePort
  readonly #isShared: () => boolean
  /** The fetches of robots.txt under way, by origin. */
  readonly #fetches = new Map<string, Promise<unknown>>()
  /** What the guard has said of private names: whether they may be requested, and until when that holds. */
  readonly #private = new Map<string, { readonly verdict: ClientVerdict; readonly until: number }>()

  /** @param isShared Whether there is more than one tenant. */
  constructor(port: GatePort, isShared: () => boolean) {
    this.#port = port
    this.#isShared = isShared
  }

  async of(tenant: Tenant, url: string, mayReachPrivate: boolean): Promise<Entrance | Refusal | UnknownEntrance> {
    const { origin = url, hostname = '' } = URL.parse(url) ?? {}
    const isGuarded = !mayReachPrivate && isPrivateHost(hostname)
    let source = mayReachPrivate ? NO_SOURCE : PUBLIC_SOURCE
    const said = isGuarded ? this.#private.get(origin) : undefined
    if (said !== undefined && said.until > this.#port.now()) {
      const { verdict } = said
      if (isBlocked(verdict)) return { allowed: false, verdict: { ...verdict, url }, retryAt: verdict.retryAt }
      source = NO_SOURCE // the guard has allowed it just now
    }
    const isBusy = tenant.fetching >= (this.#isShared() ? MAX_FETCHES_SHARED : MAX_FETCHES_ALONE)
    const found = await this.#port.entranceOf(url, source, !isBusy || this.#fetches.has(origin))
    if (!('pending' in found)) return found
    const { pending } = found
    if (pending !== undefined && isGuarded) {
      const noted = pending.then(
        (verdict) => setBounded(this.#private, origin, { verdict, until: this.#port.now() + PRIVATE_MS }, MAX_PRIVATE),
        () => undefined, // the gate is closed
      )
      const isLiteral = hostname.startsWith('[') || isIP(hostname) !== 0
      // The guard needs no DNS for an address, so its refusal is there at once.
      const isThere =
        isLiteral &&
        (await withTimeout(
          noted.then(() => true),
          LITERAL_MS,
          () => false,
        ))
      if (isThere && this.#private.has(origin)) return this.of(tenant, url, mayReachPrivate)
    }
    const followed = pending && this.#follow(tenant, origin, pending)
    return { pending: followed, waitMs: Math.min(ROBOTS_WAIT_MS + 2 * this.#fetches.size, MAX_ROBOTS_WAIT_MS) }
  }

  /** Keeps one promise for each robots.txt that is being fetched. A failure becomes a verdict later. */
  #follow(tenant: Tenant, origin: string, pending: Promise<unknown>): Promise<unknown> {
    const known = this.#fetches.get(origin)
    const ended = pending.catch(() => undefined)
    if (known !== undefined) return known
    tenant.fetching++
    const followed = ended.then(() => {
      tenant.fetching--
      this.#fetches.delete(origin)
    })
    this.#fetches.set(origin, followed)
    return followed
  }
}

/** Whether the guard has refused the address of a host. */
function isBlocked(verdict: ClientVerdict): boolean {
  return !verdict.allowed && 'access' in verdict && verdict.access?.reason === 'blocked-address'
}
