// Options in the words of other programs, and the options of Politely for them. The tables are for
// `findRows`.
import { findRows } from '@politely/core/internal'
import { nearestName } from '@politely/core/review'

/** What is read of the spec of a command. */
interface Command {
  readonly name: string
  readonly usage: string
  readonly flags: readonly { readonly name: string; readonly choices?: readonly string[] }[]
  readonly noOperands?: string
}

/** The options to write instead. A word may be in several rows: the first options count that the command has. */
const SYNONYMS = `
u ua a agent useragents useragentstring useragentheader header headers | user-agent
b bot crawler robot spider name botname | crawler | user-agent | product-token
t token tokens producttokens product useragenttoken | product-token
o out output outfile outputfile outputdocument save saveto remotename | output
o f output out fmt outputformat reporter formatter type | format
i showheaders head dumpheader saveheaders | include
i in inputfile urlsfile urlfile | urls
r file i input robotsfile robotstxt robotsurl rules | robots
informat inputformat inputtype | input
field col key | column
failon fail failonerror exitcode | fail-on
severity minseverity level failon threshold maxwarnings strict | max-severity
autofix write | fix
x httpproxy httpsproxy | proxy
allowip allowprivate allowlocalhost allowhost | allow-address
mode standard spec parser | dialect
baseurl base site host | origin | robots
url urllist urlfile list sitemap | urls | robots
delay mindelay crawldelay requestdelay downloaddelay politenessdelay politeness wait waittime sleep pause interval throttle rate ratelimit randomwait rps | min-delay
maxdelay longestwait | max-wait
sitemaps usesitemap | sitemap
bots byagent bybot bycrawler byuseragent who violations | by-agent
retries tries retrydelay maxretries retrytimes | retry
maxdepth level l recursionlevel maxhops recursive r | depth
n limit pages maxrequests maxurls maxpages maxcount max count quota maxlinks | max-pages | max-urls
j p jobs parallel parallelism parallelmax threads workers maxconcurrency concurrentrequests connections sockets | concurrency
m maxtime timeoutseconds timeoutsecs connecttimeout readtimeout requesttimeout downloadtimeout | timeout
cache cachedir cachefile pagecache httpcache httpcacheenabled db database | cache | store
nocache fresh | edge
l location followredirects | follow
`

/** What no option does: the commands of which that is true, or all, and what to know. */
const ANSWERS = `
e norobots ignorerobots robotsoff robotstxtobey respectrobots respectrobotstxt obeyrobots | all | politely always obeys robots.txt, so there is no option for it
l location follow followredirects maxredirs maxredirects redirects redirect | fetch crawl usage sitemap | redirects are followed, and each one is checked against robots.txt first
retry retries tries retrydelay maxretries retrytimes | all | robots.txt is requested up to three times
k insecure nocheckcertificate ignoressl ignoresslerrors cacert | all | to trust a certificate, set NODE_EXTRA_CA_CERTS=FILE
h cookie cookies c referer referrer method request data d auth user password httpuser compressed | fetch crawl usage sitemap | requests have no other headers than the User-Agent; for more, write a program with politely(fetch)
domain domains alloweddomains samedomain samehost samesite external spanhosts subdomains include exclude allow deny accept reject filter pattern scope noparent | crawl | crawl stays within the origins of its URLs, and has no filter; politely match filters lists of URLs
n limit max count maxurls head | match | match reads all URLs; write head -n 100 urls.txt | politely match …
j p jobs parallel threads workers concurrency | match | match uses one thread; to use more, split the list of URLs
delimiter sep separator d | match diff | the delimiter of a table is recognised; --column names the column
ignore disable suppress exclude skip rule | lint | a comment "# politely-ignore CODE" in the file suppresses a finding
quiet silent s nowarnings noprogress | all | to leave out the messages, write 2> /dev/null
verbose vv debug trace loglevel | all | to see all that is known, write --format json or ndjson
config configfile rc | all | there is no configuration file; write the options on the command line
`

/** What a command takes without an option, by its name in the usage. */
const OPERANDS = `
url urls uri page site link | URL
file files robots robotstxt robotsfile path i input | FILE
expect expectations expectation | EXPECTATIONS
old new before after base head | OLD
shell | SHELL
`

/** Commands in the words of other programs. */
const COMMANDS = `
allowed isallowed canfetch can verdict url | check
why trace which | explain
verify assert expect | test
validate fix format parse | lint
compare changes | diff
filter grep batch log logs accesslog accesslogs who violations offenders | match
`

/** Says what to write in place of an option that a command does not have. */
export function explainUnknownFlag(
  rawName: string,
  { name: command, usage, flags, noOperands }: Command,
  commands: readonly Command[],
): string {
  const word = normalized(rawName)
  const unknown = `unknown option ${rawName}; write`
  const same = flags.find((flag) => normalized(flag.name) === word)
  if (same !== undefined) return `${unknown} --${same.name}`
  const [operand = ''] = usage.split(/[ …]/)
  const operands = findRows(OPERANDS, rawName).flat()
  if (operands.includes(operand)) return `${unknown} the value without ${rawName}, as in politely ${command} ${usage}`
  if (noOperands !== undefined && operands.includes('URL')) return `unknown option ${rawName}; ${noOperands}`
  if (word === 'v' || word === 'version') return `${unknown} politely --version`
  if (flags.some(({ name, choices }) => name === 'format' && choices?.includes(word)))
    return `${unknown} --format ${word}`
  const names = flags.map((flag) => flag.name)
  const rows = findRows(SYNONYMS, rawName)
  // Without --product-token, --user-agent is only the name that a request sends.
  const isOfRequests = rows[0]?.[0] === 'crawler' && !names.includes('product-token')
  const known = isOfRequests ? undefined : rows.find((row) => row.some((name) => names.includes(name)))
  if (known !== undefined) {
    const written = known.filter((name) => names.includes(name)).map((name) => `--${name}`)
    return `${unknown} ${written.slice(0, 2).join(' or ')}`
  }
  const answers = findRows(ANSWERS, rawName)
  const answer = answers.find(([of]) => of === 'all' || of?.split(' ').includes(command))
  if (answer !== undefined && names.length > 0) return `unknown option ${rawName}: ${answer.slice(1).join(' | ')}`
  const ownersOf = (flagName?: string) =>
    commands.filter((each) => each.flags.some(({ name }) => name === flagName)).map(({ name }) => name)
  const given = rawName.replace(/^-+/, '')
  const owners = ownersOf(given)
  if (owners.length > 0) return `${rawName} is an option of ${owners.join(', ')}, not of ${command}`
  const similar = nearestName(given, names)
  if (similar !== undefined) return `${unknown} --${similar}`
  const [flag] = rows[0] ?? []
  const [other] = ownersOf(flag)
  if (other !== undefined) return `${unknown} politely ${other}, which has --${flag}`
  if (names.length === 0) return `${unknown} politely ${command} ${usage}`
  return `${unknown} one of ${names.map((name) => `--${name}`).join(', ')}`
}

function normalized(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase()
}

/** Returns the command that a word stands for, if it is known or similar to one. */
export function commandFor(name: string, names: readonly string[]): string | undefined {
  const meant = findRows(COMMANDS, name).flat()
  return names.find((each) => meant.includes(each)) ?? nearestName(name, names)
}
