// The kinds of findings: each code with its severity and message, a row of
// packages/core/data/findings.json. In a message, `{}` stands for what to write instead, and
// `{found}` for what is in the line. Codes are in kebab-case and never renamed.
import { findingMessages } from './finding-messages.ts'

/**
 * How serious a finding is:
 *
 * - `error`: crawlers ignore the line, or read it in another way than the author surely meant.
 * - `warning`: some crawlers do, or the line probably means something else than the author
 *   intended.
 * - `note`: correct, but the author may want to know. A good file may have notes.
 */
export type Severity = 'error' | 'warning' | 'note'

type Messages = (typeof findingMessages)['error' | 'warning' | 'note']
type MessageOf<C> = Messages extends infer M ? (M extends Record<C & string, infer Text> ? Text : never) : never

/**
 * The code of a kind of finding. Codes are stable.
 * @useDeclaredType
 */
export type FindingCode =
  | keyof (typeof findingMessages)['error']
  | keyof (typeof findingMessages)['warning']
  | keyof (typeof findingMessages)['note']

/** The codes of findings that say what to write instead: `{}` in their messages. */
export type CodeWithText = {
  [C in FindingCode]: MessageOf<C> extends `${string}{}${string}` ? C : never
}[FindingCode]

/**
 * What all findings with the same code share.
 * @inline
 */
export interface FindingKind {
  readonly severity: Severity
  /** One sentence; `{}` stands for what to write instead, `{found}` for what is in the line. */
  readonly message: string
}

/** The severity and message of every code. */
export const findingKinds: Readonly<Record<FindingCode, FindingKind>> = {
  ...kindsOf('error', findingMessages.error),
  ...kindsOf('warning', findingMessages.warning),
  ...kindsOf('note', findingMessages.note),
}

function kindsOf<C extends string>(severity: Severity, table: Readonly<Record<C, string>>): Record<C, FindingKind> {
  const kinds = Object.entries<string>(table).map(([code, message]) => [code, { severity, message }])
  return Object.fromEntries(kinds) as Record<C, FindingKind>
}
