// The forms in which one rule meets URLs: its path in the form for comparing, and its folder where it names an index page.
import type { Reading } from '../dialect.ts'
import { octetsBetween, type Source } from '../octets.ts'
import { ruleForm } from '../url/normal-form.ts'
import type { WrittenRule } from './written-rules.ts'

/** A rule's path as written, octets. */
export function pathOf(source: Source, { start, end }: WrittenRule): string {
  return octetsBetween(source, start, end)
}

/** A path in the form for comparing. */
export interface RuleForm {
  readonly octets: string
  /** Whether a `*` or a final `$` is special in it. */
  readonly isSpecial: boolean
}

/** The forms that are compared, the strongest first; most rules have one. */
export function formsOf(path: string, { directive }: WrittenRule, reading: Reading): readonly RuleForm[] {
  const octets = ruleForm(path, reading.compare)
  const form = { octets, isSpecial: reading.wildcards === 'special' && (octets.endsWith('$') || octets.includes('*')) }
  const folder = reading.indexPages === 'folder' && directive === 'allow' ? indexFolder(octets) : undefined
  return folder === undefined ? [form] : [form, { octets: folder, isSpecial: true }]
}

/** `Allow: /dir/index.html` (or `.htm`) also allows `/dir/` itself (google/robotstxt): exactly that, so `/dir/$`. */
export function indexFolder(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  return slash !== -1 && path.startsWith(INDEX_PAGE, slash) ? `${path.slice(0, slash + 1)}$` : undefined
}

/** How the last part of a path begins that is an index page. */
export const INDEX_PAGE = '/index.htm'
