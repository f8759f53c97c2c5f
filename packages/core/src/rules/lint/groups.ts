// Groups, and who is in them. RFC 9309 §2.1 and §2.2.1.
import type { Directive } from '../fields.ts'
import type { WrittenFile, WrittenGroup } from '../groups.ts'
import type { Report } from './finding.ts'
import { nameOf } from './name.ts'

/** A field as it stands in the file: octets, without blanks at the ends. */
export interface Field {
  readonly directive: Directive | 'unknown'
  /** Never empty. */
  readonly key: string
  readonly value: string
}

/** A field where it stands. */
export interface FieldLine extends Field {
  readonly line: number
  /** Whether a blank line stands between it and the field before. */
  readonly afterBlankLine: boolean
}

/**
 * Goes once through the fields, and along with them through the groups that the reader made of them.
 *
 * @returns The groups whose rules are all that holds for their crawlers: nothing of another group is merged with them.
 */
export function lintGroups(
  fields: readonly FieldLine[],
  { groups, others }: WrittenFile,
  report: Report,
): readonly WrittenGroup[] {
  const ofName = new Map<string, WrittenGroup>()
  const ofLetters = new Map<string, WrittenGroup>()
  const merged = new Set<WrittenGroup>()
  let next = 0
  let before: FieldLine | undefined
  for (const field of fields) {
    if (field.line === groups[next]?.line) next++
    const group = groups[next - 1]
    if (field.directive === 'user-agent' && group !== undefined) {
      if (field.line !== group.line) lintJoining(field, before, report)
      const name = nameOf(field.value)
      const namesake = groupOf(ofName, name, group)
      if (namesake === group) report('duplicate-name', field.line)
      else if (namesake !== undefined) report('duplicate-group', field.line)
      // A crawler without digits in its token is named by `a` and by `a1`.
      for (const other of [namesake, groupOf(ofLetters, name.replace(/[0-9].*/, ''), group)]) {
        if (other !== undefined && other !== group) merged.add(other).add(group)
      }
    } else if (group === undefined && (field.directive === 'allow' || field.directive === 'disallow')) {
      report('rule-before-group', field.line)
    }
    before = field
  }
  const last = groups.at(-1) // The names of all others would have joined the group below.
  if (last !== undefined && last.firstRule === last.endOfRules && !merged.has(last)) {
    const hasRecord = others.some(({ agents, line }) => agents !== undefined && line > last.line)
    if (!hasRecord) report('group-without-rules', last.line)
  }
  return groups.filter((group) => !merged.has(group))
}

/** The group that was there before for this name, if it is one; now it is this group. */
function groupOf(groups: Map<string, WrittenGroup>, name: string, group: WrittenGroup): WrittenGroup | undefined {
  const before = groups.get(name)
  if (name !== '') groups.set(name, group)
  return before
}

/** A name that joins the names above it. */
function lintJoining({ line, afterBlankLine }: FieldLine, before: FieldLine | undefined, report: Report): void {
  if (before?.directive !== 'user-agent') report('names-merged-across-record', line)
  else if (afterBlankLine) report('names-merged-across-blank-line', line)
}
