// Makes the calls of PostgresPacer by the functions of the schema, and reads their replies.
import { circuitReplyOf, type PaceTransport, paceReplyOf, type ReplyFields } from '@politely/fleet'
import { BAD_REQUEST, type PostgresClient, parsedJson } from '../client.ts'
import { PostgresReplyError, PostgresSchemaError, PostgresTimeoutError, schemaErrorOf } from '../errors.ts'
import { JoinedCalls, type StatementFailure } from './joined-calls.ts'

/** The SQLSTATE of a lock that was not had in time. */
export const LOCKED = '55P03'
/** `conflict`: the SQLSTATEs of a failed serialization and of a deadlock. */
const FAILURES: Readonly<Record<string, StatementFailure>> = {
  [LOCKED]: 'locked',
  '40001': 'conflict',
  '40P01': 'conflict',
}

/** The version of the schema that knows leases. An older one would ignore them. */
const LEASES = 2

/** @param hasLeases Whether the server counts the requests under way. */
export function postgresTransport(
  client: PostgresClient,
  schema: string,
  timeoutMs: number,
  hasLeases: boolean,
): PaceTransport {
  // Texts are cast in SQL, since drivers differ in what they do with a parameter of the type jsonb.
  const requests = `ARRAY(SELECT jsonb_array_elements($1::text::jsonb))`
  const calls = `${schema}.call_many(${requests}${hasLeases ? `, ${LEASES}` : ''})`
  const statement = `SELECT to_jsonb(${calls}) AS replies`
  let hasReplied = false
  const query = async (requests: readonly object[]) => {
    try {
      return await client.query(statement, [JSON.stringify(requests)])
    } catch (error) {
      throw schemaErrorOf(error, schema) ?? error
    }
  }
  const send = async (requests: readonly object[]) => {
    const { rows } = await query(requests)
    const replies = parsed(rows[0]?.replies)
    if (!Array.isArray(replies) || replies.length !== requests.length) throw new PostgresReplyError(replies)
    hasReplied = true
    return replies.map(parsed)
  }
  const joined = new JoinedCalls({ send, failureOf: statementFailureOf, timeoutMs })
  return {
    isEpochShared: true,
    channels: { failure: 'politely:postgres:failure', recovered: 'politely:postgres:recovered' },
    pace: async (key, request) => {
      const reply = await joined.call(key, { ...request, key })
      const fields = fieldsOf(reply)
      return paceReplyOf(request.op, fields.kind, fields, () => new PostgresReplyError(reply))
    },
    circuit: async (origin, change) => {
      const reply = await joined.call(`circuit:${origin}`, { op: 'circuit', origin, ...change })
      return circuitReplyOf(fieldsOf(reply), () => new PostgresReplyError(reply))
    },
    // A schema that has never worked is a mistake, which the program sees at once. A schema that
    // disappears, for example during a restore, is a failure: requests wait until it is back.
    isRejection: (error) => isBadRequest(error) || (!hasReplied && error instanceof PostgresSchemaError),
    timeoutError: (ms) => new PostgresTimeoutError(ms),
  }
}

/**
 * Returns whether a request is bad. The functions reject it, or the type jsonb does, with an error
 * of the class 22: a pace key may contain a NUL character or a lone surrogate, and jsonb may not.
 */
function isBadRequest(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === BAD_REQUEST || /^22...$/.test(state)
}

export function statementFailureOf(error: unknown): StatementFailure {
  return isBadRequest(error) ? 'request' : (FAILURES[sqlStateOf(error)] ?? 'other')
}

/** Returns the SQLSTATE of an error, as all drivers have it. Empty if it is not of the server. */
export function sqlStateOf(error: unknown): string {
  return `${(error as { readonly code?: unknown } | undefined)?.code ?? ''}`
}

/** Returns a JSON value. Other text is a reply that the functions do not give. */
function parsed(value: unknown): unknown {
  try {
    return parsedJson(value)
  } catch {
    throw new PostgresReplyError(value)
  }
}

/** Returns the fields of a reply and of its delay and turn. */
function fieldsOf(reply: unknown): ReplyFields {
  const fields = (reply ?? {}) as ReplyFields
  return { ...fields, ...(fields.delay as ReplyFields), ...(fields.turn as ReplyFields) }
}
