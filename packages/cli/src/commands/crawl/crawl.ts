// `politely crawl`: crawls a few pages through a gate.
import { originOf, outcomeOf } from '@politely/core'
import { formatTime } from '@politely/core/engine'
import { loggableVerdict, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import { clientPort } from '@politely/fetcher/internal'
import {
  CircuitOpenError,
  GateClosedError,
  isRedirect,
  type Permit,
  PoliteGate,
  RobotsDisallowedError,
} from '@politely/gate'
import { CrawlTimeline } from '@politely/gate/timeline'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { requestFailure } from '../../input/failure.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { limitOf, minDelayMsOf } from '../../input/numbers.ts'
import { PageStart } from '../../input/page-start.ts'
import { type Fetch, SILENT_LOGGER, WAIT_LOGGER, withPages } from '../../input/pages.ts'
import { isNofollowHeader, LinkReader, type Links, linkOf } from './links.ts'
import { type CrawlOutput, outputFor } from './output.ts'
import type { PageReport } from './report.ts'

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
  readonly output: CrawlOutput
}

/** Returns the exit code. */
export async function crawl(args: Arguments): Promise<number> {
  const seeds = args.operands
  if (seeds.length === 0) throw new UsageError('no URL was given; write one such as https://example.com')
  rejectFiles(seeds)
  const wrong = seeds.find((url) => originOf(url) === undefined || !/^https?:/i.test(url))
  if (wrong !== undefined)
    throw new UsageError(
      `${JSON.stringify(wrong)} is not the URL of a page; write one such as https://example.com`,
      wrong,
    )
  const whole = { min: 1, isInteger: true } as const
  const maxPages = limitOf(args, 'max-pages', { ...whole, max: 1e6, unit: 'pages', example: 100 })
  const maxDepth = limitOf(args, 'depth', { ...whole, min: 0, max: 1e6, unit: 'links', example: 3 })
  const maxConcurrent = limitOf(args, 'concurrency', { ...whole, max: 64, unit: 'requests', example: 4 })
  const minDelayMs = minDelayMsOf(args)
  return withPages(args, async (client, fetch) => {
    // The timeline shows the waits itself.
    const logsWaits = args.get('format') === 'text' && !process.stdout.isTTY
    const gate = new PoliteGate({
      robots: client,
      minDelayMs,
      maxConcurrent,
      logger: logsWaits ? WAIT_LOGGER : SILENT_LOGGER,
    })
    using timeline = new CrawlTimeline({ gate })
    const output = outputFor(args.get('format'), timeline, client.userAgent)
    const followsAll = args.get('nofollow') === 'follow'
    const crawler = new Crawler(seeds, { maxPages, maxDepth, followsAll }, { client, gate, fetch, output })
    const interrupt = () => crawler.stop()
    process.once('SIGINT', interrupt)
    try {
      await crawler.run()
    } finally {
      process.off('SIGINT', interrupt)
      gate.close()
      await output.end(crawler.isStopped, crawler.leftOut)
    }
    if (crawler.isStopped) return EXITS.interrupted.code
    return crawler.fetched > 0 ? EXITS.success.code : EXITS.disallowed.code
  })
}

interface Candidate {
  readonly url: string
  readonly depth: number
  /** The public origin that led to it. Empty for a URL of the command line. */
  readonly redirectedFrom: readonly string[]
}

/**
 * Requests the candidates in the order in which they were found. The gate makes them wait. A URL
 * that robots.txt refuses does not count towards the limit of pages.
 */
class Crawler {
  readonly #limits: Limits
  readonly #tools: Tools
  readonly #origins: ReadonlySet<string | undefined>
  readonly #seen = new Set<string>()
  readonly #nofollow = new Set<string>()
  #waiting: Candidate[] = []
  #underWay = 0
  #requested = 0
  #fetched = 0
  readonly #stopping = new AbortController()
  readonly #ended = Promise.withResolvers<void>()

  constructor(seeds: readonly string[], limits: Limits, tools: Tools) {
    this.#limits = limits
    this.#tools = tools
    this.#origins = new Set(seeds.map((url) => originOf(url)))
    for (const url of seeds) this.#add({ url: new URL(url).href, depth: 0, redirectedFrom: [] })
  }

