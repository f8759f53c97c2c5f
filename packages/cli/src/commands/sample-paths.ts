// Paths that show the effect of rules, made from the rules themselves.

/** Returns `/`, and for each rule of the files a path that it matches and one that it may not match. */
export function samplePaths(texts: readonly string[]): readonly string[] {
  const paths = new Set(['/', '/page'])
  for (const text of texts) {
    for (const [, pattern = ''] of text.matchAll(RULE)) {
      const path = pathFor(pattern)
      paths
        .add(path)
        .add(`${path}x`)
        .add(path.replace(/[^/]*$/, ''))
    }
  }
  return [...paths]
}

/** A line with a rule, also with its frequent misspellings. */
export const RULE: RegExp = /^[^\S\n]*(?:dis?all?ow|allow)[^\S\n]*:?[^\S\n]*([^\s#]+)/gim

/** Returns a path that the pattern matches: each `*` takes one letter. */
export function pathFor(pattern: string): string {
  const path = pattern.replace(/\$$/, '').replaceAll('*', 'x')
  return path.startsWith('/') ? path : `/${path}`
}
