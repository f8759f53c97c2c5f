// Options in the words of other crawlers and HTTP clients, and the options of Politely for them.
import { findRows } from '@politely/core/internal'

// What a name is about shows in a part of it.
const WAIT = 'delay|wait|sleep|pause|interval|throttle|politeness|mintime'
const PARALLEL = 'concurren|parallel|connection|socket|thread|worker|inflight|simultaneous|poolsize|maxper|limitper'
const HOST = 'host|origin|site|server|slot|key'
const MIN_DELAY = 'the shortest time between the starts of two requests to one origin, in milliseconds'
const OWN_REQUEST = 'what a request sends belongs to the fetch that you wrap, or to one call: fetch(url, { headers })'

/**
 * A table of `findRows`: words, then options of Politely, each with the end of the error message. The
 * message names the first option that the called function has. A row with one cell says where that
 * belongs instead.
 *
 * Other projects have some thousand options, so most words are parts of names. They are tried if no
 * option is similar, and the first row counts. A whole word stands here only where its parts, or a
 * similar option, would give another answer.
 */
const TABLE = `
~cookie | ${OWN_REQUEST}
resolver ~dns|resolver|lookup | lookup | a function like dns.lookup
maxredirect ~redirect|redirs | maxRedirects | a number, for requests for robots.txt
~(?:log|stats|status|progress).*interval | progressMs | how often the logger gets the counts, in milliseconds
respectcrawldelayuptoseconds maxcrawldelay | maxDelayMs | in milliseconds, such as 300_000: no delay is longer
~max.*(?:delay|sleep|pause)|(?:delay|sleep|pause)max | maxDelayMs | in milliseconds: no delay is longer
pushbackstatuses ~retry.*(?:delay|interval|wait|timeout|after|code|status)|waitretry|backoff|snooze|penalty|httpstatus|errorcodes | backoff | such as { statuses: [429, 503], firstMs: 5_000 }
~random|jitter|fuzz | jitter | from 0 to 1: how much longer a delay may be, at random
~retry|retries|tries$|attempts | retries | for requests for robots.txt; for pages write retry: { attempts: 3 } in politely(fetch, { … })
targetconcurrency ~autothrottle|adaptive | delayFactor | such as 2: the delay is twice the time of the last response
~bandwidth|kbps|limitrate|throughput | minDelayMs | nothing limits the bandwidth, but this limits the requests
~${WAIT}&domain | minDelayPerDomainMs | in milliseconds
~${WAIT}&address|^ip|ip$ | minDelayPerAddressMs | in milliseconds
rate throttle throttlems ~${WAIT}&${HOST} | minDelayMs | ${MIN_DELAY}
interval intervalcap reservoirrefreshinterval reservoirrefreshamount | minDelayMs | in milliseconds: the interval, divided by the number of requests that may start in it
~per(?:s|sec|second)$|rps|qps | minDelayMs | per second
~per(?:m|min|minute)$|rpm | minDelayMs | per minute
~per(?:h|hour)$ | minDelayMs | per hour
~${PARALLEL}&address|ip$ | maxConcurrentPerAddress | the limit for all hosts of an address
maxconcurrencyperdomain ~${PARALLEL}&domain | maxConcurrentPerDomain | the limit for all hosts of a registrable domain
concurrentrequestsperdomain ~${PARALLEL}&${HOST} ~perhost | maxConcurrentPerKey | by default, each origin is a key
highwater ~queue.*(?:size|limit|length|max|count)|max.*(?:queue|pending)|backlog | maxQueuedPerKey | how many requests may wait for one origin; a further one is rejected
~(?:max|limit).*(?:size|bytes|body|length|content)|(?:body|content|response|resource|download).*(?:size|length|limit|bytes) | maxBodyBytes | for robots.txt; pages have no limit
maxpagesperhost reservoir ~(?:max|limit|total).*(?:request|page|url|doc|file|fetch|visit)|(?:request|page|url|doc|visit)s?(?:limit|max|count|quota|total|per)|quota|budget | budget | how many requests of one pace key may start
maxconcurrency limit ~${PARALLEL} | maxConcurrent | for all requests, or \`maxConcurrentPerKey\` for the requests to one origin
ttl cacheduration maxage ~ttl|expir|maxage|validity|cache.*(?:time|sec) | ttlMs | in milliseconds, such as 3_600_000 for an hour | maxAgeMs | in milliseconds, such as 3_600_000 for an hour
timeout requesttimeout expiration ~timeout|timelimit|maxtime|duration|deadline | requestTimeoutMs | the time for one page in milliseconds, such as 30_000; \`timeoutMs\` is for one robots.txt | timeoutMs | the time for one robots.txt in milliseconds, such as 20_000 | signal | such as AbortSignal.timeout(20_000)
deadline | signal | such as AbortSignal.timeout(20_000)
~${WAIT}|ratelimit|rate$ | minDelayMs | ${MIN_DELAY}
maxcachesize cachemaxsize ~cache.*(?:size|max|entries) | maxCacheBytes | the size of the memory cache in bytes
cachestore storage redis | store | such as new SqliteStore({ path }); memory is always used, up to \`maxCacheBytes\`
~cache|persist|storage|datastore|jobdir|redis|sqlite | store | such as new SqliteStore({ path }), for robots.txt; pages have the option \`cache\` of politely(fetch)
~metarobots|robotsmeta|noindex|nofollow | what a page says about its use is in usageOf(response)
producttokens botname robotname crawlername agentname useragentname useragenttoken robotstxtuseragent token bottoken | productToken | the name to look for in robots.txt, or a list of names
useragents ua headers ~useragent|agents?$|agentname|botname|crawlername|contact|rotateua | userAgent | one User-Agent header for all requests
respectrobotstxt respectrobotstxtfile obeyrobotstxt robotstxtobey respectrobots obeyrobots ignorerobots ignorerobotstxt dontobeyrobotstxt robotstxt | obey | \`obey: { rules: false }\` or \`obey: { delays: false }\`, for your own site
~robots | dialect | such as "google": how robots.txt is read; \`obey\` is for your own site
~log|verbose|debug|silen|quiet|trace | logger | such as console
agent httpagent httpsagent ~proxy|proxies|tunnel|socks | dispatcher | an undici dispatcher for the requests for robots.txt, such as new ProxyAgent(url) of undici
tls ca ~ssl|tls|cert|insecure|unauthorized|keepalive|http2|localaddress|bindaddress|interface | dispatcher | an undici dispatcher, such as new Agent({ connect: { ca } }) of undici
circuitbreaker circuitbreakeroptions breaker circuitoptions | circuit | such as { failures: 5, coolMs: 30_000 }, which is the default
audit auditlog provenance sink recorder warc | evidence | what evidenceFiles({ dir }) of @politely/evidence returns
signer signature signatures signing webbotauth | sign | what signer({ … }) of @politely/web-bot-auth returns
ratelimitheader respectratelimit respectratelimitheaders | rateLimitHeaders | true or false
persite perorigin perhost siteoptions origins sites overrides downloadslots | pace | a function such as (origin) => ({ minDelayMs: 5_000 })
queueby groupby partitionby queuemode partitionmode pacekey | paceBy | such as 'domain', or a function of the URL
abort abortsignal aborter abortcontroller controller canceltoken | signal | an AbortSignal
allowprivate allowprivateips allowprivateaddresses allowlocalhost | network | 'any' allows every address
~header|auth|username|password|referr?er|method|body|form|params|^json|data$|encod|language|compress|credential|httperror|validatestatus|hook|intercept|transform|transport|adapter|httpclient|prefixurl|baseurl|mime|responsetype|stream|integrity | ${OWN_REQUEST}
~depth|hops|level|recurs|priorit|weight|domain|allow|accept|reject|exclude|include|glob|regex|pattern|filter|follow|link|scope|parent|span|mirror|start|seed|seen|initial|queue|requestlist|dup|unique|visited|strategy|label|schedul|external|querystring|url|host$ | which URLs are requested, in which order and how deep, is up to your own queue
~handler|callback|spider|session|pipeline|middleware|headless|browser|launch|item|feed|download|crawl|parse|jquery|page|^on[a-z]|slot|pool|userdata | what is done with a page, and when a crawl ends, is up to your own program
`

