import type { Verdict } from '@politely/core'

/** Returns which of the product tokens led to a group: `, by the group for Googlebot (line 3)`. */
export function groupNote(verdict: Verdict, productTokens: readonly string[]): string {
  if (verdict.because !== 'rule' && verdict.because !== 'no-rule-matched') return ''
  const { agents, line } = verdict.group
  const names = agents.map((agent) => /^[\w-]*/.exec(agent.toLowerCase())?.[0])
  const token = productTokens.find((each) => names.includes(each.toLowerCase())) ?? '*'
  return `, by the group for ${token} (line ${line})`
}
