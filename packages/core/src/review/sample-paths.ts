// Paths and crawlers that show the effect of rules, made from the files themselves.

/**
 * Returns `/`, and for each rule of the files paths that it matches, and paths near them that it
 * may not match.
 */
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
const RULE = /^[^\S\n]*(?:dis?all?ow|allow)(?:[^\S\n]*:|[^\S\n])[^\S\n]*([^\s#:][^\s#]*)/gim

/** Returns a path that the pattern matches: each `*` takes one letter. */
function pathFor(pattern: string): string {
  const path = pattern.replace(/\$$/, '').replaceAll('*', 'x')
  return path.startsWith('/') ? path : `/${path}`
}

/** `*`, and every name that a user-agent line of the files begins with. */
export function crawlersIn(texts: readonly string[]): readonly string[] {
  const names = new Map<string, string>([['*', '*']])
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(/^[^\S\n]*user-?agent[^\S\n]*:?[^\S\n]*([A-Za-z0-9_-]+)/gim))
      if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  }
  return [...names.values()]
}
