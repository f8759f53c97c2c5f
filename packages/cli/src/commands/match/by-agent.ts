// `politely match --by-agent`: which crawler of an access log asked for what a robots.txt disallows.
//
// Memory is bounded, however long the log is and whatever names its clients send. The crawler of a
// User-Agent and the identity of an address are cached. Names that neither the catalogue nor the file
// knows share one row after the first thousand, and each rule keeps one example.
import type { CrawlerRules, RulesVerdict } from '@politely/core'
import { findCrawler, rulesFor } from '@politely/core/crawlers'
import { COMMENT, crawlersIn, type LogRequest, LogRequests } from '@politely/core/review'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { loadRobots, type NamedRobots, requiredRobots } from '../../input/robots-file.ts'
import { openUrls, type UrlSource } from '../../input/url-source.ts'
import { Progress } from '../../output/progress.ts'
import { errorLine } from '../../output/style.ts'
import { crawlerOfAgent, UNCLEAR } from './agent-name.ts'
import { type AgentRow, formatAgents, type LeftOut, summaryOf } from './format-agents.ts'
import { formatFor } from './format-verdicts.ts'
import { type IdentityClaim, identityOf, type Ranges, rangesOf } from './ip-ranges.ts'
import { openOutput } from './verdict-file.ts'

const MAX_NAMES = 1000
const MAX_CACHED = 10_000
/** In all rows together. Requests that break other rules are counted, but their rules are not shown. */
const MAX_RULES = 20_000
const MAX_TEXT_LENGTH = 500

/** Flags that say which crawlers or which files are meant, and `--resume`, which needs a verdict per line. */
const OTHER_FLAGS = ['crawler', 'product-token', 'robots-dir', 'sitemap', 'column', 'resume'] as const

/** Returns the exit code. */
export async function matchByAgent(args: Arguments): Promise<number> {
  const other = OTHER_FLAGS.find((name) => args.has(name))
  if (other !== undefined)
    throw new UsageError(
      `--by-agent and --${other} cannot be combined; write politely match --by-agent --robots robots.txt --urls access.log`,
    )
  const format = formatFor(args)
  if (format === 'csv')
    throw new UsageError('--format: csv has one line for each URL; write text or ndjson with --by-agent')
  const file = requiredRobots(args, 'politely match --by-agent --robots robots.txt --urls access.log')
  const ranges = await rangesOf(args)
  const loaded = await loadRobots(file, args, '--robots', args.get('origin'))
  if (loaded === undefined) return EXITS.unreachable.code
  const source = openUrls(args)
  const output = await openOutput(args, '')
  try {
    const tally = new Tally(loaded, ranges, args.get('origin'))
    await readLog(source, tally)
    const rows = tally.rows()
    await output.write(formatAgents(rows, format))
    process.stderr.write(summaryOf(rows, tally.leftOut, loaded.name))
    const isFailure = args.get('fail-on') === 'disallowed' && rows.some(({ disallowed }) => disallowed > 0)
    return isFailure ? EXITS.disallowed.code : EXITS.success.code
  } finally {
    await output.close()
  }
}

async function readLog(source: UrlSource, tally: Tally): Promise<void> {
  const progress = new Progress('lines')
  let log: LogRequests | undefined
  let count = 0
  for await (const { format, lines } of source.lines()) {
    if (format === 'csv' || format === 'sitemap')
      throw new UsageError(`${source.name}: this is not an access log; write --input log, or ndjson for a log in JSON`)
    log ??= new LogRequests(format === 'ndjson' ? format : 'log')
    for (const line of lines) tally.add(log.read(line), line)
    count += lines.length
    progress.update(count, source.partRead)
  }
  progress.end(count)
  const { odd, firstOdd } = tally.leftOut
  if (count > 0 && odd === count)
    throw new UsageError(
      `${source.name}: no line is a request of an access log; the first is ${JSON.stringify(firstOdd)}; write --input log, or ndjson for a log in JSON`,
    )
  if (count > 0 && tally.leftOut.withoutAgent === count - odd)
    process.stderr.write(
      errorLine(
        `${source.name}: no line has a User-Agent, so no crawler is known; log it, as the Combined Log Format does`,
      ),
    )
}

/** What is known about a User-Agent. */
interface Agent {
  readonly name: string
  readonly rules: CrawlerRules
}

/** Counts the requests of a log by crawler. */
class Tally {
  readonly leftOut: LeftOut = { browsers: 0, withoutAgent: 0, otherHosts: 0, odd: 0, firstOdd: '' }
  readonly #robots: NamedRobots['robots']
  readonly #ranges: Ranges
  readonly #scheme: string | undefined
  readonly #rows = new Map<string, AgentRow>()
  /** By User-Agent; undefined for a browser. */
  readonly #agents = new Map<string, Agent | undefined>()
  readonly #identities = new Map<string, IdentityClaim>()
  readonly #rulesByName = new Map<string, CrawlerRules>()
  readonly #starRules: CrawlerRules
  readonly #starPacked: string
  /** The names in the file, in lower case. */
  readonly #named: readonly string[]
  #ruleCount = 0

