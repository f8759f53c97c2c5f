// The command line of the server.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isPolitelyError, OptionError } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/internal'
import { LocalPacer, type Pacer, PoliteGate } from '@politely/gate'
import { MAX_START_WITHIN_MS } from './http/schemas.ts'
import { PolitelyServer } from './server.ts'
import { newToken } from './tenants.ts'

const HELP = `Grants permits to crawlers in any language: when each of them may request which URL. See docs/serve.md.

  --user-agent <name>       the User-Agent of your crawlers, such as "YourBot/1.0 (+https://your.site/bot)"
  --port <number>           the TCP port (default: 7420)
  --host <address>          the address to listen at (default: 127.0.0.1); any other than loopback needs --tokens, and --tls-cert or --behind-tls
  --socket <path>           listen at a UNIX socket, which only your user may open, instead of TCP
  --tokens <file>           the tokens of callers, one on each line; read again on SIGHUP
  --tls-cert <file>         the certificate of the server, in PEM
  --tls-key <file>          its private key
  --behind-tls              a proxy in front of the server ends TLS
  --host-name <name>        a name of the server in the Host header; may be repeated
  --key <file>              the key of permits, so that they stay valid after a restart; created if necessary
  --allow-private           callers over TCP may ask for private hosts too
  --allow-address <block>   a private address, or a block such as 10.0.0.0/8, that counts as public; may be repeated
  --min-delay <seconds>     the shortest time between two requests to one site (default: 1)
  --max-delay <seconds>     the longest crawl-delay that counts (default: no limit)
  --max-per-site <number>   how many requests to one site may be under way (default: 1)
  --max-requests <number>   how many requests may be under way in all (default: 10000)
  --store <file>            an SQLite file that keeps robots.txt between runs; needs @politely/sqlite
  --pacer <name>            local, or redis or postgres: several servers share one pace; needs @politely/redis and
                            ioredis, or @politely/postgres and pg
  --redis <url>             the Redis of --pacer redis (default: redis://127.0.0.1:6379)
  --postgres <url>          the database of --pacer postgres, with the schema that migrate has made
  --fetch                   POST /v1/fetch requests pages through the server
  --help                    print this text

politely serve token NAME   prints a token for a caller, and its line for the token file`

const DEFAULT_PORT = 7420
const SECRET_BYTES = 32
/** Room for the robots.txt of about 200,000 sites. */
const MAX_CACHE_BYTES = 256 * 1024 * 1024

/** A mistake on the command line. */
class UsageError extends Error {}

/**
 * Serves permits until SIGTERM or SIGINT.
 * @param args The command line, without `node` and the name of the script: `--user-agent NAME …`.
 * @returns The exit code: 0, or 2 for a mistake on the command line, which is printed on stderr.
 */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    if (args[0] === 'token') return printToken(args.slice(1))
    const values = parsed(args)
    if (values.help) {
      console.log(HELP)
      return 0
    }
    return await serve(values)
  } catch (error) {
    if (!isUsage(error)) throw error
    console.error(`politely serve: ${error.message}\nSee politely serve --help.`)
    return 2
  }
}

function isUsage(error: unknown): error is Error {
  const { code } = Object(error) as { readonly code?: unknown }
  return error instanceof UsageError || isPolitelyError(error) || `${code}`.startsWith('ERR_PARSE_ARGS')
}

function printToken([name, ...rest]: readonly string[]): number {
  if (name === undefined || rest.length > 0)
    throw new UsageError('token needs the name of a caller; write politely serve token NAME')
  const { token, line } = newToken(name)
  console.error(`The token of ${name}, which is shown once:\n${token}`)
  console.log(line)
  return 0
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const list = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      'user-agent': text,
      port: text,
      host: text,
      socket: text,
      tokens: text,
      'tls-cert': text,
      'tls-key': text,
      'behind-tls': flag,
      'host-name': list,
      key: text,
      'allow-private': flag,
      'allow-address': list,
      'min-delay': text,
      'max-delay': text,
      'max-per-site': text,
      'max-requests': text,
      store: text,
      pacer: text,
      redis: text,
      postgres: text,
      fetch: flag,
      help: { type: 'boolean', short: 'h' },
    },
  })
  return values
}

