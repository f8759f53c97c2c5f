// Findings about groups and their names. RFC 9309 §2.1 and §2.2.1.
import type { Directive } from '../parse/directive.ts'
import type { ParsedFile, ParsedGroup } from '../parse/records.ts'
import type { Report } from './finding.ts'
import { nameOf } from './name.ts'

/** A field, unchanged: bytes, one character for each, without blanks at the ends. */
export interface Field {
  readonly directive: Directive | 'unknown'
  /** Never empty. */
  readonly key: string
  readonly value: string
}

/** A field with its line. */
export interface FieldLine extends Field {
  readonly line: number
  /** Whether a blank line stands between it and the field before. */
  readonly afterBlankLine: boolean
}

/**
 * Goes once through the fields, and through the groups that the parser made of them.
 *
 * @returns The groups that are not merged with any other group.
 */
export function lintGroups(
  fields: readonly FieldLine[],
  { groups, records }: ParsedFile,
  report: Report,
): readonly ParsedGroup[] {
  const ofName = new Map<string, ParsedGroup>()
  const ofLetters = new Map<string, ParsedGroup>()
  const merged = new Set<ParsedGroup>()
  let next = 0
  let before: FieldLine | undefined
  for (const field of fields) {
    if (field.line === groups[next]?.line) next++
    const group = groups[next - 1]
    if (field.directive === 'user-agent' && group !== undefined) {
      if (field.line !== group.line) lintMergedAgent(field, before, report)
      const name = nameOf(field.value)
      const namesake = previousGroup(ofName, name, group)
      if (namesake === group) report('duplicate-name', field.line)
      else if (namesake !== undefined) report('duplicate-group', field.line)
      // A crawler without digits in its token is named by `a` and by `a1`.
      for (const other of [namesake, previousGroup(ofLetters, name.replace(/[0-9].*/, ''), group)]) {
        if (other !== undefined && other !== group) merged.add(other).add(group)
      }
    } else if (group === undefined && (field.directive === 'allow' || field.directive === 'disallow')) {
      report('rule-before-group', field.line)
    }
    before = field
  }
  const last = groups.at(-1) // any other group without rules would have been merged with the one below it
  if (last !== undefined && last.rules.length === 0 && !merged.has(last)) {
    const hasRecord = records.some(({ agents, line }) => agents !== undefined && line > last.line)
    if (!hasRecord) report('group-without-rules', last.line)
  }
  return groups.filter((group) => !merged.has(group))
}

/** The previous group for this name, if there is one. From now on it is this group. */
function previousGroup(groups: Map<string, ParsedGroup>, name: string, group: ParsedGroup): ParsedGroup | undefined {
  const before = groups.get(name)
  if (name !== '') groups.set(name, group)
  return before
}

/** A name that is merged with the names above it. */
function lintMergedAgent({ line, afterBlankLine }: FieldLine, before: FieldLine | undefined, report: Report): void {
  if (before?.directive !== 'user-agent') report('names-merged-across-record', line)
  else if (afterBlankLine) report('names-merged-across-blank-line', line)
}
