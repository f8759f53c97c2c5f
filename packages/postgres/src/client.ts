// The client of Postgres, as the user brings it.
import { OptionError } from '@politely/core'
import { describeValue, withMethods } from '@politely/fetcher/internal'

/**
 * A `Pool` or `Client` of `pg`, a `PGlite`, or an adapter of a few lines for another library.
 *
 * This package sends one unnamed statement in a call, and needs no session: a pooler in transaction
 * mode, such as PgBouncer, may stand between. Parameters are texts, numbers and lists of texts. A
 * JSON value of a row may arrive parsed or as text.
 */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: clients declare parameters and rows differently
  query(text: string, values?: any[]): Promise<{ readonly rows: readonly any[] }>
}

/** The SQLSTATE with which the functions of the schema reject a request that they cannot read. */
export const BAD_REQUEST = 'PL001'

export const DEFAULT_SCHEMA = 'politely'

/** @throws {OptionError} for an object without `query`. */
export function checkedClient(client: PostgresClient): PostgresClient {
  const checked = withMethods('client', client, ['query'], 'a client such as new Pool() of pg')
  if (checked !== undefined) return checked
  throw new OptionError('client', 'is missing; expected a client such as new Pool() of pg')
}

/** Words that may not stand without quotes in SQL or PL/pgSQL, and the schema of the standard. */
const RESERVED = new Set(
  `all analyse analyze and any array as asc asymmetric authorization begin between bigint binary bit
    boolean both by case cast char character check coalesce collate collation column concurrently
    constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user dec decimal declare default deferrable desc distinct do else end
    except execute exists extract false fetch float for foreach foreign freeze from full grant greatest
    group grouping having if ilike in information_schema initially inner inout int integer intersect
    interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg
    json_query json_scalar json_serialize json_table json_value lateral leading least left like limit
    localtime localtimestamp loop merge_action national natural nchar none normalize not notnull null
    nullif numeric offset on only or order out outer overlaps overlay placing position precision primary
    real references returning right row select session_user setof similar smallint some strict substring
    symmetric system_user table tablesample then time timestamp to trailing treat trim true union unique
    user using values varchar variadic verbose when where while window with xmlattributes xmlconcat
    xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`.split(/\s+/),
)

/**
 * Returns the name of a schema. It may stand in a statement without quotes.
 *
 * @throws {OptionError} for any other text.
 */
export function checkedSchema(schema: unknown): string {
  if (typeof schema === 'string' && /^(?!pg_)[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    if (!RESERVED.has(schema)) return schema
    throw new OptionError(
      'schema',
      `"${schema}" is a reserved word; expected another name, such as "${DEFAULT_SCHEMA}"`,
    )
  }
  throw new OptionError(
    'schema',
    `${describeValue(schema)} is invalid; expected up to 40 of a-z, 0-9 and _, not a digit or pg_ first, such as "${DEFAULT_SCHEMA}"`,
  )
}

/** Returns a JSON value of a row, which the client may have parsed. */
export function parsedJson(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value
}