  /** How many pages were requested and have responded. */
  get fetched(): number {
    return this.#fetched
  }

  /** How many URLs were found under nofollow only. Counts at most `MAX_WAITING`. */
  get leftOut(): number {
    return [...this.#nofollow].filter((url) => !this.#seen.has(url)).length
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Resolves when no page is left, or after `stop`. Rejects if a page fails in an unexpected way. */
  run(): Promise<void> {
    this.#startNext()
    return this.#ended.promise
  }

  /** Starts no more requests, and aborts those under way. */
  stop(): void {
    this.#waiting = []
    this.#stopping.abort()
    this.#tools.gate.close()
  }

  #add(candidate: Candidate): void {
    if (this.#seen.has(candidate.url) || this.#waiting.length >= MAX_WAITING || this.isStopped) return
    this.#seen.add(candidate.url)
    this.#waiting.push(candidate)
  }

  #startNext(): void {
    while (this.#underWay < Math.min(MAX_QUEUED, this.#limits.maxPages - this.#requested)) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#underWay++
      this.#visit(next).then(
        () => {
          this.#underWay--
          this.#startNext()
        },
        (error) => this.#ended.reject(error),
      )
    }
    if (this.#underWay === 0) this.#ended.resolve()
  }

  async #visit(candidate: Candidate): Promise<void> {
    const { url, depth, redirectedFrom } = candidate
    const { gate, output } = this.#tools
    let permit: Permit | undefined
    try {
      permit = await gate.enter(url, { signal: this.#stopping.signal, redirectedFrom })
      await output.page(await this.#request(permit, candidate))
      this.#fetched++
    } catch (error) {
      if (error instanceof GateClosedError || this.isStopped) return
      if (error instanceof RobotsDisallowedError)
        return output.page({ ...emptyReport(url, depth), outcome: 'refused', verdict: error.verdict })
      if (error instanceof CircuitOpenError) {
        const { failures, retryAt } = error
        const problem = `not requested: ${failures} requests to this site in a row have failed; it rests until ${formatTime(retryAt)}`
        return output.page({ ...emptyReport(url, depth), problem })
      }
      const failure = requestFailure(error)
      if (failure === undefined) throw error
      permit?.release({ failed: true, error }) // no effect if a response has arrived
      await output.page({
        ...emptyReport(url, depth),
        ...waitOf(permit),
        problem: failure.text,
        page: outcomeOf(error),
      })
    } finally {
      permit?.release()
      if (permit !== undefined) this.#requested++
    }
  }

  async #request(permit: Permit, { depth, redirectedFrom: sources }: Candidate): Promise<PageReport> {
    const { client, fetch } = this.#tools
    const { url } = permit
    const response = await permit.run(() =>
      fetch(url, {
        headers: { 'user-agent': client.userAgent },
        redirect: 'manual',
        signal: this.#stopping.signal,
      }),
    )
    permit.release(response)
    const { status, headers } = response
    const target = isRedirect(status, headers.get('location')) ? headers.get('location') : null
    const location = target === null ? undefined : linkOf(target, url)
    const { bytes, head, links } = await this.#read(response, url)
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
      ...waitOf(permit),
      outcome: 'fetched',
      status,
      page: outcomeOf({ status, headers, head, url }),
      bytes,
      location: location && withoutCredentials(location),
      nofollow,
      verdict: loggableVerdict(permit.verdict),
    }
  }

  /** Reads the body, and its links if it is HTML. */
  async #read(response: Response, url: string): Promise<{ bytes: number; head: Uint8Array; links: Links }> {
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
    waitedMs: 0,
    waitedFor: undefined,
    bytes: 0,
    location: undefined,
    nofollow: 0,
    problem: undefined,
    verdict: undefined,
  }
}

function waitOf(permit: Permit | undefined): Pick<PageReport, 'waitedMs' | 'waitedFor'> {
  return { waitedMs: Math.round(permit?.waitedMs ?? 0), waitedFor: permit?.waitedFor }
}
