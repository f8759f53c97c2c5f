// What the fake web answers to a request: a body, a status, a response, a failure, or a function
// that returns one of these.
import { OptionError } from '@politely/core'
import { describeValue, integer, makeResponse, oneOf } from '@politely/fetcher/internal'
import { FAILURE_NAMES, type FailureName, failureError } from './failures.ts'
import { ANSWER_HINTS, assertParts, FAILURE_HINTS } from './parts.ts'

/**
 * A response of the fake web. Each part has a default.
 * @inline
 */
interface FakeResponse {
  /** Default 200. From 200 to 999. */
  readonly status?: number | undefined
  /** Default: the Content-Type of text, and the Content-Length of the body. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: empty. */
  readonly body?: string | Uint8Array | undefined
}

/**
 * A request that gets no response.
 * @inline
 */
export interface FakeFailure {
  /**
   * `dns`: no such host. `refused`: nothing listens there. `timeout`: no connection in time; the
   * error comes at once. `reset`: the connection ends before the response. `tls`: the certificate
   * has expired.
   */
  readonly fails: FailureName
}

/**
 * What the fake web replies: the body of a response with status 200, a status alone, `null` for the
 * status 404, a response, a failure, or a Response of fetch.
 */
export type FakeReply = string | number | null | FakeResponse | FakeFailure | Response

/**
 * What the fake web answers: a reply, or a function that returns the reply to a request. The
 * function may return a promise, and wait with `setTimeout` for a slow response.
 */
export type FakeAnswer = FakeReply | ((request: Request) => FakeReply | Promise<FakeReply>)

const EXPECTED =
  'expected a text, a status such as 404, { status, headers, body }, { fails: "timeout" }, or a function that returns one of these'
const RESPONSE_KEYS = { status: true, headers: true, body: true } as const
/** @throws {OptionError} for an invalid answer. @param option Its name in the error message. */
export function assertAnswer(option: string, answer: unknown): asserts answer is FakeAnswer {
  if (typeof answer !== 'function') assertReply(option, answer)
}

function assertReply(option: string, reply: unknown): asserts reply is FakeReply {
  if (typeof reply === 'string' || reply === null || reply instanceof Response) return
  if (typeof reply === 'number') return assertStatus(option, reply)
  if (typeof reply !== 'object' || Array.isArray(reply)) {
    const problem = reply === undefined ? 'is missing' : `${describeValue(reply)} is not an answer`
    throw new OptionError(option, `${problem}; ${EXPECTED}`)
  }
  if ('fails' in reply) {
    assertParts(reply, { fails: true }, FAILURE_HINTS)
    oneOf(`${option}.fails`, reply.fails as FailureName, FAILURE_NAMES)
    return
  }
  assertParts(reply, RESPONSE_KEYS, ANSWER_HINTS)
  // An empty object may be a promise, or a Response of another library, whose parts are getters.
  if (Object.keys(reply).length === 0)
    throw new OptionError(option, `${describeValue(reply)} has no status, headers or body; ${EXPECTED}`)
  const { status, headers, body } = reply as FakeResponse
  if (status !== undefined) assertStatus(`${option}.status`, status)
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new OptionError(`${option}.body`, `${describeValue(body)} is not a body; expected a string or a Uint8Array`)
  try {
    new Headers(headers)
  } catch (error) {
    const expected = 'expected names and values such as { "retry-after": "120" }'
    throw new OptionError(`${option}.headers`, `${(error as Error).message}; ${expected}`)
  }
}

function assertStatus(option: string, status: number): void {
  integer(option, status, { min: 200, max: 999, example: 404 })
}

/**
 * Returns the response to a request.
 * @param option The name of the answer, for the error about an invalid value that a function
 * returns.
 * @throws The error of the request, if it fails.
 */
export async function responseTo(option: string, answer: FakeAnswer, request: Request): Promise<Response> {
  let reply = answer
  if (typeof reply === 'function') {
    reply = await reply(request)
    assertReply(`the result of ${option}`, reply)
  }
  if (reply instanceof Response) return reply.clone() // it may be the answer to several requests
  if (typeof reply === 'object' && reply !== null && 'fails' in reply)
    throw failureError(reply.fails, new URL(request.url).host)
  return responseOf(reply, request.method)
}

function responseOf(reply: string | number | FakeResponse | null, method: string): Response {
  const { status = 200, headers, body = '' } = partsOf(reply)
  const bytes = Buffer.from(body)
  const all = new Headers(headers)
  if (!all.has('content-type')) all.set('content-type', 'text/plain; charset=utf-8')
  if (!all.has('content-length') && !all.has('transfer-encoding')) all.set('content-length', String(bytes.length))
  return makeResponse(method === 'HEAD' ? null : bytes, { status, headers: all })
}

function partsOf(reply: string | number | FakeResponse | null): FakeResponse {
  if (reply === null) return { status: 404 }
  if (typeof reply === 'number') return { status: reply }
  return typeof reply === 'string' ? { body: reply } : reply
}
