// The permit: permission to make one request.
//
//   const permit = await gate.enter(url)   // waits until the request may start
//   const response = await permit.run(() => fetch(url, { redirect: 'manual' }))   // sends the request
//   permit.release(response)               // ends the request, and reports its status and Retry-After
import { type Delay, type Headers, headerOf, type PaceResponse } from '@politely/core/engine'
import { type ClientVerdict, withoutCredentials } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/internal'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'
import { ResponseError } from '../report/errors.ts'

/**
 * Permission to make one request. Call `release` when the request ends, or declare the permit with
 * `using`. Until then the request counts towards the concurrency limits. If permits are never
 * released, the limits are reached, and the gate starts no more requests.
 */
export interface Permit extends Disposable {
  /** The URL of the request, as the caller gave it. */
  readonly url: string
  /** The verdict that allows the request. */
  readonly verdict: ClientVerdict
  /** How long the request waited in its queue. Milliseconds. */
  readonly waitedMs: number
  /** What the request waited for last. `none` if no delay and no concurrency limit held it up. */
  readonly waitedFor: WaitReason | 'none'
  /**
   * The level that the request waited for last: `gate`, `domain`, `address`, or the value of
   * `paceBy` for its pace key: `origin` by default, `key` for a function. Undefined if the request
   * did not wait.
   */
  readonly waitedLevel: WaitLevel | undefined
  /**
   * The delay between this request and the next one with the same pace key, and its reason. The
   * value is set when the request starts. With `delayFactor`, a slow response makes the real delay
   * longer, but it does not change this value.
   */
  readonly delay: Delay
  /**
   * Calls `send`, which sends the request, and returns the result of `send`. Until the request is
   * sent, the next request of its queue does not start; see `sent`.
   *
   * `send` may use a fetch or an agent that has the same gate. Then this request enters the gate a
   * second time. The gate recognises it by its URL, and admits it without another wait.
   *
   * Any other request of `send` waits like a new request, including a retry of this URL. Before it
   * waits, this permit stops counting towards the concurrency limits. If an agent or a dispatcher
   * of the gate has connected this request, the permit stops counting when this request ends
   * instead. So neither request waits for the other.
   *
   * If `send` uses a fetch that does not have the same gate, give that fetch `redirect: 'manual'`:
   * the gate does not see the redirects that it follows.
   * @throws {OptionError} if `send` is not a function. Also whatever `send` throws.
   */
  run<T>(send: () => T): T
  /**
   * Tells the gate that the request has a connection and is sent now. Optional. The delay then
   * counts again from now. Without this call, the delay counts only from the moment at which
   * `enter` returned the permit. `run` makes this call itself if Node's `fetch`, undici or
   * `node:http` sends the request. Only the first call counts, and only before `report` and
   * `release`.
   */
  sent(): void
  /**
   * Reports the response. Call it when the headers of the response have arrived: its status and
   * Retry-After change the pace from then on. Does not release the permit. Does nothing, and never
   * throws, after an earlier report or after `release`.
   * @throws {ResponseError} for a value that is not a response, and for a response after a redirect
   * that the gate did not check.
   */
  report(response: ResponseLike): void
  /**
   * Ends the request. Reports the response, if one is passed and none was reported before. Later
   * calls do nothing.
   * @throws {ResponseError} where `report` throws one, if no response was reported before. The
   * permit is released all the same.
   */
  release(response?: ResponseLike): void
}

/**
 * The part of a response that the pace depends on. A response of Node's or undici's `fetch` has
 * this type, and a plain object may have it.
 */
export interface ResponseLike {
  readonly status: number
  /**
   * An object with a `get` method, such as `Headers`; or a plain object whose names are in lower
   * case.
   */
  readonly headers: { get(name: string): string | null } | Headers
}

/**
 * Returns the status and the Retry-After header of a response.
 * @throws {ResponseError} for a value that is not a response.
 */
export function paceResponseOf(response: ResponseLike): PaceResponse {
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
  const retryAfter = readHeader(headers, 'retry-after')
  if (retryAfter === undefined || typeof retryAfter === 'string') return { status, retryAfter }
  throw new ResponseError(`the header retry-after is ${describeValue(retryAfter)}; expected a string such as "120"`)
}

/** @throws {ResponseError} if the request was redirected: its permit was for the first URL only. */
export function assertNotRedirected(response: ResponseLike): void {
  if ((response as { readonly redirected?: unknown }).redirected !== true) return
  const { url } = response as { readonly url?: unknown }
  throw new ResponseError(
    `the response was redirected to ${withoutCredentials(String(url))}, which was not checked`,
    "write redirect: 'manual', as in fetch(permit.url, { redirect: 'manual' })",
  )
}

/** Returns the Location header of a response that `paceResponseOf` has accepted. */
export function locationOf({ headers }: ResponseLike): string | null {
  const location = readHeader(headers, 'location')
  return typeof location === 'string' ? location : null
}

function readHeader(headers: ResponseLike['headers'], name: string): unknown {
  try {
    return (hasGet(headers) ? headers.get(name) : headerOf(headers, name)) ?? undefined
  } catch (error) {
    throw new ResponseError(`the header ${name} cannot be read`, undefined, { cause: error })
  }
}

function hasGet(headers: ResponseLike['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
