// Warns of a request whose User-Agent does not name the crawler whose rules the gate applies.
import { describeValue, namesItself } from '@politely/fetcher/internal'
import type { PoliteGate } from '../gate.ts'

const warned = new WeakSet<PoliteGate>()

/**
 * Emits a process warning, once for each gate, if the header contains none of the client's product
 * tokens, in any case. RFC 9309 §2.2.1.
 */
export function warnOfOtherName(gate: PoliteGate, header: unknown): void {
  const { productTokens } = gate.robots
  const userAgent = String(header)
  if (userAgent === gate.robots.userAgent || warned.has(gate) || namesItself({ userAgent, productTokens })) return
  warned.add(gate)
  process.emitWarning(
    `the User-Agent header of a request is ${describeValue(userAgent)}, but robots.txt is read for ${productTokens.join(' or ')}; leave the header out, or write it as the option userAgent`,
    { type: 'PolitelyWarning', code: 'POLITELY_USER_AGENT' },
  )
}
