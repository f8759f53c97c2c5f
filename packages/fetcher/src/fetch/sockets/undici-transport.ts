// Fetches robots.txt with undici: sends one request, and returns one reply.
//
// Each request opens a connection (undici-connection.ts). undici passes the response to a
// `ResponseHandler` (undici-response.ts), which settles the reply. Then the transport closes the
// connection. Example, with a body that is longer than the size limit:
//
//   open ──> dispatch ──> head 200 ──> chunks up to the limit ──> reply, body cut ──> close

import type { Reply } from '@politely/core/internal'
import type { Dispatcher } from 'undici'
import type { ClientSettings } from '../../options/options.ts'
import { ACCEPT_ENCODING, maxReceivedBytes } from '../body.ts'
import type { Deadline } from '../deadline.ts'
import { replyOf } from '../failure.ts'
import { ACCEPT, HTTP_CACHE_HEADERS, type RobotsTransport, type TransportRequest } from '../robots-transport.ts'
import type { OpenConnection } from './undici-connection.ts'
import { ResponseHandler } from './undici-response.ts'

export class UndiciTransport implements RobotsTransport {
  readonly #settings: ClientSettings
  readonly #open: OpenConnection

  constructor(settings: ClientSettings, open: OpenConnection) {
    this.#settings = settings
    this.#open = open
  }

  async send({ url, conditions, reach }: TransportRequest, deadline: Deadline): Promise<Reply> {
    const target = new URL(url)
    const connection = await this.#open(target, reach)
    if (deadline.isOver) {
      connection.close()
      return replyOf(new Error(deadline.explanation), 'request', deadline)
    }
    const handler = new ResponseHandler(this.#settings, connection, deadline)
    // undici observes a signal only once it has a connection, and the site decides how long that
    // takes.
    const unlisten = deadline.onOver(() => handler.fail(new Error(deadline.explanation)))
    const maxBytes = maxReceivedBytes(this.#settings.maxBodyBytes)
    connection.onReceivedOver?.(maxBytes, () => handler.endOverLimit(maxBytes))
    const { headers, ...options } = connection.options ?? {}
    const init: Dispatcher.DispatchOptions = {
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'GET',
      // No cookies, no credentials, no Referer.
      headers: {
        'user-agent': this.#settings.userAgent,
        accept: ACCEPT,
        'accept-encoding': ACCEPT_ENCODING,
        ...headers,
        ...HTTP_CACHE_HEADERS[this.#settings.httpCaches],
        ...conditions,
      },
      headersTimeout: 0, // the deadline is the only timeout
      bodyTimeout: 0,
      ...options,
    }
    try {
      connection.dispatcher.dispatch(init, handler)
    } catch (error) {
      handler.fail(error)
    }
    try {
      return await handler.reply
    } finally {
      unlisten()
      connection.close()
    }
  }
}
