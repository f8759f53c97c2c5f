// Options in the words of other crawlers and HTTP clients, and the options of Politely for them.

/** A text for the end of an error message; some depend on the value that the caller wrote. */
type Note = string | ((value: unknown) => string)

/** An option of Politely. The first of several that the called function has is the one to name. */
type Target = readonly [option: string, note: Note]

const MIN_DELAY = 'the shortest time between the starts of two requests to one origin, in milliseconds'
const PER_INTERVAL = 'in milliseconds: the interval, divided by the number of requests that may start in it'
const DISPATCHER = 'an undici dispatcher for the requests for robots.txt, such as new ProxyAgent(url) of undici'
const SIGNAL_TIMEOUT: Target = ['signal', 'such as AbortSignal.timeout(20_000)']

/** Words in lower case without `_` and `-`, separated by blanks, and what to write instead. */
const GROUPS: readonly (readonly [words: string, ...targets: Target[]])[] = [
  [
    'delay downloaddelay crawldelay requestdelay delayms delayseconds delaybetweenrequests ratelimit throttle throttlems wait mintime politenessdelay',
    ['minDelayMs', MIN_DELAY],
  ],
  ['interval intervalcap reservoirrefreshinterval reservoirrefreshamount', ['minDelayMs', PER_INTERVAL]],
  [
    'respectcrawldelayuptoseconds maxcrawldelay',
    ['maxDelayMs', 'in milliseconds, such as 300_000: no delay is longer'],
  ],
  [
    'highwater maxqueuesize',
    ['maxQueuedPerKey', 'how many requests may wait for one origin; a further one is rejected'],
  ],
  ['samedomaindelay samedomaindelaysecs domaindelay delayperdomain', ['minDelayPerDomainMs', 'in milliseconds']],
  ['requestspersecond maxrequestspersecond rps qps', ['minDelayMs', rateNote(1, 'second')]],
  ['requestsperminute maxrequestsperminute maxtasksperminute rpm', ['minDelayMs', rateNote(60, 'minute')]],
  [
    'concurrency maxconcurrency concurrentrequests maxconnections connections parallelism parallel maxparallel limit maxsockets maxtoethreads',
    ['maxConcurrent', 'for all requests, or `maxConcurrentPerKey` for the requests to one origin'],
  ],
  [
    'maxconcurrentperorigin maxconcurrencyperorigin concurrencyperorigin maxconcurrentperhost maxconnectionsperhost concurrentrequestsperhost concurrentrequestsperdomain',
    ['maxConcurrentPerKey', 'by default, each origin is a key'],
  ],
  [
    'maxconcurrencyperdomain concurrencyperdomain maxconnectionsperdomain',
    ['maxConcurrentPerDomain', 'the limit for all hosts of a registrable domain'],
  ],
  [
    'randomize randomizedelay randomdelay randomdownloaddelay randomizedownloaddelay delayjitter randomness fuzz',
    ['jitter', 'from 0 to 1: how much longer a delay may be, at random'],
  ],
  [
    'autothrottle autothrottleenabled autothrottletargetconcurrency targetconcurrency adaptivedelay adaptive',
    ['delayFactor', 'such as 2: the delay is twice the time of the last response'],
  ],
  [
    'maxrequests maxpages maxurls pagelimit requestlimit crawlbudget pagebudget maxpagesperhost maxpagespersite maxpagesperdomain closespiderpagecount reservoir queuetotalbudget',
    ['budget', 'how many requests of one pace key may start'],
  ],
  [
    'retryhttpcodes retrystatuses retrystatuscodes pushbackstatuses backofftime backofflimit exponentialbackoff',
    ['backoff', 'such as { statuses: [429, 503], firstMs: 5_000 }'],
  ],
  ['ratelimitheader respectratelimit respectratelimitheaders', ['rateLimitHeaders', 'true or false']],
  [
    'persite perorigin perhost siteoptions origins sites overrides downloadslots',
    ['pace', 'a function such as (origin) => ({ minDelayMs: 5_000 })'],
  ],
  [
    'queueby groupby partitionby queuemode partitionmode pacekey',
    ['paceBy', "such as 'domain', or a function of the URL"],
  ],
  [
    'timeout requesttimeout timeoutseconds timeoutsecs downloadtimeout requesthandlertimeoutsecs navigationtimeoutsecs connecttimeout expiration',
    ['requestTimeoutMs', 'the time for one page in milliseconds, such as 30_000; `timeoutMs` is for one robots.txt'],
    ['timeoutMs', 'the time for one robots.txt in milliseconds, such as 20_000'],
    SIGNAL_TIMEOUT,
  ],
  ['deadline', SIGNAL_TIMEOUT],
  ['abortsignal aborter canceltoken', ['signal', 'an AbortSignal']],
  [
    'retry retrylimit maxretries maxrequestretries retrytimes',
    ['retries', 'for requests for robots.txt; no request for a page is repeated'],
  ],
  ['redirects followredirects followredirect maxredirect', ['maxRedirects', 'a number, for requests for robots.txt']],
  ['proxy proxyurl proxies httpproxy proxyconfiguration agent httpagent httpsagent', ['dispatcher', DISPATCHER]],
  ['dns resolver dnslookup', ['lookup', 'a function like dns.lookup']],
  [
    'cache cachestore storage redis',
    ['store', 'such as new SqliteStore({ path }); memory is always used, up to `maxCacheBytes`'],
  ],
  ['cachesize maxcachesize cachemaxsize', ['maxCacheBytes', 'the size of the memory cache in bytes']],
  [
    'ttl cachettl cacheduration cachetime maxage expires expiry expiresin',
    ['ttlMs', 'in milliseconds, such as 3_600_000 for an hour'],
    ['maxAgeMs', 'in milliseconds, such as 3_600_000 for an hour'],
  ],
  ['useragents useragentstring ua headers', ['userAgent', 'one User-Agent header for all requests']],
  [
    'producttokens botname robotname crawlername agentname useragentname useragenttoken robotstxtuseragent',
    ['productToken', 'the name to look for in robots.txt, or a list of names'],
  ],
  ['log logging loglevel verbose debug', ['logger', 'such as console']],
  ['allowprivate allowprivateips allowprivateaddresses allowlocalhost', ['network', "'any' allows every address"]],
]

