// The options of `politeAgent` for undici's Agent. The agent makes its connections itself, since it
// checks each address, and speaks HTTP/1.1. So undici's options for connections go to the connector,
// and an option that could have no effect is an error.
import { OptionError } from '@politely/core'
import { assertKnown, describeValue, type GuardedConnectorOptions } from '@politely/fetcher/internal'
import type { Agent, buildConnector } from 'undici'

/** Options for undici's Agent that would have no effect, or would send requests without slots. */
type Unsupported =
  | 'allowH2'
  | 'connect'
  | 'connections'
  | 'connectionWindowSize'
  | 'factory'
  | 'h2Options'
  | 'idleTimeout'
  | 'initialWindowSize'
  | 'keepAlive'
  | 'maxConcurrentStreams'
  | 'maxKeepAliveTimeout'
  | 'pingInterval'
  | 'requestTimeout'
  | 'socketPath'
  | 'socketTimeout'
  | 'tls'

/** Options for undici's Agent, apart from those that `politeAgent` cannot obey. */
export interface AgentSettings extends Omit<Agent.Options, Unsupported> {
  /** Options for the connections, such as `{ ca }` or `{ rejectUnauthorized: false }`. No function. */
  readonly connect?: buildConnector.BuildOptions & { readonly lookup?: undefined; readonly allowH2?: false }
  /** The agent speaks HTTP/1.1. */
  readonly allowH2?: false
}

const KNOWN: Readonly<Record<keyof AgentSettings, true>> = {
  allowH2: true,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: true,
  bodyTimeout: true,
  clientTtl: true,
  connect: true,
  connectTimeout: true,
  eventSource: true,
  headersTimeout: true,
  keepAliveMaxTimeout: true,
  keepAliveTimeout: true,
  keepAliveTimeoutThreshold: true,
  localAddress: true,
  maxCachedSessions: true,
  maxHeaderSize: true,
  maxOrigins: true,
  maxRequestsPerClient: true,
  maxResponseSize: true,
  pipelining: true,
  strictContentLength: true,
  useMilo: true,
  webSocket: true,
}

const COMPOSE = 'agent.compose(politeInterceptor(gate))'
const HTTP2 = `HTTP/2 is not supported, because its requests share a connection, and undici sends them again when that closes; for HTTP/2, compose your own agent: ${COMPOSE}`
const GUARDED = `the agent makes its connections itself, since it checks each address; to make them elsewhere, compose your own agent: ${COMPOSE}`
const LOOKUP = 'write { lookup } next to `agent`; it is used for robots.txt too'

const ELSEWHERE: Readonly<Record<Exclude<Unsupported, keyof AgentSettings>, string>> = {
  connections: 'requests would wait for a connection after their slots; write { maxConcurrentPerKey } next to `agent`',
  connectionWindowSize: HTTP2,
  factory: GUARDED,
  h2Options: HTTP2,
  idleTimeout: 'is not an option of undici 8; write keepAliveTimeout',
  initialWindowSize: HTTP2,
  keepAlive: 'is not an option of undici 8: connections are kept; pipelining: 0 closes them',
  maxConcurrentStreams: HTTP2,
  maxKeepAliveTimeout: 'is not an option of undici 8; write keepAliveMaxTimeout',
  pingInterval: HTTP2,
  requestTimeout: 'is not an option of undici 8; write headersTimeout and bodyTimeout',
  socketPath: GUARDED,
  socketTimeout: 'is not an option of undici 8; write headersTimeout and bodyTimeout',
  tls: 'is not an option of undici 8; write connect, such as connect: { ca }',
}

