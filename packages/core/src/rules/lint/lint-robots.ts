// What a webmaster would want to know of a robots.txt.
import { dialects } from '../../dialect.ts'
import { octetsOf } from '../../octets.ts'
import { Fields } from '../fields.ts'
import { groupsOf } from '../groups.ts'
import { type Finding, findingOf, type Report } from './finding.ts'
import { type Field, type FieldLine, lintGroups } from './groups.ts'
import { lintKey } from './key.ts'
import { lintCut, lintOctets } from './line.ts'
import { lintName } from './name.ts'
import { isCutByComment, lintPath } from './path.ts'
import { lintAudiences, lintRecord, lintTimedRecords } from './record.ts'
import { lintRuleSet } from './rule-set.ts'
import { lintWholeFile } from './whole-file.ts'

/** As many octets as crawlers have to read. RFC 9309 §2.5. */
const LIMIT_OCTETS = 500 * 1024

/**
 * What is wrong with a robots.txt, or likely to be read otherwise than it was meant, in the order of its lines. It is read as in the
 * default dialect.
 *
 * The work grows with the file and not faster, but for one sort of the rules of each group: each check looks at one line, or
 * looks up what it wants to know of the others.
 *
 * @param source Its octets, or its text.
 */
export function lintRobots(source: Uint8Array | string): readonly Finding[] {
  const octets = octetsOf(source)
  const findings: Finding[] = []
  const report: Report = (code, line, ...write) => findings.push(findingOf(code, line, write))
  if (lintWholeFile(octets, report)) {
    const fields = lintLines(octets, report)
    const file = groupsOf({ text: octets, unit: 'octet' }, dialects.rfc9309.reading)
    const alone = new Set(lintGroups(fields, file, report))
    for (const group of file.groups) lintRuleSet(file, group, alone.has(group), report)
    lintAudiences(file.others, report)
    lintTimedRecords(file.others, report)
    if (fields.length === 0) report('empty-file', 0)
  }
  return findings.sort((a, b) => a.line - b.line)
}

/** Looks at each line by itself. @returns Its fields. */
function lintLines(octets: string, report: Report): readonly FieldLine[] {
  const fields: FieldLine[] = []
  let afterBlankLine = false
  let lineAtLimit = 0
  const reader = new Fields({ text: octets, unit: 'octet' }, 'lenient')
  while (reader.nextLine()) {
    const field = reader.readField() ? fieldAt(reader, octets) : undefined
    const { line, lineStart, lineEnd, contentStart, contentEnd } = reader
    if (line === 1 && lineStart > 0) report(lineStart === 3 ? 'bom' : 'partial-bom', 1)
    if (lineStart <= LIMIT_OCTETS) lineAtLimit = line
    lintCut(octets, lineStart, lineEnd, line, report)
    if (reader.isBlankLine) afterBlankLine = true
    if (contentStart >= contentEnd) continue
    const content = octets.slice(contentStart, contentEnd)
    const isAsMeant = lintOctets(content, line, report) && lintKey(content, field, line, report)
    if (field === undefined) continue
    if (isAsMeant) lintValue(octets.slice(lineStart, lineEnd), field, line, report)
    fields.push({ ...field, line, afterBlankLine })
    afterBlankLine = false
  }
  if (octets.length > LIMIT_OCTETS) report('over-500-kib', lineAtLimit)
  return fields
}

function fieldAt({ directive, contentStart, keyEnd, valueStart, contentEnd }: Fields, octets: string): Field {
  return { directive, key: octets.slice(contentStart, keyEnd), value: octets.slice(valueStart, contentEnd) }
}

function lintValue(written: string, { directive, value }: Field, line: number, report: Report): void {
  switch (directive) {
    case 'unknown':
      break
    case 'user-agent':
      lintName(value, line, report)
      break
    case 'allow':
    case 'disallow':
      if (isCutByComment(written)) report('fragment-in-rule', line)
      lintPath({ directive, path: value, line }, report)
      break
    default:
      lintRecord(directive, value, line, report)
  }
}
