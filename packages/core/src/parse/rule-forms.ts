// What a rule compares, for code that compares rules with each other: `lintRobots` and the fixes.
// The matcher packs the same forms (rule-compiler.ts); a test compares the two.
import type { ParsingRules } from '../dialect.ts'
import { ruleForm } from '../url/normal-form.ts'
import { indexFolder } from './index-page.ts'
import type { ParsedRule } from './records.ts'

/** A pattern in the normal form of a dialect. Strings have one character for each byte. */
export interface RuleForm {
  readonly allows: boolean
  /** A longer form is stronger. RFC 9309 §2.2.2. */
  readonly length: number
  /**
   * The shortest form that matches the same paths: without repeated stars, and without a star at
   * the end or before a final `$`. In place of a final `$` it has `END`.
   */
  readonly base: string
}

/** Ends the base of a form that matches whole paths only. No pattern contains it. */
export const END = '\0'

/**
 * Returns the forms of a rule: none for a rule that is ignored because it has no path, two for an
 * `Allow` of an index page and its folder.
 */
export function formsOf({ field, value }: ParsedRule, parsing: ParsingRules): readonly RuleForm[] {
  const { compare, emptyRules, indexPages, wildcards } = parsing
  const allows = field === 'allow'
  if (value === '') return emptyRules === 'allows-all' ? [{ allows: true, length: 0, base: '/' }] : []
  const form = ruleForm(value, compare)
  const own = { allows, length: form.length, base: wildcards === 'literal' ? form : baseOf(form) }
  const folder = allows && indexPages === 'folder' ? indexFolder(form) : undefined
  return folder === undefined ? [own] : [own, { allows, length: folder.length, base: baseOf(folder) }]
}

/**
 * Returns the base of a form in which `*` and a final `$` are special. Every path begins with a
 * slash, so `*` and `*\/` match what `/` matches.
 */
export function baseOf(form: string): string {
  const short = form.replace(/\*+/g, '*')
  if (/[^*]\$$/.test(short)) return short.slice(0, -1) + END
  const base = short.replace(/\*\$?$/, '')
  return base === '' || base === '*/' ? '/' : base
}

/** Returns the part of a base before its first star or its end. */
export function headOf(base: string, { wildcards }: ParsingRules): string {
  return (wildcards === 'literal' ? /^[^\0]*/ : /^[^*\0]*/).exec(base)?.[0] ?? ''
}
