// The findings of `politely lint` as reports need them: with paths and fingerprints.
import { createHash } from 'node:crypto'
import type { Finding } from '@politely/core'
import { isUrl } from '../../input/robots-file.ts'
import { reportPath } from '../../output/report-path.ts'

export interface PlacedFinding extends Finding {
  /** In UTF-16 code units, counted from 1. */
  readonly column: number
}

export interface FileFindings {
  /** A path as the user wrote it, or a URL. */
  readonly name: string
  readonly text: string
  readonly findings: readonly PlacedFinding[]
  /** How many findings a comment of the file suppresses. */
  readonly suppressed: number
}

/** A finding of one of several files. */
export interface ReportedFinding extends PlacedFinding {
  readonly file: string
  /** A path from the root of the repository, or a URL. */
  readonly path: string
  /** The same as long as the file has the same name and the line has the same text. */
  readonly fingerprint: string
}

export function reportedFindings(files: readonly FileFindings[]): readonly ReportedFinding[] {
  return files.flatMap(({ name, text, findings }) => {
    const path = isUrl(name) ? name : reportPath(name)
    const lines = text.split(/\r\n|\r|\n/)
    const seen = new Map<string, number>()
    return findings.map((finding) => {
      const { code, line } = finding
      const identity = JSON.stringify([path, code, lines[line - 1]?.trim()])
      const before = seen.get(identity) ?? 0
      seen.set(identity, before + 1)
      return { ...finding, file: name, path, fingerprint: hash(`${identity}${before}`) }
    })
  })
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
