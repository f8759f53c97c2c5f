// The routes of permits: /v1/permits, /v1/reports, /v1/renewals.

import { loggableVerdict } from '@politely/fetcher'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PermitResult } from '../permits/desk.ts'
import { applyReport, renew } from '../permits/reports.ts'
import { jsonRoute, PermitsAnswer, PermitsBody, RenewalsBody, ReportsAnswer, ReportsBody } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { CallTurns, Turns } from '../turns.ts'

export function permitRoutes(app: FastifyInstance, { desk, gate, maxPauseMs, metrics }: ServerContext): void {
  app.post<{ Body: PermitsBody }>(
    '/v1/permits',
    jsonRoute('requestPermits', 'Ask for permission to request URLs', { body: PermitsBody }, PermitsAnswer),
    async ({ tenant, mayReachPrivate, body }, reply) => {
      const { client, start_within_ms, hold_ms, lease_ms, requests } = body
      const { heldMs, results } = await desk.grant({
        tenant,
        client,
        mayReachPrivate,
        startWithinMs: start_within_ms,
        holdMs: hold_ms,
        leaseMs: lease_ms,
        requests,
        signal: closeSignal(reply),
      })
      const go = { start_within_ms, lease_ms, user_agent: gate.robots.userAgent }
      const answers = results.map((result, n) => {
        const { id, url } = requests[n] as (typeof requests)[number]
        return { id, ...answerOf(result), ...(result.state === 'go' && { url, ...go }) }
      })
      return { held_ms: heldMs, results: answers }
    },
  )

  /** Reports do not wait for the turns of permits. */
  const reportTurns = new Turns()

  app.post<{ Body: ReportsBody }>(
    '/v1/reports',
    jsonRoute('report', 'Report what became of requests, and end their permits', { body: ReportsBody }, ReportsAnswer),
    async ({ tenant, body }) => {
      const turns = new CallTurns(reportTurns, tenant.name)
      const results: object[] = []
      for (const report of body.reports) {
        const turn = turns.next()
        if (turn !== undefined) await turn
        metrics.reported(report.status, report.outcome)
        results.push({ state: applyReport(desk, tenant, report, maxPauseMs) })
      }
      return { results }
    },
  )

  app.post<{ Body: RenewalsBody }>(
    '/v1/renewals',
    jsonRoute('renewPermits', 'Extend the leases of permits', { body: RenewalsBody }, ReportsAnswer),
    async ({ tenant, body: { permits, lease_ms } }) => {
      const turns = new CallTurns(reportTurns, tenant.name)
      const results: object[] = []
      for (const permit of permits) {
        const turn = turns.next()
        if (turn !== undefined) await turn
        results.push({ state: renew(desk, tenant, permit, lease_ms) })
      }
      return { results }
    },
  )
}

/** Aborted when the client closes its connection before it has the whole answer. */
export function closeSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}

/** Returns the fields of a result, as in any answer. JSON leaves out undefined fields. */
export function answerOf(result: PermitResult): object {
  if (result.state === 'go') return { state: 'go', permit: result.permit }
  if (result.state === 'unknown') return result
  if (result.state === 'refused') {
    const { state, because, verdict, retryAt } = result
    const retry_at = retryAt === undefined ? undefined : new Date(retryAt).toISOString()
    return { state, because, verdict: loggableVerdict(verdict), retry_at }
  }
  const { state, waitMs, because, ticket } = result
  return { state, wait_ms: waitMs, because, ticket }
}
