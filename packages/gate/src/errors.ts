// What the gate throws: refusals, each with a stable code.
import { describeVerdict } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import { retryAtOf } from './forecast.ts'

/** robots.txt does not let this request leave, or nobody knows what it says. */
export class RobotsDisallowedError extends Error {
  override readonly name = 'RobotsDisallowedError'
  readonly code = 'ERR_ROBOTS_DISALLOWED'
  /** Why, with the rule that decided. */
  readonly verdict: ClientVerdict
  /** When robots.txt will be asked for again, where it is unreachable now. Milliseconds since 1970. */
  readonly retryAt: number | undefined

  constructor(verdict: ClientVerdict) {
    super(`${verdict.url || 'an empty string'} is ${describeVerdict(verdict)}`)
    this.verdict = verdict
    this.retryAt = retryAtOf(verdict)
  }
}

/** The gate was closed while a request waited, or before it came. */
export class GateClosedError extends Error {
  override readonly name = 'GateClosedError'
  readonly code = 'ERR_POLITELY_GATE_CLOSED'
  constructor() {
    super('this gate is closed; make a new one')
  }
}
