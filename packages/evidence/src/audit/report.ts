// `reportEvidence`: what a folder of evidence says about a crawl, as facts and as a page.
import { assertOptions, integer } from '@politely/fetcher/internal'
import { EvidenceFolder, type EvidenceItem } from './read.ts'
import { FactCounter, type FileOf, type ReportFacts } from './report-facts.ts'
import { reportPage } from './report-page.ts'

/** Options of `reportEvidence`. */
export interface ReportOptions {
  /** How many rows each table of the page has at most. Default 200. */
  readonly maxRows?: number | undefined
}

/** A report about a crawl. */
export interface EvidenceReport {
  /** What `politely evidence report --json` prints. JSON-safe. */
  readonly facts: ReportFacts
  /** A page in one file, without scripts and without references to other files. */
  readonly html: string
}

/**
 * Reports on a folder of evidence, in one pass: requests, refusals by rule, waits by cause, gaps
 * against the delays that sites ask for, and changes of robots.txt.
 * @throws {OptionError} if this is not a folder, or a folder without records; or for an invalid or
 * unknown option.
 */
export async function reportEvidence(dir: string, options: ReportOptions = {}): Promise<EvidenceReport> {
  assertOptions(options, '{ maxRows: 200 }', { maxRows: true })
  const maxRows = integer('maxRows', options.maxRows ?? 200, { min: 1 })
  using folder = new EvidenceFolder(dir)
  return await reportOf(folder.items(), (sha256) => folder.robotsFile(sha256), maxRows)
}

/** Reports on records. */
export async function reportOf(
  items: AsyncIterable<Pick<EvidenceItem, 'record' | 'level'>>,
  fileOf: FileOf,
  maxRows = 200,
): Promise<EvidenceReport> {
  const counter = new FactCounter()
  for await (const { record, level } of items) {
    if (record !== undefined) counter.add(record)
    else if (level === 'error') counter.addUnreadable()
  }
  const facts = await counter.result(fileOf)
  return { facts, html: reportPage(facts, maxRows) }
}
