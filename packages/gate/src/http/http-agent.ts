// politeHttpAgent: puts a gate in front of an agent of node:http, for `http.request` and for
// libraries built on it, such as got.
//
// These libraries make a new request for each redirect hop and each retry. So each of them enters
// the gate.
import { errorMonitor } from 'node:events'
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import { OptionError } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import { describeValue, redirectChain } from '@politely/fetcher/internal'
import { Exchange, type Sender, senderOf } from '../adapter/exchange.ts'
import { assertGate } from '../adapter/resolve-gate.ts'
import { assertOwnHost, type Target, targetOf } from '../adapter/target.ts'
import { warnOfOtherName } from '../adapter/user-agent.ts'
import type { PoliteGate } from '../gate.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import { onceConnected } from '../permit/sent-requests.ts'
import { isRedirect } from '../redirects/redirect.ts'
import { InvalidRequestError } from '../report/errors.ts'

/**
 * Returns an agent like the given one, whose requests enter the gate first:
 * `http.request(url, { agent })`. A request that the gate rejects emits the gate's error. The
 * permit is released when the response ends or the request is destroyed. The permit of a redirect
 * is released when its headers arrive. Supports HTTP/1.1. CONNECT requests open a tunnel and skip
 * the gate.
 *
 * Set properties on the given agent, not on the returned one. Leave its `maxSockets` unlimited: a
 * request that waits for a socket has started for the gate, so the delays between requests would no
 * longer hold.
 * @throws {OptionError} if `agent` is not an agent, `gate` is not a gate, or its RobotsClient has
 * the option `sign`: this agent cannot sign.
 */
export function politeHttpAgent<A extends Agent>(agent: A, gate: PoliteGate): A {
  const inner = agent as unknown as AgentLike
  if (typeof inner?.addRequest !== 'function')
    throw new OptionError(
      'agent',
      `${describeValue(agent)} is not an agent of node:http or node:https; write politeHttpAgent(new http.Agent(), gate)`,
    )
  assertGate(gate)
  const sender = senderOf(gate)
  if (sender.signer !== undefined)
    throw new OptionError(
      'gate',
      'its RobotsClient has the option `sign`, and the headers of a request of node:http are complete before it may start; write politely(fetch, { gate }) or politeAgent({ gate }), or a RobotsClient without `sign`',
    )
  const addRequest: AgentLike['addRequest'] = (request, options) => {
    lockProperty(request, 'method', () => 'the request has reached its agent')
    if (request.method === 'CONNECT') inner.addRequest(request, options)
    else
      void enterAndSend(
        sender,
        request,
        () => lockedUrl(inner, request, options),
        options as SourceOptions,
        () => inner.addRequest(request, options),
      )
  }
  return Object.create(agent, { addRequest: { value: addRequest } })
}

/**
 * The methods of an agent that `http.request` calls. Node's documentation says "Agent-like Object";
 * its types omit them.
 */
interface AgentLike {
  addRequest(request: ClientRequest, options: RequestOptions): void
  /** They override the options of a request. */
  readonly options?: RequestOptions
}

async function enterAndSend(
  sender: Sender,
  request: ClientRequest,
  lockUrl: () => string,
  { redirectedFrom }: SourceOptions,
  send: () => void,
): Promise<void> {
  const { gate, client } = sender
  if (request.hasHeader('user-agent')) warnOfOtherName(gate, request.getHeader('user-agent'))
  else if (!request.headersSent) request.setHeader('user-agent', gate.robots.userAgent)
  // A request without a socket emits no event when it is destroyed.
  const ending = new AbortController()
  const { signal } = ending
  const destroy = request.destroy.bind(request)
  request.destroy = (error) => {
    ending.abort(error)
    return destroy(error)
  }
  // Node has already destroyed a request whose signal was aborted.
  if (request.destroyed) return fail(request, null)
  try {
    const url = lockUrl()
    // The RobotsClient's own request for robots.txt needs no permit.
    if (client.isOwnRequest(url)) return send()
    const exchange = new Exchange({ url, signal, redirectedFrom: redirectChain(redirectedFrom) }, sender)
    await exchange.enter()
    let failure: unknown
    request.once(errorMonitor, (error) => {
      failure = error
    })
    const end = () => exchange.fail(failure ?? signal.reason)
    request.once('close', end)
    signal.addEventListener('abort', end)
    signal.throwIfAborted()
    request.prependOnceListener('response', (response: IncomingMessage) => {
      const { statusCode: status = 0, headers } = response
      // `headers` has only the first of several Retry-After headers.
      const retryAfter = headers['retry-after'] === undefined ? undefined : response.headersDistinct['retry-after']
      exchange.responded({ status, headers: retryAfter ? { ...headers, 'retry-after': retryAfter } : headers })
      // Destroyed without an error: the response may have no listener for one, and then Node would
      // end the process.
      if (isRedirect(status, headers.location ?? null)) exchange.redirected('turn', () => response.destroy())
      if (request.listenerCount('response') === 0) response.resume() // as Node does without a listener
    })
    request.prependOnceListener('upgrade', ({ statusCode: status = 0, headers }: IncomingMessage, socket: Duplex) => {
      exchange.end({ status, headers }) // the upgraded socket carries no more requests
      if (request.listenerCount('upgrade') === 0) socket.destroy() // as Node does without a listener
    })
    request.once('socket', () => {
      exchange.hasSocket()
      onceConnected(request, () => exchange.connected())
    })
    exchange.run(send)
  } catch (error) {
    fail(request, request.destroyed ? null : error) // Node has stored the error that the request was destroyed with
  }
}

