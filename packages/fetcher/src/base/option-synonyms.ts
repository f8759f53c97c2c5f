// Options in the words of other crawlers and HTTP clients, and the options of Politely for them.

/** A text for the end of an error message; some depend on the value that the caller wrote. */
type Note = string | ((value: unknown) => string)

/** An option of Politely. The first of several that the called function has is the one to name. */
type Target = readonly [option: string, note: Note]

const MIN_DELAY = 'the shortest time between the starts of two requests to one origin, in milliseconds'
const PER_INTERVAL = 'in milliseconds: the interval, divided by the number of requests that may start in it'
const DISPATCHER = 'an undici dispatcher for the requests for robots.txt, such as new ProxyAgent(url) of undici'
const CONNECTIONS = 'an undici dispatcher, such as new Agent({ connect: { ca } }) of undici'
const SIGNAL_TIMEOUT: Target = ['signal', 'such as AbortSignal.timeout(20_000)']
const TIMEOUTS: Target[] = [
  ['requestTimeoutMs', 'the time for one page in milliseconds, such as 30_000; `timeoutMs` is for one robots.txt'],
  ['timeoutMs', 'the time for one robots.txt in milliseconds, such as 20_000'],
  SIGNAL_TIMEOUT,
]
const TTLS: Target[] = [
  ['ttlMs', 'in milliseconds, such as 3_600_000 for an hour'],
  ['maxAgeMs', 'in milliseconds, such as 3_600_000 for an hour'],
]

/** Options that only a RobotsClient and `politely` have for robots.txt. Other functions mean this by them. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  timeoutMs: 'in milliseconds, such as 20_000',
  retries: 'a number, such as 2',
  maxRedirects: 'a number, such as 5',
  maxBodyBytes: 'in bytes, such as 1_000_000',
}

/** Words in lower case without `_` and `-`, separated by blanks, and what to write instead. */
const GROUPS: readonly (readonly [words: string, ...targets: Target[]])[] = [
  [
    'delay downloaddelay crawldelay requestdelay delayms delayseconds delaybetweenrequests rate ratelimit throttle throttlems wait mintime politenessdelay',
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
  [
    'circuitbreaker circuitbreakeroptions breaker circuitoptions',
    ['circuit', 'such as { failures: 5, coolMs: 30_000 }, which is the default'],
  ],
  ['signer signature signatures signing webbotauth', ['sign', 'what signer({ … }) of @politely/web-bot-auth returns']],
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
    ...TIMEOUTS,
  ],
  ['deadline', SIGNAL_TIMEOUT],
  ['abort abortsignal aborter abortcontroller controller canceltoken', ['signal', 'an AbortSignal']],
  [
    'retrylimit maxretries maxrequestretries retrytimes',
    ['retries', 'for requests for robots.txt; for pages write retry: { attempts: 3 } in politely(fetch, { … })'],
  ],
  ['redirects followredirects followredirect maxredirect', ['maxRedirects', 'a number, for requests for robots.txt']],
  ['proxy proxyurl proxies httpproxy proxyconfiguration agent httpagent httpsagent', ['dispatcher', DISPATCHER]],
  ['tls ca', ['dispatcher', CONNECTIONS]],
  ['dns resolver dnslookup', ['lookup', 'a function like dns.lookup']],
  [
    'cachestore storage redis',
    ['store', 'such as new SqliteStore({ path }); memory is always used, up to `maxCacheBytes`'],
  ],
  ['cachesize maxcachesize cachemaxsize', ['maxCacheBytes', 'the size of the memory cache in bytes']],
  ['ttl cachettl cacheduration cachetime maxage expires expiry expiresin', ...TTLS],
  ['useragents useragentstring ua headers', ['userAgent', 'one User-Agent header for all requests']],
  [
    'producttokens botname robotname crawlername agentname useragentname useragenttoken robotstxtuseragent token bottoken',
    ['productToken', 'the name to look for in robots.txt, or a list of names'],
  ],
  ['log logging loglevel verbose debug', ['logger', 'such as console']],
  ['allowprivate allowprivateips allowprivateaddresses allowlocalhost', ['network', "'any' allows every address"]],
]

/** Options that turn obedience on or off in other projects. Politely obeys robots.txt by default. */
const OBEY =
  'respectrobotstxt respectrobotstxtfile obeyrobotstxt robotstxtobey respectrobots obeyrobots ignorerobots ignorerobotstxt dontobeyrobotstxt robotstxt'
const OBEY_NOTE = '`obey: { rules: false }` or `obey: { delays: false }`, for your own site'

