// Compares the paths of Content-Usage lines with each other and with the rules of their group.
// draft-ietf-aipref-attach-05 §3: of the lines that match a URL, crawlers read those with the
// longest path. A line without a path is the shortest. A disallowed URL has no preferences. Paths
// are compared as in RFC 9309.
//
// Reports only what is certain, in linear time.

import type { ParsingRules } from '../../dialect.ts'
import { indexFolder } from '../../parse/index-page.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord } from '../../parse/records.ts'
import { baseOf } from '../../parse/rule-forms.ts'
import { ruleForm } from '../../url/normal-form.ts'
import type { ReportFinding } from '../finding.ts'
import { type ClosedPath, closedPaths, isClosed } from '../named-groups.ts'
import { splitPreference } from './preference-line.ts'

/** @param unmerged The groups whose crawlers obey no other group. */
export function lintPreferencePaths(
  { groups }: ParsedFile,
  records: readonly ParsedRecord[],
  unmerged: ReadonlySet<ParsedGroup>,
  parsing: ParsingRules,
  report: ReportFinding,
): void {
  let next = 0
  /** The paths that the current group surely disallows. */
  let closed: readonly ClosedPath[] = []
  let names: readonly string[] | undefined
  /** The longest of the paths that match the same URLs, for these names. */
  let longest = new Map<string, { readonly length: number; readonly line: number }>()
  for (const { field, value, line, agents } of records) {
    if (field !== 'content-usage') continue
    for (let group = groups[next]; group !== undefined && group.line < line; group = groups[++next]) {
      const isSure = unmerged.has(group) && parsing.compare === 'rfc9309' && !group.rules.some(allows)
      closed = isSure ? closedPaths([group], parsing) : []
    }
    if (agents !== names) longest = new Map()
    names = agents
    // Without its slash, a path is part of the list, and the line is for all URLs.
    const form = ruleForm(value.startsWith('/') ? splitPreference(value).path : '')
    const path = { length: form.length, line }
    const base = baseOf(form)
    const folder = indexFolder(form) // the preference of an index page is for its folder too
    const bases = folder === undefined ? [base] : [base, baseOf(folder)]
    if (bases.every((one) => isClosed(one, closed))) report('preference-for-disallowed-path', line)
    if (folder !== undefined) continue // the folder is another path, of the same length for all
    const other = longest.get(base) ?? path
    const [shorter, longer] = path.length < other.length ? [path, other] : [other, path]
    longest.set(base, longer)
    if (shorter.length < longer.length) {
      report('shadowed-preference', { line: shorter.line, found: `line ${longer.line}` })
    }
  }
}

function allows({ field, value }: ParsedGroup['rules'][number]): boolean {
  return field === 'allow' && value !== ''
}
