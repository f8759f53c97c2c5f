// Warns of a request whose User-Agent does not name the crawler whose rules the gate applies.
import { describeValue, namesItself } from '@politely/fetcher/internal'
import type { PoliteGate } from '../gate.ts'

const LEAVE_OUT = 'leave the header out, or write it as the option userAgent'

const warned = new WeakSet<PoliteGate>()

/**
 * Emits a process warning, once for each gate, if the User-Agent header of a request contains none
 * of the client's product tokens, in any case. RFC 9309 §2.2.1. For adapters, such as browser
 * drivers.
 *
 * @param remedy What the caller can do, for the end of the message.
 */
export function warnOfOtherName(gate: PoliteGate, header: unknown, remedy: string = LEAVE_OUT): void {
  const userAgent = String(header)
  if (userAgent === gate.robots.userAgent || warned.has(gate)) return
  const { productTokens } = gate.robots
  if (namesItself({ userAgent, productTokens })) return
  warned.add(gate)
  process.emitWarning(
    `the User-Agent header of a request is ${describeValue(userAgent)}, but robots.txt is read for ${productTokens.join(' or ')}; ${remedy}`,
    { type: 'PolitelyWarning', code: 'POLITELY_USER_AGENT' },
  )
}
