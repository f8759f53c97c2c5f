// Prints the findings of `politely lint`. docs/reference/output-formats.md describes the formats for
// programs.
import type { Severity } from '@politely/core'
import { isUrl } from '../../input/robots-file.ts'
import { annotation, escapeXml, type JunitSuite, junitReport } from '../../output/ci-reports.ts'
import { bold, dim, green, printable, red, safeText, yellow } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'
import { indentedJson, jsonLine } from '../../output/write.ts'
import { type FileFindings, type ReportedFinding, reportedFindings } from './reported-findings.ts'
import { sarifOf } from './sarif.ts'

export type FindingFormat = 'text' | 'json' | 'ndjson' | 'sarif' | 'github' | 'gitlab' | 'junit'

/** Whether a severity makes the command fail. */
export type IsFailure = (severity: Severity) => boolean

export function formatFindings(files: readonly FileFindings[], format: FindingFormat, isFailure: IsFailure): string {
  return FORMATS[format](files, isFailure)
}

const PAINT = { error: red, warning: yellow, note: dim } as const
const GITHUB_LEVELS = { error: 'error', warning: 'warning', note: 'notice' } as const
const GITLAB_SEVERITIES = { error: 'major', warning: 'minor', note: 'info' } as const

const FORMATS: Readonly<Record<FindingFormat, (files: readonly FileFindings[], isFailure: IsFailure) => string>> = {
  text: (files) => files.map(textOf).join('\n'),
  json: (files) =>
    jsonLine({
      version: 1,
      files: files.map(({ name, findings, suppressed }) => ({ file: name, findings, suppressed })),
    }),
  ndjson: (files) =>
    files
      .flatMap(({ name, findings }) => findings.map((finding) => jsonLine({ version: 1, file: name, ...finding })))
      .join(''),
  sarif: (files) => indentedJson(sarifOf(files, reportedFindings(files))),
  github: (files) => reportedFindings(files).map(githubCommand).join(''),
  gitlab: (files) =>
    indentedJson(
      reportedFindings(files).map(({ path, line, severity, code, message, fingerprint }) => ({
        description: message,
        check_name: code,
        fingerprint,
        severity: GITLAB_SEVERITIES[severity],
        location: { path, lines: { begin: Math.max(1, line) } },
      })),
    ),
  junit: (files, isFailure) => junitReport(files.map((file) => junitSuite(file, isFailure))),
}

const SEVERITY_WIDTH = 'warning'.length

function textOf({ name, findings, suppressed }: FileFindings): string {
  const width = Math.max(...findings.map(({ line, column }) => `${line}:${column}`.length), 1)
  const rows = findings.map(({ line, column, severity, code, message }) => {
    const place = (line === 0 ? 'file' : `${line}:${column}`).padEnd(Math.max(width, 4))
    const indent = 2 + place.length + 2 + SEVERITY_WIDTH + 2
    const text = hang(`${safeText(message)}  ${dim(code)}`, indent)
    return `  ${dim(place)}  ${PAINT[severity](severity.padEnd(SEVERITY_WIDTH))}  ${text}`
  })
  const counts = (Object.keys(PAINT) as (keyof typeof PAINT)[])
    .map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length] as const)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => `${count} ${severity}${count === 1 ? '' : 's'}`)
  const rest = suppressed === 0 ? '' : `; ${suppressed} suppressed by comments`
  const summary = counts.length === 0 ? green('✓ no findings') : counts.join(', ')
  return `${[bold(printable(name)), ...rows, `  ${summary}${rest}`].join('\n')}\n`
}

/** GitHub shows an annotation only beside a file of the repository, so a URL is in the message. */
function githubCommand({ file, path, line, column, severity, code, message }: ReportedFinding): string {
  const level = GITHUB_LEVELS[severity]
  if (isUrl(file)) return annotation(level, { title: code }, `${file} line ${line}: ${message}`)
  return annotation(level, { file: path, line: Math.max(1, line), col: column, title: code }, message)
}

/** A finding that the command accepts is a test that passed, with the finding as its output. */
function junitSuite({ name, findings }: FileFindings, isFailure: IsFailure): JunitSuite {
  const file = escapeXml(name)
  const cases = findings.map(({ line, column, severity, code, message }) => {
    const text = escapeXml(message)
    const output = `${file}:${line}:${column}: ${text}`
    const failure = isFailure(severity) ? { type: code, message: text, text: output } : undefined
    return { name: line === 0 ? code : `${code} in line ${line}`, file, failure, output }
  })
  return { name: file, cases: cases.length > 0 ? cases : [{ name: 'no findings', file }] }
}
