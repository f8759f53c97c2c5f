// Detects files that are not robots.txt, by their beginning.
import { type ForeignFormat, foreignFormatOf } from '../foreign-format.ts'
import type { ReportFinding } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'

/** A text without fields gets a finding for each of its lines, which say more. */
const CODES: Readonly<Record<Exclude<ForeignFormat, 'text'>, FindingCode>> = {
  html: 'html-instead-of-robots',
  xml: 'xml-instead-of-robots',
  json: 'json-instead-of-robots',
  'utf-16': 'utf-16',
  gzip: 'binary-instead-of-robots',
  binary: 'binary-instead-of-robots',
}

/** @returns Whether to check the lines. In another format, nearly every line would be a finding. */
export function lintWholeFile(bytes: string, report: ReportFinding): boolean {
  const format = foreignFormatOf(bytes)
  if (format === undefined || format === 'text') return true
  report(CODES[format], 0)
  return false
}
