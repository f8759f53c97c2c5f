// `reportEvidence`: what a folder of evidence says about a crawl, as facts and as a page.
import type { EvidenceItem } from './read.ts'
import { FactCounter, type FileOf, type ReportFacts } from './report-facts.ts'
import { reportPage } from './report-page.ts'

/** A report about a crawl. */
export interface EvidenceReport {
  /** JSON-safe. */
  readonly facts: ReportFacts
  /** One file without scripts and without references to other files. */
  readonly html: string
}

/** Reports on records. @param maxRows How many rows each table of the page has at most. */
export async function reportOf(
  items: AsyncIterable<EvidenceItem>,
  fileOf: FileOf,
  maxRows: number,
): Promise<EvidenceReport> {
  const counter = new FactCounter()
  for await (const { record, level } of items) {
    if (record !== undefined) counter.add(record)
    else if (level === 'error') counter.addUnreadable()
  }
  const facts = await counter.result(fileOf)
  return { facts, html: reportPage(facts, maxRows) }
}
