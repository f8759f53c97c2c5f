// Which interfaces docs/options.md lists, and where their options are explained.

/** The folders of the packages whose options are listed. */
export const optionPackages = [
  'core',
  'fetcher',
  'gate',
  'crawlee',
  'cdp',
  'sqlite',
  'cache',
  'evidence',
  'web-bot-auth',
  'redis',
  'postgres',
  'sitemaps',
  'mcp',
  'server',
  'otel',
  'testing',
  'timeline',
  'playwright',
  'puppeteer',
] as const

/** The options of one interface. */
export interface Options {
  readonly from: (typeof optionPackages)[number]
  readonly type: string
  /** What is written before each name in the table, such as `backoff.`. */
  readonly prefix?: string
  /**
   * Where each option is explained, as a page of docs and a heading, or as a source file whose
   * docstring says all. `*`: all other ones.
   */
  readonly at: Readonly<Record<string, string>>
}

/** Returns where an option is explained, as a page of docs and a heading. */
export function explainedAt({ at, type }: Options, name: string): string {
  const place = at[name] ?? at['*']
  if (place !== undefined) return place
  throw new Error(`packages/testkit/src/option-tables.ts does not say where ${type}.${name} is explained; add it there`)
}

export interface OptionTable {
  readonly title: string
  /** What takes these options, as Markdown. */
  readonly text: string
  readonly options: readonly Options[]
}

const FRESH = 'fetching.md#how-long-a-response-is-fresh'
const WAY = 'fetching.md#the-way-of-robotstxt'
const GUARD = 'fetching.md#which-addresses-the-client-connects-to'
const RESPONSE = 'fetching.md#what-a-response-means'
const LIMITS = 'waiting.md#limits-on-several-levels'
const WAITS = 'waiting.md#what-a-request-waits-for'
const PAUSES = 'waiting.md#how-a-site-asks'
const CIRCUITS = 'sites-that-fail.md#the-circuit-of-an-origin'
const OPERATOR = 'identity.md#in-a-program'
const STREAMS = 'fetching.md#streams-of-urls'

