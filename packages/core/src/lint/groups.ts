// Checks groups and the crawlers that they name. RFC 9309 §2.1 and §2.2.1.
import type { Directive } from '../parse/directive.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord } from '../parse/records.ts'
import type { Report } from './finding.ts'
import { nameOf } from './name.ts'

/** A field as in the file: one character for each byte, without blanks at its ends. */
export interface Field {
  readonly directive: Directive | 'unknown'
  /** Never empty. */
  readonly key: string
  readonly value: string
}

/** A field and its line. */
export interface FieldLine extends Field {
  readonly line: number
  /** Whether a blank line precedes it, after the previous field. */
  readonly afterBlankLine: boolean
}

/**
 * Checks user-agent lines and groups, in one pass over the fields and the groups that the parser
 * made of them.
 *
 * @returns The groups that are not merged with any other group.
 */
export function lintGroups(
  fields: readonly FieldLine[],
  { groups, records }: ParsedFile,
  report: Report,
): readonly ParsedGroup[] {
  const groupByName = new Map<string, ParsedGroup>()
  const groupByLetters = new Map<string, ParsedGroup>()
  const merged = new Set<ParsedGroup>()
  let next = 0
  let previous: FieldLine | undefined
  for (const field of fields) {
    if (field.line === groups[next]?.line) next++
    const group = groups[next - 1]
    if (field.directive === 'user-agent' && group !== undefined) {
      if (field.line !== group.line) lintMergedAgent(field, previous, report)
      const name = nameOf(field.value)
      const sameName = previousGroup(groupByName, name, group)
      if (sameName === group) report('duplicate-name', field.line)
      else if (sameName !== undefined) report('duplicate-group', field.line)
      // Both `a` and `a1` name a crawler whose token is `a`: digits count only for a crawler whose
      // own token has digits.
      for (const other of [sameName, previousGroup(groupByLetters, name.replace(/[0-9].*/, ''), group)]) {
        if (other !== undefined && other !== group) merged.add(other).add(group)
      }
    } else if (group === undefined && (field.directive === 'allow' || field.directive === 'disallow')) {
      report('rule-before-group', field.line)
    }
    previous = field
  }
  const last = groups.at(-1) // only the last group can be without rules: the parser merges any other with the next one
  if (last !== undefined && last.rules.length === 0 && !merged.has(last)) {
    if (!hasRecord(records, last)) report('group-without-rules', last.line)
  }
  return groups.filter((group) => !merged.has(group))
}

/** Returns whether the last group has a record about crawlers, such as a crawl-delay. */
export function hasRecord(records: readonly ParsedRecord[], last: ParsedGroup): boolean {
  return records.some(({ agents, line }) => agents !== undefined && line > last.line)
}

/** Returns the previous group for this name, if any, and records this group for it. */
function previousGroup(groups: Map<string, ParsedGroup>, name: string, group: ParsedGroup): ParsedGroup | undefined {
  const previous = groups.get(name)
  if (name !== '') groups.set(name, group)
  return previous
}

/**
 * Reports a user-agent line that joins the group above it in a way that its author may not expect.
 */
function lintMergedAgent({ line, afterBlankLine }: FieldLine, previous: FieldLine | undefined, report: Report): void {
  if (previous?.directive === 'content-usage') report('content-usage-between-names', line)
  else if (previous?.directive !== 'user-agent') report('names-merged-across-record', line)
  else if (afterBlankLine) report('names-merged-across-blank-line', line)
}
