// The findings of `politely lint` as SARIF 2.1.0.
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FindingCode, findingKinds } from '@politely/core'
import { type Fix, fixesOf } from '@politely/core/review'
import { version } from '../../version.ts'
import type { FileFindings, ReportedFinding } from './reported-findings.ts'

const HOME = 'https://github.com/politely-crawler/politely'

export function sarifOf(files: readonly FileFindings[], findings: readonly ReportedFinding[]): object {
  const codes = [...new Set(findings.map(({ code }) => code))]
  const fixes = new Map(files.map(({ name, text }) => [name, fixesOf(text)]))
  const driver = {
    name: 'politely',
    version: version(),
    informationUri: HOME,
    rules: codes.map(ruleOf),
  }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        invocations: [{ executionSuccessful: true }],
        columnKind: 'utf16CodeUnits',
        newlineSequences: ['\r\n', '\n', '\r'],
        results: findings.map((finding) => {
          const { file, path, line, column, severity, code, message, fingerprint } = finding
          const artifactLocation = locationOf(path)
          const region = line > 0 && { region: { startLine: line, startColumn: column } }
          const fix = fixes.get(file)?.find((each) => each.line === line && each.code === code)
          return {
            ruleId: code,
            ruleIndex: codes.indexOf(code),
            level: severity,
            message: { text: message },
            locations: [{ physicalLocation: { artifactLocation, ...region } }],
            // GitHub computes its own `primaryLocationLineHash`, and warns if it finds another one.
            partialFingerprints: { 'politelyFinding/v1': fingerprint },
            ...(fix !== undefined && { fixes: [fixOf(fix, artifactLocation)] }),
          }
        }),
      },
    ],
  }
}

function ruleOf(code: FindingCode): object {
  const { message, severity } = findingKinds[code]
  const text = message.replace(/\{\w*\}/g, '…')
  const [problem = text] = text.split(';')
  return {
    id: code,
    shortDescription: { text: `${problem.replace(/\.$/, '')}.` },
    fullDescription: { text },
    help: { text },
    helpUri: `${HOME}/blob/main/docs/reference/lint-findings.md`,
    defaultConfiguration: { level: severity },
  }
}

/** A file of the repository is relative to the root of the repository. */
function locationOf(path: string): object {
  if (/^https?:\/\//i.test(path)) return { uri: path }
  if (isAbsolute(path)) return { uri: pathToFileURL(path).href }
  return { uri: path.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' }
}

/** Replaces the line, or deletes it together with its line end. */
function fixOf({ line, before, after }: Fix, artifactLocation: object): object {
  const isRemoved = after === undefined
  const end = isRemoved ? { endLine: line + 1, endColumn: 1 } : { endLine: line, endColumn: before.length + 1 }
  const replacement = {
    deletedRegion: { startLine: line, startColumn: 1, ...end },
    ...(!isRemoved && { insertedContent: { text: after } }),
  }
  return {
    description: { text: isRemoved ? 'Remove the line.' : 'Write the line as the message says.' },
    artifactChanges: [{ artifactLocation, replacements: [replacement] }],
  }
}
