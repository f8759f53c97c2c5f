// What the routes of one server share.
import type { PoliteGate } from '@politely/gate'
import type { PermitDesk } from './permits/desk.ts'
import type { Tenant } from './tenants.ts'

export interface ServerContext {
  readonly gate: PoliteGate
  readonly desk: PermitDesk
  /** The longest pause that a client may report. Milliseconds. */
  readonly maxPauseMs: number
  readonly onReport: (status: number | undefined, outcome: string | undefined) => void
  /** Whether no permit is granted any more. */
  readonly isDraining: () => boolean
  /** The text of /metrics. */
  readonly metricsText: () => Promise<string>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls. */
    tenant: Tenant
    /** Whether the caller's URLs may lead to private addresses. */
    mayReachPrivate: boolean
  }
}
