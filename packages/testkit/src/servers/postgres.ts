// A real PostgreSQL server for tests, and a PgBouncer in front of it: on loopback, in a temporary
// folder, ended with the process that started it. Neither runs as root, so then they run as nobody.
import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findPgBouncer, findPostgres, isMissing, type Part } from '../parts.ts'
import { onFreePort, type Supervised, supervise } from './supervised.ts'

export interface PostgresServerOptions {
  /** Settings of the server, such as `{ max_connections: 10 }`. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** `fast` ends all sessions and writes a checkpoint. `immediate` is the same as a crash. */
export type PostgresStop = 'fast' | 'immediate'

export interface PostgresServer {
  /** The address of the database `postgres`, for its superuser. */
  readonly url: string
  readonly host: string
  /** Stays the same over restarts. */
  readonly port: number
  /** The process id of the server; another one after a restart. */
  readonly pid: number
  /** Ends the server. Its data remains, for `restart`. */
  stop(how: PostgresStop): Promise<void>
  /** Ends the server, unless it was stopped, and starts it again on the same port. */
  restart(how: PostgresStop): Promise<void>
  /** Runs SQL with psql. Returns the rows, with `|` between the columns. */
  psql(sql: string): Promise<string>
  /** Runs a program of PostgreSQL, such as `pg_dump`, and returns its output. */
  program(name: string, args: readonly string[]): Promise<string>
  /** Starts a copy that follows this server. */
  replica(options?: PostgresServerOptions): Promise<PostgresReplica>
  /** Starts a PgBouncer in transaction mode in front of this server. */
  bouncer(options?: PgBouncerOptions): Promise<PgBouncer>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PostgresReplica extends PostgresServer {
  /** Ends the recovery: from then on, the replica is a server that can be written to. */
  promote(): Promise<void>
}

export interface PgBouncerOptions {
  /** Roles that may log in, apart from the superuser. */
  readonly roles?: readonly string[]
  /** Connections to the server. Default 4. */
  readonly poolSize?: number
}

export interface PgBouncer {
  readonly url: string
  readonly port: number
  [Symbol.asyncDispose](): Promise<void>
}

/** A server that tests share with others: they use only this schema. */
export interface SharedPostgres {
  readonly url: string
  readonly schema: string
}

/**
 * Returns whether the program for `startPostgres` is missing, to skip its tests:
 * `describe.skipIf(noPostgresServer())`.
 */
export function noPostgresServer(): boolean {
  return isMissing('postgres', findPostgres())
}

/** Like `noPostgresServer`, for tests that use `usePostgres`. */
export function noPostgres(): boolean {
  return !process.env.DATABASE_URL && noPostgresServer()
}

/** Like `noPostgresServer`, for tests with a PgBouncer. */
export function noPgBouncer(): boolean {
  return noPostgresServer() || isMissing('pgbouncer', findPgBouncer())
}

/** The server of this process. It ends with the process. */
let sharedServer: Promise<PostgresServer> | undefined

/**
 * Returns the server of DATABASE_URL if it is set, otherwise one that all tests of this process
 * share. For tests that neither restart nor configure the server.
 */
export async function usePostgres(): Promise<SharedPostgres> {
  const schema = `politely_test_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  const { DATABASE_URL } = process.env
  if (DATABASE_URL) return { url: DATABASE_URL, schema }
  sharedServer ??= startPostgres()
  const { url } = await sharedServer
  return { url, schema }
}

const HOST = '127.0.0.1'
const SUPERUSER = 'politely'
const START_TIMEOUT_MS = 60_000

/** The data of a test need not survive a crash of the machine. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  dynamic_shared_memory_type: 'mmap',
  fsync: 'off',
  max_connections: 100,
}

/** Starts a server with an empty database on a free port of 127.0.0.1. */
export async function startPostgres({ settings }: PostgresServerOptions = {}): Promise<PostgresServer> {
  return await startIn(async (data) => await runUnprivileged('cp', ['-R', `${await emptyData()}/.`, data]), settings)
}

/** What `initdb` makes in a second: once in each process of a test run, which deletes it in the end. */
let initialized: Promise<string> | undefined

function emptyData(): Promise<string> {
  initialized ??= (async () => {
    const data = newDataFolder(newFolder('politely-initdb-'))
    const options = ['--no-sync', '--auth=trust', '--encoding=UTF8', '--locale=C', `--username=${SUPERUSER}`]
    await runUnprivileged(programPath('initdb'), [...options, '--pgdata', data])
    return data
  })()
  return initialized
}

/** Creates the folder for the data of a server, which belongs to the unprivileged user. */
function newDataFolder(folder: string): string {
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  const { uid, gid } = unprivileged() ?? {}
  if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid)
  return data
}

/** Starts a server in a new folder. `init` creates its data. */
async function startIn(
  init: (data: string) => Promise<void>,
  settings: PostgresServerOptions['settings'],
): Promise<PostgresServer> {
  const folder = newFolder('politely-postgres-')
  const first = await (async () => {
    try {
      await init(newDataFolder(folder))
      return await onFreePort(async (port) => ({ port, server: await run(folder, port, settings) }))
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  })()
  const { port } = first
  let current = first.server
  const followers: AsyncDisposable[] = []
  const url = `postgres://${SUPERUSER}@${HOST}:${port}/postgres`
  const stop = (how: PostgresStop) => current.end({ signal: SIGNALS[how], keepFolder: true })
  const program = (name: string, args: readonly string[]) => runProgram([programPath(name), ...args])
  const psql = async (sql: string) => (await program('psql', [...PSQL, '-c', sql, url])).trimEnd()
  return {
    url,
    host: HOST,
    port,
    get pid() {
      return current.pid
    },
    stop,
    restart: async (how) => {
      await stop(how)
      current = await run(folder, port, settings)
    },
    psql,
    program,
    replica: async (options = {}) => {
      const copy = (data: string) =>
        runUnprivileged(programPath('pg_basebackup'), ['--checkpoint=fast', '--no-sync', '-R', '-D', data, '-d', url])
      const replica = await startIn(copy, { ...settings, ...options.settings })
      followers.push(replica)
      const promote = async () => void (await replica.psql('SELECT pg_promote()'))
      // An object spread would read `pid` once.
      return Object.assign(replica, { promote })
    },
    bouncer: async (options = {}) => {
      const bouncer = await startBouncer(port, options)
      followers.push(bouncer)
      return bouncer
    },
    [Symbol.asyncDispose]: async () => {
      for (const follower of followers) await follower[Symbol.asyncDispose]()
      await current.end({ signal: 'QUIT', keepFolder: false })
      rmSync(folder, { recursive: true, force: true }) // after `stop`, there is no process to delete it
    },
  }
}

const SIGNALS: Readonly<Record<PostgresStop, string>> = { fast: 'INT', immediate: 'QUIT' }

const PSQL = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1']

/** Runs the server of a folder until it accepts connections. If that fails, the folder remains. */
async function run(folder: string, port: number, settings: PostgresServerOptions['settings']): Promise<Supervised> {
  const given = Object.entries({ ...SETTINGS, ...settings, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const command = [programPath('postgres'), '-D', join(folder, 'data'), ...given]
  return await startSupervised(folder, command, part().env, 'QUIT', /ready to accept/)
}

async function startBouncer(serverPort: number, { roles = [], poolSize = 4 }: PgBouncerOptions): Promise<PgBouncer> {
  const bouncer = findPgBouncer()
  if (bouncer === undefined) throw new Error('no PgBouncer was found; get one with: npm run parts pgbouncer')
  const folder = newFolder('politely-pgbouncer-')
  const config = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  writeFileSync(users, [SUPERUSER, ...roles].map((role) => `"${role}" ""\n`).join(''))
  try {
    const { port, server } = await onFreePort(async (port) => {
      const lines = [
        '[databases]',
        `* = host=${HOST} port=${serverPort}`,
        '[pgbouncer]',
        `listen_addr = ${HOST}`,
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = trust',
        `auth_file = ${users}`,
        'pool_mode = transaction',
        `default_pool_size = ${poolSize}`,
        'max_client_conn = 1000',
        'server_login_retry = 1',
      ]
      writeFileSync(config, `${lines.join('\n')}\n`)
      const command = [bouncer.command, config]
      return { port, server: await startSupervised(folder, command, bouncer.env, 'KILL', /process up/) }
    })
    return {
      url: `postgres://${SUPERUSER}@${HOST}:${port}/postgres`,
      port,
      [Symbol.asyncDispose]: () => server.end({ keepFolder: false }),
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Runs a server as another user than root, until its log says whether it has started. */
async function startSupervised(
  folder: string,
  command: readonly string[],
  env: Part['env'],
  signal: string,
  isRunning: RegExp,
): Promise<Supervised> {
  const log = join(folder, 'server.log')
  writeFileSync(log, '')
  const server = await supervise({ folder, command: [...asUnprivileged(), ...command], env, signal })
  const deadline = performance.now() + START_TIMEOUT_MS
  let output = ''
  // Lines of other processes are about clients that come too early.
  const hasFailed = new RegExp(`\\[${server.pid}\\] (FATAL|PANIC)`)
  while (!isRunning.test(output) && !hasFailed.test(output) && performance.now() < deadline) {
    await setTimeout(10)
    output = readFileSync(log, 'utf8')
  }
  if (isRunning.test(output)) return server
  await server.end({ keepFolder: true })
  throw new Error(`${command[0]} did not start: ${readFileSync(log, 'utf8').trim()}`)
}

/** Creates a folder that the unprivileged user can enter. */
function newFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(folder, 0o755)
  return folder
}

let nobody: { readonly uid: number; readonly gid: number } | undefined

/** Returns the user that runs the servers if this process is root, otherwise undefined. */
function unprivileged(): typeof nobody {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  nobody ??= { uid: idOf('-u'), gid: idOf('-g') }
  return nobody
}

function asUnprivileged(): readonly string[] {
  const user = unprivileged()
  return user === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--']
}

function part(): Part {
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('no PostgreSQL was found; get one with: npm run parts postgres')
  return postgres
}

function programPath(name: string): string {
  return join(dirname(part().command), name)
}

async function runUnprivileged(command: string, args: readonly string[]): Promise<void> {
  await runProgram([...asUnprivileged(), command, ...args])
}

async function runProgram([command = '', ...args]: readonly string[]): Promise<string> {
  const options = { env: { ...process.env, ...part().env }, maxBuffer: 2 ** 28, cwd: '/' }
  return (await promisify(execFile)(command, args, options)).stdout
}
