// Finds reports that contradict themselves, before any report of their call is applied.
import type { Report } from '../schemas.ts'
import { Fault } from './problem.ts'

/** What a request that was not sent cannot have. */
const OF_SENT = ['status', 'retry_after', 'sent_after_ms', 'took_ms'] as const

/** @throws {Fault} for a report that says that its request was not sent, and what came of it. */
export function assertConsistent(reports: readonly Report[]): void {
  for (const [n, report] of reports.entries()) {
    const other = report.outcome === 'not-sent' ? OF_SENT.find((name) => report[name] !== undefined) : undefined
    if (other !== undefined)
      throw new Fault(
        'invalid-request',
        `body.reports[${n}] has "outcome": "not-sent" and ${other}, which contradict each other; leave out one of them`,
      )
  }
}
