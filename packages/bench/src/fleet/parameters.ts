// Every number that the simulation assumes. Times are in milliseconds.
//
// A change of `web` or `crawler` needs a new record. A change of `redis` or `memory` changes the
// tables of docs/scale.md only: the record has counts, and the tables multiply them.

/** The sites. */
export const web = {
  /**
   * The number of URLs of a site follows a power law: the share of sites with more than n URLs
   * falls as n to the power of -0.8. Huberman and Adamic found exponents of 1.7 to 1.9 for the
   * density in crawls of Alexa and Infoseek ("Growth dynamics of the World-Wide Web", Nature 399,
   * 1999), which is 0.7 to 0.9 for the share.
   */
  tailExponent: 0.8,
  /**
   * The largest site has this share of all URLs. Our choice: a crawler has a limit for each site.
   */
  largestSiteShare: 0.001,
  /**
   * The mean number of hosts of a registrable domain: 47,552,457 hosts of 38,304,026 domains.
   * Common Crawl, CC-MAIN-2024-42.
   */
  hostsPerDomain: 1.24,
  /**
   * The largest domain has this share of all hosts, as blogspot.com has in Common Crawl's list of
   * the largest domains.
   */
  largestDomainShare: 0.007,
  /**
   * The share of domains with more than n hosts falls as n to the power of -1.12, which gives both
   * figures above at ten million hosts.
   */
  domainTailExponent: 1.12,
  /**
   * The crawl-delays that sites ask for, and the share of sites for each. Our choice. 18 % of the
   * files that the benchmark's generated files resemble have a crawl-delay, but many for one named
   * crawler.
   */
  crawlDelays: [
    { delayMs: 2_000, share: 0.02 },
    { delayMs: 5_000, share: 0.02 },
    { delayMs: 10_000, share: 0.03 },
    { delayMs: 60_000, share: 0.01 },
  ],
  /** The share of sites without robots.txt (404). Our choice. */
  missingShare: 0.28,
  /** The share of sites whose robots.txt answers 503 twice and then has rules. Our choice. */
  flakyShare: 0.015,
  /** The share of sites whose robots.txt always answers 503. Our choice. */
  unreachableShare: 0.005,
  /**
   * The share of overloaded sites, and the share of their responses that are a 503. Half of these
   * have this Retry-After. Our choice.
   */
  overloadedShare: 0.01,
  pushbackShare: 0.1,
  retryAfterSeconds: 300,
  /**
   * The time from the start of a request to the end of its response: exponential, within these
   * bounds. Our choice.
   */
  responseMs: { mean: 500, min: 50, max: 10_000 },
  /** The mean size of a page. Our choice; used for the estimate of traffic only. */
  pageBytes: 100_000,
} as const

/** The crawler. */
export const crawler = {
  /**
   * Requests that a worker has under way at once, robots.txt included. The default of the gate's
   * `maxConcurrent`.
   */
  connections: 64,
  /** The default of `minDelayMs`. */
  ownDelayMs: 1_000,
  /**
   * `maxDelayMs`. Without a limit, one site with a crawl-delay of an hour would decide how long the
   * crawl takes.
   */
  maxDelayMs: 30_000,
  /** After so many failed attempts to fetch robots.txt the frontier gives up the URLs of a site. */
  robotsAttempts: 5,
  /** How often a worker that lost the lease asks Redis for the entry. */
  leasePollMs: 250,
  /**
   * The time from the death of a worker until its work goes on elsewhere. For the partition: until
   * its domains are reassigned. For the shared pacer: until the queue returns its jobs (a lock of
   * 30 s, and a check for stalled jobs every 30 s, as in BullMQ).
   */
  deathNoticedAfterMs: 60_000,
} as const

/**
 * Redis and its clients. Sizes of keys are estimates, to be replaced by measurements of a real
 * Redis.
 */
export const redis = {
  /**
   * Bytes that Redis needs for one key with an expiry time, besides the key and the value: two hash
   * table entries and headers.
   */
  bytesPerKey: 120,
  /** `robots:{https://www.example.com}` and the like. */
  keyBytes: 45,
  /**
   * The mean entry of a generated file of the benchmark, after deflate: 4,020 bytes of robots.txt,
   * 4,571 of entry, 1,396 compressed.
   */
  rulesEntryBytes: 1_396,
  /** The entry of a site without robots.txt. */
  missingEntryBytes: 260,
  /** The state of one pace key. */
  pacerBytes: 100,
  /** How long Redis keeps an idle pace key. */
  pacerTtlMs: 600_000,
  /**
   * A waiting job of the queue: its hash with a URL and options, and its place in a list or a
   * sorted set.
   */
  jobBytes: 600,
  /**
   * Calls of a BullMQ-like queue: add, move to active and move to finished for each job. A job that
   * must wait and did not know it costs two more: move to delayed, and move to active again.
   * (BullMQ can fetch the next job with move to finished, which saves one.)
   */
  callsPerJob: 3,
  callsPerDelayedJob: 2,
  /**
   * Short calls, such as GET, that one Redis process answers in a second. An estimate for one core.
   */
  callsPerSecond: 100_000,
  /**
   * Calls of a script, for the pace or a queue. On two cores that were busy with other work, Redis
   * counted 62 to 119 µs for a `reserve` of the pacer (INFO commandstats), of which it used 42 to
   * 50 µs of processor time. In another measurement it was 78 µs.
   */
  scriptsPerSecond: 12_000,
} as const
