// The command line of the server. It reads all flags before it loads the server, so that a mistake
// is answered at once.

import { parseArgs } from 'node:util'
import { isPolitelyError } from '@politely/core'
import { describeValue } from '@politely/core/engine'
import { type Arguments, flagHelp, HELP_FLAG, readFlags } from '@politely/core/flags'
import { withoutCredentials } from '@politely/core/internal'
import type { BackendSettings } from './backends.ts'
import { CommandLineError, count, milliseconds, readFile } from './command-line.ts'
import { SERVE_FLAGS } from './flags.ts'
import type { ServeSettings } from './serve.ts'

const FLAGS = [...SERVE_FLAGS, HELP_FLAG]
const HELP = `Grants permits to crawlers in any language: when each of them may request which URL. See docs/serve.md.

${flagHelp(FLAGS)}

politely serve token NAME   prints a token for a caller, and its line for the token file`

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
    const values = readFlags(FLAGS, args, parseArgs)
    if (values.has('help')) {
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
  return error instanceof CommandLineError || isPolitelyError(error) || `${code}`.startsWith('ERR_PARSE_ARGS')
}

async function printToken(
  [name, ...rest]: readonly string[],
  stdout: NodeJS.WritableStream,
  stderr: NodeJS.WritableStream,
): Promise<number> {
  if (name === undefined || rest.length > 0)
    throw new CommandLineError('token needs the name of a caller; write politely serve token NAME')
  const { newToken } = await import('./tenants.ts')
  const { token, line } = newToken(name)
  stderr.write(`The token of ${name}, which is shown once:\n${token}\n`)
  stdout.write(`${line}\n`)
  return 0
}

/** @throws {CommandLineError} for a flag whose value is wrong or missing. */
function settingsOf(values: Arguments): ServeSettings {
  const userAgent = values.get('user-agent')
  if (userAgent === undefined)
    throw new CommandLineError('--user-agent is missing; write one such as "YourBot/1.0 (+https://your.site/bot)"')
  const tokens = values.get('tokens')
  const maxRequests = count(values, 'max-requests')
  return {
    robots: { userAgent, allowAddresses: values.all('allow-address') },
    gate: {
      minDelayMs: milliseconds(values, 'min-delay'),
      maxDelayMs: milliseconds(values, 'max-delay'),
      maxConcurrentPerKey: count(values, 'max-per-site'),
      maxConcurrentPerDomain: maxRequests,
      maxConcurrent: maxRequests,
    },
    server: {
      allowPrivate: values.has('allow-private'),
      hostNames: values.all('host-name'),
      fetch: values.has('fetch'),
      maxLeaseMs: milliseconds(values, 'max-lease', 1),
    },
    backends: backendsOf(values),
    address: addressOf(values),
    tokens: tokens === undefined ? undefined : { file: tokens, text: readFile('--tokens', tokens) },
    keys: values.has('key') ? values.all('key') : undefined,
  }
}

function addressOf(values: Arguments): ServeSettings['address'] {
  const socket = values.get('socket')
  if (socket !== undefined) {
    const other = ['host', 'port', 'tls-cert', 'behind-tls', 'tokens'].find((name) => values.has(name))
    if (other !== undefined) throw new CommandLineError(`--socket and --${other} exclude each other`)
    return { socket }
  }
  const [cert, key] = [values.get('tls-cert'), values.get('tls-key')]
  if ((cert === undefined) !== (key === undefined))
    throw new CommandLineError('--tls-cert and --tls-key belong together')
  const tls =
    cert === undefined || key === undefined
      ? undefined
      : { cert: readFile('--tls-cert', cert), key: readFile('--tls-key', key) }
  return {
    port: count(values, 'port', 0, 65_535) as number, // it has a default
    host: values.get('host'),
    tls,
    behindTls: values.has('behind-tls'),
  }
}

function backendsOf(values: Arguments): BackendSettings {
  const pacer = values.get('pacer')
  if (pacer !== 'local' && pacer !== 'redis' && pacer !== 'postgres')
    throw new CommandLineError(`--pacer: ${describeValue(pacer)} is unknown; write local, redis or postgres`)
  const store = storeOf(values.get('store') ?? (pacer === 'local' ? 'none' : pacer))
  const services = ['redis', 'postgres'] as const
  const isUsed = (service: string) => pacer === service || store === service
  const unused = services.find((service) => values.has(service) && !isUsed(service))
  if (unused !== undefined) throw new CommandLineError(`--${unused} needs --pacer ${unused} or --store ${unused}`)
  if (isUsed('postgres') && !values.has('postgres'))
    throw new CommandLineError(
      '--postgres is missing; write the address of the database, such as postgres://localhost/crawl',
    )
  for (const service of services) checkAddress(service, values.get(service))
  return { pacer, store, urls: { redis: values.get('redis'), postgres: values.get('postgres') } }
}

/**
 * Refuses an address whose password ends too early, or that the client of the service would reject:
 * the errors of the clients show the whole address.
 * @throws {CommandLineError}
 */
function checkAddress(service: 'redis' | 'postgres', address: string | undefined): void {
  if (address === undefined || address.startsWith('/')) return // the path of a UNIX socket
  const url = address.includes('://') ? address : `${service}://${address}`
  const [start = '', rest = ''] = /^([^/]*\/\/[^/?#]*)(.*)/s.exec(url)?.slice(1) ?? []
  const isUrl = URL.canParse(url.replace('@/', '@localhost/')) // Postgres may have no host
  if (isUrl && isEscaped(start) && !rest.includes('@')) return
  throw new CommandLineError(
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
  throw new CommandLineError(
    `--store: ${describeValue(address)} is not a file; write redis with --redis, postgres with --postgres, or a file`,
  )
}
