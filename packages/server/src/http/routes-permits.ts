// The routes of permits: /v1/permits, /v1/reports, /v1/renewals.

import { loggableVerdict } from '@politely/fetcher'
import type { FastifyInstance } from 'fastify'
import type { PermitResult } from '../permits/desk.ts'
import { applyReport, renew } from '../permits/reports.ts'
import {
  DEFAULT_LEASE_MS,
  DEFAULT_START_WITHIN_MS,
  faults,
  PermitsAnswer,
  PermitsBody,
  RenewalsBody,
  ReportsAnswer,
  ReportsBody,
} from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'

export function permitRoutes(app: FastifyInstance, context: ServerContext): void {
  const { desk, gate, maxPauseMs, onReport } = context

  app.post<{ Body: PermitsBody }>(
    '/v1/permits',
    {
      schema: {
        operationId: 'requestPermits',
        summary: 'Ask for permission to request URLs',
        body: PermitsBody,
        response: { 200: PermitsAnswer, ...faults },
      },
    },
    async (request, reply) => {
      const {
        client,
        start_within_ms = DEFAULT_START_WITHIN_MS,
        hold_ms = 0,
        lease_ms = DEFAULT_LEASE_MS,
        requests,
      } = request.body
      const gone = new AbortController()
      const onClose = () => {
        if (!reply.raw.writableFinished) gone.abort()
      }
      reply.raw.on('close', onClose)
      const { heldMs, results } = await desk.grant({
        tenant: request.tenant,
        client,
        mayReachPrivate: request.mayReachPrivate,
        startWithinMs: start_within_ms,
        holdMs: hold_ms,
        leaseMs: lease_ms,
        requests,
        signal: gone.signal,
      })
      const go = { start_within_ms, lease_ms, user_agent: gate.robots.userAgent }
      const answers = results.map((result, n) => {
        const { id, url } = requests[n] as (typeof requests)[number]
        return { ...(id !== undefined && { id }), ...answerOf(result, url, go) }
      })
      return { held_ms: heldMs, results: answers }
    },
  )

  app.post<{ Body: ReportsBody }>(
    '/v1/reports',
    {
      schema: {
        operationId: 'report',
        summary: 'Report what became of requests, and end their permits',
        body: ReportsBody,
        response: { 200: ReportsAnswer, ...faults },
      },
    },
    async (request) => ({
      results: request.body.reports.map((report) => {
        onReport(report.status, report.outcome)
        return { state: applyReport(desk, request.tenant, report, maxPauseMs) }
      }),
    }),
  )

  app.post<{ Body: RenewalsBody }>(
    '/v1/renewals',
    {
      schema: {
        operationId: 'renewPermits',
        summary: 'Extend the leases of permits',
        body: RenewalsBody,
        response: { 200: ReportsAnswer, ...faults },
      },
    },
    async (request) => {
      const { permits, lease_ms = DEFAULT_LEASE_MS } = request.body
      return { results: permits.map((permit) => ({ state: renew(desk, request.tenant, permit, lease_ms) })) }
    },
  )
}

interface Go {
  readonly start_within_ms: number
  readonly lease_ms: number
  readonly user_agent: string
}

/** @param go What a permit says besides; empty where the client gets none. */
export function answerOf(result: PermitResult, url: string, go?: Go): object {
  switch (result.state) {
    case 'go':
      return { state: 'go', permit: result.permit, url, ...go }
    case 'wait':
    case 'full': {
      const { state, waitMs, because, ticket } = result
      return { state, wait_ms: Math.ceil(waitMs), because, ...(ticket !== undefined && { ticket }) }
    }
    case 'refused': {
      const { because, verdict, retryAt } = result
      const retry_at = retryAt === undefined ? undefined : new Date(retryAt).toISOString()
      return { state: 'refused', because, verdict: loggableVerdict(verdict), ...(retry_at && { retry_at }) }
    }
    case 'unknown':
      return result
  }
}
