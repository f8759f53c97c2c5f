import type { Verdict } from '@politely/core'

/** Returns the product tokens in their order, and the group that they led to. */
export function crawlerText(verdict: Verdict, productTokens: readonly string[]): string {
  const tokens = productTokens.join(', then ')
  if (verdict.because !== 'rule' && verdict.because !== 'no-rule-matched') return tokens
  const { agents, line } = verdict.group
  const names = agents.map((agent) => /^[\w-]*/.exec(agent.toLowerCase())?.[0])
  const token = productTokens.find((each) => names.includes(each.toLowerCase())) ?? '*'
  return `${tokens}, by the group for ${token} (line ${line})`
}
