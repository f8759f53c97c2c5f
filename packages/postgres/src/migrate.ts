// Installs the schema: sql/politely.sql, for any name of the schema.
import { readFile } from 'node:fs/promises'
import { OptionError } from '@politely/core'
import { assertOptions, describeValue } from '@politely/fetcher/internal'
import { checkedClient, checkedSchema, DEFAULT_SCHEMA, type PostgresClient } from './client.ts'
import { PostgresSchemaError } from './errors.ts'

/** Options of `migrate`. All are optional. */
export interface MigrateOptions {
  /**
   * The name of the schema: up to 40 of a-z, 0-9 and _, not a digit or `pg_`
   * first, and no reserved word of SQL.
   * @default 'politely'
   */
  readonly schema?: string | undefined
  /**
   * The role of the workers. It gets the right to call the functions of the schema, and no right on
   * its tables. A role that owns the schema needs no such right.
   * @default none
   */
  readonly grantTo?: string | undefined
}

const KNOWN: Readonly<Record<keyof MigrateOptions, true>> = { schema: true, grantTo: true }
const SQL = new URL('../sql/politely.sql', import.meta.url)
/**
 * The SQLSTATE with which sql/politely.sql refuses a schema: a newer one, or one of another
 * program.
 */
const REFUSED_SCHEMA = 'PL002'

/**
 * Creates the schema of `PostgresStore` and `PostgresPacer`, or brings it up to date. Does the same
 * as `psql -f sql/politely.sql`. Several calls at the same time are one after the other.
 *
 * @param client A client whose role may create schemas in the database. The role owns the schema.
 * @throws {OptionError} for an invalid option.
 * @throws {PostgresSchemaError} if the schema is newer than this package, or belongs to another
 * role or program.
 * @example await migrate(new Pool({ connectionString }), { grantTo: 'crawler' })
 */
export async function migrate(client: PostgresClient, options: MigrateOptions = {}): Promise<void> {
  assertOptions(options, "{ grantTo: 'crawler' }", KNOWN)
  checkedClient(client)
  const schema = checkedSchema(options.schema ?? DEFAULT_SCHEMA)
  const { grantTo } = options
  if (grantTo !== undefined && (typeof grantTo !== 'string' || grantTo === '' || grantTo.includes('\0')))
    throw new OptionError(
      'grantTo',
      `${describeValue(grantTo)} is invalid; expected the name of a role, such as "crawler"`,
    )
  let sql = (await readFile(SQL, 'utf8')).replace(/\bpolitely\b/g, schema)
  if (grantTo !== undefined)
    sql = sql.replace('worker constant text := NULL', `worker constant text := ${literal(grantTo)}`)
  try {
    await client.query(sql)
  } catch (error) {
    if ((error as { code?: unknown }).code !== REFUSED_SCHEMA) throw error
    throw new PostgresSchemaError(schema, (error as Error).message, { cause: error })
  }
}

/** Returns a text as an expression of SQL. Its digits cannot end the `$$` around it. */
function literal(text: string): string {
  return `pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(text).toString('hex')}', 'hex'), 'UTF8')`
}