/** The tables of docs/options.md, in their order. */
export const optionTables: readonly OptionTable[] = [
  {
    title: 'RobotsClient',
    text: 'For `new RobotsClient({ … })`, and for everything that creates one: `politely`, `politeAgent`, `resolveGate` and `withRobots`.',
    options: [
      {
        from: 'fetcher',
        type: 'RobotsClientOptions',
        at: {
          userAgent: 'getting-started.md#i-want-to-know-whether-i-may-fetch-a-url',
          productToken: 'getting-started.md#i-want-to-know-whether-i-may-fetch-a-url',
          dialect: 'dialects.md',
          ttlMs: 'dialects.md',
          minTtlMs: FRESH,
          maxTtlMs: FRESH,
          timeoutMs: RESPONSE,
          retries: RESPONSE,
          maxRedirects: 'stores.md#clients-with-different-options',
          maxBodyBytes: RESPONSE,
          maxCacheBytes: 'production.md#memory',
          store: 'stores.md',
          refreshAheadMs: FRESH,
          maxFlights: 'fetching.md#many-at-once',
          maxFlightsPerDomain: 'fetching.md#many-at-once',
          whenUnreachable: 'fetching.md#when-a-site-goes-down',
          afterDays: 'fetching.md#when-a-site-goes-down',
          thenAssume: 'fetching.md#when-a-site-goes-down',
          notFoundPages: RESPONSE,
          foreignBodies: RESPONSE,
          network: GUARD,
          allowAddresses: GUARD,
          dispatcher: 'fetching.md#bringing-your-own-transport',
          fetch: 'fetching.md#bringing-your-own-transport',
          robotsVia: WAY,
          httpCaches: 'fetching.md#fetching-again-on-purpose',
          lookup: STREAMS,
          logger: 'observing.md#logs',
          sign: 'signed-requests.md',
          evidence: 'evidence.md',
          signal: 'reference/errors.md#error-codes',
          now: 'testing.md#vitest',
        },
      },
    ],
  },
  {
    title: 'The pace',
    text: 'For `new PoliteGate({ robots, … })`, `politely`, `politeAgent`, `resolveGate` and `withRobots`. [Options of pace](pace-options.md) compares them with the settings of Scrapy and StormCrawler.',
    options: [
      {
        from: 'gate',
        type: 'PacingOptions',
        at: {
          minDelayMs: WAITS,
          maxDelayMs: WAITS,
          delayFactor: 'pace-options.md#slow-sites',
          jitter: 'pace-options.md#jitter',
          pauseFrom: 'pace-options.md#slow-sites',
          minDelayPerDomainMs: LIMITS,
          minDelayPerAddressMs: LIMITS,
          maxConcurrentPerKey: LIMITS,
          maxConcurrentPerDomain: 'waiting.md#limits-for-sites',
          maxConcurrentPerAddress: LIMITS,
          maxConcurrent: 'waiting.md#slow-requests',
          slowAfterMs: 'waiting.md#slow-requests',
          maxWaitMs: 'waiting.md#limiting-the-wait',
          maxQueuedPerKey: 'waiting.md#limiting-the-wait',
          releaseWarningMs: 'waiting.md#permits-that-are-not-released',
          progressMs: 'waiting.md#logs',
          backoff: PAUSES,
          circuit: CIRCUITS,
          rateLimitHeaders: 'pace-options.md#rate-limit-headers',
          countRobots: 'pace-options.md#after-a-request-for-robotstxt',
          budget: 'pace-options.md#a-budget-for-each-site',
          obey: 'pace-options.md#your-own-site',
          pace: 'pace-options.md#options-for-one-site',
          paceBy: 'pace-options.md#which-requests-share-a-pace',
          pacer: 'pacers.md',
          '*': 'pace-options.md',
        },
      },
      {
        from: 'gate',
        type: 'BackoffOptions',
        prefix: 'backoff.',
        at: { failures: 'pace-options.md#requests-without-a-response', '*': PAUSES },
      },
      { from: 'gate', type: 'CircuitOptions', prefix: 'circuit.', at: { '*': CIRCUITS } },
      { from: 'gate', type: 'ObeyOptions', prefix: 'obey.', at: { '*': 'pace-options.md#your-own-site' } },
    ],
  },
  {
    title: 'PoliteGate',
    text: 'For `new PoliteGate({ … })`, in addition to the options of pace.',
    options: [
      {
        from: 'gate',
        type: 'PoliteGateOptions',
        at: {
          robots: 'polite-fetch.md',
          now: 'testing.md#vitest',
          lookup: 'pace-options.md#which-requests-share-a-pace',
          logger: 'waiting.md#logs',
          evidence: 'evidence.md',
        },
      },
    ],
  },
  {
    title: 'politely(fetch)',
    text: 'For `politely(fetch, { … })`. You can add the options of a RobotsClient and of pace. If you pass `robots`, only the options of pace; if you pass `gate`, neither.',
    options: [
      {
        from: 'gate',
        type: 'PoliteFetchOptions',
        at: {
          onDisallowed: 'polite-fetch.md#refusals',
          isRateLimited: 'pace-options.md#rate-limit-pages',
          requestTimeoutMs: 'production.md#time-limits',
          callerTimeouts: 'waiting.md#timeouts-in-existing-code',
          retry: 'production.md#retries',
          cache: 'page-cache.md',
        },
      },
      { from: 'gate', type: 'RetryOptions', prefix: 'retry.', at: { '*': 'production.md#retries' } },
    ],
  },
  {
    title: 'politeAgent',
    text: 'For `politeAgent({ … })` of `@politely/gate/undici`, which takes the same other options. `network`, `allowAddresses` and `lookup` apply to pages and to robots.txt.',
    options: [
      {
        from: 'gate',
        type: 'PoliteAgentOptions',
        at: {
          lookup: GUARD,
          network: GUARD,
          allowAddresses: GUARD,
          dispatcher: 'undici-and-node-http.md#connections',
          '*': 'undici-and-node-http.md#with-undici',
        },
      },
    ],
  },
  {
    title: 'withRobots of Crawlee',
    text: 'For `withRobots(crawler, { … })` of `@politely/crawlee`, which takes the same other options.',
    options: [
      {
        from: 'crawlee',
        type: 'WithRobotsOptions',
        at: {
          cache: 'crawlee.md#a-cache-of-pages',
          deferBeyondMs: 'crawlee.md#what-waits-and-where',
          giveUpAfterMs: 'crawlee.md#sites-that-are-down',
          pageRequests: 'crawlee.md#browsers',
          callerTimeouts: 'waiting.md#timeouts-in-existing-code',
          robotsTags: 'crawlee.md#what-may-be-done-with-a-page',
        },
      },
    ],
  },
  {
    title: 'withRobots of Playwright and Puppeteer',
    text: 'For `withRobots(browser, { … })` of `@politely/playwright` and `@politely/puppeteer`, which take the same other options.',
    options: [
      {
        from: 'cdp',
        type: 'BrowserGuardOptions',
        at: { pageRequests: 'browsers.md#what-is-checked-and-what-waits' },
      },
    ],
  },
  {
    title: 'Calls of a RobotsClient',
    text: 'Each call takes `signal`, `maxAgeMs` and `redirectedFrom`. `usage` also takes `tdmrep` and `policyTokens`. `prefetch` and `checkMany` take `concurrency`, and `checkMany` takes `order`.',
    options: [
      {
        from: 'fetcher',
        type: 'LookupOptions',
        at: {
          signal: 'fetching.md#many-at-once',
          maxAgeMs: 'fetching.md#fetching-again-on-purpose',
          redirectedFrom: 'fetching.md#urls-that-a-site-gave',
        },
      },
      {
        from: 'fetcher',
        type: 'UsageOptions',
        at: { tdmrep: 'usage.md#what-is-fetched-and-read', policyTokens: 'usage.md#policy-tokens' },
      },
      { from: 'fetcher', type: 'CheckManyOptions', at: { '*': STREAMS } },
    ],
  },
  {
    title: 'Calls of a gate',
    text: 'For `gate.enter(url, { … })`. `when` and `check` take `signal` and `redirectedFrom` too. A fetch of `politely`, and the requests of undici and `node:http`, take `redirectedFrom`.',
    options: [
      {
        from: 'gate',
        type: 'EnterOptions',
        at: { signal: 'waiting.md#aborting-a-wait', maxWaitMs: 'waiting.md#limiting-the-wait' },
      },
      { from: 'gate', type: 'SourceOptions', at: { redirectedFrom: 'fetching.md#urls-that-a-site-gave' } },
    ],
  },
  {
    title: 'parseRobots and forCrawler',
    text: '`dialect` and `origin` are options of `parseRobots`, and `keep` of `forCrawler`.',
    options: [
      {
        from: 'core',
        type: 'ParseOptions',
        at: { dialect: 'dialects.md', origin: '../packages/core/src/parse-robots.ts' },
      },
      {
        from: 'core',
        type: 'BindOptions',
        at: { keep: 'getting-started.md#i-have-a-robotstxt-file-and-want-to-check-urls' },
      },
    ],
  },
  {
    title: 'lintRobots',
    text: 'For `lintRobots(text, { … })`.',
    options: [
      {
        from: 'core',
        type: 'LintOptions',
        at: {
          dialect: 'lint.md',
          origin: '../packages/core/src/lint/lint-robots.ts',
          policyTokens: 'usage.md#policy-tokens',
        },
      },
    ],
  },
  {
    title: 'headReader',
    text: 'For `headReader({ … })` and `pageHeadOf(html, { … })` of `@politely/core/usage`.',
    options: [{ from: 'core', type: 'HeadReaderOptions', at: { '*': '../packages/core/src/usage/tags/page-head.ts' } }],
  },
  {
    title: 'nextVisit',
    text: 'For `nextVisit(history, { … })` of `@politely/core/revisit`.',
    options: [{ from: 'core', type: 'NextVisitOptions', at: { '*': 'revisit.md' } }],
  },
  {
    title: 'MemoryStore',
    text: 'From `@politely/fetcher`.',
    options: [
      {
        from: 'fetcher',
        type: 'MemoryStoreOptions',
        at: { maxBytes: 'stores.md#in-memory', now: 'testing.md#vitest' },
      },
    ],
  },
  {
    title: 'SqliteStore',
    text: 'From `@politely/sqlite`.',
    options: [
      { from: 'sqlite', type: 'SqliteStoreOptions', at: { now: 'testing.md#vitest', '*': 'stores.md#in-a-file' } },
    ],
  },
  {
    title: 'signer',
    text: 'For `signer({ … })` of `@politely/web-bot-auth`. Experimental.',
    options: [
      {
        from: 'web-bot-auth',
        type: 'SignerOptions',
        at: {
          key: 'signed-requests.md#a-key-that-stays-where-it-is',
          publicKey: 'signed-requests.md#a-key-that-stays-where-it-is',
          agent: 'signed-requests.md',
          profile: 'signed-requests.md#profiles',
          when: 'signed-requests.md#sign-only-where-a-site-asks',
          expiresMs: 'signed-requests.md#what-is-signed',
          reuseMs: 'signed-requests.md#reuse-a-signature',
          siteHeaders: 'signed-requests.md#headers-that-a-site-gave-you',
          now: 'testing.md#vitest',
        },
      },
    ],
  },
  {
    title: 'verify and KeyDirectories',
    text: 'For `verify(request, { … })` and `new KeyDirectories({ … })` of `@politely/web-bot-auth`. Experimental.',
    options: [
      {
        from: 'web-bot-auth',
        type: 'VerifyOptions',
        at: {
          now: 'testing.md#vitest',
          directories: 'signed-requests.md#key-sets',
          clockSkewMs: 'signed-requests.md#verify',
        },
      },
      {
        from: 'web-bot-auth',
        type: 'DirectoryOptions',
        at: { now: 'testing.md#vitest', '*': 'signed-requests.md#key-sets' },
      },
    ],
  },
  {
    title: 'evidenceFiles, evidenceWarc and evidenceStream',
    text: 'From `@politely/evidence`. `evidenceStream` takes the first six and `write`.',
    options: [
      { from: 'evidence', type: 'EvidenceOptions', at: { now: 'testing.md#vitest', '*': 'evidence.md' } },
      { from: 'evidence', type: 'EvidenceFileOptions', at: { '*': 'evidence.md' } },
      { from: 'evidence', type: 'EvidenceStreamOptions', at: { '*': 'evidence.md' } },
    ],
  },
  {
    title: 'PageCache',
    text: 'From `@politely/cache`.',
    options: [
      {
        from: 'cache',
        type: 'PageCacheOptions',
        at: {
          now: 'testing.md#vitest',
          heuristic: 'page-cache.md#what-is-stored',
          maxEntryBytes: 'page-cache.md#what-is-stored',
          stale: 'page-cache.md#when-the-site-fails',
          offline: 'page-cache.md#work-offline',
          refresh: 'page-cache.md#work-offline',
          fingerprint: 'page-cache.md#when-to-come-again',
          revisit: 'page-cache.md#when-to-come-again',
          requestHeaders: 'page-cache.md#pages-of-one-user',
          '*': 'page-cache.md#where-pages-are-kept',
        },
      },
      {
        from: 'cache',
        type: 'RevisitOptions',
        prefix: 'revisit.',
        at: { '*': 'page-cache.md#when-to-come-again' },
      },
    ],
  },
  {
    title: 'due and prune',
    text: 'For `cache.due({ … })` and `cache.prune({ … })` of a `PageCache`.',
    options: [
      { from: 'cache', type: 'DueOptions', at: { '*': 'page-cache.md#when-to-come-again' } },
      { from: 'cache', type: 'PruneOptions', at: { '*': 'page-cache.md#where-pages-are-kept' } },
    ],
  },
  {
    title: 'MemoryPageStore',
    text: 'From `@politely/cache`.',
    options: [{ from: 'cache', type: 'MemoryPageStoreOptions', at: { '*': 'page-cache.md#where-pages-are-kept' } }],
  },
  {
    title: 'SqlitePageStore',
    text: 'From `@politely/cache`. `PageCache` makes one for its option `file`.',
    options: [
      {
        from: 'cache',
        type: 'SqlitePageStoreOptions',
        at: { now: 'testing.md#vitest', '*': 'page-cache.md#where-pages-are-kept' },
      },
    ],
  },
  {
    title: 'RedisStore',
    text: 'From `@politely/redis`.',
    options: [
      { from: 'redis', type: 'RedisStoreOptions', at: { now: 'testing.md#vitest', '*': 'stores.md#in-redis' } },
    ],
  },
  {
    title: 'migrate',
    text: 'For `migrate(client, { … })` of `@politely/postgres`.',
    options: [{ from: 'postgres', type: 'MigrateOptions', at: { '*': 'postgres.md#set-up' } }],
  },
  {
    title: 'PostgresStore',
    text: 'From `@politely/postgres`.',
    options: [
      {
        from: 'postgres',
        type: 'PostgresStoreOptions',
        at: { schema: 'postgres.md#set-up', '*': 'postgres.md#a-worker-in-typescript' },
      },
    ],
  },
  {
    title: 'PostgresPacer',
    text: 'From `@politely/postgres`.',
    options: [
      {
        from: 'postgres',
        type: 'PostgresPacerOptions',
        at: {
          client: 'postgres.md#a-worker-in-typescript',
          schema: 'postgres.md#set-up',
          leaseMs: 'fleet.md#counting-the-requests-under-way',
          '*': 'fleet.md#when-redis-fails',
        },
      },
    ],
  },
  {
    title: 'RedisPacer',
    text: 'From `@politely/redis`.',
    options: [
      {
        from: 'redis',
        type: 'RedisPacerOptions',
        at: {
          client: 'fleet.md#one-worker',
          keyPrefix: 'fleet.md#what-the-workers-share-and-what-not',
          leaseMs: 'fleet.md#counting-the-requests-under-way',
          '*': 'fleet.md#when-redis-fails',
        },
      },
    ],
  },
  {
    title: 'readSitemaps',
    text: 'For `readSitemaps(source, { … })` of `@politely/sitemaps`.',
    options: [
      {
        from: 'sitemaps',
        type: 'ReadSitemapsOptions',
        at: {
          since: 'sitemaps.md#dates-and-since',
          earlier: 'sitemaps.md#later-readings',
          resume: 'sitemaps.md#later-readings',
          limits: 'sitemaps.md#limits',
          signal: '../packages/sitemaps/src/read/options.ts',
          '*': 'sitemaps.md#what-is-read',
        },
      },
      { from: 'sitemaps', type: 'SitemapLimits', prefix: 'limits.', at: { '*': 'sitemaps.md#limits' } },
    ],
  },
  {
    title: 'FetchTools',
    text: 'From `@politely/mcp`.',
    options: [
      {
        from: 'mcp',
        type: 'FetchToolsOptions',
        at: { userAgent: 'mcp.md#two-product-tokens', '*': 'mcp.md#tools-in-your-own-server' },
      },
    ],
  },
  {
    title: 'politeFetchTool',
    text: 'For `politeFetchTool({ … })` of `@politely/mcp/tool`, which takes the other options of `FetchTools` too.',
    options: [{ from: 'mcp', type: 'PoliteFetchToolOptions', at: { '*': 'mcp.md#a-tool-for-your-agent' } }],
  },
  {
    title: 'PolitelyServer',
    text: 'From `@politely/server`. Some are options of its method `listen`.',
    options: [
      { from: 'server', type: 'PolitelyServerOptions', at: { '*': 'serve.md#in-your-own-program' } },
      { from: 'server', type: 'TcpOptions', prefix: 'listen.', at: { '*': 'serve.md#in-your-own-program' } },
    ],
  },
  {
    title: 'PolitelyInstrumentation',
    text: 'From `@politely/otel`.',
    options: [
      { from: 'otel', type: 'PolitelyInstrumentationConfig', at: { '*': 'observing.md#what-it-costs' } },
      { from: 'otel', type: 'OriginLabelOptions', prefix: 'origins.', at: { '*': 'observing.md#what-it-costs' } },
    ],
  },
  {
    title: 'The operator of a crawler',
    text: 'For `signDirectory`, `directoryHandler`, `identityFiles`, `checkDirectory`, `checkIdentity` and `rotateKey` of `@politely/web-bot-auth/operator` (experimental).',
    options: [
      { from: 'web-bot-auth', type: 'DirectoryContent', at: { '*': OPERATOR } },
      { from: 'web-bot-auth', type: 'IdentityFilesOptions', at: { '*': OPERATOR } },
      { from: 'web-bot-auth', type: 'StrangerOptions', at: { '*': OPERATOR } },
      { from: 'web-bot-auth', type: 'CheckIdentityOptions', at: { '*': OPERATOR } },
      { from: 'web-bot-auth', type: 'RotationOptions', at: { '*': OPERATOR } },
    ],
  },
  {
    title: 'dnsLookup',
    text: 'For `dnsLookup({ … })` of `@politely/fetcher`, which makes a value of the option `lookup`.',
    options: [
      {
        from: 'fetcher',
        type: 'DnsLookupOptions',
        at: { servers: '../packages/fetcher/src/network/lookup.ts', '*': STREAMS },
      },
    ],
  },
  {
    title: 'NetworkGuard',
    text: 'From `@politely/fetcher`.',
    options: [{ from: 'fetcher', type: 'NetworkGuardOptions', at: { '*': GUARD } }],
  },
  {
    title: 'siteQueue',
    text: 'For `siteQueue(source, { … })` of `@politely/gate/site-queue`; `source` may be left out.',
    options: [
      {
        from: 'gate',
        type: 'SiteQueueOptions',
        at: {
          maxHeld: 'scale.md#memory',
          spill: 'scale.md#memory',
          maxSeen: 'scale.md#links-of-a-page',
          seen: 'scale.md#links-of-a-page',
          '*': 'scale.md#one-process-many-sites',
        },
      },
    ],
  },
  {
    title: 'CrawlTimeline',
    text: 'From `@politely/timeline`.',
    options: [
      {
        from: 'timeline',
        type: 'CrawlTimelineOptions',
        at: { gate: 'waiting.md#counters-queues-and-channels', maxMarks: '../packages/timeline/src/timeline.ts' },
      },
      {
        from: 'timeline',
        type: 'TimelineTextOptions',
        prefix: 'text: ',
        at: { '*': '../packages/timeline/src/timeline.ts' },
      },
      {
        from: 'timeline',
        type: 'TimelineSvgOptions',
        prefix: 'svg: ',
        at: { '*': '../packages/timeline/src/timeline.ts' },
      },
    ],
  },
  {
    title: 'fakeWeb',
    text: 'For `fakeWeb(sites, { … })` of `@politely/testing`.',
    options: [{ from: 'testing', type: 'FakeWebOptions', at: { timers: 'testing.md#nodetest' } }],
  },
]
