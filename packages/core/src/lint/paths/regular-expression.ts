// Finds regular expressions in paths. Only `*` and a final `$` are special: RFC 9309 §2.2.3.
//
// Parentheses, brackets, dots, `+` and `?` are frequent in the URLs of real sites, and `.*` is
// frequent in patterns such as `/index.*`. So only what is hard to read in another way counts.

/**
 * The parts of a path that only a regular expression has, in this order: `^/a`, `.*a`, `/.*a` (but
 * not `/.*` alone, which are hidden files), `(.*)`, `(a|b)`, `[0-9]`, `[&%]`, `\d` and `\.`.
 */
const EXPRESSION =
  /^\/?\^|^\.[*+]|\/\.[*+](?=[^/*]|\/.)|\(\.[*+]\??\)|\((?:\?:)?[^()\\/]{0,40}\|[^()]{0,40}\)?|\[\^?(?:a-z|A-Z|\d-\d)[^\]]{0,20}\]|\[\^?[^\w\s[\]*]{1,20}\]|\\[dws](?![A-Za-z])|\\[./?+()[\]$-]/

/** Returns the part of a path that shows that it is a regular expression. */
export function expressionIn(path: string): string | undefined {
  return EXPRESSION.exec(path.slice(0, MAX_LENGTH))?.[0]
}

/** Longer paths are not rewritten. */
const MAX_LENGTH = 300

/** A class of characters, with how often it occurs. */
const ANY_CHARACTERS = /(?:\[[^\]]+\]|\\[dws]|\.(?=[*+{]))(?:[*+?]|\{[\d,]*\})?\??/gi
/** A group without groups inside, with how often it occurs. */
const GROUP = /\((?:\?:)?([^()]*)\)([*+?]|\{[\d,]*\})?\??/g

/**
 * Returns paths with `*` and `$` that together match what the regular expression matches, and
 * possibly more. Empty if they would match nearly everything, or the expression is complex.
 */
export function withWildcards(path: string): readonly string[] {
  if (path.length > MAX_LENGTH) return []
  const simple = path
    .replace(/^\/?\^/, '')
    .replace(/\[([^\]\\^])\]/g, '$1')
    .replace(/\\([./?+-])/g, '$1')
    .replace(ANY_CHARACTERS, '*')
    .replace(GROUP, (all, inner: string, quantifier) => {
      if (quantifier !== undefined) return '*'
      return inner.includes('|') ? all : inner
    })
  const [, before = '', choices = '', after = ''] = /^([^(]*)\((?:\?:)?(.*)\)([^)]*)$/.exec(simple) ?? [
    undefined,
    simple,
  ]
  const paths = choices.split('|').map((choice) => simplified(before + choice + after))
  return paths.every((one) => /\w/.test(one) && !/[\\()|^]/.test(one)) ? paths : []
}

function simplified(path: string): string {
  return `/${path}`.replace('//', '/').replace(/\*+/g, '*').replace(/\*$/, '')
}
