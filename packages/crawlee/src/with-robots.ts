// withRobots: one call, and a crawler of Crawlee keeps robots.txt.
import { OptionError } from '@politely/core'
import { type GateOrOptions, gateFor, RobotsDisallowedError } from '@politely/gate'
import { type AnyCrawler, type Inside, insideOf } from './inside.ts'
import { PoliteHttpClient } from './polite-http-client.ts'
import { hookRobots } from './robots-hook.ts'

export type WithRobotsOptions = GateOrOptions

const polite = new WeakSet<object>()

/**
 * Makes a crawler polite and returns it: `HttpCrawler` and those that are made of it, `BasicCrawler`, `PlaywrightCrawler`, `PuppeteerCrawler`.
 *
 * @throws {OptionError} for what is no crawler, one that is polite already, and an option that cannot be used.
 */
export function withRobots<C extends AnyCrawler>(crawler: C, options: WithRobotsOptions): C {
  const inside = insideOf(crawler)
  if (polite.has(crawler)) throw new OptionError('crawler', 'is polite already; call withRobots once')
  if (typeof options !== 'object' || options === null) {
    throw new OptionError('options', 'is missing; write { userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }')
  }
  const { gate } = gateFor(options)
  hookRobots(inside, gate.robots)
  inside.httpClient = new PoliteHttpClient(inside.httpClient, { gate, entered: () => undefined })
  neverRetryRefusals(inside)
  polite.add(crawler)
  return crawler
}

function neverRetryRefusals(inside: Inside): void {
  const { isProxyError, _canRequestBeRetried } = inside
  // It looks for words in messages, and a refusal may quote what happened to robots.txt.
  inside.isProxyError = (error) => !(error instanceof RobotsDisallowedError) && isProxyError.call(inside, error)
  inside._canRequestBeRetried = (request, error) =>
    !(error instanceof RobotsDisallowedError) && _canRequestBeRetried.call(inside, request, error)
}
