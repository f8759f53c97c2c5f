// A finding, and its message.
import { type FindingCode, findingKinds, type Severity } from './finding-kinds.ts'

/** Something in a robots.txt that its owner would want to know. JSON-safe. */
export interface Finding {
  /** Stable; messages may change. */
  readonly code: FindingCode
  readonly severity: Severity
  /** The line in the file, counted from 1; 0 where it is about the whole file. */
  readonly line: number
  /** One sentence, which says what to write instead. */
  readonly message: string
}

/** Reports a finding. @param write What to write instead: one text, or several lines. */
export type Report = (code: FindingCode, line: number, ...write: readonly string[]) => void

export function findingOf(code: FindingCode, line: number, write: readonly string[]): Finding {
  const { severity, message } = findingKinds[code]
  return { code, severity, line, message: message.replace('{}', () => write.map(quoted).join(' and ')) }
}

/** What a site wrote, for people: short, and without characters that could play tricks in a terminal. */
function quoted(text: string): string {
  const short = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text
  return `"${short.replace(/\p{C}/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)}"`
}

const MAX_QUOTED_LENGTH = 100
