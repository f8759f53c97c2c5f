// What the routes of one server share.
import type { PoliteGate } from '@politely/gate'
import type { Health } from './health.ts'
import type { ServerMetrics } from './metrics.ts'
import type { PermitDesk } from './permits/desk.ts'
import type { Tenant } from './tenants.ts'

export interface ServerContext {
  readonly gate: PoliteGate
  readonly desk: PermitDesk
  /** The longest pause that a client may report. Milliseconds. */
  readonly maxPauseMs: number
  readonly metrics: ServerMetrics
  readonly health: Health
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls. */
    tenant: Tenant
    /** Whether the caller's URLs may lead to private addresses. */
    mayReachPrivate: boolean
  }
}
