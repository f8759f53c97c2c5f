// `politely crawl`: crawls a few pages through a gate.
import { originOf, outcomeOf } from '@politely/core'
import { formatTime } from '@politely/core/internal'
import { loggableVerdict, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import { clientPort } from '@politely/fetcher/internal'
import {
  CircuitOpenError,
  GateClosedError,
  isRedirect,
  type Permit,
  type PoliteGate,
  RobotsDisallowedError,
} from '@politely/gate'
import { retryOf, withRetries } from '@politely/gate/internal'
import { CrawlTimeline } from '@politely/timeline'
import type { Arguments } from '../../command-line.ts'
import { EXITS, type ExitName, Interrupted, UsageError } from '../../exit-code.ts'
import { requestFailure } from '../../input/failure.ts'
import { type OpenSite, withGate } from '../../input/gate.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { limitOf, retryOptionsOf } from '../../input/numbers.ts'
import { PageStart } from '../../input/page-start.ts'
import type { Fetch } from '../../input/pages.ts'
import { assertUrls, type GivenUrl, urlsOf } from '../../input/url-source.ts'
import { SIGNALS } from '../../interrupt.ts'
import { isNofollowHeader, LinkReader, type Links, linkOf } from './links.ts'
import { type CrawlOutput, outputFor } from './output.ts'
import type { PageReport } from './summary.ts'

/** The links after this many bytes of a page are not followed. */
const MAX_PAGE_BYTES = 5_000_000
/** The most requests that wait in the gate or are under way. */
const MAX_QUEUED = 1000
/** The most URLs that wait before the gate. */
const MAX_WAITING = 100_000

interface Limits {
  readonly maxPages: number
  readonly maxDepth: number
  /** Whether links under nofollow are followed. */
  readonly followsAll: boolean
}

interface Tools {
  readonly client: RobotsClient
  readonly gate: PoliteGate
  readonly fetch: Fetch
  /** Opens the output. */
  readonly output: () => CrawlOutput
  readonly stopping: AbortController
  readonly retry: ReturnType<typeof retryOf>
}

/** Returns the exit code. */
export async function crawl(args: Arguments): Promise<number> {
  assertUrls(args, 'https://example.com')
  rejectFiles(args.operands, 'check', 'crawl')
  assertPages(args.operands.filter((url) => url !== '-'))
  const whole = { min: 1, isInteger: true } as const
  const maxPages = limitOf(args, 'max-pages', { ...whole, max: 1e6, unit: 'pages', example: 100 })
  const maxDepth = limitOf(args, 'depth', { ...whole, min: 0, max: 1e6, unit: 'links', example: 3 })
  const maxConcurrent = limitOf(args, 'concurrency', { ...whole, max: 64, unit: 'requests', example: 4 })
  // The timeline shows the waits itself.
  const logsWaits = args.get('format') === 'text' && !process.stdout.isTTY
  const work = async ({ client, gate, fetch, polite }: OpenSite) => {
    using timeline = new CrawlTimeline({ gate })
    let output: CrawlOutput | undefined
    const openOutput = () => {
      output ??= outputFor(args.get('format'), timeline, client.userAgent)
      return output
    }
    const stopping = new AbortController()
    const seeds = urlsOf(args, polite, stopping.signal)
    const followsAll = args.get('nofollow') === 'follow'
    const crawler = new Crawler(
      seeds,
      args.operands,
      { maxPages, maxDepth, followsAll },
      { client, gate, fetch, output: openOutput, retry: retryOf(retryOptionsOf(args)), stopping },
    )
    const interrupt = () => crawler.stop()
    for (const signal of SIGNALS) process.once(signal, interrupt)
    try {
      await crawler.run()
      openOutput() // for the summary of a crawl without pages
    } finally {
      for (const signal of SIGNALS) process.off(signal, interrupt)
      gate.close()
      await output?.end(crawler.isStopped, crawler.leftOut)
      seeds.return(undefined).catch(() => undefined) // closes a list that was not read to its end
    }
    if (crawler.isStopped) throw new Interrupted() // an open stdin would keep the process alive
    return EXITS[crawler.exit].code
  }
  return withGate(args, work, { maxConcurrent, logsWaits })
}

/** @throws {UsageError} if one is not the URL of a page. */
function assertPages(urls: readonly string[]): void {
  const wrong = urls.find((url) => originOf(url) === undefined || !/^https?:/i.test(url))
  if (wrong === undefined) return
  const problem = `${JSON.stringify(wrong)} is not the URL of a page`
  throw new UsageError(`${problem}; write one such as https://example.com`, wrong)
}

interface Candidate {
  readonly url: string
  readonly depth: number
  /** The public origin, or the sitemap, that led to it. Empty for a URL that the user wrote. */
  readonly redirectedFrom: readonly string[]
}

/** The requests for a candidate. */
interface Visit extends Candidate {
  attempts: number
  /** Of all requests, with the pauses between them. */
  waitedMs: number
  waitedFor: PageReport['waitedFor']
  pushbacks: number
  /** When the last request ended, by `performance.now()`. */
  endedAt: number | undefined
  /** Of the last request. */
  permit: Permit | undefined
}

/**
 * Requests the seeds, then the links in the order in which they were found. The gate makes them
 * wait. A URL that robots.txt refuses does not count towards the limit of pages. A seed is read when
 * it may be requested, so a limit of pages also limits how many sitemaps are requested.
 */
class Crawler {
  readonly #limits: Limits
  readonly #tools: Tools
  readonly #origins: Set<string | undefined>
  readonly #seen = new Set<string>()
  readonly #nofollow = new Set<string>()
  #waiting: Candidate[] = []
  #underWay = 0
  #requested = 0
  #fetched = 0
  #hasInvalid = false
  readonly #seeds: AsyncIterator<GivenUrl>
  #seedState: 'waiting' | 'being-read' | 'ended' = 'waiting'
  /** Why the list of seeds ended early. */
  #seedError: unknown
  readonly #ended = Promise.withResolvers<void>()

  constructor(seeds: AsyncIterator<GivenUrl>, operands: readonly string[], limits: Limits, tools: Tools) {
    this.#limits = limits
    this.#tools = tools
    this.#seeds = seeds
    this.#origins = new Set(operands.map(originOf))
  }

  get exit(): ExitName {
    if (this.#hasInvalid) return 'usage'
    return this.#fetched > 0 || this.#seen.size === 0 ? 'success' : 'disallowed'
  }

  /** How many URLs were found under nofollow only. Counts at most `MAX_WAITING`. */
  get leftOut(): number {
    return [...this.#nofollow].filter((url) => !this.#seen.has(url)).length
  }

  get isStopped(): boolean {
    return this.#tools.stopping.signal.aborted
  }

  /**
   * Resolves when no page is left, or after `stop`. Rejects if a page fails in an unexpected way, and
   * at the end if the list of seeds has a mistake.
   */
  run(): Promise<void> {
    this.#startNext()
    return this.#ended.promise
  }

  /** Starts no more requests, and aborts those under way. */
  stop(): void {
    this.#waiting = []
    this.#tools.stopping.abort()
    this.#tools.gate.close()
    this.#startNext()
  }

  #add(candidate: Candidate): void {
    if (this.#seen.has(candidate.url) || this.#waiting.length >= MAX_WAITING || this.isStopped) return
    this.#seen.add(candidate.url)
    this.#waiting.push(candidate)
  }

  #startNext(): void {
    while (!this.isStopped && this.#underWay < Math.min(MAX_QUEUED, this.#limits.maxPages - this.#requested)) {
      if (this.#seedState === 'waiting') this.#readSeed()
      const next = this.#seedState === 'ended' ? this.#waiting.shift() : undefined
      if (next === undefined) break
      this.#start(next)
    }
    if (this.#underWay > 0 || (this.#seedState === 'being-read' && !this.isStopped)) return
    if (this.#seedError === undefined || this.isStopped) this.#ended.resolve()
    else this.#ended.reject(this.#seedError)
  }

  /** Reads a seed, and starts with it. */
  #readSeed(): void {
    const end = (error?: unknown) => {
      this.#seedState = 'ended'
      this.#seedError = error
    }
    this.#seedState = 'being-read'
    const read = this.#seeds.next().then(({ done, value }) => {
      if (done) return end()
      this.#seedState = 'waiting'
      const url = URL.parse(value.url)?.href ?? value.url // the gate refuses what is no URL
      if (this.isStopped || this.#seen.has(url)) return
      this.#seen.add(url)
      this.#origins.add(originOf(url))
      this.#start({ url, depth: 0, redirectedFrom: value.redirectedFrom })
    })
    void read.catch(end).then(() => this.#startNext())
  }

  #start(candidate: Candidate): void {
    this.#tools.output()
    this.#underWay++
    this.#visit(candidate).then(
      () => {
        this.#underWay--
        this.#startNext()
      },
      (error) => this.#ended.reject(error),
    )
  }

  async #visit(candidate: Candidate): Promise<void> {
    const { url, depth } = candidate
    const { retry, stopping } = this.#tools
    const output = this.#tools.output()
    const visit: Visit = { ...candidate, ...emptySending(), endedAt: undefined, permit: undefined }
    const send = (onEntered: () => Promise<void>) => this.#send(visit, onEntered)
    try {
      const sent = retry === undefined ? send(async () => undefined) : withRetries(retry, stopping.signal, send)
      await output.page(await this.#read(await sent, visit))
      this.#fetched++
    } catch (error) {
      if (error instanceof GateClosedError || this.isStopped) return
      if (error instanceof RobotsDisallowedError) {
        this.#hasInvalid ||= error.verdict.because === 'invalid-url'
        return output.page({ ...emptyReport(url, depth), outcome: 'refused', verdict: error.verdict })
      }
      if (error instanceof CircuitOpenError) {
        const { failures, retryAt } = error
        const problem = `not requested: ${failures} requests to this site in a row have failed; it rests until ${formatTime(retryAt)}`
        return output.page({ ...emptyReport(url, depth), problem })
      }
      const failure = requestFailure(error)
      if (failure === undefined) throw error
      await output.page({
        ...emptyReport(url, depth),
        ...sendingOf(visit),
        problem: failure.text,
        page: outcomeOf(error),
      })
    } finally {
      if (visit.attempts > 0) this.#requested++
    }
  }

  /** Sends one request with a permit. @param onEntered Is called when the gate has let it in. */
  async #send(visit: Visit, onEntered: () => Promise<void>): Promise<Response> {
    const { client, fetch, gate } = this.#tools
    const { signal } = this.#tools.stopping
    const pausedMs = visit.endedAt === undefined ? 0 : performance.now() - visit.endedAt
    const permit = await gate.enter(visit.url, { signal, redirectedFrom: visit.redirectedFrom })
    visit.permit = permit
    visit.attempts++
    visit.waitedMs += pausedMs + permit.waitedMs
    if (permit.waitedFor !== 'none' || visit.attempts === 1) visit.waitedFor = permit.waitedFor
    else if (visit.waitedFor === 'none') visit.waitedFor = 'backoff' // the pause of a retry
    try {
      await onEntered()
      const headers = { 'user-agent': client.userAgent }
      const response = await permit.run(() => fetch(permit.url, { headers, redirect: 'manual', signal }))
      permit.release(response)
      if (response.status === 429 || response.status === 503) visit.pushbacks++
      return response
    } catch (error) {
      if (!this.isStopped && requestFailure(error) !== undefined) permit.release({ failed: true, error })
      throw error
    } finally {
      visit.endedAt = performance.now()
      permit.release() // no effect after another call
    }
  }

  /** Reads a response, and adds the links in it. */
  async #read(response: Response, visit: Visit): Promise<PageReport> {
    const { client } = this.#tools
    const { depth, permit, redirectedFrom: sources } = visit
    const url = permit?.url ?? visit.url
    const { status, headers } = response
    const target = isRedirect(status, headers.get('location')) ? headers.get('location') : null
    const location = target === null ? undefined : linkOf(target, url)
    const { bytes, head, links } = await this.#readBody(response, url)
    let nofollow = 0
    if (depth < this.#limits.maxDepth || location !== undefined) {
      const inside = (urls: readonly string[]) => urls.filter((link) => this.#origins.has(originOf(link)))
      const leftOut = this.#limits.followsAll ? [] : inside(links.nofollow)
      nofollow = leftOut.length
      for (const link of leftOut) if (this.#nofollow.size < MAX_WAITING) this.#nofollow.add(link)
      const followed = this.#limits.followsAll ? [...links.follow, ...links.nofollow] : links.follow
      const redirectedFrom = clientPort(client).linkSources(url, sources)
      const found = { depth: location === undefined ? depth + 1 : depth, redirectedFrom }
      for (const link of inside(location === undefined ? followed : [location])) this.#add({ url: link, ...found })
    }
    return {
      ...emptyReport(url, depth),
      ...sendingOf(visit),
      outcome: 'fetched',
      status,
      page: outcomeOf({ status, headers, head, url }),
      bytes,
      location: location && withoutCredentials(location),
      nofollow,
      verdict: permit && loggableVerdict(permit.verdict),
    }
  }

  /** Reads the body, and its links if it is HTML. */
  async #readBody(response: Response, url: string): Promise<{ bytes: number; head: Uint8Array; links: Links }> {
    const { headers, body } = response
    const { productTokens } = this.#tools.client
    const isHtml = /^(text\/html|application\/xhtml\+xml)\b/i.test(headers.get('content-type') ?? '')
    const hasLinks = isHtml && response.ok
    const reader = new LinkReader(productTokens, isNofollowHeader(headers.get('x-robots-tag'), productTokens))
    const decoder = new TextDecoder()
    const head = new PageStart()
    let bytes = 0
    if (body !== null) {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        head.write(chunk)
        if (hasLinks) reader.write(decoder.decode(chunk, { stream: true }))
        if (bytes > MAX_PAGE_BYTES) break // ends the body
      }
    }
    return { bytes, head: head.bytes, links: reader.end(url) }
  }
}

function emptyReport(url: string, depth: number): PageReport {
  return {
    url: withoutCredentials(url),
    outcome: 'failed',
    status: undefined,
    page: undefined,
    depth,
    ...emptySending(),
    bytes: 0,
    location: undefined,
    nofollow: 0,
    problem: undefined,
    verdict: undefined,
  }
}

type Sending = Pick<PageReport, 'attempts' | 'waitedMs' | 'waitedFor' | 'pushbacks'>

function emptySending(): Sending {
  return { attempts: 0, waitedMs: 0, waitedFor: undefined, pushbacks: 0 }
}

function sendingOf({ attempts, waitedMs, waitedFor, pushbacks }: Visit): Sending {
  return { attempts, waitedMs: Math.round(waitedMs), waitedFor, pushbacks }
}