/** The options of `connect` that people write: of undici, of node:net and of node:tls. */
const CONNECT = `ALPNCallback allowPartialTrustChain autoSelectFamily autoSelectFamilyAttemptTimeout ca cert
  checkServerIdentity ciphers clientCertEngine crl dhparam ecdhCurve enableTrace family highWaterMark hints
  honorCipherOrder keepAlive keepAliveInitialDelay key localPort maxCachedSessions maxVersion minDHSize minVersion
  noDelay passphrase pfx privateKeyEngine privateKeyIdentifier pskCallback rejectUnauthorized requestOCSP secureContext
  secureOptions secureProtocol servername session sessionIdContext sessionTimeout sigalgs ticketKeys timeout
  typeOfService`.split(/\s+/)

/** Options of `connect`, and of `politeAgent`, that people write in `agent`. `timeout` could be several. */
const OF_CONNECT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    CONNECT.filter((name) => name !== 'timeout').map((name) => [name, `write connect: { ${name} }`]),
  ),
  lookup: LOOKUP,
  maxRedirections: 'write maxRedirections next to `agent`',
}

const CONNECT_ELSEWHERE: Readonly<Record<string, string>> = {
  allowH2: HTTP2,
  ALPNProtocols: HTTP2,
  host: GUARDED,
  hostname: GUARDED,
  localAddress: 'write localAddress next to `connect`',
  lookup: LOOKUP,
  path: GUARDED,
  port: GUARDED,
  preferH2: HTTP2,
  socket: GUARDED,
  socketPath: GUARDED,
}

/**
 * Returns the options for undici's Agent, and for the connector of its connections.
 * @throws {OptionError} for an unknown option, and for an option with which undici would not send
 * each request at the time of its slot, or to a checked address.
 */
export function agentSettingsOf(agent: AgentSettings): {
  readonly agent: Agent.Options
  readonly connect: GuardedConnectorOptions
} {
  if (typeof agent !== 'object' || agent === null || Array.isArray(agent) || 'dispatch' in agent)
    throw new OptionError(
      'agent',
      `${describeValue(agent)} is not an object of options for undici's Agent; write { agent: { headersTimeout: 5000 } }`,
    )
  assertNames('agent', agent, Object.keys(KNOWN), { ...OF_CONNECT, ...ELSEWHERE })
  const { allowH2, connect = {}, pipelining = 1, connectTimeout, maxCachedSessions, ...others } = agent
  const { autoSelectFamily, autoSelectFamilyAttemptTimeout, ...rest } = others
  // undici takes null for no value.
  if ((allowH2 ?? false) !== false) throw new OptionError('agent.allowH2', HTTP2)
  if (pipelining !== 0 && pipelining !== 1)
    throw new OptionError(
      'agent.pipelining',
      `${describeValue(pipelining)} is not supported, because undici sends pipelined requests again when a connection closes; write 0 or 1`,
    )
  if (typeof connect === 'function')
    throw new OptionError('agent.connect', `a function is not supported: ${GUARDED}; or write options, such as { ca }`)
  if (typeof connect !== 'object' || connect === null || Array.isArray(connect))
    throw new OptionError('agent.connect', `${describeValue(connect)} is not an object of options; write { ca }`)
  assertNames('agent.connect', connect, CONNECT, CONNECT_ELSEWHERE)
  const family = autoSelectFamily === undefined ? {} : { autoSelectFamily, autoSelectFamilyAttemptTimeout }
  return {
    agent: { ...rest, pipelining },
    connect: {
      ...(connectTimeout !== undefined && { timeout: connectTimeout }),
      ...(maxCachedSessions !== undefined && { maxCachedSessions }),
      ...(family as object),
      ...connect,
      allowH2: false,
    },
  }
}

/** @param path The path of the object in the options, such as `agent`. */
function assertNames(
  path: string,
  options: object,
  known: readonly string[],
  elsewhere: Readonly<Record<string, string>>,
): void {
  const full = <V>(entries: readonly (readonly [string, V])[]) =>
    Object.fromEntries(entries.map(([name, value]) => [`${path}.${name}`, value]))
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null)
  assertKnown(full(given), full(known.map((name) => [name, true] as const)), full(Object.entries(elsewhere)))
}
