// The gate in front of an agent of node:http: for `http.request`, got, and all else that is built on it.
//
// A redirect's hop and a retry are requests of their own there, so each is checked, and waits its turn.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { isIPv6 } from 'node:net'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/option-checks'
import { InvalidRequestError } from './errors.ts'
import { PoliteGate } from './gate.ts'
import { isRedirect } from './redirect.ts'
import { assertOwnHost, originOf, type Target, targetOf } from './target.ts'

/**
 * The same agent, but what is sent through it is allowed by robots.txt and waits its turn: `http.request(url, { agent })`. A request that may
 * not leave fails with what the gate throws. Its place is given back when its response ends, or when it is destroyed; a redirect's, with its
 * headers. HTTP/1.1; a tunnel (CONNECT) passes through. What you set, set on the agent that you give, and leave its `maxSockets` alone: a request
 * that waits for a socket has left already.
 *
 * @throws {OptionError} for what is no agent, or no gate.
 */
export function politeHttpAgent<A extends Agent>(agent: A, gate: PoliteGate): A {
  const inner = agent as unknown as AgentLike
  if (typeof inner?.addRequest !== 'function')
    throw new OptionError('agent', 'must be an agent of node:http or node:https, such as http.globalAgent')
  if (!(gate instanceof PoliteGate))
    throw new OptionError('gate', 'must be a PoliteGate; write new PoliteGate({ robots })')
  const addRequest: AgentLike['addRequest'] = (request, options) => {
    if (request.method === 'CONNECT') inner.addRequest(request, options)
    else
      void enter(
        gate,
        request,
        () => lockedUrl(inner, request, options),
        () => inner.addRequest(request, options),
      )
  }
  return Object.create(agent, { addRequest: { value: addRequest } })
}

/** What `http.request` asks of an agent. Node calls it an Agent-like Object; its types do not tell. */
interface AgentLike {
  addRequest(request: ClientRequest, options: RequestOptions): void
  /** They override those of a request. */
  readonly options?: RequestOptions
}

async function enter(gate: PoliteGate, request: ClientRequest, lockUrl: () => string, send: () => void): Promise<void> {
  if (!request.headersSent && !request.hasHeader('user-agent')) {
    request.setHeader('user-agent', gate.robots.userAgent)
  }
  // One that has no socket yet tells nobody that it was destroyed.
  const ending = new AbortController()
  const destroy = request.destroy.bind(request)
  request.destroy = (error) => {
    ending.abort(error)
    return destroy(error)
  }
  // Node has destroyed one whose signal was aborted before.
  if (request.destroyed) return fail(request, null)
  try {
    const url = lockUrl()
    // The client's own request for robots.txt needs no verdict and no turn.
    if (gate.robots.isOwnRequest(url)) return send()
    const pass = await gate.enter(url, { signal: ending.signal })
    const leave = () => pass.release()
    request.once('close', leave)
    ending.signal.addEventListener('abort', leave)
    ending.signal.throwIfAborted()
    request.prependOnceListener('response', (response: IncomingMessage) => {
      const { statusCode = 0, headers } = response
      pass.report({ status: statusCode, headers })
      // Who follows a redirect may not read its body, and a site may never end it.
      if (isRedirect(statusCode, headers.location ?? null)) {
        setImmediate(gate.hold()) // the next hop comes at once: `drain` waits for it
        leave()
        // Without an error: a request that has its response may have no listener for one, and Node would end the process.
        response.once(
          'close',
          gate.openRedirect(url, () => response.destroy()),
        )
      }
      if (request.listenerCount('response') === 0) response.resume() // as Node does where nobody listens
    })
    request.once('socket', () => pass.sent())
    pass.run(send)
  } catch (error) {
    fail(request, request.destroyed ? null : error) // Node knows itself what it was destroyed with
  }
}

/**
 * The URL that a request asks for. From now on its path, which is the judged one, and its Host header cannot be changed.
 * @throws {InvalidRequestError}
 */
function lockedUrl(inner: AgentLike, request: ClientRequest, options: RequestOptions): string {
  const { socketPath = options.socketPath, host = options.host, port = options.port } = inner.options ?? {}
  if (socketPath)
    throw new InvalidRequestError(
      `socketPath ${describeValue(socketPath)} decides who is asked, and has no robots.txt; send this request through an agent without a gate`,
    )
  const name = host ?? request.host
  const target = targetOf(originOf(`${request.protocol}//${isIPv6(name) ? `[${name}]` : name}:${port}`), request.path)
  assertOwnHost(target.url, hostsOf(request, options.headers), target.origin)
  if (request.path !== target.path) {
    if (request.headersSent)
      throw new InvalidRequestError(
        `path ${describeValue(request.path)} would be sent as it is, and stands for ${describeValue(target.path)}; write that`,
      )
    request.path = target.path
  }
  lock(request, target)
  return target.url
}

/** With an array of headers, Node does not know them by name. */
function hostsOf(request: ClientRequest, headers: RequestOptions['headers']): readonly unknown[] {
  const own = request.getHeader('host')
  const listed: unknown[] = Array.isArray(headers) ? headers.flat() : []
  const named = listed.filter((_, n) => n % 2 === 1 && String(listed[n - 1]).toLowerCase() === 'host')
  return [own, ...named].flat().filter((value) => value !== undefined)
}

/** Keeps the caller from changing path and Host between the verdict and the moment at which Node sends the headers. */
function lock(request: ClientRequest, target: Target): void {
  const { setHeader, appendHeader } = request
  const refused = (path: unknown) =>
    new InvalidRequestError(
      `path cannot become ${describeValue(path)} once ${target.url} was judged; make another request`,
    )
  Object.defineProperty(request, 'path', {
    configurable: true,
    enumerable: true,
    get: () => target.path,
    set: (path) => {
      if (path !== target.path) throw refused(path)
    },
  })
  request.setHeader = (name, value) => {
    if (isHost(name)) assertOwnHost(target.url, [value].flat(), target.origin)
    return setHeader.call(request, name, value)
  }
  request.appendHeader = (name, value) => {
    if (isHost(name)) assertOwnHost(target.url, [request.getHeader('host') ?? [], value].flat(), target.origin)
    return appendHeader.call(request, name, value)
  }
}

function isHost(name: unknown): boolean {
  return String(name).toLowerCase() === 'host'
}

/** As Node's own agent says that there will be no socket. */
function fail(request: ClientRequest, error: unknown): void {
  const heard = request as unknown as { onSocket(socket: null, error: unknown): void }
  heard.onSocket(null, error)
}
