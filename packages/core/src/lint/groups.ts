// Checks groups and the crawlers that they name. RFC 9309 §2.1 and §2.2.1.
import { isRule, type ParsedField, type ParsedFile, type ParsedGroup } from '../parse/records.ts'
import type { ReportFinding } from './finding.ts'
import { isDocumented, nameOf } from './name.ts'

/**
 * Checks user-agent lines and groups, in one pass over the fields.
 *
 * @returns The groups that are not merged with any other group.
 */
export function lintGroups(file: ParsedFile, report: ReportFinding): readonly ParsedGroup[] {
  const { fields, groups } = file
  const groupByName = new Map<string, ParsedGroup>()
  const groupByLetters = new Map<string, ParsedGroup>()
  const merged = new Set<ParsedGroup>()
  const values = new Set<string>()
  let previous: ParsedField | undefined
  for (const field of fields) {
    const group = groups[field.group ?? -1]
    if (field.field === 'user-agent' && group !== undefined) {
      const joins = field.line !== group.line && group.rules.length > 0
      if (joins) lintMergedAgent(field, previous, report)
      const name = nameOf(field.value)
      const sameName = previousGroup(groupByName, name, group)
      const value = field.value.toLowerCase()
      // Some crawlers compare `Sogou web spider` with all of a line, so `Sogou` does not repeat it.
      const isRepeated = sameName !== undefined && (values.has(value) || !isDocumented(value))
      if (isRepeated) report(sameName === group ? 'duplicate-name' : 'duplicate-group', field.line)
      values.add(value)
      // Both `a` and `a1` name a crawler whose token is `a`: digits count only for a crawler whose
      // own token has digits.
      for (const other of [sameName, previousGroup(groupByLetters, name.replace(/[0-9].*/, ''), group)]) {
        if (other !== undefined && other !== group) merged.add(other).add(group)
      }
    } else if (group === undefined && isRule(field)) {
      report('rule-before-group', field.line)
    }
    previous = field
  }
  // Only the last group can be without rules: the parser merges any other with the next group.
  const last = groups.at(-1)
  if (last !== undefined && last.rules.length === 0 && !merged.has(last)) {
    if (!hasRecord(file, last)) report('group-without-rules', last.line)
  }
  return groups.filter((group) => !merged.has(group))
}

/** Returns whether the last group has a record about crawlers, such as a crawl-delay. */
export function hasRecord({ fields }: ParsedFile, last: ParsedGroup): boolean {
  return fields.some(({ agents, line }) => agents !== undefined && line > last.line)
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
function lintMergedAgent(
  { line, afterBlank }: ParsedField,
  previous: ParsedField | undefined,
  report: ReportFinding,
): void {
  if (previous?.field === 'content-usage') report('content-usage-between-names', line)
  else if (previous?.field !== 'user-agent') report('names-merged-across-record', line)
  else if (afterBlank) report('names-merged-across-blank-line', line)
}
