// A store in Postgres: one row for each origin.
import { randomUUID } from 'node:crypto'
import type { Lease, Store } from '@politely/fetcher'
import { assertOptions, callable, MAX_TIME_MS } from '@politely/fetcher/internal'
import { checkedClient, checkedSchema, DEFAULT_SCHEMA, type PostgresClient, parsedJson } from './client.ts'
import { PostgresReplyError, schemaErrorOf } from './errors.ts'
import { JoinedCalls } from './pace/joined-calls.ts'
import { LOCKED, sqlStateOf, statementFailureOf } from './pace/postgres-transport.ts'

/** Options of a `PostgresStore`. Only `client` is required. */
export interface PostgresStoreOptions {
  /**
   * A client of Postgres 15 or later, such as a `Pool` of `pg`. `migrate` was run in its database.
   * The caller closes it.
   */
  readonly client: PostgresClient
  /**
   * The schema that `migrate` created. Workers that share a store use the same one.
   * @default 'politely'
   */
  readonly schema?: string | undefined
  /**
   * @internal The clock instead of the clock of Postgres, in milliseconds since 1970. Only the
   * owner of the schema may use it. For tests and simulations.
   */
  readonly now?: (() => number) | undefined
}

const KNOWN: Readonly<Record<keyof PostgresStoreOptions, true>> = { client: true, schema: true, now: true }
const EXAMPLE = '{ client: new Pool({ connectionString }) }'
/** Longer texts are not stored. The client's longest texts have about 4 million characters. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
/**
 * A longer text is a statement alone. So the texts of joined calls have 10 million characters at
 * most. Our choice.
 */
const MAX_JOINED_LENGTH = 100_000
/** How long a `RobotsClient` waits for a store with leases. Milliseconds. */
const TIMEOUT_MS = 10_000

const FUNCTIONS = ['robots_get', 'robots_set', 'robots_delete', 'lease', 'release'] as const

/** The fields that a function does not use are absent. */
interface StoreRequest {
  readonly op: (typeof FUNCTIONS)[number]
  readonly origin: string
  readonly text?: string
  readonly keepUntil?: number
  readonly token?: string
  readonly leaseMs?: number
  readonly now?: number | undefined
}

/**
 * Keeps texts in Postgres, for all workers of a fleet. It has leases, so that each robots.txt is
 * fetched by one worker at a time. Calls are joined: a store needs two connections, however many
 * origins its callers ask for at the same time.
 *
 * Texts outlive a crash of Postgres; leases do not. Postgres deletes expired texts when other texts
 * are set. Methods reject with the error of the client, or with a `PostgresSchemaError` before
 * `migrate`. There is no `close`: the caller closes the client.
 */
export class PostgresStore implements Store {
  readonly #calls: JoinedCalls
  readonly #now: (() => number) | undefined

  /** @throws {OptionError} for an invalid option, such as a `client` without `query`. */
  constructor(options: PostgresStoreOptions) {
    assertOptions(options, EXAMPLE, KNOWN)
    const client = checkedClient(options.client)
    const schema = checkedSchema(options.schema ?? DEFAULT_SCHEMA)
    // Texts are cast in SQL, since drivers differ in what they do with the type jsonb.
    const cases = FUNCTIONS.map((name) => `WHEN '${name}' THEN ${schema}.${name}(one)`).join(' ')
    const statement = `SELECT (CASE one ->> 'op' ${cases} END)::text AS reply FROM jsonb_array_elements($1::text::jsonb) WITH ORDINALITY AS u (one, n) ORDER BY n`
    const send = async (requests: readonly StoreRequest[]) => {
      // By origin, so that two statements cannot wait for each other's leases.
      const sorted = requests.toSorted((a, b) => (a.origin < b.origin ? -1 : Number(a.origin > b.origin)))
      const result = await client.query(statement, [JSON.stringify(sorted)])
      if (result?.rows?.length !== sorted.length) throw new PostgresReplyError(result)
      const replies = new Map(sorted.map((request, n) => [request, parsedJson(result.rows[n]?.reply)]))
      return requests.map((request) => replies.get(request))
    }
    this.#calls = new JoinedCalls({
      send: (requests) =>
        send(requests as readonly StoreRequest[]).catch((error: unknown) => {
          throw schemaErrorOf(error, schema) ?? error
        }),
      failureOf: statementFailureOf,
      timeoutMs: TIMEOUT_MS,
    })
    this.#now = callable('now', options.now, 'a function that returns milliseconds')
  }

  async get(origin: string): Promise<string | undefined> {
    const { text } = await this.#call({ op: 'robots_get', origin, now: this.#now?.() })
    return typeof text === 'string' ? unescaped(text) : undefined
  }

  /**
   * Saves a text. A text of more than 16 MiB is not saved, and the text that it would replace is
   * deleted.
   */
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    if (Buffer.byteLength(text) > MAX_TEXT_BYTES) return this.delete(origin)
    await this.#call({
      op: 'robots_set',
      origin,
      text: escaped(text),
      keepUntil: Math.min(Math.max(keepUntil, 0), MAX_TIME_MS),
      now: this.#now?.(),
    })
  }

  async delete(origin: string): Promise<void> {
    await this.#call({ op: 'robots_delete', origin })
  }

  async lease(origin: string, leaseMs: number): Promise<Lease | undefined> {
    const holder = { origin, token: randomUUID() }
    // A client may send a statement again after a lost connection. The same token gets the lease
    // again.
    const { isLeased } = await this.#call({ op: 'lease', ...holder, leaseMs }).catch((error: unknown) => {
      if (sqlStateOf(error) === LOCKED) return { isLeased: false } // another session is about to take it
      throw error
    })
    return isLeased === true
      ? { release: async () => void (await this.#call({ op: 'release', ...holder })) }
      : undefined
  }

  async #call(request: StoreRequest): Promise<Readonly<Record<string, unknown>>> {
    const origin = escaped(request.origin)
    const isAlone = (request.text?.length ?? 0) > MAX_JOINED_LENGTH
    const reply = await this.#calls.call(origin, { ...request, origin }, isAlone)
    if (typeof reply !== 'object' || reply === null) throw new PostgresReplyError(reply)
    return reply as Readonly<Record<string, unknown>>
  }
}

/** A text in Postgres cannot contain NUL, so U+0001 begins an escape: U+0001 0 and U+0001 1. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that are escaped
  return text.toWellFormed().replace(/[\0\x01]/g, (char) => `\x01${char.charCodeAt(0)}`)
}

function unescaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: see `escaped`
  return text.replace(/\x01([01])/g, (_, code) => String.fromCharCode(Number(code)))
}
