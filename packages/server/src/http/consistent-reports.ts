// Finds reports that contradict themselves, before any report of their call is applied.
import type { PermitReport } from '../schemas.ts'
import { Fault } from './problem.ts'

/** @throws {Fault} for a report that has a status, and says that its request was not sent. */
export function assertConsistent(reports: readonly PermitReport[]): void {
  const n = reports.findIndex(({ outcome, status }) => outcome === 'not-sent' && status !== undefined)
  if (n !== -1)
    throw new Fault(
      'invalid-request',
      `body.reports[${n}] has "outcome": "not-sent" and status, which contradict each other; leave out one of them`,
    )
}
