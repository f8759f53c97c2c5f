// What the gate throws: refusals, each with a stable code.
import { describeVerdict } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/option-checks'
import { retryAtOf } from './forecast.ts'

/** robots.txt does not let this request leave, or nobody knows what it says. */
export class RobotsDisallowedError extends Error {
  override readonly name = 'RobotsDisallowedError'
  readonly code = 'ERR_POLITELY_DISALLOWED'
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

/** A pacer of the caller's own gave an answer that the gate cannot use. The request that it was for fails. */
export class PacerError extends Error {
  override readonly name = 'PacerError'
  readonly code = 'ERR_POLITELY_PACER'
  constructor(method: 'reserve' | 'estimate', given: unknown, expected: string) {
    super(`${method} of the pacer returned ${describeValue(given)}; expected ${expected}`)
  }
}

/** `answered` or `leave` of a pass was given something that is not a response. */
export class ResponseError extends TypeError {
  override readonly name = 'AnswerError'
  readonly code = 'ERR_POLITELY_RESPONSE'
  constructor(problem: string, options?: ErrorOptions) {
    super(
      `${problem}; write permit.release(response), permit.release({ status: 200, headers: {} }), or pass.release()`,
      options,
    )
  }
}

/** A redirect whose body did not end lost its connection, since too many of them were open. */
export class OpenRedirectError extends Error {
  override readonly name = 'OpenRedirectError'
  readonly code = 'ERR_POLITELY_OPEN_REDIRECT'
  constructor(url: string) {
    super(
      `${url} redirects with a body that does not end; its connection was closed, since too many of its kind were open`,
    )
  }
}

/** The gate cannot tell what this request would ask for, or of which origin. Nothing was sent. Its name is `TypeError`, as in fetch. */
export class InvalidRequestError extends TypeError {
  readonly code = 'ERR_POLITELY_REQUEST'
}
