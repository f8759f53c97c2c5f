// What clients report about their requests.
import { MAX_RETRY_AFTER_MS, rateLimitHeaders, rateLimitOf, retryAfterMs } from '@politely/core/engine'
import type { RequestReport } from '@politely/gate'
import type { Report } from '../schemas.ts'
import type { Tenant } from '../tenants.ts'
import type { PermitDesk } from './desk.ts'

/** What became of a report or of a renewal. */
export type ReportState = 'done' | 'gone' | 'repeated' | 'unknown'

/**
 * Applies a report. A 429 counts after the end of the lease too.
 * @param maxPauseMs The longest pause that a client may report.
 */
export function applyReport(desk: PermitDesk, tenant: Tenant, report: Report, maxPauseMs: number): ReportState {
  const lease = desk.leaseOf(tenant, report.permit)
  if (typeof lease === 'string') return lease
  const { permit } = lease
  const wasOpen = desk.leases.isOpen(lease)
  if (report.sent_after_ms !== undefined) permit.sentAfter(Math.min(report.sent_after_ms, lease.startWithinMs))
  if (report.outcome === 'not-sent') permit.giveBack(new Error('the client did not send the request'))
  const response = responseOf(report, maxPauseMs)
  const isRepeated = response !== undefined && lease.isReported
  if (response !== undefined && !lease.isReported) {
    lease.isReported = true
    permit.report(response)
  }
  if (report.end !== false) {
    if (report.took_ms !== undefined) permit.tookMs = report.took_ms
    desk.leases.end(lease)
  }
  if (isRepeated) return 'repeated'
  return wasOpen ? 'done' : 'gone'
}

/** Extends a lease. */
export function renew(desk: PermitDesk, tenant: Tenant, permit: string, leaseMs: number): ReportState {
  const lease = desk.leaseOf(tenant, permit)
  if (typeof lease === 'string') return lease
  if (!desk.leases.isOpen(lease)) return 'gone'
  desk.leases.renew(lease, leaseMs)
  return 'done'
}

function responseOf(report: Report, maxPauseMs: number): RequestReport | undefined {
  const { status, outcome, ratelimit = {} } = report
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
function boundedRateLimit(given: Readonly<Record<string, string>>, maxPauseMs: number): Record<string, string> {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => rateLimitHeaders.includes(name)))
  const { pauseMs = 0 } = rateLimitOf(headers, Date.now()) ?? {}
  return pauseMs > maxPauseMs ? { 'retry-after-ms': `${maxPauseMs}` } : headers
}
