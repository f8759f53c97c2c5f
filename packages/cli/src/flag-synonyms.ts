// Options in the words of other programs, and the options of Politely for them.
import { nearestName } from '@politely/core/review'

/** What is read of the spec of a command. */
interface Command {
  readonly name: string
  readonly usage: string
  readonly flags: readonly { readonly name: string; readonly choices?: readonly string[] }[]
  readonly noOperands?: string
}

/**
 * Words in lower case without `-` and `_`, separated by blanks, and the options to write instead. A
 * word may be in several rows: the first options count that the command has.
 */
const SYNONYMS: readonly (readonly [words: string, ...flags: string[]])[] = [
  ['u ua a agent useragents useragentstring useragentheader header headers', 'user-agent'],
  ['b bot crawler robot spider name botname', 'crawler', 'user-agent', 'product-token'],
  ['t token tokens producttokens product useragenttoken', 'product-token'],
  ['o out output outfile outputfile outputdocument save saveto remotename', 'output'],
  ['o f output out fmt outputformat reporter formatter type', 'format'],
  ['i showheaders head dumpheader saveheaders', 'include'],
  ['i in inputfile urlsfile urlfile', 'urls'],
  ['r file i input robotsfile robotstxt robotsurl rules', 'robots'],
  ['informat inputformat inputtype', 'input'],
  ['field col key', 'column'],
  ['failon fail failonerror exitcode', 'fail-on'],
  ['severity minseverity level failon threshold maxwarnings strict', 'max-severity'],
  ['autofix write', 'fix'],
  ['x httpproxy httpsproxy', 'proxy'],
  ['allowip allowprivate allowlocalhost allowhost', 'allow-address'],
  ['mode standard spec parser', 'dialect'],
  ['baseurl base site host', 'origin', 'robots'],
  ['url urllist urlfile list sitemap', 'urls', 'robots'],
  [
    'delay mindelay crawldelay requestdelay downloaddelay politenessdelay politeness wait waittime sleep pause interval throttle rate ratelimit randomwait rps',
    'min-delay',
  ],
  ['maxdelay longestwait', 'max-wait'],
  ['sitemaps usesitemap', 'sitemap'],
  ['bots byagent bybot bycrawler byuseragent who violations', 'by-agent'],
  ['retries tries retrydelay maxretries retrytimes', 'retry'],
  ['maxdepth level l recursionlevel maxhops recursive r', 'depth'],
  ['n limit pages maxrequests maxurls maxpages maxcount max count quota maxlinks', 'max-pages', 'max-urls'],
  [
    'j p jobs parallel parallelism parallelmax threads workers maxconcurrency concurrentrequests connections sockets',
    'concurrency',
  ],
  ['m maxtime timeoutseconds timeoutsecs connecttimeout readtimeout requesttimeout downloadtimeout', 'timeout'],
  ['cache cachedir cachefile pagecache httpcache httpcacheenabled db database', 'cache', 'store'],
  ['nocache fresh', 'edge'],
  ['l location followredirects', 'follow'],
]

/** The commands that request pages. */
const OF_PAGES = 'fetch crawl usage sitemap'

