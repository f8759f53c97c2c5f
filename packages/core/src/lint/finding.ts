// A finding and its message.
import { type FindingCode, findingKinds, type Severity } from './finding-kinds.ts'

/** A mistake, or a note, about a robots.txt file. JSON-safe. */
export interface Finding {
  /** Stable, unlike the message. */
  readonly code: FindingCode
  readonly severity: Severity
  /** The line in the file, counted from 1; 0 if the finding is about the whole file. */
  readonly line: number
  /** One sentence, with what to write instead. */
  readonly message: string
  /**
   * What to write instead, as the message quotes it: whole lines, or for a name only the name.
   * Undefined if the message names no text.
   */
  readonly write?: readonly string[]
}

/**
 * Reports a finding. @param write What to write instead: one or more lines. They replace `{}` in
 * the message.
 */
export type Report = (code: FindingCode, line: number, ...write: readonly string[]) => void

export function findingOf(code: FindingCode, line: number, write: readonly string[]): Finding {
  const { severity, message } = findingKinds[code]
  const text = message.replace('{}', () => write.map(quoted).join(' and '))
  return { code, severity, line, message: text, ...(write.length > 0 && { write }) }
}

const MAX_QUOTED_LENGTH = 100

/**
 * Quotes text from the site: shortened, and with control and invisible characters escaped, so that
 * it is safe to print.
 */
function quoted(text: string): string {
  const short = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text
  return `"${short.replace(/\p{C}/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)}"`
}
