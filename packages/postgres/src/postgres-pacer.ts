// PostgresPacer: keeps one pace for all workers of a fleet, in Postgres. Functions of a schema
// decide when each request may start (sql/politely.sql). FleetPacer in @politely/gate turns the
// gate's calls into calls of these functions, which pace/ makes.
import { assertOptions } from '@politely/fetcher/internal'
import { DEFAULT_TIMEOUT_MS, FleetPacer } from '@politely/fleet'
import { checkedClient, checkedSchema, DEFAULT_SCHEMA, type PostgresClient } from './client.ts'
import { postgresTransport } from './pace/postgres-transport.ts'

/** Options of a `PostgresPacer`. Only `client` is required. */
export interface PostgresPacerOptions {
  /**
   * A `Pool` or `Client` of `pg`, a `PGlite`, or an adapter. An adapter has a method `query`. The
   * caller closes it. The pacer makes at most two calls at a time.
   */
  readonly client: PostgresClient
  /**
   * The schema that `migrate` has made. Workers that share a pace use the same one.
   * @default 'politely'
   */
  readonly schema?: string | undefined
  /**
   * What happens while Postgres is away. `wait`: requests wait until it is back, with the reason
   * `pacer-failure`. `local`: the worker paces its requests itself, with delays that are
   * `fleetSize` times as long.
   * @default 'wait'
   */
  readonly onFailure?: 'wait' | 'local' | undefined
  /**
   * How many `PostgresPacer` objects share the pace in all processes, at most. Required for
   * `onFailure: 'local'`.
   * @default none
   */
  readonly fleetSize?: number | undefined
  /**
   * How long to wait for a reply of Postgres. A longer wait is a failure. After a loss of data, and
   * with a new schema, the first slot of each key comes later by this time; of a domain or address,
   * by three times as much. All workers use the same value. Milliseconds.
   * @default 2000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Counts the requests under way of all workers against `maxConcurrentPerKey`, by leases: a request
   * counts until its end, or until its worker has been dead for so long. A worker renews the leases
   * of longer requests. All workers that count use it; a worker without it is not counted. Needs
   * version 2 of the schema. Milliseconds.
   * @default none; each worker counts its own requests
   */
  readonly leaseMs?: number | undefined
  /**
   * @internal The clock of the pace instead of the clock of Postgres, in milliseconds since 1970.
   * It must not advance during a call. Only the owner of the schema may set it. For tests and
   * simulations.
   */
  readonly now?: (() => number) | undefined
}

const KNOWN: Readonly<Record<keyof PostgresPacerOptions, true>> = {
  client: true,
  schema: true,
  onFailure: true,
  fleetSize: true,
  timeoutMs: true,
  leaseMs: true,
  now: true,
}

const EXAMPLE = '{ client: new Pool() }'

/**
 * Keeps one pace for all workers of a fleet, in Postgres and by its clock. Pass it to the gates of
 * all workers: `new PoliteGate({ robots, pacer })`. Run `migrate` once before. Calls that come
 * together are one statement, and at most two statements are under way.
 *
 * If Postgres loses the paces, each key counts as just visited by the slowest worker, so no delay
 * is shorter than asked. Every restart, failover and restore counts as a loss. The caller closes
 * the client, after `close`.
 *
 * Without the schema, the first calls reject with a `PostgresSchemaError`. If it disappears later,
 * the pacer does what `onFailure` says until it is back.
 */
export class PostgresPacer extends FleetPacer {
  /**
   * @throws {OptionError} for an invalid option, such as a `client` without `query`, or
   * `onFailure: 'local'` without `fleetSize`.
   */
  constructor(options: PostgresPacerOptions) {
    assertOptions(options, EXAMPLE, KNOWN)
    const { client, schema = DEFAULT_SCHEMA, timeoutMs = DEFAULT_TIMEOUT_MS, leaseMs } = options
    super(postgresTransport(checkedClient(client), checkedSchema(schema), timeoutMs, leaseMs !== undefined), options)
  }
}
