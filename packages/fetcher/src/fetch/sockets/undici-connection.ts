// The interface between a request through undici and its connection.
//
// The client makes its own connections (own-connections.ts), and the caller's dispatcher makes
// others (callers-connections.ts). `UndiciTransport` and `ResponseHandler` treat both alike, and
// ask the connection for what only it knows. Example: a response without Content-Length ends.
// `problemOfBody` of an own connection looks at the socket, and returns the failure `truncated` if
// the connection was reset.
import type { Headers } from '@politely/core/engine'
import type { Failure } from '@politely/core/internal'
import type { Dispatcher } from 'undici'
import type { Reach } from '../../network/network-guard.ts'
import { failure } from '../failure.ts'

/** The connection of one request, and what it shows about the response. */
export interface Connection {
  readonly dispatcher: Dispatcher
  /** Dispatch options in addition to the common ones. */
  readonly options?: Partial<Dispatcher.DispatchOptions>
  /**
   * Returns why a response with this status cannot be used, if so. Called when the head arrives.
   */
  problemOfHead?(status: number): Failure | undefined
  /** Returns why a body that has ended cannot be used, if so. Called at the moment of the end. */
  problemOfBody(received: ReceivedBody): Failure | undefined | Promise<Failure | undefined>
  /** Calls the listener when the connection has received more bytes, if it knows their number. */
  onReceivedOver?(bytes: number, listener: () => void): void
  /** Called when the request has ended. */
  close(): void
}

export interface ReceivedBody {
  readonly status: number
  readonly headers: Headers
  /** The number of bytes that the handler received. */
  readonly size: number
}

export type OpenConnection = (url: URL, reach: Reach) => Connection | Promise<Connection>

/**
 * One shared error. undici would create one for each connection that ends, and their stack traces
 * cost more than reading the file.
 */
export const NOT_NEEDED: Error = new Error('the rest of the response is not needed')

export const FOLLOWS_REDIRECTS: Failure = failure(
  'unusable-transport',
  'the given dispatcher follows redirects itself; give one that returns the 3xx response, such as `new Agent()` without a redirect interceptor or handler',
)
