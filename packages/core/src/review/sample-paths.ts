// Paths and crawlers that show the effect of rules, made from the files themselves.
import type { ParsingRules } from '../dialect.ts'
import { nameOf } from '../lint/name.ts'
import { isRule } from '../parse/records.ts'
import type { Robots } from '../robots.ts'
import { ruleForm } from '../url/normal-form.ts'

/**
 * Returns `/`, and for each rule of the files paths that it matches, and paths near them that it
 * may not match.
 */
export function samplePaths(files: readonly Robots[]): readonly string[] {
  const paths = new Set(['/', '/page'])
  for (const file of files) {
    for (const field of file.fields().fields) {
      if (!isRule(field) || field.group === undefined || field.value === '') continue
      for (const path of pathsNear(field.value, file.dialect.parsing)) paths.add(path)
    }
  }
  return [...paths]
}

/** @param pattern One character for each byte, not empty. */
export function pathsNear(pattern: string, { compare, wildcards }: ParsingRules): readonly string[] {
  const form = ruleForm(pattern, compare)
  const matched = wildcards === 'literal' ? form : form.replace(/\$$/, '').replaceAll('*', 'x')
  const path = matched.startsWith('/') ? matched : `/${matched}`
  return [path, `${path}x`, path.replace(/[^/]*$/, '')]
}

/**
 * Returns a URL with a path. The path `//a` alone would be a URL without a scheme. Files without an
 * origin apply to any host.
 */
export function sampleUrl(path: string): string {
  return `https://site.example${path}`
}

/** `*`, and every name of a crawler in the files, without what follows it. */
export function crawlersIn(files: readonly Robots[]): readonly string[] {
  const names = new Map([['*', '*']])
  for (const file of files) {
    for (const { field, value } of file.fields().fields) {
      if (field !== 'user-agent') continue
      const key = nameOf(value)
      if (key !== '' && !names.has(key)) names.set(key, crawlerName(value))
    }
  }
  return [...names.values()]
}

/** Returns the name on a user-agent line: `archive.org_bot` also has a dot. */
export function crawlerName(value: string): string {
  return /^(?:[\w-]+(?:\.[\w-]+)*|\*)/.exec(value)?.[0] ?? ''
}