/**
 * Returns the URL of a request, and keeps its path and Host header from being changed after that.
 * @throws {InvalidRequestError}
 */
function lockedUrl(inner: AgentLike, request: ClientRequest, options: RequestOptions): string {
  const { socketPath = options.socketPath, host = options.host, port = options.port } = inner.options ?? {}
  if (socketPath)
    throw new InvalidRequestError(
      `\`socketPath\` is ${describeValue(socketPath)}, and a socket has no robots.txt; send this request through an agent without a gate`,
    )
  const name = host ?? request.host
  const target = targetOf(`${request.protocol}//${isIPv6(name) ? `[${name}]` : name}:${port}`, request.path)
  assertOwnHost(target.url, hostsOf(request, options.headers), target.origin)
  if (request.path !== target.path) {
    if (request.headersSent)
      throw new InvalidRequestError(
        `path ${describeValue(request.path)} is not in normal form, and can no longer be changed; write ${JSON.stringify(withoutCredentials(target.path))}`,
      )
    request.path = target.path
  }
  lock(request, target)
  return target.url
}

/**
 * Returns the values of all Host headers. If the headers are an array, `getHeader` does not find
 * them.
 */
function hostsOf(request: ClientRequest, headers: RequestOptions['headers']): readonly unknown[] {
  const byName = request.getHeader('host')
  const listed = Array.isArray(headers) ? headerPairs(headers).filter(([name]) => isHost(name)) : []
  return [byName, ...listed.map(([, value]) => value)].flat().filter((value) => value !== undefined)
}

/**
 * Returns the pairs of an array of headers, as Node reads it: the first item decides whether the
 * array holds pairs, or names and values in turn. In both forms a value may be an array of values.
 */
function headerPairs(headers: readonly unknown[]): readonly (readonly [name: unknown, value: unknown])[] {
  if (Array.isArray(headers[0])) return (headers as readonly unknown[][]).map((pair) => [pair[0], pair[1]])
  return headers.flatMap((name, n) => (n % 2 === 0 ? [[name, headers[n + 1]]] : []))
}

/**
 * Keeps the caller from changing the path and the Host header between the check and the moment at
 * which Node sends them.
 */
function lock(request: ClientRequest, target: Target): void {
  const { setHeader, appendHeader } = request
  lockProperty(request, 'path', () => `robots.txt was checked for ${withoutCredentials(target.url)}`)
  request.setHeader = (name, value) => {
    if (isHost(name)) assertOwnHost(target.url, [value].flat(), target.origin)
    return setHeader.call(request, name, value)
  }
  request.appendHeader = (name, value) => {
    if (isHost(name)) assertOwnHost(target.url, [request.getHeader('host') ?? [], value].flat(), target.origin)
    return appendHeader.call(request, name, value)
  }
}

/**
 * Makes a change of the property throw. Node checks `path` and `method` for line breaks only before
 * the request reaches its agent.
 */
function lockProperty(request: ClientRequest, name: 'path' | 'method', reason: () => string): void {
  const value = request[name]
  Object.defineProperty(request, name, {
    configurable: true,
    enumerable: true,
    get: () => value,
    set: (changed) => {
      if (changed === value) return
      throw new InvalidRequestError(
        `${name} cannot be changed to ${describeValue(changed)}: ${reason()}. Make another request`,
      )
    },
  })
}

function isHost(name: unknown): boolean {
  return String(name).toLowerCase() === 'host'
}

/** Fails a request in the way in which Node's own agent reports that it has no socket. */
function fail(request: ClientRequest, error: unknown): void {
  const withOnSocket = request as unknown as { onSocket(socket: null, error: unknown): void }
  withOnSocket.onSocket(null, error)
}
