// A crawler's rules in order of strength, so that the first one that matches is the one that decides. RFC 9309 §2.2.2.
import { googleRuleForm, normalForm } from '../url/normal-form.ts'
import type { Dialect } from './dialect.ts'
import type { WrittenGroup, WrittenRule } from './groups.ts'
import { type Pattern, patternOf } from './pattern.ts'

export interface RankedRule {
  readonly written: WrittenRule
  readonly group: WrittenGroup
  readonly pattern: Pattern
  /** Strength: the octets of the path in the form for comparing, wildcards included. */
  readonly octets: number
}

/** Most octets first; allow before disallow; then the first line. Of rules that match, the first decides. */
export function rankRules(groups: readonly WrittenGroup[], dialect: Dialect): readonly RankedRule[] {
  const ranked: RankedRule[] = []
  for (const group of groups) {
    for (const written of group.rules) {
      if (written.path === '' && dialect.emptyRules === 'ignored') continue
      const path = dialect.target === 'as-sent' ? normalForm(written.path, 'rule') : googleRuleForm(written.path)
      ranked.push({ written, group, pattern: patternOf(path), octets: path.length })
      const directory = written.directive === 'allow' ? indexDirectory(path) : undefined
      if (directory !== undefined) {
        ranked.push({ written, group, pattern: patternOf(directory), octets: directory.length })
      }
    }
  }
  return ranked.sort(
    (a, b) =>
      b.octets - a.octets ||
      Number(b.written.directive === 'allow') - Number(a.written.directive === 'allow') ||
      a.written.line - b.written.line,
  )
}

/** `Allow: /dir/index.html` (or `.htm`) also allows `/dir/` itself (google/robotstxt): exactly that, so `/dir/$`. */
function indexDirectory(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  return slash !== -1 && path.startsWith('/index.htm', slash) ? `${path.slice(0, slash + 1)}$` : undefined
}