const SYNONYMS: ReadonlyMap<string, readonly Target[]> = new Map(
  GROUPS.flatMap(([words, ...targets]) => words.split(' ').map((word) => [word, targets] as const)),
)
const OBEY_WORDS: ReadonlySet<string> = new Set(OBEY.split(' '))

// Other projects have some thousand options. What a name is about, such as a delay, shows in a part of
// it. The first of these expressions that matches counts; they are tried if no name is similar.

const WAIT = /delay|wait|sleep|pause|interval|throttle|politeness|mintime/
const PARALLEL = /concurren|parallel|connection|socket|thread|worker|inflight|simultaneous|poolsize|maxper|limitper/
const HOST = /host|origin|site|server|slot|key/
const OWN_QUEUE = 'which URLs are requested, in which order and how deep, is up to your own queue'
const OWN_REQUEST = 'what a request sends belongs to the fetch that you wrap, or to one call: fetch(url, { headers })'
const OWN_PROGRAM = 'what is done with a page, and when a crawl ends, is up to your own program'

/** Expressions that all match names in lower case without `_`, `-` and `.`; and options, or an answer. */
const RELATED: readonly (readonly [about: RegExp | readonly RegExp[], ...targets: Target[] | [answer: string]])[] = [
  [/cookie/, OWN_REQUEST],
  [/dns|resolver|lookup/, ['lookup', 'a function like dns.lookup']],
  [/redirect|redirs/, ['maxRedirects', 'a number, for requests for robots.txt']],
  [/(?:log|stats|status|progress).*interval/, ['progressMs', 'how often the logger gets the counts, in milliseconds']],
  [/max.*(?:delay|sleep|pause)|(?:delay|sleep|pause)max/, ['maxDelayMs', 'in milliseconds: no delay is longer']],
  [
    /retry.*(?:delay|interval|wait|timeout|after|code|status)|waitretry|backoff|snooze|penalty|httpstatus|errorcodes/,
    ['backoff', 'such as { statuses: [429, 503], firstMs: 5_000 }'],
  ],
  [/random|jitter|fuzz/, ['jitter', 'from 0 to 1: how much longer a delay may be, at random']],
  [
    /retry|retries|tries$|attempts/,
    ['retries', 'for requests for robots.txt; for pages write retry: { attempts: 3 } in politely(fetch, { … })'],
  ],
  [/autothrottle|adaptive/, ['delayFactor', 'such as 2: the delay is twice the time of the last response']],
  [/bandwidth|kbps|limitrate|throughput/, ['minDelayMs', 'nothing limits the bandwidth, but this limits the requests']],
  [
    [WAIT, /domain/],
    ['minDelayPerDomainMs', 'in milliseconds'],
  ],
  [
    [WAIT, /address|^ip|ip$/],
    ['minDelayPerAddressMs', 'in milliseconds'],
  ],
  [
    [WAIT, HOST],
    ['minDelayMs', MIN_DELAY],
  ],
  [/per(?:s|sec|second)$|rps|qps/, ['minDelayMs', rateNote(1, 'second')]],
  [/per(?:m|min|minute)$|rpm/, ['minDelayMs', rateNote(60, 'minute')]],
  [/per(?:h|hour)$/, ['minDelayMs', rateNote(3_600, 'hour')]],
  [
    [PARALLEL, /address|ip$/],
    ['maxConcurrentPerAddress', 'the limit for all hosts of an address'],
  ],
  [
    [PARALLEL, /domain/],
    ['maxConcurrentPerDomain', 'the limit for all hosts of a registrable domain'],
  ],
  [
    [PARALLEL, HOST],
    ['maxConcurrentPerKey', 'by default, each origin is a key'],
  ],
  [/perhost/, ['maxConcurrentPerKey', 'by default, each origin is a key']],
  [
    /queue.*(?:size|limit|length|max|count)|max.*(?:queue|pending)|backlog/,
    ['maxQueuedPerKey', 'how many requests may wait for one origin; a further one is rejected'],
  ],
  [
    /(?:max|limit).*(?:size|bytes|body|length|content)|(?:body|content|response|resource|download).*(?:size|length|limit|bytes)/,
    ['maxBodyBytes', 'for robots.txt; pages have no limit'],
  ],
  [
    /(?:max|limit|total).*(?:request|page|url|doc|file|fetch|visit)|(?:request|page|url|doc|visit)s?(?:limit|max|count|quota|total|per)|quota|budget/,
    ['budget', 'how many requests of one pace key may start'],
  ],
  [PARALLEL, ['maxConcurrent', 'for all requests, or `maxConcurrentPerKey` for the requests to one origin']],
  [/ttl|expir|maxage|validity|cache.*(?:time|sec)/, ...TTLS],
  [/timeout|timelimit|maxtime|duration|deadline/, ...TIMEOUTS],
  [WAIT, ['minDelayMs', MIN_DELAY]],
  [/ratelimit|rate$/, ['minDelayMs', MIN_DELAY]],
  [/cache.*(?:size|max|entries)/, ['maxCacheBytes', 'the size of the memory cache in bytes']],
  [
    /cache|persist|storage|datastore|jobdir|redis|sqlite/,
    ['store', 'such as new SqliteStore({ path }), for robots.txt; pages have the option `cache` of politely(fetch)'],
  ],
  [/metarobots|robotsmeta|noindex|nofollow/, 'what a page says about its use is in usageOf(response)'],
  [
    /useragent|agents?$|agentname|botname|crawlername|contact|rotateua/,
    ['userAgent', 'one User-Agent header for all requests'],
  ],
  [/robots/, ['dialect', 'such as "google": how robots.txt is read; `obey` is for your own site']],
  [/log|verbose|debug|silen|quiet|trace/, ['logger', 'such as console']],
  [/proxy|proxies|tunnel|socks/, ['dispatcher', DISPATCHER]],
  [
    /ssl|tls|cert|insecure|unauthorized|keepalive|http2|localaddress|bindaddress|interface/,
    ['dispatcher', CONNECTIONS],
  ],
  [
    /header|auth|username|password|referr?er|method|body|form|params|^json|data$|encod|language|compress|credential|httperror|validatestatus|hook|intercept|transform|transport|adapter|httpclient|prefixurl|baseurl|mime|responsetype|stream|integrity/,
    OWN_REQUEST,
  ],
  [
    /depth|hops|level|recurs|priorit|weight|domain|allow|accept|reject|exclude|include|glob|regex|pattern|filter|follow|link|scope|parent|span|mirror|start|seed|seen|initial|queue|requestlist|dup|unique|visited|strategy|label|schedul|external|querystring|url|host$/,
    OWN_QUEUE,
  ],
  [
    /handler|callback|spider|session|pipeline|middleware|headless|browser|launch|item|feed|download|crawl|parse|jquery|page|^on[a-z]|slot|pool|userdata/,
    OWN_PROGRAM,
  ],
]

