// What a developer writes in an hour instead of using a library: it tries the rules of a group, longest first. It does not compare
// origins, knows one encoding only and gives no reason. A comparison for small files, where an index gains nothing.
import { CRAWLER, type Library, library, pathIn } from './library.ts'

const OWN_NAME = CRAWLER.toLowerCase()

interface Rule {
  readonly allow: boolean
  readonly bytes: number
  /** The path, cut at its `*`s. */
  readonly pieces: readonly string[]
  /** Whether it ends in `$`. */
  readonly toTheEnd: boolean
}

export const naiveWalk: Library<readonly Rule[]> = library('naive walk', 'all', rulesOf, (rules, url) => {
  const { pathname, search } = new URL(url)
  return walk(rules, pathname + search)
})

/** The same, without a look at the URL: less work than a correct answer is, and so no mark but the end of the scale. */
export const bareWalk: Library<readonly Rule[]> = library('bare walk', 'all', rulesOf, (rules, url) =>
  walk(rules, pathIn(url)),
)

function walk(rules: readonly Rule[], path: string): boolean {
  for (const rule of rules) if (matches(path, rule)) return rule.allow
  return true
}

function rulesOf(text: string): readonly Rule[] {
  const own: Rule[] = []
  const everyones: Rule[] = []
  let agents: string[] = []
  let inAgents = false
  let seenOwn = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [content = ''] = line.split('#', 1)
    const colon = content.indexOf(':')
    if (colon === -1) continue
    const field = content.slice(0, colon).trim().toLowerCase()
    const value = content.slice(colon + 1).trim()
    if (field === 'user-agent') {
      if (!inAgents) agents = []
      inAgents = true
      agents.push(value.toLowerCase())
      if (value.toLowerCase() === OWN_NAME) seenOwn = true
    } else if (field === 'allow' || field === 'disallow') {
      inAgents = false
      if (value === '') continue
      const rule = ruleOf(field === 'allow', value)
      if (agents.includes(OWN_NAME)) own.push(rule)
      if (agents.includes('*')) everyones.push(rule)
    }
  }
  const rules = seenOwn ? own : everyones
  return rules.sort((a, b) => b.bytes - a.bytes || Number(b.allow) - Number(a.allow))
}

function ruleOf(allow: boolean, path: string): Rule {
  const toTheEnd = path.endsWith('$')
  return { allow, bytes: path.length, pieces: (toTheEnd ? path.slice(0, -1) : path).split('*'), toTheEnd }
}

function matches(path: string, { pieces, toTheEnd }: Rule): boolean {
  const [first = ''] = pieces
  if (!path.startsWith(first)) return false
  if (pieces.length === 1) return !toTheEnd || path.length === first.length
  let from = first.length
  for (const piece of pieces.slice(1, -1)) {
    const at = path.indexOf(piece, from)
    if (at === -1) return false
    from = at + piece.length
  }
  const last = pieces.at(-1) ?? ''
  return toTheEnd ? path.length - last.length >= from && path.endsWith(last) : path.includes(last, from)
}
