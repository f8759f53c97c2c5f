// Finds where a URL enters the gate. Remembers for a moment what the guard says of private names.
import { isIP } from 'node:net'
import type { ClientVerdict } from '@politely/fetcher'
import { boundedMap, isPrivateHost, withTimeout } from '@politely/fetcher/internal'
import type { Forecast } from '@politely/gate'
import type { Entrance, GatePort } from '@politely/gate/internal'
import type { PermitCall } from './permit-call.ts'
import { RobotsFetches } from './robots-fetches.ts'

/** Why a URL may not enter. */
type Refused = Extract<Forecast, { allowed: false }>
export type RefusedEntrance = Pick<Refused, 'allowed' | 'verdict' | 'retryAt'> & Partial<Refused>

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
/** How often a URL asks whether its robots.txt has come. It grows with what is being fetched for its client. */
const ROBOTS_WAIT_MS = 200
const MAX_ROBOTS_WAIT_MS = 30_000
/** How long it is remembered what the guard says of a private name. */
const PRIVATE_MS = 10_000
const MAX_PRIVATE = 10_000
/** How long a call waits for what the guard says of an address. */
const LITERAL_MS = 20

export class Entrances {
  readonly #port: GatePort
  readonly #fetches: RobotsFetches
  /** What the guard has said of private names: whether they may be requested, and until when that holds. */
  readonly #private = boundedMap<{ readonly verdict: ClientVerdict; readonly until: number }>(MAX_PRIVATE)

  /** @param isShared Whether there is more than one tenant. */
  constructor(port: GatePort, isShared: () => boolean) {
    this.#port = port
    this.#fetches = new RobotsFetches(isShared)
  }

  async of(
    call: Pick<PermitCall, 'tenant' | 'client' | 'mayReachPrivate'>,
    url: string,
  ): Promise<Entrance | RefusedEntrance | UnknownEntrance> {
    const { origin = url, hostname = '' } = URL.parse(url) ?? {}
    const isGuarded = !call.mayReachPrivate && isPrivateHost(hostname)
    let source = call.mayReachPrivate ? NO_SOURCE : PUBLIC_SOURCE
    const said = isGuarded ? this.#private.get(origin) : undefined
    if (said !== undefined && said.until > this.#port.now()) {
      const { verdict } = said
      if (isBlocked(verdict)) return { allowed: false, verdict: { ...verdict, url }, retryAt: verdict.retryAt }
      source = NO_SOURCE // the guard has allowed it just now
    }
    const found = await this.#port.entranceOf(url, source, false)
    if (!('pending' in found)) return found
    const { tenant, client = '', mayReachPrivate } = call
    const start = () => this.#port.robots.check(url, undefined, source)
    const { fetch: pending, count } = this.#fetches.join(tenant.name, client, `${mayReachPrivate} ${origin}`, start)
    if (pending !== undefined && isGuarded) {
      const noted = pending.then(
        (verdict) => this.#private.set(origin, { verdict, until: this.#port.now() + PRIVATE_MS }),
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
      if (isThere && this.#private.has(origin)) return this.of(call, url)
    }
    // A failure becomes a verdict later.
    return {
      pending: pending?.catch(() => undefined),
      waitMs: Math.min(ROBOTS_WAIT_MS + 2 * count, MAX_ROBOTS_WAIT_MS),
    }
  }
}

/** Whether the guard has refused the address of a host. */
function isBlocked(verdict: ClientVerdict): boolean {
  return !verdict.allowed && 'access' in verdict && verdict.access?.reason === 'blocked-address'
}
