// A crawler's rules in order of strength, so that the first one that matches is the one that decides. RFC 9309 §2.2.2.
import type { Reading } from '../dialect.ts'
import { ruleForm } from '../url/normal-form.ts'
import type { WrittenGroup, WrittenRule } from './groups.ts'
import { type Pattern, patternOf } from './pattern.ts'

export interface RankedRule {
  readonly written: WrittenRule
  readonly group: WrittenGroup
  /** The path in the form for comparing. */
  readonly form: string
  readonly pattern: Pattern
  /** Strength: the octets of that form, wildcards included. */
  readonly octets: number
}

/**
 * In order of strength: of rules that match, the first decides. Most octets first, allow before disallow, then the first
 * line; or, for who takes the first match, just as they stand.
 */
export function rankRules(groups: readonly WrittenGroup[], reading: Reading): readonly RankedRule[] {
  const ranked: RankedRule[] = []
  for (const group of groups) {
    for (const written of group.rules) {
      if (written.path === '' && reading.emptyRules === 'nothing') continue
      const path = ruleForm(written.path, reading.compare)
      ranked.push({ written, group, form: path, pattern: patternOf(path, reading.wildcards), octets: path.length })
      const folder = reading.indexPages === 'folder' && written.directive === 'allow' ? indexFolder(path) : undefined
      if (folder !== undefined) {
        ranked.push({ written, group, form: folder, pattern: patternOf(folder, 'special'), octets: folder.length })
      }
    }
  }
  return reading.winner === 'first' ? ranked : ranked.sort(byStrength)
}

function byStrength(a: RankedRule, b: RankedRule): number {
  const allowFirst = Number(b.written.directive === 'allow') - Number(a.written.directive === 'allow')
  return b.octets - a.octets || allowFirst || a.written.line - b.written.line
}

/** `Allow: /dir/index.html` (or `.htm`) also allows `/dir/` itself (google/robotstxt): exactly that, so `/dir/$`. */
export function indexFolder(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  return slash !== -1 && path.startsWith('/index.htm', slash) ? `${path.slice(0, slash + 1)}$` : undefined
}
