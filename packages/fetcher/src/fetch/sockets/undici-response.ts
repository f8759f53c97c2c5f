// Receives one response for robots.txt from undici, chunk by chunk, and settles the reply.
//
// The first of these events settles the reply. The handler ignores all later events.
//
//   event                                      reply
//   an error, or the end of the deadline       a failure
//   more bytes received than the limit         the failure `too-large`
//   a head whose body is not wanted            status and headers, such as of a redirect
//   a body that is longer than `maxBodyBytes`  the body, cut after a complete line
//   the end of the body                        the body, or a failure if the connection names one
//
// Decoders (body.ts) read a coded body. Then the decoded bytes count towards `maxBodyBytes`, and
// the reply is settled when the decoders have ended.

import type { Headers } from '@politely/core/engine'
import type { Failure, Reply } from '@politely/core/internal'
import type { Dispatcher } from 'undici'
import { BodyBuffer, bodyWithin } from '../../base/byte-buffer.ts'
import type { ClientSettings } from '../../options/options.ts'
import { CodedBody, readBody } from '../body.ts'
import type { Deadline } from '../deadline.ts'
import { failure, replyOf } from '../failure.ts'
import { isCoded } from '../framing.ts'
import { isBodyWanted } from '../robots-transport.ts'
import { type Connection, FOLLOWS_REDIRECTS, NOT_NEEDED } from './undici-connection.ts'

/**
 * Receives a response from undici, chunk by chunk. An uncoded body, the common case, is collected
 * without a stream: creating one costs more than reading the file.
 */
export class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>
  readonly #resolve: (reply: Reply) => void
  readonly #settings: ClientSettings
  readonly #connection: Connection
  readonly #deadline: Deadline
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  /** Status and headers of the final response, once received. */
  #head: { readonly status: number; readonly headers: Headers } | undefined
  /** The bytes of an uncoded body. */
  readonly #bytes: BodyBuffer
  /** The number of bytes received. */
  #size = 0
  /** The bytes of a coded body, on their way to the decoder. */
  #coded: CodedBody | undefined
  /** Stops the decoders. Undefined for an uncoded body. */
  #decoding: AbortController | undefined

  constructor(settings: ClientSettings, connection: Connection, deadline: Deadline) {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    this.reply = promise
    this.#resolve = resolve
    this.#settings = settings
    this.#connection = connection
    this.#deadline = deadline
    this.#bytes = new BodyBuffer(settings.maxBodyBytes + 1)
  }

  fail(error: unknown): void {
    this.#end(replyOf(error, this.#head === undefined ? 'request' : 'body', this.#deadline))
  }

  /**
   * Ends a response that is longer than the limit. Its body is not used, even as a cut file:
   * without framing it may be shorter than `maxBodyBytes`, and the missing part may contain a
   * Disallow.
   */
  endOverLimit(maxBytes: number): void {
    this.#end(failure('too-large', `the response is longer than ${maxBytes} bytes, including headers and framing`))
  }

  onRequestStart(controller: Dispatcher.DispatchController, context?: { readonly history?: unknown } | null): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(NOT_NEEDED)
    // A redirect handler of undici passes its history to the outer handlers, from the first request
    // on.
    else if (context?.history !== undefined) this.#end(FOLLOWS_REDIRECTS)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 100 && status < 200) return // an interim response. RFC 9110 §15.2.
    this.#head = { status, headers }
    const problem = this.#connection.problemOfHead?.(status)
    if (problem !== undefined) this.#end(problem)
    else if (status < 100) this.#end(failure('malformed', `status ${status}`))
    else if (!isBodyWanted(status, headers, this.#settings.policy)) this.#end({ kind: 'response', status, headers })
    else if (isCoded(headers)) this.#decode(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#coded !== undefined) {
      if (!this.#coded.add(chunk)) controller.pause()
      return
    }
    this.#bytes.add(chunk)
    if (this.#size > this.#settings.maxBodyBytes) this.#endWithBody()
  }

  onResponseEnd(): void {
    if (this.#head === undefined || this.#isOver) return
    const problem = this.#connection.problemOfBody({ ...this.#head, size: this.#size })
    if (problem instanceof Promise) void problem.then((found) => this.#endAfter(found))
    else this.#endAfter(problem)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#coded === undefined) this.fail(error)
    else this.#coded.destroy(error)
  }

  #endAfter(problem: Failure | undefined): void {
    if (problem !== undefined) this.#end(problem)
    else if (this.#coded === undefined) this.#endWithBody()
    else this.#coded.complete()
  }

  #decode(status: number, headers: Headers): void {
    const coded = new CodedBody(() => this.#controller?.resume())
    this.#coded = coded
    this.#decoding = new AbortController()
    readBody(coded, headers, this.#settings.maxBodyBytes, this.#decoding.signal).then(
      (body) => this.#end({ kind: 'response', status, headers, body }),
      (error: unknown) => this.fail(error),
    )
  }

  #endWithBody(): void {
    if (this.#head === undefined) return
    const { status, headers } = this.#head
    const body = bodyWithin(this.#bytes.take(), this.#settings.maxBodyBytes)
    this.#end({ kind: 'response', status, headers, body })
  }

  /**
   * Resolves the reply, and ends the request and its decoders: the rest of the response is not
   * needed, and may never come.
   */
  #end(reply: Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resolve(reply)
    this.#controller?.abort(NOT_NEEDED)
    this.#decoding?.abort(NOT_NEEDED)
  }
}
