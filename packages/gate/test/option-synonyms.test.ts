// Options in the words of other projects. The error message names the option of this project.
import { parseRobots } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { expect, test } from 'vitest'
import { PoliteGate, type PoliteGateOptions, type PolitelyOptions, politely, usageOf } from '../src/index.ts'

const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })

function messageOf(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    return (error as Error).message
  }
  return 'the option was taken'
}

const polite = (given: object) =>
  messageOf(() => politely(fetch, { userAgent: 'ExampleBot/1.0', ...given } as PolitelyOptions))
const gateOf = (given: object) => messageOf(() => new PoliteGate({ robots, ...given } as PoliteGateOptions))
const clientOf = (given: object) =>
  messageOf(() => new RobotsClient({ userAgent: 'ExampleBot/1.0', ...given } as RobotsClientOptions))

const MIN_DELAY =
  'did you mean `minDelayMs`? (the shortest time between the starts of two requests to one origin, in milliseconds)'
const CONCURRENT =
  'did you mean `maxConcurrent`? (for all requests, or `maxConcurrentPerKey` for the requests to one origin)'
const PER_INTERVAL =
  'did you mean `minDelayMs`? (in milliseconds: the interval, divided by the number of requests that may start in it)'
const TIMEOUT =
  'did you mean `requestTimeoutMs`? (the time for one page in milliseconds, such as 30_000; `timeoutMs` is for one robots.txt)'
const RETRIES =
  'did you mean `retries`? (for requests for robots.txt; for pages write retry: { attempts: 3 } in politely(fetch, { … }))'
const PROXY =
  'did you mean `dispatcher`? (an undici dispatcher for the requests for robots.txt, such as new ProxyAgent(url) of undici)'
const BUDGET = 'did you mean `budget`? (how many requests of one pace key may start)'
const TTL = 'did you mean `ttlMs`? (in milliseconds, such as 3_600_000 for an hour)'
const OBEYED = 'robots.txt is fetched and obeyed by default; remove the option'
const OBEY = 'did you mean `obey`? (`obey: { rules: false }` or `obey: { delays: false }`, for your own site)'

test.each([
  ['circuitBreaker', true, 'did you mean `circuit`? (such as { failures: 5, coolMs: 30_000 }, which is the default)'],
  ['signer', {}, 'did you mean `sign`? (what signer({ … }) of @politely/web-bot-auth returns)'],
  ['concurrency', 5, CONCURRENT],
  ['maxConcurrency', 5, CONCURRENT],
  ['CONCURRENT_REQUESTS', 5, CONCURRENT],
  ['maxConcurrentPerOrigin', 2, 'did you mean `maxConcurrentPerKey`? (by default, each origin is a key)'],
  ['delay', 2, MIN_DELAY],
  ['downloadDelay', 2, MIN_DELAY],
  ['DOWNLOAD_DELAY', 2, MIN_DELAY],
  ['crawlDelay', 2, MIN_DELAY],
  ['rateLimit', 2, MIN_DELAY],
  ['interval', 1000, PER_INTERVAL],
  ['intervalCap', 5, PER_INTERVAL],
  ['reservoirRefreshInterval', 60_000, PER_INTERVAL],
  [
    'respectCrawlDelayUpToSeconds',
    300,
    'did you mean `maxDelayMs`? (in milliseconds, such as 300_000: no delay is longer)',
  ],
  [
    'highWater',
    100,
    'did you mean `maxQueuedPerKey`? (how many requests may wait for one origin; a further one is rejected)',
  ],
  [
    'maxRequestsPerMinute',
    90,
    'did you mean `minDelayMs`? (in milliseconds: `minDelayMs: 667` gives 90 requests per minute to one origin)',
  ],
  [
    'requestsPerSecond',
    '5/s',
    'did you mean `minDelayMs`? (in milliseconds: `minDelayMs: 500` gives 2 requests per second to one origin)',
  ],
  ['timeout', 5, TIMEOUT],
  ['timeoutSecs', 5, TIMEOUT],
  ['DOWNLOAD_TIMEOUT', 180, TIMEOUT],
  ['expiration', 30_000, TIMEOUT],
  ['proxy', 'http://127.0.0.1:8080', PROXY],
  ['agent', {}, PROXY],
  [
    'cacheStore',
    true,
    'did you mean `store`? (such as new SqliteStore({ path }); memory is always used, up to `maxCacheBytes`)',
  ],
  ['ttl', 3600, TTL],
  ['maxAge', 3600, TTL],
  ['maxRetries', 3, RETRIES],
  ['maxRequestRetries', 3, RETRIES],
  ['userAgents', ['a'], 'did you mean `userAgent`? (one User-Agent header for all requests)'],
  ['respectRobotsTxt', true, OBEYED],
  ['respectRobotsTxtFile', true, OBEYED],
  ['obeyRobotsTxt', true, OBEYED],
  ['robotsTxt', true, OBEYED],
  ['ignoreRobots', false, OBEYED],
  ['respectRobots', false, OBEY],
  ['ROBOTSTXT_OBEY', false, OBEY],
  ['ignoreRobotsTxt', true, OBEY],
  ['_ignore_robots', true, OBEY],
  ['randomDelay', true, 'did you mean `jitter`? (from 0 to 1: how much longer a delay may be, at random)'],
  [
    'AUTOTHROTTLE_ENABLED',
    true,
    'did you mean `delayFactor`? (such as 2: the delay is twice the time of the last response)',
  ],
  ['maxPages', 100, BUDGET],
  ['reservoir', 100, BUDGET],
  ['retryStatusCodes', [429], 'did you mean `backoff`? (such as { statuses: [429, 503], firstMs: 5_000 })'],
  ['perSite', {}, 'did you mean `pace`? (a function such as (origin) => ({ minDelayMs: 5_000 }))'],
])('politely: %s', (name, value, hint) => {
  expect(polite({ [name]: value })).toBe(`${name}: is an unknown option; ${hint}`)
})

