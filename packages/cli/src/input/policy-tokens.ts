// The policy tokens of `--policy-token`.
import { isProductToken } from '@politely/core'
import type { PolicyToken } from '@politely/core/usage'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'

/** @throws {UsageError} for a value that is not `TOKEN=PURPOSE,FALLBACK`. */
export async function policyTokensOf(args: Arguments): Promise<readonly PolicyToken[]> {
  const given = args.all('policy-token')
  if (given.length === 0) return []
  const { purposes } = await import('@politely/core/usage') // most command lines do not need it
  return given.map((text) => {
    const [, token = '', name, fallback] = /^([^=]*)=([^,]*),(none|star)$/.exec(text) ?? []
    const purpose = purposes.find((one) => one === name)
    if (purpose !== undefined && isProductToken(token)) return { token, purpose, fallback: fallback as 'none' | 'star' }
    throw new UsageError(
      `--policy-token: ${JSON.stringify(text)} is not a token, a purpose and a fallback; write TOKEN=PURPOSE,none or TOKEN=PURPOSE,star, with one of ${purposes.join(', ')}`,
    )
  })
}
