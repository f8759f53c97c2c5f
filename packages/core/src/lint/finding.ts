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

/** A line, and what the message says about it instead of `{found}`. */
export interface LinePlace {
  readonly line: number
  readonly found: string
}

/**
 * Reports a finding. @param write What to write instead: one or more lines. They replace `{}` in
 * the message. Without them, a message with `, as in {}` is printed without this part.
 */
export type ReportFinding = (code: FindingCode, place: number | LinePlace, ...write: readonly string[]) => void

export function findingOf(code: FindingCode, place: number | LinePlace, write: readonly string[]): Finding {
  const { severity, message } = findingKinds[code]
  const { line, found } = typeof place === 'number' ? { line: place, found: '' } : place
  const text = (write.length === 0 ? message.replace(', as in {}', '') : message)
    .replace('{}', () => quotedList(write))
    .replace('{found}', () => found)
  return { code, severity, line, message: text, ...(write.length > 0 && { write }) }
}

const MAX_QUOTED_LENGTH = 100

/** Quotes up to three lines; of more, the first two. */
function quotedList(lines: readonly string[]): string {
  const items = lines.slice(0, lines.length > 3 ? 2 : 3).map(quoted)
  if (lines.length > items.length) items.push(`${lines.length - items.length} more`)
  const last = items.pop()
  return items.length === 0 ? `${last}` : `${items.join(', ')} and ${last}`
}

/**
 * Quotes text from the site: shortened, and with control and invisible characters escaped, so that
 * it is safe to print. An empty line is `nothing`.
 */
export function quoted(text: string): string {
  if (text === '') return 'nothing'
  const short = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text
  return `"${short.replace(/\p{C}/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)}"`
}
