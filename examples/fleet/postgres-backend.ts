// A crawl in Postgres, without Redis: BullMQ's Postgres backend has the jobs, a schema of this
// example has the URLs, and the schema of @politely/postgres has the robots.txt files and the pace.
import { setTimeout } from 'node:timers/promises'
import { migrate, type PostgresClient, PostgresPacer, PostgresStore } from '@politely/postgres'
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import { Pool } from 'pg'
import {
  type Backend,
  type BackendOptions,
  type FinishedUrl,
  type FoundLink,
  type FrontierCalls,
  isConnectionLost,
} from './backend.ts'
import { Frontier, type OriginJob, type Progress } from './frontier.ts'

/**
 * `take` locks the row of its origin. `finish` locks the rows of all origins that it adds URLs to,
 * after it has added them: so either `take` finds the new URL, or `finish` finds that the job has
 * ended. All in a fixed order, so that no two calls wait for each other.
 */
const FRONTIER_SQL = `
CREATE TABLE IF NOT EXISTS SCHEMA.origin (
  origin text PRIMARY KEY, generation integer NOT NULL DEFAULT 0, is_active boolean NOT NULL DEFAULT false);
CREATE TABLE IF NOT EXISTS SCHEMA.url (
  hash bytea PRIMARY KEY, origin text NOT NULL, entry text NOT NULL, n bigint GENERATED ALWAYS AS IDENTITY,
  is_taken boolean NOT NULL DEFAULT false, is_done boolean NOT NULL DEFAULT false);
CREATE INDEX IF NOT EXISTS open_urls ON SCHEMA.url (origin, is_taken DESC, n) WHERE NOT is_done;

CREATE OR REPLACE FUNCTION SCHEMA.take(given_origin text, given_generation integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  next SCHEMA.url;
BEGIN
  PERFORM FROM SCHEMA.origin WHERE origin = given_origin AND generation = given_generation FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO next FROM SCHEMA.url WHERE origin = given_origin AND NOT is_done ORDER BY is_taken DESC, n LIMIT 1;
  IF NOT FOUND THEN
    UPDATE SCHEMA.origin SET generation = generation + 1, is_active = false WHERE origin = given_origin;
    RETURN NULL;
  END IF;
  UPDATE SCHEMA.url SET is_taken = true WHERE hash = next.hash AND NOT is_taken;
  UPDATE SCHEMA.origin SET is_active = true WHERE origin = given_origin AND NOT is_active;
  RETURN next.entry;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.finish(given_origin text, given_entry text, origins text[], entries text[], hashes bytea[])
RETURNS TABLE (idle_origin text, idle_generation integer) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO SCHEMA.origin (origin) SELECT DISTINCT unnest(origins) ORDER BY 1 ON CONFLICT DO NOTHING;
  INSERT INTO SCHEMA.url (hash, origin, entry)
    SELECT * FROM unnest(hashes, origins, entries) AS link (hash, origin, entry) ORDER BY hash ON CONFLICT DO NOTHING;
  PERFORM FROM SCHEMA.origin WHERE origin = ANY (origins) ORDER BY origin FOR UPDATE;
  RETURN QUERY SELECT o.origin, o.generation FROM SCHEMA.origin o WHERE o.origin = ANY (origins) AND NOT o.is_active
    AND EXISTS (SELECT FROM SCHEMA.url u WHERE u.origin = o.origin AND NOT u.is_done);
  IF NOT FOUND THEN
    UPDATE SCHEMA.url SET is_done = true WHERE origin = given_origin AND entry = given_entry AND NOT is_done;
  END IF;
END $$;`

class PostgresFrontier implements FrontierCalls {
  readonly #pool: Pool
  readonly #schema: string

  constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#schema = schema
  }

  async take(origin: string, generation: number): Promise<string | undefined> {
    const { rows } = await this.#pool.query(`SELECT ${this.#schema}.take($1, $2) AS entry`, [origin, generation])
    return rows[0]?.entry ?? undefined
  }

  async finish(finished: FinishedUrl | undefined, links: readonly FoundLink[]): Promise<readonly OriginJob[]> {
    const { rows } = await this.#pool.query(`SELECT * FROM ${this.#schema}.finish($1, $2, $3, $4, $5)`, [
      finished?.origin ?? '',
      finished?.entry ?? '',
      links.map(({ origin }) => origin),
      links.map(({ entry }) => entry),
      links.map(({ hash }) => hash),
    ])
    return rows.map((row) => ({ origin: row.idle_origin, generation: row.idle_generation }))
  }

  async progress(): Promise<Progress> {
    const counts = `SELECT count(*) AS found, count(*) FILTER (WHERE is_done) AS done FROM ${this.#schema}.url`
    const [row] = (await this.#pool.query(counts)).rows
    return { found: Number(row.found), done: Number(row.done) }
  }
}

