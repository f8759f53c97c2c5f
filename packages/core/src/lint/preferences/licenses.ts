// Checks where License lines are. By RSL 1.0 §4.4, a License inside a group belongs to that group,
// and one above all groups is for the crawlers whose group has none. By RSL's guide, each is for
// all crawlers. Robots.txt has no way to end the last group, so the two readings differ for a
// License at the end of the file.

import { textOf } from '../../bytes.ts'
import { recordAudiences } from '../../parse/directive.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord } from '../../parse/records.ts'
import { originOf } from '../../url/origin.ts'
import type { Report } from '../finding.ts'
import type { FieldLine } from '../groups.ts'
import { namesEveryone } from '../name.ts'
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
  fields: readonly FieldLine[],
  { groups, records }: ParsedFile,
  report: Report,
): readonly ParsedRecord[] {
  if (!records.some(({ field }) => field === 'license')) return records
  const hasNamed = groups.some((group) => !group.agents.some(namesEveryone) && !closesAll(group))
  const namesByLine = new Map<number, readonly string[]>()
  let isAboveAll = false
  let isStarStated = false
  let firstApart: number | undefined
  let firstOfNamed: number | undefined
  let group: ParsedGroup | undefined
  let isOfStar = false
  let next = 0
  let isApart = false
  for (const { directive, value, line, afterBlankLine } of fields) {
    if (line === groups[next]?.line) {
      group = groups[next++]
      isOfStar = group?.agents.some(namesEveryone) === true
    }
    isApart = !belongsToGroup(directive) && (isApart || afterBlankLine || directive === 'sitemap')
    if (directive !== 'license' || originOf(textOf(value)) === undefined) continue
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

function belongsToGroup(directive: FieldLine['directive']): boolean {
  if (directive === 'user-agent' || directive === 'allow' || directive === 'disallow') return true
  return directive !== 'unknown' && recordAudiences[directive] === 'agents-above'
}