const DOCS = 'https://github.com/politely-crawler/politely/blob/main/docs'

/**
 * Returns the end of an error message about an option that is similar to none: the option for what the
 * name is about, or where that belongs, or the page that lists all options. The parameters are as for
 * `synonymHint`.
 */
export function relatedHint(
  name: string,
  value: unknown,
  known: Readonly<Record<string, true>>,
  elsewhere: Readonly<Record<string, string>>,
): string | undefined {
  const word = wordOf(name)
  const [, ...found] = RELATED.find(([about]) => [about].flat().every((one) => one.test(word))) ?? []
  const [answer] = found
  const hint = typeof answer === 'string' ? undefined : hintOf(found as readonly Target[], value, known, elsewhere)
  const isOfPages = Object.hasOwn(known, 'userAgent') || Object.hasOwn(known, 'minDelayMs')
  if (hint !== undefined || !isOfPages) return hint
  return typeof answer === 'string'
    ? `${answer}; see ${DOCS}/migrating.md#what-stays-yours`
    : `${DOCS}/options.md lists all options`
}

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
  const word = wordOf(name)
  const isOfObedience = isOfCrawler(known) && OBEY_WORDS.has(word)
  // Only `ignore…: true`, `dont…: true` and the other words with `false` turn obedience off.
  if (isOfObedience && value !== /^(?:ignore|dont)/.test(word))
    return 'robots.txt is fetched and obeyed by default; remove the option'
  return hintOf(isOfObedience ? [['obey', OBEY_NOTE]] : (SYNONYMS.get(word) ?? []), value, known, elsewhere)
}

function wordOf(name: string): string {
  return name.replace(/[-_.]/g, '').toLowerCase()
}

/** Whether these are the options of a client or of a gate. */
function isOfCrawler(known: Readonly<Record<string, true>>): boolean {
  return Object.hasOwn(known, 'userAgent') || Object.hasOwn(known, 'robots')
}

function hintOf(
  targets: readonly Target[],
  value: unknown,
  known: Readonly<Record<string, true>>,
  elsewhere: Readonly<Record<string, string>>,
): string | undefined {
  const target =
    targets.find(([option]) => Object.hasOwn(known, option)) ??
    targets.find(([option]) => Object.hasOwn(elsewhere, option))
  if (target === undefined) return undefined
  const [option, note] = target
  const isOfOthers = Object.hasOwn(known, option) && !Object.hasOwn(known, 'productToken')
  const text = (isOfOthers && OF_OTHERS[option]) || (typeof note === 'string' ? note : note(value))
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
