// The permit: permission to make one request.
//
//   const permit = await gate.enter(url)   // waits until the request may start
//   const response = await permit.run(() => fetch(url, { redirect: 'manual' }))   // sends the request
//   permit.release(response)               // ends the request, and reports its status and Retry-After
import type { Delay } from '@politely/core/engine'
import type { ClientVerdict } from '@politely/fetcher'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'
import type { RequestReport } from './request-report.ts'

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
   * The delay between this request and the next request with the same pace key, and its reason. The
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
   * throws, after `release`, and after an earlier report, with one exception: `rateLimited` still
   * makes the site's requests pause, but without the growth of a series. So if the body has to be
   * read first, report only `rateLimited`, or only the response.
   * @throws {ResponseError} for a value that is not a response, and for a response after a redirect
   * that the gate did not check.
   */
  report(response: RequestReport): void
  /**
   * Ends the request. Reports the response, if one is passed and none was reported before. Later
   * calls do nothing.
   * @throws {ResponseError} where `report` throws one, if no response was reported before. The
   * permit is still released.
   */
  release(response?: RequestReport): void
}
