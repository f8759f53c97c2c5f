// Real servers, pools and pacers. They end with their tests.
import { type PostgresServer, type PostgresServerOptions, startPostgres } from '@politely/testkit/servers/postgres'
import { Pool } from 'pg'
import { onTestFinished } from 'vitest'
import { migrate, PostgresPacer, type PostgresPacerOptions } from '../src/index.ts'

/** Starts a server with the default schema. */
export async function startServer(options?: PostgresServerOptions): Promise<PostgresServer> {
  const server = await startPostgres(options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  await migrate(openPool(server.url))
  return server
}

export function openPool(
  connectionString: string,
  options: { readonly max?: number; readonly options?: string; readonly connectionTimeoutMillis?: number } = {},
): Pool {
  const pool = new Pool({ connectionString, max: 2, connectionTimeoutMillis: 30_000, ...options })
  pool.on('error', () => undefined) // a lost connection: without a listener, it would end the process
  onTestFinished(() => pool.end())
  return pool
}

export function pacerOn(url: string, options: Partial<PostgresPacerOptions> = {}): PostgresPacer {
  // A pacer that gives up early is about a server that doesn't reply: its pool gives up early too.
  const { timeoutMs = 30_000 } = options
  const client = openPool(url, { connectionTimeoutMillis: Math.max(2_000, timeoutMs) })
  const pacer = new PostgresPacer({ client, ...options, timeoutMs })
  onTestFinished(() => pacer.close())
  return pacer
}

/**
 * Makes the server know these keys for long: the epoch is 1970, so that first visits need not wait.
 */
export async function knowLongAgo(url: string, keys: readonly string[], schema?: string): Promise<void> {
  const pacer = pacerOn(url, { schema, now: () => 0 })
  await Promise.all(keys.map((key) => pacer.cancel(key, '1')))
  if (pacer.counters.failures > 0) throw new Error(`Postgres failed at ${url}`)
}
