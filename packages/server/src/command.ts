// The command line of the server. It reads all flags before it loads the server, so that a mistake
// is answered at once.
import { parseArgs } from 'node:util'
import { isPolitelyError } from '@politely/core'
import { describeValue } from '@politely/core/engine'
import { withoutCredentials } from '@politely/core/internal'
import type { BackendSettings } from './backends.ts'
import { count, milliseconds, readFile, UsageError } from './command-line.ts'
import type { ServeSettings } from './serve.ts'

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
  --key <file>              the key of permits, so that they stay valid after a restart and at other servers with the
                            same key; created if necessary. May be repeated: the first signs, all are read
  --max-lease <seconds>     how long after its grant a permit counts at most, however often it is renewed (default: 600)
  --allow-private           callers over TCP may ask for private hosts too
  --allow-address <block>   a private address, or a block such as 10.0.0.0/8, that counts as public; may be repeated
  --min-delay <seconds>     the shortest time between two requests to one site (default: 1)
  --max-delay <seconds>     the longest crawl-delay that counts (default: no limit)
  --max-per-site <number>   how many requests to one site may be under way (default: 1)
  --max-requests <number>   how many requests may be under way in all (default: 10000)
  --pacer <name>            local, or redis or postgres: several servers share one pace; needs @politely/redis and
                            ioredis, or @politely/postgres and pg
  --store <name>            where robots.txt is kept: redis or postgres, shared by several servers; none; or an SQLite
                            file, which needs @politely/sqlite (default: where --pacer keeps the pace)
  --redis <url>             the Redis of --pacer and --store (default: redis://127.0.0.1:6379)
  --postgres <url>          the database of --pacer and --store, with the schema that migrate has made
  --fetch                   POST /v1/fetch requests pages through the server
  --help                    print this text

politely serve token NAME   prints a token for a caller, and its line for the token file`

const DEFAULT_PORT = 7420
const DEFAULT_REDIS = 'redis://127.0.0.1:6379'

/**
 * Serves permits until SIGTERM or SIGINT.
 * @param args The command line, without `node` and the name of the script: `--user-agent NAME …`.
 * @param streams Where the command prints. Default: the streams of this process.
 * @returns The exit code: 0, or 2 for a mistake on the command line, which is printed on stderr.
 */
export async function runCommand(
  args: readonly string[],
  { stdout, stderr }: { readonly stdout: NodeJS.WritableStream; readonly stderr: NodeJS.WritableStream } = process,
): Promise<number> {
  try {
    if (args[0] === 'token') return await printToken(args.slice(1), stdout, stderr)
    const values = parsed(args)
    if (values.help) {
      stdout.write(`${HELP}\n`)
      return 0
    }
    const settings = settingsOf(values)
    const { serve } = await import('./serve.ts')
    await serve(settings, (text) => void stderr.write(`politely serve: ${text}\n`))
    return 0
  } catch (error) {
    if (!isUsage(error)) throw error
    stderr.write(`politely serve: ${error.message}\nSee politely serve --help.\n`)
    return 2
  }
}

function isUsage(error: unknown): error is Error {
  const { code } = Object(error) as { readonly code?: unknown }
  return error instanceof UsageError || isPolitelyError(error) || `${code}`.startsWith('ERR_PARSE_ARGS')
}

async function printToken(
  [name, ...rest]: readonly string[],
  stdout: NodeJS.WritableStream,
  stderr: NodeJS.WritableStream,
): Promise<number> {
  if (name === undefined || rest.length > 0)
    throw new UsageError('token needs the name of a caller; write politely serve token NAME')
  const { newToken } = await import('./tenants.ts')
  const { token, line } = newToken(name)
  stderr.write(`The token of ${name}, which is shown once:\n${token}\n`)
  stdout.write(`${line}\n`)
  return 0
}

const text = { type: 'string' } as const
const list = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const

const parsed = (args: readonly string[]) =>
  parseArgs({
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
      key: list,
      'max-lease': text,
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
  }).values

type Values = ReturnType<typeof parsed>

/** @throws {UsageError} for a flag whose value is wrong or missing. */
function settingsOf(values: Values): ServeSettings {
  const userAgent = values['user-agent']
  if (userAgent === undefined)
    throw new UsageError('--user-agent is missing; write one such as "YourBot/1.0 (+https://your.site/bot)"')
  const { tokens, key: keys, fetch } = values
  const maxLeaseMs = milliseconds('--max-lease', values['max-lease'], 1)
  const maxRequests = count('--max-requests', values['max-requests']) ?? 10_000
  return {
    robots: { userAgent, allowAddresses: values['allow-address'] ?? [] },
    gate: {
      minDelayMs: milliseconds('--min-delay', values['min-delay']) ?? 1_000,
      maxDelayMs: milliseconds('--max-delay', values['max-delay']),
      maxConcurrentPerKey: count('--max-per-site', values['max-per-site']) ?? 1,
      maxConcurrentPerDomain: maxRequests,
      maxConcurrent: maxRequests,
    },
    server: { allowPrivate: values['allow-private'], hostNames: values['host-name'], fetch, maxLeaseMs },
    backends: backendsOf(values),
    address: addressOf(values),
    tokens: tokens === undefined ? undefined : { file: tokens, text: readFile('--tokens', tokens) },
    keys,
  }
}

function addressOf(values: Values): ServeSettings['address'] {
  const { socket, host, port, 'tls-cert': cert, 'tls-key': key, 'behind-tls': behindTls } = values
  if (socket !== undefined) {
    const others = ['host', 'port', 'tls-cert', 'behind-tls', 'tokens'] as const
    const other = others.find((name) => values[name] !== undefined)
    if (other !== undefined) throw new UsageError(`--socket and --${other} exclude each other`)
    return { socket }
  }
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--tls-cert and --tls-key belong together')
  const tls =
    cert === undefined || key === undefined
      ? undefined
      : { cert: readFile('--tls-cert', cert), key: readFile('--tls-key', key) }
  return { port: count('--port', port, 0, 65_535) ?? DEFAULT_PORT, host, tls, behindTls }
}

function backendsOf({ pacer = 'local', store, redis, postgres }: Values): BackendSettings {
  if (pacer !== 'local' && pacer !== 'redis' && pacer !== 'postgres')
    throw new UsageError(`--pacer: ${describeValue(pacer)} is unknown; write local, redis or postgres`)
  const kept = storeOf(store ?? (pacer === 'local' ? 'none' : pacer))
  const uses = (service: string) => pacer === service || kept === service
  if (redis !== undefined && !uses('redis')) throw new UsageError('--redis needs --pacer redis or --store redis')
  if (postgres !== undefined && !uses('postgres'))
    throw new UsageError('--postgres needs --pacer postgres or --store postgres')
  if (postgres === undefined && uses('postgres'))
    throw new UsageError('--postgres is missing; write the address of the database, such as postgres://localhost/crawl')
  if (redis !== undefined) checkAddress('redis', redis)
  if (postgres !== undefined) checkAddress('postgres', postgres)
  return { pacer, store: kept, urls: { redis: redis ?? DEFAULT_REDIS, postgres } }
}

/**
 * Refuses an address whose password ends too early, or that the client of the service would reject:
 * the errors of the clients show the whole address.
 * @throws {UsageError}
 */
function checkAddress(service: 'redis' | 'postgres', address: string): void {
  if (address.startsWith('/')) return // the path of a UNIX socket
  const url = address.includes('://') ? address : `${service}://${address}`
  const [start = '', rest = ''] = /^([^/]*\/\/[^/?#]*)(.*)/s.exec(url)?.slice(1) ?? []
  const isUrl = URL.canParse(url.replace('@/', '@localhost/')) // Postgres may have no host
  if (isUrl && isEscaped(start) && !rest.includes('@')) return
  throw new UsageError(
    `--${service}: the address is invalid; write one such as ${service}://user:password@localhost, with / ? # @ and % in the password as %2F %3F %23 %40 and %25`,
  )
}

function isEscaped(text: string): boolean {
  try {
    return decodeURIComponent(text) !== ''
  } catch {
    return false
  }
}

/** The names of services are reserved: a file with such a name is `./redis`. */
function storeOf(store: string): BackendSettings['store'] {
  if (store === 'none' || store === 'redis' || store === 'postgres') return store
  if (store !== '' && !/^[a-z]+:\/\//i.test(store)) return { file: store }
  const address = withoutCredentials(store)
  throw new UsageError(
    `--store: ${describeValue(address)} is not a file; write redis with --redis, postgres with --postgres, or a file`,
  )
}
