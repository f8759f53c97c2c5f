// Calls of the script of RedisPacer and of the SQL functions of PostgresPacer, as JSON in and out:
// pace-calls.json. A port to another database or language runs them too.
import { readFileSync } from 'node:fs'

export interface PaceCallCase {
  readonly name: string
  /**
   * Calls of one key, in an empty database. With the first call an epoch begins. `now` is the time
   * of the call, in milliseconds since 1970. `circuit` is called for the origin of the same name, and
   * replies with the time of the server.
   */
  readonly calls: readonly {
    /** The name of the SQL function. */
    readonly function: string
    readonly request: { readonly now?: number; readonly [field: string]: unknown }
    readonly reply: Readonly<Record<string, unknown>>
  }[]
}

export const paceCallCases: readonly PaceCallCase[] = JSON.parse(
  readFileSync(new URL('pace-calls.json', import.meta.url), 'utf8'),
)