/** Creates the three schemas. Once, before the workers start. */
export async function migratePostgres(url: string, prefix: string): Promise<void> {
  const pool = new Pool({ connectionString: url })
  const { frontier, shared } = schemasOf(prefix)
  await migrate(pool, { schema: shared })
  const client = await pool.connect()
  await runMigrations(client as never) // BullMQ's own, in the schema `bullmq`
  client.release()
  await pool.query(`CREATE SCHEMA ${frontier}`)
  await pool.query(FRONTIER_SQL.replaceAll('SCHEMA', frontier))
  await pool.end()
}

export function connectPostgres({ jobsUrl, prefix }: BackendOptions): Backend {
  const { frontier, shared } = schemasOf(prefix)
  const [jobs, ofStore, ofPacer] = [connect(jobsUrl, 8, BULLMQ), connect(jobsUrl, 2), connect(jobsUrl, 2)]
  const pacer = new PostgresPacer({ client: ofPacer.client, schema: shared })
  const bullmq = withBackend(createPostgresBackend)
  const connection = jobs.pool as never // BullMQ describes the Pool of another version of pg
  const nameOf = (name: string) => `${frontier}-${name}`
  return {
    frontier: new Frontier(new PostgresFrontier(jobs.pool, frontier)),
    store: new PostgresStore({ client: ofStore.client, schema: shared }),
    pacer,
    queue: (name) => opened(jobs.pool, () => new bullmq.Queue(nameOf(name), { connection })) as never,
    worker: async (name, run, options) => {
      const worker = await opened(
        jobs.pool,
        () => new bullmq.Worker(nameOf(name), run as never, { ...options, connection, autorun: false }),
      )
      worker.run().catch((error) => worker.emit('error', error))
      return worker as never
    },
    sent: () => ({
      jobs: jobs.sent(),
      store: ofStore.sent(),
      pacer: pacer.counters.calls,
      pacerTrips: ofPacer.sent(),
    }),
    shared: async () => {
      const tables = ['pace', 'circuit', 'robots', 'lease'].map((table) => `${shared}.${table}`)
      const size = tables.map((table) => `pg_total_relation_size('${table}')`).join(' + ')
      const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ')
      const [row] = (await ofStore.client.query(`SELECT ${size} AS bytes, ${counts} AS keys`)).rows
      return { bytes: Number(row.bytes), keys: Number(row.keys), withoutExpiry: [] } // each row has a column for it
    },
    delete: async () => {
      await ofStore.client.query(`DROP SCHEMA ${frontier}, ${shared} CASCADE`)
    },
    close: async () => {
      pacer.close()
      await Promise.all([jobs, ofStore, ofPacer].map(({ pool }) => pool.end()))
    },
  }
}

/** How long to wait for a server that is away. Milliseconds. */
const RETRY_MS = 250

interface Opening {
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

/**
 * Opens a queue or a worker of BullMQ when Postgres answers. BullMQ 6.7 keeps the error of its first
 * connection, and a worker then asks for jobs in a loop that leaves the process no time for anything
 * else. A worker may start while Postgres restarts, because its predecessor was killed.
 */
async function opened<T extends Opening>(pool: Pool, open: () => T): Promise<T> {
  for (;;) {
    let made: T | undefined
    try {
      await pool.query('SELECT 1')
      made = open()
      // The caller adds its listener later.
      ;(made as unknown as NodeJS.EventEmitter).on('error', () => undefined)
      await made.waitUntilReady()
      return made
    } catch (error) {
      await made?.close()
      if (!isConnectionLost(error as Error)) throw error
      await setTimeout(RETRY_MS)
    }
  }
}

/** BullMQ finds its functions by the search path of a pool that it has not made. */
const BULLMQ = '-c search_path=bullmq'

function schemasOf(prefix: string) {
  const frontier = prefix.replaceAll(/\W/g, '_')
  return { frontier, shared: `${frontier}politely` }
}

/** Connects to Postgres and counts the statements sent. */
function connect(
  connectionString: string,
  max: number,
  options?: string,
): { pool: Pool; client: PostgresClient; sent(): number } {
  const pool = new Pool({ connectionString, max, options })
  pool.on('error', () => undefined) // a lost connection, which is opened again
  let sent = 0
  pool.on('connect', (client) => {
    client.on('error', () => undefined) // BullMQ borrows clients and adds no listener itself
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      sent++
      return query(...args)
    }) as never
  })
  return { pool, client: pool, sent: () => sent }
}
