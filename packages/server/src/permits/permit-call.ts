// A call for permits, and its answer.
import type { ClientVerdict } from '@politely/fetcher'
import type { CircuitFailure, Forecast } from '@politely/gate'
import type { Tenant, UsedUp } from '../tenants.ts'
import type { PermitLease } from './lease.ts'

/**
 * Why a request has to wait. `robots-txt`: it is being fetched. `queue`: other tickets come first.
 * `server-busy`: the server could not grant a permit in time. `draining`: the server stops.
 */
export type WaitBecause =
  | Extract<Forecast, { allowed: true }>['because']
  | 'robots-txt'
  | 'queue'
  | 'server-busy'
  | 'draining'

/** Why a request may not be made. Most are the `because` of the verdict. */
type RefusedBecause = ClientVerdict['because'] | 'budget' | 'circuit'

export type PermitResult =
  | { readonly state: 'go'; readonly permit: string; readonly lease: PermitLease }
  | {
      readonly state: 'wait'
      readonly waitMs: number
      readonly because: WaitBecause
      readonly ticket?: string | undefined
    }
  | {
      readonly state: 'refused'
      readonly because: RefusedBecause
      readonly verdict: ClientVerdict
      /** Milliseconds since 1970. */
      readonly retryAt: number | undefined
      /** How many requests the budget of the site allows, if that is the reason. */
      readonly budget?: number | undefined
      /** The outcome of the last request to the site, if its circuit is the reason. */
      readonly circuit?: CircuitFailure | undefined
    }
  | { readonly state: 'full'; readonly waitMs: number; readonly because: UsedUp; readonly ticket?: string | undefined }
  | { readonly state: 'unknown'; readonly because: 'ticket' }

/** One call for permits. */
export interface PermitCall {
  readonly tenant: Tenant
  /** The name of the client, if it gives one. Clients of a tenant take turns. */
  readonly client?: string | undefined
  /** Whether URLs may lead to private addresses. */
  readonly mayReachPrivate: boolean
  readonly startWithinMs: number
  /** How long the call may wait until a request may start. */
  readonly holdMs: number
  readonly leaseMs: number
  readonly requests: readonly { readonly url: string; readonly ticket?: string | undefined }[]
  /** Aborted when the connection of the client is closed. */
  readonly signal: AbortSignal
}

export interface PermitReply {
  /** The time from the call to its grants. */
  readonly heldMs: number
  readonly results: readonly PermitResult[]
}
