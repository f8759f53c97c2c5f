// `reportEvidence`: what a folder of evidence says about a crawl, as facts and as a page.
import { EvidenceFolder } from './read.ts'
import { FactCounter } from './report-facts.ts'
import { reportPage } from './report-page.ts'

/** A report about a crawl. */
export interface EvidenceReport {
  /** What `politely evidence report --json` prints. JSON-safe. */
  readonly facts: object
  /** A page in one file, without scripts and without references to other files. */
  readonly html: string
}

/**
 * Reports on a folder of evidence, in one pass: requests, refusals by rule, waits by cause, gaps
 * against the delays that sites ask for, and changes of robots.txt.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function reportEvidence(dir: string): Promise<EvidenceReport> {
  const folder = new EvidenceFolder(dir)
  const counter = new FactCounter()
  for await (const item of folder.items()) counter.add(item)
  const facts = await counter.result((sha256) => folder.robotsFile(sha256))
  return { facts, html: reportPage(facts) }
}
