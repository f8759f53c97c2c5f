// Prints the findings of `politely lint`. `json`, `ndjson`, `sarif` and `junit` are a contract; the
// text is for people and may change.
import { escapeControls, type Finding, findingKinds } from '@politely/core'
import { escapeData, escapeProperty, escapeXml } from '../../output/escape.ts'
import { bold, dim, green, printable, red, yellow } from '../../output/style.ts'
import { jsonLine } from '../../output/write.ts'

export type FindingFormat = 'text' | 'json' | 'ndjson' | 'sarif' | 'github' | 'gitlab' | 'junit'

export interface PlacedFinding extends Finding {
  /** Counted from 1. */
  readonly column: number
}

export interface FileFindings {
  readonly name: string
  readonly findings: readonly PlacedFinding[]
  /** How many findings a comment of the file suppresses. */
  readonly suppressed: number
}

export function formatFindings(files: readonly FileFindings[], format: FindingFormat): string {
  return FORMATS[format](files)
}

const LEVELS = { error: 'error', warning: 'warning', note: 'note' } as const
const PAINT = { error: red, warning: yellow, note: dim } as const
const GITHUB_LEVELS = { error: 'error', warning: 'warning', note: 'notice' } as const
const GITLAB_SEVERITIES = { error: 'major', warning: 'minor', note: 'info' } as const

const flat = (files: readonly FileFindings[]) =>
  files.flatMap(({ name, findings }) => findings.map((finding) => ({ file: name, ...finding })))

const FORMATS: Readonly<Record<FindingFormat, (files: readonly FileFindings[]) => string>> = {
  text: (files) => files.map(textOf).join('\n'),
  json: (files) => jsonLine({ version: 1, files: files.map(({ name, ...rest }) => ({ file: name, ...rest })) }),
  ndjson: (files) => flat(files).map(jsonLine).join(''),
  sarif: (files) => `${JSON.stringify(sarifOf(files), undefined, 2)}\n`,
  github: (files) =>
    flat(files)
      .map(
        ({ file, line, column, severity, code, message }) =>
          `::${GITHUB_LEVELS[severity]} file=${escapeProperty(file)},line=${Math.max(1, line)},col=${column},title=${code}::${escapeData(message)}\n`,
      )
      .join(''),
  gitlab: (files) =>
    `${JSON.stringify(
      flat(files).map(({ file, line, severity, code, message }) => ({
        description: message,
        check_name: code,
        fingerprint: `${file}:${line}:${code}`,
        severity: GITLAB_SEVERITIES[severity],
        location: { path: file, lines: { begin: Math.max(1, line) } },
      })),
      undefined,
      2,
    )}\n`,
  junit(files) {
    const total = flat(files).length
    const suites = files.map(({ name, findings }) => {
      const cases = findings.map(
        ({ line, code, message }) =>
          `    <testcase name="${code} in line ${line}" classname="${escapeXml(name)}">\n      <failure message="${escapeXml(message)}"/>\n    </testcase>`,
      )
      const body = cases.length > 0 ? cases : [`    <testcase name="no findings" classname="${escapeXml(name)}"/>`]
      return `  <testsuite name="${escapeXml(name)}" tests="${body.length}" failures="${findings.length}">\n${body.join('\n')}\n  </testsuite>`
    })
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites failures="${total}">\n${suites.join('\n')}\n</testsuites>\n`
  },
}

function textOf({ name, findings, suppressed }: FileFindings): string {
  const width = Math.max(...findings.map(({ line, column }) => `${line}:${column}`.length), 1)
  const rows = findings.map(({ line, column, severity, code, message }) => {
    const place = (line === 0 ? 'file' : `${line}:${column}`).padEnd(Math.max(width, 4))
    return `  ${dim(place)}  ${PAINT[severity](severity.padEnd(7))}  ${escapeControls(message)}  ${dim(code)}`
  })
  const counts = (['error', 'warning', 'note'] as const)
    .map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length] as const)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => `${count} ${severity}${count === 1 ? '' : 's'}`)
  const rest = suppressed === 0 ? '' : `; ${suppressed} suppressed by comments`
  const summary = counts.length === 0 ? green('✓ no findings') : counts.join(', ')
  return `${[bold(printable(name)), ...rows, `  ${summary}${rest}`].join('\n')}\n`
}

/** SARIF 2.1.0. */
function sarifOf(files: readonly FileFindings[]): object {
  const codes = [...new Set(flat(files).map(({ code }) => code))]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'politely',
            informationUri: 'https://github.com/politely-crawler/politely',
            rules: codes.map((id) => ({
              id,
              shortDescription: { text: findingKinds[id].message.replace(/\{\w*\}/g, '…') },
              defaultConfiguration: { level: LEVELS[findingKinds[id].severity] },
            })),
          },
        },
        results: flat(files).map(({ file, line, column, severity, code, message }) => ({
          ruleId: code,
          ruleIndex: codes.indexOf(code),
          level: LEVELS[severity],
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: URL.canParse(file) ? file : encodeURI(file.replaceAll('\\', '/')) },
                ...(line > 0 && { region: { startLine: line, startColumn: column } }),
              },
            },
          ],
        })),
      },
    ],
  }
}
