// What clients report about their requests.
import { rateLimitHeaders, rateLimitOf, retryAfterMs } from '@politely/core/engine'
import { MAX_RETRY_AFTER_MS } from '@politely/core/internal'
import type { RequestReport } from '@politely/gate'
import type { PermitReport } from '../schemas.ts'
import type { Tenant } from '../tenants.ts'
import type { PermitDesk } from './desk.ts'

/**
 * What became of a report or of a renewal. `done`: the lease was open here. `counted`: it was not, and
 * the response that was reported counts.
 */
export type ReportState = 'done' | 'counted' | 'gone' | 'repeated' | 'unknown'

/**
 * Applies a report. A response counts once, even if another server has granted the permit, or its lease
 * is over.
 * @param maxPauseMs The longest pause that a client may report.
 */
export function applyReport(desk: PermitDesk, tenant: Tenant, report: PermitReport, maxPauseMs: number): ReportState {
  const named = desk.openPermitOf(tenant, report.permit) ?? desk.permitOf(tenant, report.permit)
  if (typeof named === 'string') return named
  const { permit, lease } = named
  if (report.sent_after_ms !== undefined && lease !== undefined && report.outcome !== 'not-sent')
    lease.permit.sentAfter(Math.min(report.sent_after_ms, lease.startWithinMs))
  const response = responseOf(report, maxPauseMs)
  const isNoted = response !== undefined || report.outcome === 'not-sent'
  const isRepeated = isNoted && !desk.noteReport(named, report.outcome === 'rate-limited')
  if (!isRepeated) {
    if (response !== undefined) permit.report(response)
    else if (report.outcome === 'not-sent') permit.giveBack(new Error('the client did not send the request'))
  }
  if (report.end !== false) {
    if (report.took_ms !== undefined) permit.tookMs = report.took_ms
    desk.end(named)
  }
  if (isRepeated) return 'repeated'
  if (lease !== undefined) return 'done'
  return response === undefined ? 'gone' : 'counted'
}

/** Extends a lease, up to the longest lease that the server grants. */
export async function renew(desk: PermitDesk, tenant: Tenant, text: string, leaseMs: number): Promise<ReportState> {
  const named = desk.permitOf(tenant, text)
  if (typeof named === 'string') return named
  const { lease, foreign, maxLeaseMs } = named
  const forMs = Math.min(leaseMs, maxLeaseMs)
  if (forMs <= 0) return 'gone'
  const isOpen = (await foreign().renew(forMs)) ?? lease !== undefined
  if (!isOpen) return 'gone'
  if (lease !== undefined) desk.leases.renew(lease, forMs)
  return 'done'
}

function responseOf(report: PermitReport, maxPauseMs: number): RequestReport | undefined {
  const { status, outcome, ratelimit } = report
  const headers = { ...boundedRetryAfter(report.retry_after, maxPauseMs), ...boundedRateLimit(ratelimit, maxPauseMs) }
  if (outcome === 'rate-limited') return { rateLimited: true, status: status ?? 429, headers }
  if (status !== undefined) return { status, headers }
  return outcome === 'failed' ? { failed: true } : undefined
}

/** Bounds the pause that a client asks for in the name of a site: other tenants have to wait too. */
function boundedRetryAfter(value: string | number | undefined, maxPauseMs: number): Record<string, string> {
  if (value === undefined) return {}
  const text = `${value}`
  const ms = retryAfterMs(text, Date.now())
  const max = Math.min(maxPauseMs, MAX_RETRY_AFTER_MS)
  return { 'retry-after': ms !== undefined && ms > max ? `${Math.floor(max / 1_000)}` : text }
}

/** Returns the rate limit headers of a report. If they ask for too long a pause, returns a shorter pause. */
function boundedRateLimit(
  given: Readonly<Record<string, string>> | undefined,
  maxPauseMs: number,
): Record<string, string> {
  if (given === undefined) return {}
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => rateLimitHeaders.includes(name)))
  const { pauseMs = 0 } = rateLimitOf(headers, Date.now()) ?? {}
  return pauseMs > maxPauseMs ? { 'retry-after-ms': `${maxPauseMs}` } : headers
}
