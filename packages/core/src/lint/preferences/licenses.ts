// Checks where License lines are. By RSL 1.0 §4.4, a License inside a group belongs to that group,
// and one above all groups is for the crawlers whose group has none. By RSL's guide, each is for
// all crawlers. Robots.txt has no way to end the last group, so the two readings differ for a
// License at the end of the file.

import { textOf } from '../../bytes.ts'
import type { ParsingRules } from '../../dialect.ts'
import { recordAudiences } from '../../parse/directive.ts'
import type { ParsedField, ParsedFile, ParsedRecord } from '../../parse/records.ts'
import { originOf } from '../../url/origin.ts'
import type { ReportFinding } from '../finding.ts'
import { valueNamesEveryone } from '../name.ts'
import { closesAll } from '../named-groups.ts'

/**
 * Reports the first License that the two readings give to different crawlers. A License directly
 * below the lines of a group is meant for that group if there is another one for all other
 * crawlers. After a blank line or a Sitemap it may be meant for all.
 *
 * @returns The records. A License directly below the lines of a group has the names of that group,
 * unless there is one above all groups.
 */
export function lintLicenses(
  { fields, groups }: ParsedFile,
  records: readonly ParsedRecord[],
  parsing: ParsingRules,
  report: ReportFinding,
): readonly ParsedRecord[] {
  if (!records.some(({ field }) => field === 'license')) return records
  const hasNamed = groups.some((group) => !group.agents.some(valueNamesEveryone) && !closesAll(group, parsing))
  const namesByLine = new Map<number, readonly string[]>()
  let isAboveAll = false
  let isStarStated = false
  let firstApart: number | undefined
  let firstOfNamed: number | undefined
  let isOfStar = false
  let next = 0
  let isApart = false
  for (const { field, value, line, afterBlank } of fields) {
    if (line === groups[next]?.line) isOfStar = groups[next++]?.agents.some(valueNamesEveryone) === true
    const group = groups[next - 1]
    isApart = !belongsToGroup(field) && (isApart || afterBlank || field === 'sitemap')
    if (field !== 'license' || originOf(textOf(value)) === undefined) continue
    if (group === undefined) isAboveAll = true
    else if (isApart) {
      if (!isOfStar || hasNamed) firstApart ??= line
    } else {
      namesByLine.set(line, group.agents)
      if (isOfStar) isStarStated = true
      else firstOfNamed ??= line
    }
  }
  const first = firstApart ?? (isAboveAll || isStarStated ? undefined : firstOfNamed)
  if (first !== undefined) report('license-in-group', first)
  if (isAboveAll) return records
  return records.map((record) => ({ ...record, agents: record.agents ?? namesByLine.get(record.line) }))
}

function belongsToGroup(field: ParsedField['field']): boolean {
  if (field === 'user-agent' || field === 'allow' || field === 'disallow') return true
  return field !== 'unknown' && recordAudiences[field] === 'agents-above'
}
