// @module-tag full
// What a crawl does with the requests of a site that is down: they wait until the site may get one,
// and don't fail.
import { BasicCrawler, Log, Logger, LogLevel } from '@crawlee/basic'
import { CheerioCrawler, type CheerioCrawlerOptions } from '@crawlee/cheerio'
import { type Answer, type Sites, startSites } from '@politely/testkit/servers/sites'
import { htmlPage, redirectTo } from '@politely/testkit/servers/small-pages'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { refusalOf, verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const HOME = 'http://localhost:PORT'
const DEAD = 'http://127.0.0.1:PORT'
/** Takes a moment, in which the next request of the site is already deferred. */
const RESET: Answer = (socket) => void setTimeout(() => socket.destroy(), 30)

let sites: Sites
beforeEach(async () => {
  sites = await startSites()
})
afterEach(() => sites.close())

async function crawl(
  urls: readonly string[],
  polite: Partial<WithRobotsOptions>,
  options: CheerioCrawlerOptions = {},
): Promise<{ handled: string[]; skipped: unknown[]; failed: string[]; retries: number; log: string[] }> {
  const result = {
    handled: [] as string[],
    skipped: [] as unknown[],
    failed: [] as string[],
    retries: 0,
    log: [] as string[],
  }
  const withPlaceholder = (text: string) => text.replaceAll(`:${sites.port}`, ':PORT')
  class Recorder extends Logger {
    override _log(level: number, message: string): void {
      if (level <= LogLevel.WARNING) result.log.push(withPlaceholder(message))
    }
  }
  const crawler = withRobots(
    new CheerioCrawler(
      {
        requestHandler: ({ request }) => {
          result.handled.push(withPlaceholder(request.url))
          result.retries += request.retryCount
        },
        failedRequestHandler: ({ request }) => void result.failed.push(withPlaceholder(request.url)),
        onSkippedRequest: (skipped) => {
          const refusal = refusalOf(skipped)
          const why = refusal === undefined ? verdictOf(skipped)?.because : [refusal.code, refusal.because]
          result.skipped.push([withPlaceholder(skipped.url), skipped.reason, why].flat())
        },
        log: new Log({ level: LogLevel.WARNING, logger: new Recorder({}) }),
        ...options,
      } as CheerioCrawlerOptions,
      inMemory(),
    ),
    { userAgent, minDelayMs: 0, retries: 0, ...polite } as WithRobotsOptions,
  )
  await crawler.run(urls.map((url) => sites.withPort(url)))
  return result
}

const pagesOf = (site: string) => sites.requestedUrls.filter((url) => url.startsWith(site) && !url.endsWith('.txt'))
const pages = (site: string, count: number) => Array.from({ length: count }, (_, index) => `${site}/${index}`)
const circuit = { failures: 3, coolMs: 200, maxMs: 200 }

test('requests of a site that rests wait until it is back, which is not a retry', async () => {
  const urls = pages(DEAD, 6)
  for (const url of urls) sites.respond(url, RESET, htmlPage())
  const result = await crawl(urls, { circuit }, { maxRequestRetries: 1, maxConcurrency: 1 })
  expect({ ...result, handled: result.handled.toSorted() }).toEqual({
    handled: urls,
    skipped: [],
    failed: [],
    retries: 6,
    log: [expect.stringMatching(/^Request to .* failed: there was no usable response \(reset\)/)],
  })
  expect(pagesOf(DEAD)).toHaveLength(12)
})

test('requests of a site that stays down are skipped in the end, and the log has no stack', async () => {
  const [here, down] = [pages(HOME, 3), pages(DEAD, 8)]
  for (const url of here) sites.respond(url, htmlPage())
  for (const url of down) sites.respond(url, RESET)
  const { skipped, log, ...result } = await crawl([...down, ...here], { circuit, giveUpAfterMs: 500 })
  expect(result).toEqual({ handled: here, failed: [], retries: 0 })
  expect(skipped).toHaveLength(8)
  expect(skipped).toEqual(expect.arrayContaining(down.map((url) => [url, 'filters', 'ERR_POLITELY_CIRCUIT', 'reset'])))
  expect(log).toEqual([
    expect.stringMatching(/^Request to .* failed: there was no usable response \(reset\)/),
    expect.stringMatching(/^Skipping a request: .* does not start: the last \d+ requests to .* failed/),
  ])
})

test.each([20, Infinity])(
  'a redirect to a site that rests is not an error (deferBeyondMs: %d)',
  async (deferBeyondMs) => {
    const down = pages(DEAD, 4)
    for (const url of down) sites.respond(url, RESET)
    sites.respond(`${HOME}/hop`, redirectTo(sites.withPort(down[0] as string)))
    for (const url of pages(HOME, 2)) sites.respond(url, htmlPage())
    const { handled, skipped, failed } = await crawl(
      [...down, `${HOME}/hop`, ...pages(HOME, 2)],
      { circuit: { ...circuit, coolMs: 400, maxMs: 400 }, giveUpAfterMs: 1_000, deferBeyondMs },
      { maxRequestRetries: 20 },
    )
    expect(handled.toSorted()).toEqual(pages(HOME, 2))
    expect(failed).toEqual([])
    expect(skipped).toContainEqual([`${HOME}/hop`, 'filters', 'ERR_POLITELY_CIRCUIT', 'reset'])
  },
)

test.each([20, Infinity])(
  'a handler whose own request is refused runs again when the site is back (deferBeyondMs: %d)',
  async (deferBeyondMs) => {
    const urls = pages(DEAD, 6)
    for (const url of urls) sites.respond(url, RESET, RESET, htmlPage())
    const handled: [url: string, retries: number][] = []
    const failed: Error[] = []
    const crawler = new BasicCrawler(
      {
        maxRequestRetries: 2,
        requestHandler: async ({ request, sendRequest }) => {
          await sendRequest()
          handled.push([request.url, request.retryCount])
        },
        failedRequestHandler: (_, error) => void failed.push(error),
      },
      inMemory(),
    )
    const polite = withRobots(crawler, { userAgent, minDelayMs: 0, retries: 0, circuit, deferBeyondMs })
    await polite.run(urls.map((url) => sites.withPort(url)))
    expect(failed).toEqual([])
    expect(handled.toSorted()).toEqual(urls.map((url) => [sites.withPort(url), 2]))
  },
)

test('a request that would wait too long at the gate is deferred, which is not a retry', async () => {
  const urls = pages(HOME, 3)
  for (const url of urls) sites.respond(url, htmlPage())
  const result = await crawl(urls, { minDelayMs: 200, maxWaitMs: 20, deferBeyondMs: Infinity })
  expect(result).toMatchObject({ failed: [], skipped: [], retries: 0, log: [] })
  expect(result.handled.toSorted()).toEqual(urls)
})