/** Notes that depend on the value: which delay a rate is. */
const SECONDS: Readonly<Record<string, number>> = { 'per second': 1, 'per minute': 60, 'per hour': 3_600 }

/** Options that only a RobotsClient and `politely` have for robots.txt. Other functions mean this by them. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  timeoutMs: 'in milliseconds, such as 20_000',
  retries: 'a number, such as 2',
  maxRedirects: 'a number, such as 5',
  maxBodyBytes: 'in bytes, such as 1_000_000',
}

const DOCS = 'https://github.com/politely-crawler/politely/blob/main/docs'

/** The options of a function, and those of other objects, each with the end of its error message. */
interface OptionNames {
  readonly known: Readonly<Record<string, true>>
  readonly elsewhere: Readonly<Record<string, string>>
}

/**
 * Returns the end of an error message about an option that is similar to none: the option for what the
 * name is about, or where that belongs, or the page that lists all options. The parameters are as for
 * `synonymHint`.
 */
export function relatedHint(name: string, value: unknown, names: OptionNames): string | undefined {
  const { known } = names
  const [cells = []] = findRows(TABLE, name, 'part')
  const hint = hintOf(cells, value, names)
  const isOfPages = Object.hasOwn(known, 'userAgent') || Object.hasOwn(known, 'minDelayMs')
  if (hint !== undefined || !isOfPages) return hint
  return cells.length === 1
    ? `${cells[0]}; see ${DOCS}/migrating.md#what-stays-yours`
    : `${DOCS}/options.md lists all options`
}

