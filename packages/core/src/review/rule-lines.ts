// Every rule of a file with its group: for pages that show rules beside URLs.
import { encodeText, rangeOf, textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { parseRecords } from '../parse/records.ts'

/** A rule of the file, whatever crawler its group is for. Text is decoded from UTF-8. */
export interface RuleLine {
  readonly line: number
  readonly directive: 'allow' | 'disallow'
  /** The pattern as written. */
  readonly text: string
  /** The line of the first user-agent line of its group, as in `Group.line`. */
  readonly groupLine: number
  readonly agents: readonly string[]
}

/** Returns the rules of a file in the order of their lines. */
export function ruleLines(text: string, parsing: ParsingRules): readonly RuleLine[] {
  return parseRecords(rangeOf(encodeText(text)), parsing)
    .groups.flatMap(({ agents, rules, line: groupLine }) => {
      const names = agents.map(textOf)
      return rules.map(({ line, directive, path }) => ({
        line,
        directive,
        text: textOf(path),
        groupLine,
        agents: names,
      }))
    })
    .sort((a, b) => a.line - b.line)
}
