// The routes of permits: /v1/permits, /v1/reports, /v1/renewals.

import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PermitResult } from '../permits/permit-call.ts'
import { applyReport, type ReportState, renew } from '../permits/reports.ts'
import { jsonRoute, PermitsAnswer, PermitsBody, RenewalsBody, ReportsAnswer, ReportsBody } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { CallTurns } from '../turns.ts'
import { permitMessage, RENEWAL_MESSAGES, REPORT_MESSAGES, shownVerdict } from './messages.ts'
import { Fault } from './problem.ts'

export function permitRoutes(app: FastifyInstance, { desk, gate, maxPauseMs, metrics }: ServerContext): void {
  app.post<{ Body: PermitsBody }>(
    '/v1/permits',
    jsonRoute('requestPermits', 'Ask for permission to request URLs', { body: PermitsBody }, PermitsAnswer),
    async ({ tenant, mayReachPrivate, body }, reply) => {
      const { client, start_within_ms, hold_ms, lease_ms, requests } = body
      const leaseMs = Math.min(lease_ms, desk.maxLeaseMs)
      const { heldMs, results } = await desk.grant({
        tenant,
        client,
        mayReachPrivate,
        startWithinMs: start_within_ms,
        holdMs: hold_ms,
        leaseMs,
        requests,
        signal: closeSignal(reply),
      })
      const message = `may be requested now, within ${start_within_ms} ms`
      const go = { message, start_within_ms, lease_ms: leaseMs, user_agent: gate.robots.userAgent }
      const answers = results.map((result, n) => {
        const { id, url } = requests[n] as (typeof requests)[number]
        return result.state === 'go'
          ? { id, state: 'go', permit: result.permit, url, ...go }
          : { id, ...permitAnswer(result) }
      })
      return { held_ms: heldMs, results: answers }
    },
  )

  app.post<{ Body: ReportsBody }>(
    '/v1/reports',
    jsonRoute('report', 'Report what became of requests, and end their permits', { body: ReportsBody }, ReportsAnswer),
    async ({ tenant, body }) => {
      assertConsistent(body.reports)
      const turns = new CallTurns(desk.reportTurns, tenant.name)
      const results: object[] = []
      for (const report of body.reports) {
        const turn = turns.next()
        if (turn !== undefined) await turn
        metrics.reported(report.status, report.outcome)
        const state = applyReport(desk, tenant, report, maxPauseMs)
        results.push({ state, message: REPORT_MESSAGES[state] })
      }
      await desk.told()
      return { results }
    },
  )

  app.post<{ Body: RenewalsBody }>(
    '/v1/renewals',
    jsonRoute('renewPermits', 'Extend the leases of permits', { body: RenewalsBody }, ReportsAnswer),
    async ({ tenant, body: { permits, lease_ms } }) => {
      const turns = new CallTurns(desk.reportTurns, tenant.name)
      const states: (ReportState | Promise<ReportState>)[] = []
      for (const permit of permits) {
        const turn = turns.next()
        if (turn !== undefined) await turn
        states.push(renew(desk, tenant, permit, lease_ms))
      }
      return { results: (await Promise.all(states)).map((state) => ({ state, message: RENEWAL_MESSAGES[state] })) }
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
export function permitAnswer(result: PermitResult): object {
  if (result.state === 'go') return { state: 'go', permit: result.permit }
  const message = permitMessage(result)
  if (result.state === 'unknown') return { ...result, message }
  if (result.state === 'refused') {
    const { state, because, verdict, retryAt } = result
    const retry_at = retryAt === undefined ? undefined : new Date(retryAt).toISOString()
    return { state, because, message, verdict: shownVerdict(verdict), retry_at }
  }
  const { state, waitMs, because, ticket } = result
  return { state, wait_ms: waitMs, because, message, ticket }
}

/**
 * Finds reports that contradict themselves, before any report of their call is applied.
 * @throws {Fault} for a report that has a status, and says that its request was not sent.
 */
function assertConsistent(reports: ReportsBody['reports']): void {
  const n = reports.findIndex(({ outcome, status }) => outcome === 'not-sent' && status !== undefined)
  if (n !== -1)
    throw new Fault(
      'invalid-request',
      `body.reports[${n}] has "outcome": "not-sent" and status, which contradict each other; leave out one of them`,
    )
}
