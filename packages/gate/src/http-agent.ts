// The gate in front of an agent of node:http: for `http.request`, got, and all else that is built on it.
//
// A redirect's hop and a retry are requests of their own there, so each is checked, and waits its turn.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { OptionError } from '@politely/core'
import { askedUrl } from './asked-url.ts'
import { PoliteGate } from './gate.ts'
import { isRedirect } from './redirect.ts'

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
    else void enter(gate, request, options.port, () => inner.addRequest(request, options))
  }
  return Object.create(agent, { addRequest: { value: addRequest } })
}

/** What `http.request` asks of an agent. Node calls it an Agent-like Object; its types do not tell. */
interface AgentLike {
  addRequest(request: ClientRequest, options: { readonly port?: string | number | null }): void
}

async function enter(gate: PoliteGate, request: ClientRequest, port: unknown, send: () => void): Promise<void> {
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
    const pass = await gate.enter(urlOf(request, port), { signal: ending.signal })
    const leave = () => pass.leave()
    request.once('close', leave)
    ending.signal.addEventListener('abort', leave)
    ending.signal.throwIfAborted()
    request.prependOnceListener('response', (response: IncomingMessage) => {
      const { statusCode = 0, headers } = response
      pass.answered({ status: statusCode, headers })
      // Who follows a redirect may not read its body, and a site may never end it.
      if (isRedirect(statusCode, headers.location ?? null)) {
        setImmediate(gate.hold()) // the next hop comes at once: `drain` waits for it
        leave()
      }
      if (request.listenerCount('response') === 0) response.resume() // as Node does where nobody listens
    })
    pass.run(send)
  } catch (error) {
    fail(request, request.destroyed ? null : error) // Node knows itself what it was destroyed with
  }
}

function urlOf({ protocol, host, path }: ClientRequest, port: unknown): string {
  return askedUrl(`${protocol}//${isIPv6(host) ? `[${host}]` : host}:${port}`, path)
}

/** As Node's own agent says that there will be no socket. */
function fail(request: ClientRequest, error: unknown): void {
  const heard = request as unknown as { onSocket(socket: null, error: unknown): void }
  heard.onSocket(null, error)
}
