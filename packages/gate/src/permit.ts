// The permit: permission to make one request.
//
//   const permit = await gate.enter(url)                  // waits until the request may start
//   const response = await permit.run(() => fetch(url))   // sends it
//   permit.release(response)                              // ends it, and reports its status and Retry-After
import { type Delay, type Headers, headerOf, type PageResponse } from '@politely/core/engine'
import type { ClientVerdict } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/option-checks'
import { ResponseError } from './errors.ts'
import type { WaitReason } from './queue.ts'

/**
 * Permission to make one request. Call `release` when the request ends, or declare the permit with `using`. A permit counts towards the
 * concurrency limits until it is released: if permits are never released, the gate stops starting requests.
 */
export interface Permit extends Disposable {
  readonly url: string
  readonly verdict: ClientVerdict
  /** How long the request waited. Milliseconds. */
  readonly waitedMs: number
  /** What the request waited for last. `none` if it started at once. */
  readonly waitedFor: WaitReason | 'none'
  /** The delay that the gate keeps after this request, and its reason. */
  readonly delay: Delay
  /**
   * Calls `send`, which sends the request, and returns its result. `send` may use a fetch or an agent with the same gate: the gate
   * recognises the request and admits it without a second permit. If `send` makes another request, the gate releases this permit's
   * concurrency limits first, so that the other request can get a permit of its own.
   */
  run<T>(send: () => T): T
  /** @internal The request has a connection. Later code in the async context of `run` is not part of sending the request. */
  sent(): void
  /**
   * Reports the response as soon as its headers have arrived. Its status and Retry-After change the pace from then on. The permit stays
   * unreleased. Only the first report counts.
   * @throws {ResponseError} for a value that is not a response.
   */
  report(response: ResponseLike): void
  /**
   * Ends the request. Reports its response, if there is one and it was not reported before. Later calls do nothing.
   * @throws {ResponseError} for a value that is not a response. The permit is released all the same.
   */
  release(response?: ResponseLike): void
}

/** The part of a response that the pace depends on. A response of `fetch` or undici fits, and so does a plain object. */
export interface ResponseLike {
  readonly status: number
  /** An object with a `get` method, such as `Headers`, or a plain object with names in lower case. */
  readonly headers: { get(name: string): string | null } | Headers
}

/**
 * Reads the status and the Retry-After header.
 * @throws {ResponseError} for a value that is not a response.
 */
export function pageResponseOf(response: ResponseLike): PageResponse {
  if (typeof response !== 'object' || response === null)
    throw new ResponseError(
      `${describeValue(response)} is not a response; expected an object with \`status\` and \`headers\``,
    )
  const { status, headers } = response
  if (!Number.isInteger(status))
    throw new ResponseError(`\`status\` is ${describeValue(status)}; expected an integer such as 200`)
  if (typeof headers !== 'object' || headers === null)
    throw new ResponseError(
      `\`headers\` is ${describeValue(headers)}; expected a Headers object, or a plain object with names in lower case`,
    )
  const retryAfter = headerIn(headers, 'retry-after')
  if (retryAfter === undefined || typeof retryAfter === 'string') return { status, retryAfter }
  throw new ResponseError(`the header retry-after is ${describeValue(retryAfter)}; expected a string such as "120"`)
}

/** Returns the Location header of a response that `pageResponseOf` has accepted. */
export function locationOf({ headers }: ResponseLike): string | null {
  const location = headerIn(headers, 'location')
  return typeof location === 'string' ? location : null
}

function headerIn(headers: ResponseLike['headers'], name: string): unknown {
  try {
    return (hasGet(headers) ? headers.get(name) : headerOf(headers, name)) ?? undefined
  } catch (error) {
    throw new ResponseError(`the header ${name} cannot be read`, { cause: error })
  }
}

function hasGet(headers: ResponseLike['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