type Values = ReturnType<typeof parsed>

async function serve(values: Values): Promise<number> {
  const userAgent = values['user-agent']
  if (userAgent === undefined)
    throw new UsageError('--user-agent is missing; write one such as "YourBot/1.0 (+https://your.site/bot)"')
  const logger = { warn: log }
  await using store = values.store === undefined ? undefined : await openStore(values.store)
  await using robots = new RobotsClient({
    userAgent,
    allowAddresses: values['allow-address'] ?? [],
    maxCacheBytes: MAX_CACHE_BYTES,
    ...(store && { store }),
    logger,
  } satisfies RobotsClientOptions)
  await using pacing = await openPacer(values)
  await using gate = new PoliteGate({
    robots,
    pacer: pacing.pacer,
    minDelayMs: milliseconds('--min-delay', values['min-delay']) ?? 1_000,
    maxDelayMs: milliseconds('--max-delay', values['max-delay']),
    maxConcurrentPerKey: count('--max-per-site', values['max-per-site']) ?? 1,
    maxConcurrent: count('--max-requests', values['max-requests']) ?? 10_000,
    maxConcurrentPerDomain: count('--max-requests', values['max-requests']) ?? 10_000,
    releaseWarningMs: Number.POSITIVE_INFINITY, // leases do this
    rateLimitHeaders: true, // of reports
  })
  await using server = new PolitelyServer({
    gate,
    tokens: values.tokens === undefined ? undefined : read('--tokens', values.tokens),
    secret: values.key === undefined ? undefined : secretOf(values.key),
    allowPrivate: values['allow-private'],
    hostNames: values['host-name'],
    fetch: values.fetch,
    logger,
  })
  const where = await listen(server, values)
  log(
    `listens at ${where} for ${robots.productTokens.join(', ')}${values.tokens === undefined ? '; programs of this machine need no token' : ''}`,
  )
  const reload = () => {
    if (values.tokens === undefined) return log('there is no --tokens file to read again')
    try {
      server.loadTokens(read('--tokens', values.tokens))
      log(`has read ${values.tokens} again`)
    } catch (error) {
      log(`keeps the old tokens: ${(error as Error).message}`)
    }
  }
  process.on('SIGHUP', reload)
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  log('stops: no permit is granted any more')
  await server.drain()
  process.off('SIGHUP', reload)
  return 0
}

async function listen(server: PolitelyServer, values: Values): Promise<string> {
  const { socket, host, port, 'tls-cert': cert, 'tls-key': key, 'behind-tls': behindTls } = values
  if (socket !== undefined) {
    const other = ['host', 'port', 'tls-cert', 'behind-tls', 'tokens'].find(
      (name) => values[name as keyof Values] !== undefined,
    )
    if (other !== undefined) throw new UsageError(`--socket and --${other} exclude each other`)
    return usable(`--socket ${socket}`, () => server.listen({ socket }))
  }
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--tls-cert and --tls-key belong together')
  const tls =
    cert === undefined || key === undefined
      ? undefined
      : { cert: read('--tls-cert', cert), key: read('--tls-key', key) }
  const where = { port: count('--port', port, 0) ?? DEFAULT_PORT, host, tls, behindTls }
  return usable(`--port ${where.port}`, () => server.listen(where))
}

/** @throws {UsageError} for an address that cannot be used. */
async function usable(what: string, open: () => Promise<string>): Promise<string> {
  try {
    return await open()
  } catch (error) {
    const option = error instanceof OptionError ? error.option : undefined
    if (option === 'tokens')
      throw new UsageError(
        '--tokens is missing: others than programs of this machine can reach that address; write politely serve token NAME >> tokens.txt',
      )
    if (option === 'tls')
      throw new UsageError(
        '--tls-cert and --tls-key are missing, and tokens would be sent in the clear; if a proxy ends TLS, write --behind-tls',
      )
    const { code } = error as NodeJS.ErrnoException
    if (/^ERR_(?:OSSL|SSL|TLS|CRYPTO)/.test(`${code}`))
      throw new UsageError(`--tls-cert and --tls-key: ${(error as Error).message}`)
    if (!/^E[A-Z]+$/.test(`${code}`)) throw error
    throw new UsageError(`${what}: ${(error as Error).message}; another program may use it, so choose another one`)
  }
}