/** Words for what no option does, the commands of which that is true (all, if empty), and what to know. */
const ANSWERS: readonly (readonly [words: string, commands: string, answer: string])[] = [
  [
    'e norobots ignorerobots robotsoff robotstxtobey respectrobots respectrobotstxt obeyrobots',
    '',
    'politely always obeys robots.txt, so there is no option for it',
  ],
  [
    'l location follow followredirects maxredirs maxredirects redirects redirect',
    OF_PAGES,
    'redirects are followed, and each one is checked against robots.txt first',
  ],
  ['retry retries tries retrydelay maxretries retrytimes', '', 'robots.txt is requested up to three times'],
  [
    'k insecure nocheckcertificate ignoressl ignoresslerrors cacert',
    '',
    'to trust a certificate, set NODE_EXTRA_CA_CERTS=FILE',
  ],
  [
    'h cookie cookies c referer referrer method request data d auth user password httpuser compressed',
    OF_PAGES,
    'requests have no other headers than the User-Agent; for more, write a program with politely(fetch)',
  ],
  [
    'domain domains alloweddomains samedomain samehost samesite external spanhosts subdomains include exclude allow deny accept reject filter pattern scope noparent',
    'crawl',
    'crawl stays within the origins of its URLs, and has no filter; politely match filters lists of URLs',
  ],
  ['n limit max count maxurls head', 'match', 'match reads all URLs; write head -n 100 urls.txt | politely match …'],
  [
    'j p jobs parallel threads workers concurrency',
    'match',
    'match uses one thread; to use more, split the list of URLs',
  ],
  ['delimiter sep separator d', 'match diff', 'the delimiter of a table is recognised; --column names the column'],
  [
    'ignore disable suppress exclude skip rule',
    'lint',
    'a comment "# politely-ignore CODE" in the file suppresses a finding',
  ],
  ['quiet silent s nowarnings noprogress', '', 'to leave out the messages, write 2> /dev/null'],
  ['verbose vv debug trace loglevel', '', 'to see all that is known, write --format json or ndjson'],
  ['config configfile rc', '', 'there is no configuration file; write the options on the command line'],
]

/** Words for what a command takes without an option, by its name in the usage. */
const OPERANDS: Readonly<Record<string, string>> = {
  URL: 'url urls uri page site link',
  FILE: 'file files robots robotstxt robotsfile path i input',
  EXPECTATIONS: 'expect expectations expectation',
  OLD: 'old new before after base head',
  SHELL: 'shell',
}

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
  if (includesWord(OPERANDS[operand], word))
    return `${unknown} the value without ${rawName}, as in politely ${command} ${usage}`
  if (noOperands !== undefined && includesWord(OPERANDS.URL, word)) return `unknown option ${rawName}; ${noOperands}`
  if (word === 'v' || word === 'version') return `${unknown} politely --version`
  if (formatsOf(flags).includes(word)) return `${unknown} --format ${word}`
  const names = flags.map((flag) => flag.name)
  const rows = SYNONYMS.filter(([words]) => includesWord(words, word)).map(([, ...found]) => found)
  // Without --product-token, --user-agent is only the name that a request sends.
  const isOfRequests = rows[0]?.[0] === 'crawler' && !names.includes('product-token')
  const known = isOfRequests ? undefined : rows.find((row) => row.some((name) => names.includes(name)))
  if (known !== undefined) {
    const written = known.filter((name) => names.includes(name)).map((name) => `--${name}`)
    return `${unknown} ${written.slice(0, 2).join(' or ')}`
  }
  const isAnswered = ([words, of]: (typeof ANSWERS)[number]) =>
    includesWord(words, word) && (of === '' || includesWord(of, command))
  const answer = ANSWERS.find(isAnswered)?.[2]
  if (answer !== undefined && names.length > 0) return `unknown option ${rawName}: ${answer}`
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

function includesWord(words: string | undefined, word: string): boolean {
  return words?.split(' ').includes(word) ?? false
}

function formatsOf(flags: Command['flags']): readonly string[] {
  return flags.find(({ name }) => name === 'format')?.choices ?? []
}

/** Commands in the words of other programs. */
const COMMAND_SYNONYMS: Readonly<Record<string, string>> = {
  check: 'allowed isallowed canfetch can verdict url',
  explain: 'why trace which',
  test: 'verify assert expect',
  lint: 'validate fix format parse',
  diff: 'compare changes',
  match: 'filter grep batch log logs accesslog accesslogs who violations offenders',
}

/** Returns the command that a word stands for, if it is known or similar to one. */
export function commandFor(name: string, names: readonly string[]): string | undefined {
  const word = normalized(name)
  const synonym = names.find((each) => includesWord(COMMAND_SYNONYMS[each], word))
  return synonym ?? nearestName(name, names)
}
