// Sees when an HTTP client sends a request, and which headers undici's responses have. undici, the
// built-in fetch and `node:http` publish this on diagnostics channels.
//
// The listeners for requests run in the async context of the code that makes the request, so they
// need no list of requests. A response has no such context.
import { AsyncResource } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

/** What is done with the requests of this process. */
export interface RequestListeners {
  /** Called when a request is sent, in its async context. */
  readonly onSent: (path: string) => void
  /** Called when undici creates a request, in its async context. */
  readonly onCreated: (request: object) => void
  /** Called with the lines of X-Robots-Tag, for a response in which fetch may have joined them. */
  readonly onRobotsTags: (request: object, lines: readonly string[]) => void
  /** Called when undici has received the headers of a response, as undici reports them. */
  readonly onHeaders: (request: object, status: number, headers: unknown) => void
  /** Called when a request of `node:http` has been written, in its async context. */
  readonly onHttpRequest: (request: ClientRequest) => void
}

const NAME = 'x-robots-tag'
/** The code of its first letter, without the bits that tell upper case from lower case. */
const FIRST = NAME.charCodeAt(0) % 32
const NO_LINES: readonly string[] = []

let isObserving = false

/** Observes every request that this process sends from now on. Only the first call has an effect. */
export function observeSentRequests(listeners: RequestListeners): void {
  if (isObserving) return
  isObserving = true
  const { onSent, onCreated, onRobotsTags, onHeaders, onHttpRequest } = listeners
  subscribe('undici:request:create', (message) => onCreated((message as { request: object }).request))
  subscribe('undici:request:headers', (message) => {
    const { request, response } = message as {
      request: object
      response?: { readonly statusCode?: number; readonly headers?: unknown }
    }
    const headers = response?.headers
    const lines = robotsTagsIn(headers)
    if (lines.length > 1 || lines[0]?.includes(',')) onRobotsTags(request, lines)
    onHeaders(request, response?.statusCode ?? 0, headers)
  })
  // `fetch` of Node and of undici, and undici's dispatchers. Published right before the
  // headers are written to the connection.
  subscribe('undici:client:sendHeaders', (message) => onSent((message as { request: { path: string } }).request.path))
  // Published when the caller has ended the request. It may have no connection yet.
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: ClientRequest }
    onHttpRequest(request)
    // Another request may have opened the connection, in its own async context.
    const context = new AsyncResource('politely.request') // `AsyncResource.bind` takes ten times as long
    onceConnected(request, () => context.runInAsyncScope(onSent, undefined, request.path))
  })
}

/**
 * Returns the lines of X-Robots-Tag. undici reports the headers of HTTP/1.1 as a list of Buffers:
 * name, value, name, value. It reports the headers of HTTP/2 as an object, with joined lines.
 */
function robotsTagsIn(headers: unknown): readonly string[] {
  if (!Array.isArray(headers)) return NO_LINES
  let lines: string[] | undefined
  for (let i = 0; i < headers.length - 1; i += 2) {
    const name: unknown = headers[i]
    const value: unknown = headers[i + 1]
    if (!Buffer.isBuffer(name) || name.length !== NAME.length || (name[0] as number) % 32 !== FIRST) continue
    if (!Buffer.isBuffer(value) || name.toString('latin1').toLowerCase() !== NAME) continue
    lines ??= []
    lines.push(value.toString('latin1').trim())
  }
  return lines ?? NO_LINES
}

/**
 * Calls the listener when the request has a connection, and Node writes its headers: at once, if
 * it has one already.
 */
export function onceConnected(request: ClientRequest, listener: () => void): void {
  const onSocket = (socket: Socket & { readonly secureConnecting?: boolean }) => {
    // Node's TLSSocket has `secureConnecting`, which is not documented.
    const isTls = socket.secureConnecting
    if (isTls || socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', listener)
    else listener()
  }
  if (request.socket) onSocket(request.socket)
  else request.once('socket', onSocket)
}