/**
 * Returns the end of an error message about an option that this function does not have, if the name
 * is the word of another project for something that it has.
 */
export function synonymHint(name: string, value: unknown, names: OptionNames): string | undefined {
  const { known } = names
  const [cells = []] = findRows(TABLE, name)
  const isOfCrawler = Object.hasOwn(known, 'userAgent') || Object.hasOwn(known, 'robots')
  // Only `ignore…: true`, `dont…: true` and the other words with `false` turn obedience off.
  if (cells[0] === 'obey' && isOfCrawler && value !== /^[-_.]*(?:ignore|dont)/i.test(name))
    return 'robots.txt is fetched and obeyed by default; remove the option'
  return hintOf(cells, value, names)
}

/** @param cells Options, each followed by its note. */
function hintOf(cells: readonly string[], value: unknown, { known, elsewhere }: OptionNames): string | undefined {
  const options = cells.filter((_, n) => n % 2 === 0)
  const option =
    options.find((name) => Object.hasOwn(known, name)) ?? options.find((name) => Object.hasOwn(elsewhere, name))
  if (option === undefined) return undefined
  const isOfOthers = Object.hasOwn(known, option) && !Object.hasOwn(known, 'productToken')
  const text = (isOfOthers && OF_OTHERS[option]) || noteOf(cells[cells.indexOf(option) + 1] as string, value)
  const place = Object.hasOwn(known, option) ? '' : `; it ${elsewhere[option]}`
  return `did you mean \`${option}\`? (${text})${place}`
}

function noteOf(note: string, value: unknown): string {
  const seconds = SECONDS[note]
  if (seconds === undefined) return note
  const rate = typeof value === 'number' && value > 0 ? value : 2
  return `in milliseconds: \`minDelayMs: ${Math.ceil((1000 * seconds) / rate)}\` gives ${rate} requests ${note} to one origin`
}
