// Sees when an HTTP client sends a request: undici, the built-in fetch and `node:http` publish
// it on diagnostics channels.
//
// The listeners run in the async context of the code that makes the request. So they need no
// list of requests.
import { AsyncResource } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

let isObserving = false

/**
 * Calls the listener for every request that this process sends from now on, in the async context
 * of that request. Only the first call has an effect.
 */
export function observeSentRequests(onSent: (path: string) => void): void {
  if (isObserving) return
  isObserving = true
  // `fetch` of Node and of undici, and undici's dispatchers. Published right before the
  // headers are written to the connection.
  subscribe('undici:client:sendHeaders', (message) => onSent((message as { request: { path: string } }).request.path))
  // Published when the caller has ended the request. It may have no connection yet.
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: ClientRequest }
    // Another request may have opened the connection, in its own async context.
    const onConnected = AsyncResource.bind(() => onSent(request.path))
    onceConnected(request, onConnected)
  })
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
