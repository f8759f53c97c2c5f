// fakeWeb: sites with robots.txt and pages, for the tests of a crawler.
import { assertOptions } from '@politely/fetcher/internal'
import type { Dispatcher } from 'undici'
import type { FakeFailure } from './answer.ts'
import { type FakeClock, type FakeTimers, fakeClock } from './clock.ts'
import { FakeDispatcher } from './fake-dispatcher.ts'
import { fakeFetch } from './fake-fetch.ts'
import { assertParts, WEB_HINTS } from './parts.ts'
import { type FakeSite, isRobotsTxt, Sites } from './sites.ts'

/** The options of `fakeWeb`. */
export interface FakeWebOptions {
  /**
   * The fake timers that `clock.advance` advances, such as `mock.timers` of node:test. Default: the
   * fake timers of Vitest, Jest or Sinon, which it finds itself.
   */
  readonly timers?: FakeTimers | undefined
}

/** A request to the fake web. */
export interface LoggedRequest {
  readonly method: string
  /** The URL, without a fragment. */
  readonly url: string
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** When the request was sent, by the clock: milliseconds since 1970. */
  readonly at: number
  /** Whether the request was for a robots.txt. */
  readonly isRobotsTxt: boolean
}

/** A fake web. */
export interface FakeWeb {
  /** A fetch that reaches the fake web only. */
  readonly fetch: typeof globalThis.fetch
  /** An undici dispatcher that reaches the fake web only, for undici 6, 7 and 8. */
  readonly dispatcher: Dispatcher
  /** All requests in the order in which they were sent, including failed requests. */
  readonly requests: readonly LoggedRequest[]
  /** The clock of the fake timers. */
  readonly clock: FakeClock
}

/**
 * Creates a fake web for the tests of a crawler: no request reaches the network, and no host name
 * is looked up in DNS. A request for a host that is not listed fails as with a host that does not
 * exist.
 *
 * @example
 * ```ts
 * import { fakeWeb } from '@politely/testing'
 * import { politely } from 'politely'
 *
 * const web = fakeWeb({
 *   'https://site.example': {
 *     robots: 'User-agent: *\nDisallow: /cart',
 *     pages: { '/': 'a page', '/busy': { status: 503, headers: { 'retry-after': '120' } } },
 *   },
 *   'https://gone.example': { fails: 'dns' },
 * })
 * const fetch = politely(web.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * ```
 * @param sites The sites by origin. A site that fails does so for each request.
 * @throws {OptionError} for an invalid site, answer or option.
 */
export function fakeWeb(
  sites: Readonly<Record<string, FakeSite | FakeFailure>>,
  options: FakeWebOptions = {},
): FakeWeb {
  const checkedSites = new Sites(sites)
  assertOptions(options, '{ timers: mock.timers }')
  assertParts(options, { timers: true }, WEB_HINTS)
  const clock = fakeClock(options.timers)
  const requests: LoggedRequest[] = []
  const respond = async (request: Request): Promise<Response> => {
    const { method, headers } = request
    const url = request.url.replace(/#.*/, '')
    requests.push({
      method,
      url,
      headers: Object.fromEntries(headers),
      at: clock.now(),
      isRobotsTxt: isRobotsTxt(url),
    })
    return checkedSites.respond(request)
  }
  return { fetch: fakeFetch(respond), dispatcher: new FakeDispatcher(respond), requests, clock }
}