test('a client and a gate say that the option belongs to the other one', () => {
  expect(clientOf({ delay: 2 })).toBe(
    `delay: is an unknown option; ${MIN_DELAY}; it is an option of the gate; write it in politely(fetch, { … }) or new PoliteGate({ robots, … })`,
  )
  expect(gateOf({ timeout: 2 })).toBe(
    `timeout: is an unknown option; ${TIMEOUT}; it is an option of politely(fetch, { … }); of politeAgent write agent: { headersTimeout: 30_000, bodyTimeout: 30_000 }`,
  )
  expect(clientOf({ timeout: 2 })).toBe(
    'timeout: is an unknown option; did you mean `timeoutMs`? (the time for one robots.txt in milliseconds, such as 20_000)',
  )
  expect(gateOf({ obeyRobotsTxt: true })).toBe(`obeyRobotsTxt: is an unknown option; ${OBEYED}`)
  expect(clientOf({ ignoreRobots: true })).toBe(
    `ignoreRobots: is an unknown option; ${OBEY}; it is an option of the gate; write it in politely(fetch, { … }) or new PoliteGate({ robots, … })`,
  )
})

test('an option of a call has a synonym too', async () => {
  await expect(robots.check('https://example.com/', { timeout: 5_000 } as object)).rejects.toThrow(
    'timeout: is an unknown option; did you mean `signal`? (such as AbortSignal.timeout(20_000))',
  )
  await expect(robots.check('https://example.com/', { maxAge: 60 } as object)).rejects.toThrow('`maxAgeMs`')
})