/** Options that turn obedience on or off in other projects. Politely obeys robots.txt by default. */
const OBEY =
  'respectrobotstxt respectrobotstxtfile obeyrobotstxt robotstxtobey respectrobots obeyrobots ignorerobots ignorerobotstxt robotstxt'
const OBEY_NOTE = '`obey: { rules: false }` or `obey: { delays: false }`, for your own site'

const SYNONYMS: ReadonlyMap<string, readonly Target[]> = new Map(
  GROUPS.flatMap(([words, ...targets]) => words.split(' ').map((word) => [word, targets] as const)),
)
const OBEY_WORDS: ReadonlySet<string> = new Set(OBEY.split(' '))

/**
 * Returns the end of an error message about an option that this function does not have, if the name
 * is the word of another project for something that it has.
 * @param elsewhere Options of another object, each with the end of its error message.
 */
export function synonymHint(
  name: string,
  value: unknown,
  known: Readonly<Record<string, true>>,
  elsewhere: Readonly<Record<string, string>>,
): string | undefined {
  const word = name.replace(/[-_]/g, '').toLowerCase()
  const isOfCrawler = Object.hasOwn(known, 'userAgent') || Object.hasOwn(known, 'robots')
  const isOfObedience = isOfCrawler && OBEY_WORDS.has(word)
  // Only `ignore…: true` and the other words with `false` turn obedience off.
  if (isOfObedience && value !== word.startsWith('ignore'))
    return 'robots.txt is fetched and obeyed by default; remove the option'
  const targets: readonly Target[] = isOfObedience ? [['obey', OBEY_NOTE]] : (SYNONYMS.get(word) ?? [])
  const target =
    targets.find(([option]) => Object.hasOwn(known, option)) ??
    targets.find(([option]) => Object.hasOwn(elsewhere, option))
  if (target === undefined) return undefined
  const [option, note] = target
  const text = typeof note === 'string' ? note : note(value)
  const place = Object.hasOwn(known, option) ? '' : `; it ${elsewhere[option]}`
  return `did you mean \`${option}\`? (${text})${place}`
}

/** Says which delay a rate is. */
function rateNote(seconds: number, unit: string): Note {
  return (value) => {
    const isRate = typeof value === 'number' && value > 0
    const rate = isRate ? value : 2
    return `in milliseconds: \`minDelayMs: ${Math.ceil((1000 * seconds) / rate)}\` gives ${rate} requests per ${unit} to one origin`
  }
}
