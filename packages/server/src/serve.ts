// Runs the server with the settings of its command line.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { OptionError } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { PoliteGate, type PoliteGateOptions } from '@politely/gate'
import { type BackendSettings, openBackends } from './backends.ts'
import { CommandLineError, readFile } from './command-line.ts'
import type { PolitelyServerOptions, ServerAddress } from './options.ts'
import { PolitelyServer } from './server.ts'

/** What the command line says, checked. */
export interface ServeSettings {
  readonly robots: RobotsClientOptions
  readonly gate: Omit<PoliteGateOptions, 'robots'>
  readonly server: Omit<PolitelyServerOptions, 'gate'>
  readonly backends: BackendSettings
  readonly address: ServerAddress
  /** The token file, and what it contains. */
  readonly tokens: { readonly file: string; readonly text: string } | undefined
  /** The files of the keys of permits. */
  readonly keys: readonly string[] | undefined
}

type Log = (text: string) => void

const SECRET_BYTES = 32
/** Room for the robots.txt of about 200,000 sites. */
const MAX_CACHE_BYTES = 256 * 1024 * 1024

/**
 * Serves permits until SIGTERM or SIGINT.
 * @throws {CommandLineError} for what only the server can find, such as a port that is in use, or a
 * database without the schema.
 */
export async function serve(settings: ServeSettings, log: Log): Promise<void> {
  const { tokens, keys } = settings
  const logger = { warn: log }
  await using backends = await openBackends(settings.backends)
  const { pacer, pacerName, store } = backends
  await using robots = new RobotsClient({ ...settings.robots, maxCacheBytes: MAX_CACHE_BYTES, store, logger })
  const hasContact = await backends.answer()
  await using gate = new PoliteGate({
    ...settings.gate,
    robots,
    pacer,
    releaseWarningMs: Number.POSITIVE_INFINITY, // leases do this
    rateLimitHeaders: true, // of reports
  })
  const secret = keys?.map((path, n) => secretOf(path, n === 0, log))
  await using server = new PolitelyServer({ ...settings.server, gate, tokens: tokens?.text, secret, pacerName, logger })
  const where = await listen(server, settings.address)
  const withoutTokens = tokens === undefined ? '; programs of this machine need no token' : ''
  log(`listens at ${where} for ${robots.productTokens.join(', ')}${withoutTokens}`)
  const reload = () => {
    if (tokens === undefined) return log('there is no --tokens file to read again')
    try {
      server.loadTokens(readFile('--tokens', tokens.file))
      log(`has read ${tokens.file} again`)
    } catch (error) {
      log(`keeps the old tokens: ${(error as Error).message}`)
    }
  }
  process.on('SIGHUP', reload)
  const stopping = new AbortController()
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  // Once the backend is there, it may turn out that its password is wrong.
  if (!hasContact) await Promise.race([stopped, backends.contact(stopping.signal)])
  await stopped
  stopping.abort()
  log('stops: no permit is granted any more')
  await server.drain()
  process.off('SIGHUP', reload)
}

/** What to say if the server lacks an option for its address. */
const MISSING: Readonly<Record<string, string>> = {
  tokens:
    '--tokens is missing: others than programs of this machine can reach that address; write politely serve token NAME >> tokens.txt',
  tls: '--tls-cert and --tls-key are missing, and tokens would be sent in the clear; if a proxy ends TLS, write --behind-tls',
}

/** @throws {CommandLineError} for an address that cannot be used. */
async function listen(server: PolitelyServer, address: ServerAddress): Promise<string> {
  try {
    return await server.listen(address)
  } catch (error) {
    const missing = error instanceof OptionError ? MISSING[error.option] : undefined
    if (missing !== undefined) throw new CommandLineError(missing)
    const { code, message } = error as NodeJS.ErrnoException
    if (/^ERR_(?:OSSL|SSL|TLS|CRYPTO)/.test(`${code}`))
      throw new CommandLineError(`--tls-cert and --tls-key: ${message}`)
    if (!/^E[A-Z]+$/.test(`${code}`)) throw error
    const what = 'socket' in address ? `--socket ${address.socket}` : `--port ${address.port}`
    throw new CommandLineError(`${what}: ${message}; another program may use it, so choose another one`)
  }
}

/**
 * Reads a key of permits.
 * @param creates Whether to make one that only this user may read, if the file does not exist.
 */
function secretOf(path: string, creates: boolean, log: Log): Uint8Array {
  try {
    if (creates && !existsSync(path))
      writeFileSync(path, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CommandLineError(`--key: ${(error as Error).message}`)
  }
  const secret = Buffer.from(readFile('--key', path).trim(), 'base64url')
  // Its group may: in Kubernetes, a Secret belongs to the group of the pod.
  if ((statSync(path).mode & 0o007) !== 0) log(`--key: others may read ${path}; write chmod 600 ${path}`)
  if (secret.length >= SECRET_BYTES) return secret
  throw new CommandLineError(
    `--key: ${path} has ${secret.length} bytes; delete it, and the server makes one of ${SECRET_BYTES}`,
  )
}