async function openStore(path: string) {
  const { SqliteStore } = await optional('--store', '@politely/sqlite', () => import('@politely/sqlite'))
  return new SqliteStore({ path })
}

type OpenPacer = AsyncDisposable & { readonly pacer: Pacer }

async function openPacer({ pacer = 'local', redis, postgres }: Values): Promise<OpenPacer> {
  if (redis !== undefined && pacer !== 'redis') throw new UsageError('--redis needs --pacer redis')
  if (postgres !== undefined && pacer !== 'postgres') throw new UsageError('--postgres needs --pacer postgres')
  if (pacer === 'postgres') return await openPostgresPacer(postgres)
  if (pacer === 'local') {
    // A server before this one may have granted slots until just now, and their requests may be sent
    // a moment later.
    return {
      pacer: new LocalPacer(undefined, performance.now() + MAX_START_WITHIN_MS),
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  if (pacer !== 'redis')
    throw new UsageError(`--pacer: ${describeValue(pacer)} is unknown; write local, redis or postgres`)
  const { RedisPacer } = await optional('--pacer redis', '@politely/redis', () => import('@politely/redis'))
  const { Redis } = await optional('--pacer redis', 'ioredis', () => import('ioredis'))
  const client = new Redis(redis ?? 'redis://127.0.0.1:6379')
  client.on('error', (error: Error) => log(`Redis: ${error.message}`))
  const shared = new RedisPacer({ client })
  return {
    pacer: shared,
    [Symbol.asyncDispose]: async () => {
      shared.close()
      client.disconnect()
    },
  }
}

async function openPostgresPacer(connectionString: string | undefined): Promise<OpenPacer> {
  if (connectionString === undefined)
    throw new UsageError('--postgres is missing; write the address of the database, such as postgres://localhost/crawl')
  const { PostgresPacer } = await optional('--pacer postgres', '@politely/postgres', () => import('@politely/postgres'))
  const { Pool } = await optional('--pacer postgres', 'pg', () => import('pg'))
  const pool = new Pool({ connectionString, max: 2 })
  pool.on('error', (error) => log(`Postgres: ${error.message}`))
  const pacer = new PostgresPacer({ client: pool })
  return {
    pacer,
    [Symbol.asyncDispose]: async () => {
      pacer.close()
      await pool.end()
    },
  }
}

async function optional<M>(flag: string, name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error
    throw new UsageError(`${flag} needs the package ${name}; write npm install ${name}`)
  }
}

function read(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`)
  }
}

/** Reads the key of permits. Makes one that only this user may read, if the file does not exist. */
function secretOf(path: string): Uint8Array {
  try {
    if (!existsSync(path))
      writeFileSync(path, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new UsageError(`--key: ${(error as Error).message}`)
  }
  if ((statSync(path).mode & 0o077) !== 0) log(`--key: others may read ${path}; write chmod 600 ${path}`)
  const secret = Buffer.from(read('--key', path).trim(), 'base64url')
  if (secret.length >= SECRET_BYTES) return secret
  throw new UsageError(
    `--key: ${path} has ${secret.length} bytes; delete it, and the server makes one of ${SECRET_BYTES}`,
  )
}

function milliseconds(flag: string, seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  const ms = Number(seconds) * 1000
  if (seconds.trim() !== '' && ms >= 0 && ms <= 86_400_000) return ms
  throw new UsageError(`${flag}: ${describeValue(seconds)} is out of range; write seconds from 0 to 86400, such as 2.5`)
}

function count(flag: string, text: string | undefined, min = 1): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= min) return value
  throw new UsageError(`${flag}: ${describeValue(text)} is not a whole number from ${min} on`)
}

function log(text: string): void {
  console.error(`politely serve: ${text}`)
}
