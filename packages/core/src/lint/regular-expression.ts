// Finds regular expressions in paths. Only `*` and a final `$` are special: RFC 9309 §2.2.3.
//
// Parentheses, brackets, dots, `+` and `?` are frequent in the URLs of real sites, and `.*` is
// frequent in patterns such as `/index.*`. So only what is hard to read in another way counts.

/**
 * The parts of a path that only a regular expression has. Each is short, so that the search takes
 * linear time.
 */
const EXPRESSION = new RegExp(
  [
    String.raw`^\/?\^`, // ^/a
    String.raw`^\.[*+]`, // .*a
    String.raw`\/\.[*+](?=[^/*]|\/.)`, // /.*a, but not /.*, which are hidden files
    String.raw`\(\.[*+]\??\)`, // (.*)
    String.raw`\((?:\?[:!=])?[^()\\/]{0,40}\|[^()]{0,40}\)?`, // (a|b)
    String.raw`\(\?[:!=]`, // (?:a)
    String.raw`\[\^?(?:a-z|A-Z|\d-\d)[^\]]{0,20}\]`, // [0-9]
    String.raw`\\[dws](?![A-Za-z])`, // \d
    String.raw`\\[./?+()[\]$-]`, // \.
  ].join('|'),
)

/** Returns the part of a path that shows that it is a regular expression. */
export function expressionIn(path: string): string | undefined {
  return EXPRESSION.exec(path.slice(0, MAX_LENGTH))?.[0]
}

/** Longer paths are not rewritten. */
const MAX_LENGTH = 300
const MAX_PATHS = 4

const QUANTIFIER = String.raw`(?:[*+?]|\{\d*,?\d*\})\??`
const ANY_CHARACTERS = new RegExp(String.raw`(?:\[[^\]]+\]|\\[dws]|\.(?=[*+{]))(?:${QUANTIFIER})?`, 'gi')
const GROUP = new RegExp(String.raw`\((?:\?[:!=])?([^()]*)\)(${QUANTIFIER})?`)

/**
 * Returns paths with `*` and `$` that together match what the regular expression matches, and
 * possibly more. Empty if they would match nearly everything, or there are many.
 */
export function withWildcards(path: string): readonly string[] {
  if (path.length > MAX_LENGTH) return []
  const start = path.replace(/^\/?\^/, '').replace(/\[([^\]\\^])\]/g, '$1')
  let paths = [start.replace(/\\([./?+$-])/g, (_, c: string) => (c === '$' ? '%24' : c)).replace(ANY_CHARACTERS, '*')]
  for (let i = 0; i < MAX_PATHS && paths.some((one) => GROUP.test(one)); i++) {
    paths = paths.flatMap((one) => {
      const [all, inner = '', quantifier] = GROUP.exec(one) ?? []
      if (all === undefined) return [one]
      const choices = quantifier === undefined ? inner.split('|') : ['*']
      return choices.map((choice) => one.replace(all, () => choice))
    })
    if (paths.length > MAX_PATHS) return []
  }
  const simple = [...new Set(paths.map(simplified))]
  return simple.every((one) => /\w/.test(one) && !/[\\()|^]/.test(one)) ? simple : []
}

function simplified(path: string): string {
  const short = path.replace(/\*+/g, '*').replace(/\*$/, '')
  return short.startsWith('/') ? short.replace(/\*$/, '') : `/${short}`
}
