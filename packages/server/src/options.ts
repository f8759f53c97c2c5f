// The options of a server, checked where they enter.
import { OptionError } from '@politely/core'
import type { Logger } from '@politely/fetcher'
import { assertKnown, assertOptions, describeValue, number, withMethods } from '@politely/fetcher/internal'
import { PoliteGate } from '@politely/gate'

/** Options of a `PolitelyServer`. Only `gate` is required. */
export interface PolitelyServerOptions {
  /** The gate that decides. The server does not close it. Use it for nothing else. */
  readonly gate: PoliteGate
  /** The text of a token file: see `loadTokens`. Default: no tokens, so only programs of this machine may call. */
  readonly tokens?: string | undefined
  /**
   * The key that permits and tickets are signed with: at least 32 bytes. With the same key, a server
   * that was restarted knows permits of its predecessor as its own, and several servers know each
   * other's. Of several keys, the first signs, and all are read. Default: a random key.
   */
  readonly secret?: Uint8Array | readonly Uint8Array[] | undefined
  /**
   * Whether callers over TCP may ask for private hosts. Callers over a UNIX socket always may.
   * Default false: every URL has to lead to a public address, also after redirects.
   */
  readonly allowPrivate?: boolean | undefined
  /** Names of the server for the Host header; the names of loopback are always known. Default none. */
  readonly hostNames?: readonly string[] | undefined
  /** Whether `POST /v1/fetch` exists. Default false. */
  readonly fetch?: boolean | undefined
  /** The longest pause that a client may report for a site. Milliseconds; default one hour. */
  readonly maxPauseMs?: number | undefined
  /**
   * How long after its grant a permit counts at most, however often it is renewed. Milliseconds;
   * default 10 minutes.
   */
  readonly maxLeaseMs?: number | undefined
  /**
   * The pacer's name in the log, such as `Redis at 10.0.0.5:6379`. Default: the name of its class.
   */
  readonly pacerName?: string | undefined
  /** Where the server writes about faults, such as `console`. Default: nothing is written. */
  readonly logger?: Logger | undefined
}

/** The names of all options. */
const SERVER_OPTIONS: Readonly<Record<keyof PolitelyServerOptions, true>> = {
  gate: true,
  tokens: true,
  secret: true,
  allowPrivate: true,
  hostNames: true,
  fetch: true,
  maxPauseMs: true,
  pacerName: true,
  maxLeaseMs: true,
  logger: true,
}

/** Where a server listens: at a TCP address, or at a UNIX socket. */
export type ServerAddress = TcpOptions | { readonly socket: string }

/**
 * A TCP address.
 * @inline
 */
export interface TcpOptions {
  /** The port; 0 for any free one. */
  readonly port: number
  /**
   * The address to listen at; default 127.0.0.1. An address that other machines can reach needs tokens,
   * and `tls` or `behindTls`.
   */
  readonly host?: string | undefined
  /** The certificate and its key, in PEM. */
  readonly tls?: { readonly cert: string | Uint8Array; readonly key: string | Uint8Array } | undefined
  /** Whether a proxy in front of the server ends TLS. Default false. */
  readonly behindTls?: boolean | undefined
}

const EXAMPLE = '{ gate: new PoliteGate({ robots }) }'
const MIN_SECRET_BYTES = 32
const HOUR_MS = 3_600_000
const MAX_LEASE_MS = 600_000

/** The options with their defaults. */
export type ServerSettings = ReturnType<typeof checkedOptions>

const NO_LOGGER: Logger = {}

/** @throws {OptionError} for an invalid or unknown option. */
export function checkedOptions(options: PolitelyServerOptions) {
  assertOptions(options, EXAMPLE)
  assertKnown(options, SERVER_OPTIONS, {})
  const {
    gate,
    tokens,
    secret,
    allowPrivate = false,
    hostNames = [],
    fetch = false,
    maxPauseMs = HOUR_MS,
    pacerName,
    maxLeaseMs = MAX_LEASE_MS,
    logger = NO_LOGGER,
  } = options
  if (!(gate instanceof PoliteGate))
    throw new OptionError('gate', `${describeValue(gate)} is not a PoliteGate; write ${EXAMPLE}`)
  if (tokens !== undefined && typeof tokens !== 'string')
    throw new OptionError('tokens', `${describeValue(tokens)} is not the text of a token file`)
  const secrets = secret instanceof Uint8Array ? [secret] : secret
  if (secrets !== undefined && !(Array.isArray(secrets) && secrets.length > 0 && secrets.every(isSecret)))
    throw new OptionError('secret', `is not ${MIN_SECRET_BYTES} bytes or more; write crypto.randomBytes(32)`)
  if (!Array.isArray(hostNames) || hostNames.some((name) => typeof name !== 'string'))
    throw new OptionError(
      'hostNames',
      `${describeValue(hostNames)} is not a list of names; write ['politely.internal']`,
    )
  if (pacerName !== undefined && typeof pacerName !== 'string')
    throw new OptionError('pacerName', `${describeValue(pacerName)} is not a name; write 'Redis at 10.0.0.5:6379'`)
  number('maxPauseMs', maxPauseMs, { min: 0, max: 24 * HOUR_MS })
  number('maxLeaseMs', maxLeaseMs, { min: 1_000, max: 24 * HOUR_MS })
  withMethods('logger', logger, [], 'an object with info or warn, such as console')
  return { gate, tokens, secrets, allowPrivate, hostNames, fetch, maxPauseMs, maxLeaseMs, pacerName, logger }
}

const isSecret = (secret: unknown) => secret instanceof Uint8Array && secret.length >= MIN_SECRET_BYTES
