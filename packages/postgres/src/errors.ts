// The errors of this package. `PostgresPacer` reports them on the channel
// `politely:postgres:failure`.
import { PolitelyError } from '@politely/core/internal'
import { describeValue } from '@politely/fetcher/internal'

/**
 * Postgres did not reply to a call of `PostgresPacer` within `timeoutMs`. The pacer does what
 * `onFailure` says, and tries again. Or a call of `PostgresStore` took more than ten seconds, and the
 * client continues without the store.
 *
 * Remedy: look at the load of Postgres, at its pool and at the network, or set a larger
 * `timeoutMs`.
 */
export class PostgresTimeoutError extends PolitelyError {
  override readonly name = 'PostgresTimeoutError'
  readonly code = 'ERR_POLITELY_POSTGRES_TIMEOUT'
  /** @param timeoutMs Milliseconds. */
  constructor(timeoutMs: number) {
    super(`Postgres did not reply within ${timeoutMs} ms; expected a reply sooner, or a larger timeoutMs`)
  }
}

/**
 * The reply of a function of the schema is invalid. The pacer does what `onFailure` says, and tries
 * again.
 *
 * Remedy: run `migrate` once more, and let no other program change the functions of the schema. An
 * adapter of another library must return the rows as objects.
 */
export class PostgresReplyError extends PolitelyError {
  override readonly name = 'PostgresReplyError'
  readonly code = 'ERR_POLITELY_POSTGRES_REPLY'
  constructor(reply: unknown) {
    const isRecord = typeof reply === 'object' && reply !== null
    const given = isRecord ? (JSON.stringify(reply) ?? '').slice(0, 100) : describeValue(reply)
    super(`the function replied with ${given}; expected a slot, a wait or a confirmation`)
  }
}

/**
 * The schema is missing, of another version than this package, or not open to the role of the
 * client.
 *
 * Remedy: run `migrate` of the newest package that a worker uses. It needs the rights of the owner
 * of the schema.
 */
export class PostgresSchemaError extends PolitelyError {
  override readonly name = 'PostgresSchemaError'
  readonly code = 'ERR_POLITELY_POSTGRES_SCHEMA'
  /** The name of the schema. */
  readonly schema: string
  /** @param problem What is wrong, and what to run. */
  constructor(schema: string, problem: string, options?: ErrorOptions) {
    super(`schema "${schema}": ${problem}`, options)
    this.schema = schema
  }
}

/** The SQLSTATEs of a missing schema, function and table. */
const MISSING = ['3F000', '42883', '42P01']
/** The SQLSTATE of a schema or function that a role may not use. */
const FORBIDDEN = '42501'

/**
 * Returns the error to throw for an error of a query, if the schema is missing, too old, or closed
 * to the role.
 */
export function schemaErrorOf(error: unknown, schema: string): PostgresSchemaError | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (!MISSING.includes(code) && code !== FORBIDDEN) return undefined
  const problem =
    code === FORBIDDEN
      ? 'this role may not use it; run migrate(client, { grantTo: "the role" }) as its owner'
      : 'is missing, or older than this package; expected one of its version: run migrate(client)'
  return new PostgresSchemaError(schema, problem, { cause: error })
}