// Settings of Scrapy, Crawlee, got, axios, ky, p-queue, bottleneck, node-crawler, simplecrawler, Heritrix,
// Nutch, StormCrawler, colly, wget, curl and HTTrack.
test.each([
  ['minDelayMs', 'crawlDelayMs politenessDelayMs fetcher.server.delay hostDelay max-rate limit-rate sleep'],
  ['minDelayMs', 'requestsPerHour connection-per-second maxTasksPerMinute maxRPS'],
  ['maxDelayMs', 'AUTOTHROTTLE_MAX_DELAY fetcher.max.crawl.delay max-pause maxDelay'],
  ['minDelayPerDomainMs', 'domainDelaySeconds'],
  ['minDelayPerAddressMs', 'ipDelay'],
  ['maxConcurrent', 'desiredConcurrency fetcher.threads.number parallel-max workers maxConnections poolSize'],
  ['maxConcurrentPerKey', 'maxPerHost CONCURRENT_REQUESTS_PER_HOST connectionsPerServer perHostLimit'],
  ['maxConcurrentPerDomain', 'maxPerDomain'],
  ['maxConcurrentPerAddress', 'CONCURRENT_REQUESTS_PER_IP maxPerIp'],
  ['maxQueuedPerKey', 'fetcher.max.queue.size queueSize'],
  ['jitter', 'random-wait RandomDelay'],
  ['delayFactor', 'AUTOTHROTTLE_TARGET_CONCURRENCY'],
  ['budget', 'maxRequestsPerCrawl CLOSESPIDER_PAGECOUNT max-files quota maxDocumentsDownload pagesPerSite'],
  ['backoff', 'RETRY_HTTP_CODES retryDelaySeconds waitretry maxBackoff snoozeLongMs'],
  ['retries', 'retryOnBlocked RETRY_ENABLED'],
  ['requestTimeoutMs', 'connect-timeout navigationTimeoutSecs max-time'],
  ['maxRedirects', 'REDIRECT_MAX_TIMES followRedirect max-redirs http.redirect.max'],
  ['maxBodyBytes', 'DOWNLOAD_MAXSIZE maxContentLength MaxBodySize http.content.limit'],
  ['ttlMs', 'CacheExpiration HTTPCACHE_EXPIRATION_SECS robotsValidityDurationSeconds'],
  ['store', 'HTTPCACHE_ENABLED CacheDir JOBDIR persistStorage redisUrl'],
  ['lookup', 'DNS_RESOLVER dnsCache'],
  ['dispatcher', 'proxyHostname ignoreSslErrors rejectUnauthorized tls bind-address'],
  ['userAgent', 'http.agent.name userAgentTemplate rotateUA'],
  ['productToken', 'BOT_NAME botToken'],
  ['logger', 'LOG_FILE quiet'],
  ['progressMs', 'LOGSTATS_INTERVAL'],
  ['signal', 'cancelToken controller'],
])('politely names %s for %s', (option, names) => {
  for (const name of names.split(' ')) expect(polite({ [name]: 5 }), name).toContain(`did you mean \`${option}\`?`)
})

const YOURS = 'see https://github.com/politely-crawler/politely/blob/main/docs/migrating.md#what-stays-yours'

test.each([
  [
    'is up to your own queue',
    'DEPTH_LIMIT maxCrawlDepth priority allowed_domains globs strategy uniqueKey start_urls maxHops span-hosts',
  ],
  ['belongs to the fetch that you wrap', 'COOKIES_ENABLED auth searchParams hooks validateStatus prefixUrl'],
  ['is up to your own program', 'requestHandler ITEM_PIPELINES useSessionPool headless onPage'],
])('politely has no option for what %s, and names the page: %s', (answer, names) => {
  for (const name of names.split(' ')) {
    expect(polite({ [name]: 5 }), name).toContain(answer)
    expect(polite({ [name]: 5 }), name).toContain(YOURS)
  }
})

test('an option that is similar to none gets the page that lists all', () => {
  const page = 'https://github.com/politely-crawler/politely/blob/main/docs/options.md lists all options'
  for (const messageOfOne of [polite, gateOf, clientOf])
    expect(messageOfOne({ frobnicate: 1 })).toBe(`frobnicate: is an unknown option; ${page}`)
})

test('a misspelt option is a misspelling, whatever it is about', () => {
  expect(polite({ maxWaitms: 5 })).toBe('maxWaitms: is an unknown option; did you mean `maxWaitMs`?')
  expect(polite({ minDelyPerDomainMs: 5 })).toContain('`minDelayPerDomainMs`')
})

test('arguments in the order of another library are named', async () => {
  const url = 'https://example.com/page'
  const gate = new PoliteGate({ robots })
  const first = '"https://example.com/page" is a URL, which comes first; '
  await expect(robots.isAllowed('ExampleBot', url as never)).rejects.toThrow(`options: ${first}the name of the crawler`)
  await expect(gate.when('ExampleBot', url as never)).rejects.toThrow(`options: ${first}the client knows the name`)
  await expect(usageOf(parseRobots(''), url as never)).rejects.toThrow(
    'response: a parsed robots.txt is not a response; write usageOf({ robots, url, tokens: "ExampleBot" })',
  )
  gate.close()
})
