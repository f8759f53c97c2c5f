// What a developer writes in an hour instead of using a library: it tries the rules of a group,
// longest first. It does not compare origins, does not normalize percent-encoding and gives no
// reason. It is here for small files, where an index gains nothing.
import { CRAWLER } from '../crawler.ts'
import { type Library, library } from './library.ts'

const CRAWLER_NAME = CRAWLER.toLowerCase()

interface Rule {
  readonly allow: boolean
  readonly bytes: number
  /** The path, split at each `*`. */
  readonly pieces: readonly string[]
  /** Whether the path ends with `$`. */
  readonly isAnchored: boolean
}

export const naiveMatcher: Library<readonly Rule[]> = library('naive walk', 'all', parseRules, (rules, url) => {
  const { pathname, search } = new URL(url)
  const path = pathname + search
  for (const rule of rules) if (matches(path, rule)) return rule.allow
  return true
})

function parseRules(text: string): readonly Rule[] {
  const ownRules: Rule[] = []
  const sharedRules: Rule[] = []
  let agents: string[] = []
  let inAgents = false
  let hasOwnGroup = false
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
      if (value.toLowerCase() === CRAWLER_NAME) hasOwnGroup = true
    } else if (field === 'allow' || field === 'disallow') {
      inAgents = false
      if (value === '') continue
      const rule = ruleOf(field === 'allow', value)
      if (agents.includes(CRAWLER_NAME)) ownRules.push(rule)
      if (agents.includes('*')) sharedRules.push(rule)
    }
  }
  const rules = hasOwnGroup ? ownRules : sharedRules
  return rules.sort((a, b) => b.bytes - a.bytes || Number(b.allow) - Number(a.allow))
}

function ruleOf(allow: boolean, path: string): Rule {
  const isAnchored = path.endsWith('$')
  return { allow, bytes: path.length, pieces: (isAnchored ? path.slice(0, -1) : path).split('*'), isAnchored }
}

function matches(path: string, { pieces, isAnchored }: Rule): boolean {
  const [first = ''] = pieces
  if (!path.startsWith(first)) return false
  if (pieces.length === 1) return !isAnchored || path.length === first.length
  let from = first.length
  for (const piece of pieces.slice(1, -1)) {
    const index = path.indexOf(piece, from)
    if (index === -1) return false
    from = index + piece.length
  }
  const last = pieces.at(-1) ?? ''
  return isAnchored ? path.length - last.length >= from && path.endsWith(last) : path.includes(last, from)
}