  constructor({ robots }: NamedRobots, ranges: Ranges, origin: string | undefined) {
    this.#robots = robots
    this.#ranges = ranges
    this.#scheme = origin === undefined ? undefined : /^\w+:/.exec(origin)?.[0]
    this.#starRules = rulesFor(robots, UNCLEAR)
    this.#starPacked = this.#starRules.toJSON().packed
    this.#named = crawlersIn([robots]).map((name) => name.toLowerCase())
  }

  add(request: LogRequest | typeof COMMENT | undefined, line: string): void {
    if (request === COMMENT) return
    const userAgent = request?.userAgent?.slice(0, MAX_TEXT_LENGTH) // what follows names no crawler
    if (request === undefined) this.#addOdd(line)
    else if (userAgent === undefined || userAgent === '-' || userAgent === '') this.leftOut.withoutAgent++
    else {
      const agent = cached(this.#agents, userAgent, () => this.#agentOf(userAgent))
      if (agent === undefined) this.leftOut.browsers++
      else this.#count(request, agent, userAgent, line)
    }
  }

  #count(request: LogRequest, agent: Agent, userAgent: string, line: string): void {
    const url = this.#urlOf(request)
    const verdict = agent.rules.isAllowed(url) ? undefined : agent.rules.check(url)
    if (verdict?.because === 'other-origin') this.leftOut.otherHosts++
    else if (verdict?.because === 'invalid-url') this.#addOdd(line)
    else {
      const row = this.#rowOf(agent, request, userAgent)
      if (/^(?:https?:\/\/[^/]*)?\/robots\.txt(?:$|\?)/i.test(url)) row.robotsTxt++
      else if (verdict === undefined) row.allowed++
      else {
        row.disallowed++
        this.#addRule(row, verdict, url)
      }
    }
  }

  /** Returns the rows, the crawlers that broke most first. */
  rows(): readonly AgentRow[] {
    return [...this.#rows.values()].sort(
      (a, b) => b.disallowed - a.disallowed || b.allowed - a.allowed || (a.crawler < b.crawler ? -1 : 1),
    )
  }

  #agentOf(userAgent: string): Agent | undefined {
    const name = crawlerOfAgent(userAgent)
    if (name === undefined) return undefined
    return { name, rules: cached(this.#rulesByName, name.toLowerCase(), () => this.#rulesOf(name)) }
  }

  /** Names that the file cannot mean in any dialect share their rules, since clients may send any number of names. */
  #rulesOf(name: string): CrawlerRules {
    const key = name.toLowerCase()
    const mayBeNamed =
      findCrawler(name) !== undefined || this.#named.some((one) => one.includes(key) || key.includes(one))
    if (!mayBeNamed) return this.#starRules
    const rules = rulesFor(this.#robots, name)
    return rules.toJSON().packed === this.#starPacked ? this.#starRules : rules
  }

  /** Returns the URL; a path as a URL if the log names the host and `--origin` the scheme. */
  #urlOf({ url, host }: LogRequest): string {
    if (this.#scheme === undefined || host === undefined || !url.startsWith('/')) return url
    return `${this.#scheme}//${host.replace(/:(?:80|443)$/, '')}${url}`
  }

  #rowOf({ name }: Agent, { address }: LogRequest, userAgent: string): AgentRow {
    const list = this.#ranges.get(name)
    const identity =
      list === undefined || address === undefined
        ? 'claimed'
        : cached(this.#identities, `${name} ${address}`, () => identityOf(list, address))
    const known = findCrawler(name)
    const key = `${identity} ${name.toLowerCase()}`
    let row = this.#rows.get(key)
    if (row === undefined && known === undefined && name !== UNCLEAR && this.#rows.size >= MAX_NAMES)
      return this.#rowOf(
        { name: UNCLEAR, rules: this.#starRules },
        { url: '', address, host: undefined, userAgent },
        userAgent,
      )
    if (row === undefined) {
      row = {
        crawler: name,
        identity,
        known,
        userAgent: copied(userAgent),
        allowed: 0,
        disallowed: 0,
        robotsTxt: 0,
        rules: new Map(),
      }
      this.#rows.set(key, row)
    }
    return row
  }

  #addRule({ rules }: AgentRow, verdict: RulesVerdict, url: string): void {
    if (verdict.because !== 'rule') return
    const { rule } = verdict
    const known = rules.get(rule.line)
    if (known !== undefined) known.requests++
    else if (this.#ruleCount++ < MAX_RULES) rules.set(rule.line, { rule, requests: 1, example: copied(url) })
  }

  #addOdd(line: string): void {
    if (this.leftOut.odd++ === 0) this.leftOut.firstOdd = copied(line)
  }
}

/** Returns the value of a key. Forgets all values if there are too many, since clients choose the keys. */
function cached<T>(values: Map<string, T>, key: string, find: () => T): T {
  const value = values.get(key)
  if (value !== undefined || values.has(key)) return value as T
  if (values.size >= MAX_CACHED) values.clear()
  const found = find()
  values.set(copied(key), found)
  return found
}

/** Returns a string that does not keep the chunk of the log in memory from which it was cut. */
function copied(text: string): string {
  return Buffer.from(text.slice(0, MAX_TEXT_LENGTH)).toString()
}
