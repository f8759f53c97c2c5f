// Reads pages under one User-Agent. Each request obeys the site's robots.txt, keeps the site's
// delay, connects to public addresses only, and is limited in time and size.
import { STATUS_CODES } from 'node:http'
import { explainUrlProblem } from '@politely/core'
import { defaultPushbackStatuses, parseUrl } from '@politely/core/internal'
import { type ClientVerdict, RobotsClient } from '@politely/fetcher'
import { integer, linkSignals, MAX_TIMEOUT_MS } from '@politely/fetcher/internal'
import { type Forecast, type Pacer, PoliteGate, politely, RobotsDisallowedError } from '@politely/gate'
import { countsWait } from '@politely/gate/internal'
import type { PageText } from './html-to-text.ts'
import type { FetchToolsOptions } from './options.ts'
import { decodePage, kindOf, mediaTypeOf, readBytes } from './page-body.ts'
import { pageNetwork, RecentPages, type ToolNetwork } from './page-network.ts'

export interface PageReaderOptions extends FetchToolsOptions {
  /** Readers that share a pacer keep each site's delay together. */
  readonly pacer: Pacer
  /** The caller's fetch, for pages and robots.txt. Default: guarded connections. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** What messages call the program that reads. Default `server`. */
  readonly self?: Self | undefined
}

/** What messages call the program that reads: `this server` or `this tool`. */
export type Self = 'server' | 'tool'

/** The result of a read. */
export type ReadResult = Page | ReadRefusal | ReadFailure

export interface Page extends PageText {
  readonly kind: 'page'
  /** The final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly mediaType: string
}

/** robots.txt disallows the page, or is unreachable. */
export interface ReadRefusal {
  readonly kind: 'refusal'
  readonly verdict: ClientVerdict
  /** If robots.txt is unreachable: milliseconds until the client will fetch it again. */
  readonly retryAfterMs: number | undefined
}

/** The page could not be read for another reason than robots.txt. */
export interface ReadFailure {
  readonly kind: 'failure'
  /**
   * - `input`: the arguments of the tool are invalid.
   * - `url`: the URL is invalid or not supported.
   * - `turn`: the request could not start, or would not start, within the time limit.
   * - `timeout`: the site took too long.
   * - `network`: the connection failed.
   * - `status`: the status was not 2xx.
   * - `media-type`: the page is not text.
   * - `part`: the requested part is after the end of the text.
   */
  readonly reason: 'input' | 'url' | 'turn' | 'timeout' | 'network' | 'status' | 'media-type' | 'part'
  /** A sentence without its final period. */
  readonly message: string
  readonly status?: number
  /** Milliseconds until a retry may succeed, if known. */
  readonly retryAfterMs?: number
}

type SlotForecast = Extract<Forecast, { readonly allowed: true }>

/** What a read waits for. */
export type Stage =
  | { readonly waitsFor: 'robots.txt' | 'response' }
  | { readonly waitsFor: 'slot'; readonly forecast: SlotForecast }

export interface ReadOptions {
  readonly signal: AbortSignal
  /** Whether to convert HTML to `text` or to return it `raw`. Default `text`. */
  readonly form?: 'text' | 'raw'
  /** `cache`: use a cached page of the last five minutes if there is one. Default `site`. */
  readonly source?: 'site' | 'cache'
  /** Called when the read starts to wait for something else. */
  readonly onStage?: (stage: Stage) => void
}

const DEFAULT_TIMEOUT_MS = 50_000
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

export class PageReader {
  readonly userAgent: string
  readonly self: Self
  readonly #robots: RobotsClient
  readonly #gate: PoliteGate
  readonly #network: ToolNetwork
  readonly #cache = new RecentPages<Page>()
  readonly #timeoutMs: number
  readonly #maxBodyBytes: number

  /** @throws {OptionError} for an invalid option. */
  constructor(options: PageReaderOptions) {
    const { userAgent, pacer, minDelayMs, retries, allowAddresses = [], lookup, fetch, self = 'server' } = options
    this.#timeoutMs = integer('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, { min: 1, max: MAX_TIMEOUT_MS })
    this.#maxBodyBytes = integer('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, { min: 1 })
    // A model's URL is hostile input: a page may have told it to request this machine or one in its
    // network.
    const network = { network: 'public-only', allowAddresses, ...(lookup && { lookup }) } as const
    this.#network = pageNetwork(network, fetch)
    this.#robots = new RobotsClient({
      userAgent,
      ...network,
      ...(fetch ? { fetch } : { robotsVia: 'own' }), // the way of pages
      ...(retries !== undefined && { retries }),
    })
    this.#gate = new PoliteGate({ robots: this.#robots, pacer, minDelayMs, maxConcurrentPerKey: 1 })
    this.userAgent = userAgent
    this.self = self
  }

  /** Returns whether and when the page may be fetched. */
  async forecast(url: string, signal: AbortSignal): Promise<Forecast | ReadFailure> {
    return urlFailure(url, this.self) ?? (await this.#gate.when(url, { signal }))
  }

  /**
   * Fetches a page. Failures of the site are results, not errors.
   * @throws the signal's reason; {GateClosedError} after `close`.
   */
  async read(url: string, { signal, form = 'text', source = 'site', onStage }: ReadOptions): Promise<ReadResult> {
    const problem = urlFailure(url, this.self)
    if (problem !== undefined) return problem
    const key = `${form} ${url}`
    const cached = source === 'cache' ? this.#cache.get(key) : undefined
    if (cached !== undefined) return cached
    const deadline = AbortSignal.timeout(this.#timeoutMs)
    const { closed } = this.#network
    const linked = linkSignals([signal, deadline, ...(closed ? [closed] : [])])
    const signalOrDeadline = countsWait(linked.signal)
    let waitsFor: Stage['waitsFor'] = 'robots.txt'
    let response: Response
    let body: Awaited<ReturnType<typeof readBytes>>
    try {
      onStage?.({ waitsFor })
      const forecast = await this.#gate.when(url, { signal: signalOrDeadline })
      waitsFor = 'slot'
      if (forecast.allowed) {
        if (forecast.waitMs > this.#timeoutMs) return this.#slotTooLate(forecast)
        onStage?.({ waitsFor, forecast })
      }
      // The gate calls this when a request may start: once for the page, and once for each
      // redirect.
      const send = async (hop: string, init?: RequestInit): Promise<Response> => {
        waitsFor = 'response'
        onStage?.({ waitsFor })
        const hopResponse = await this.#network.fetch(hop, init)
        waitsFor = 'slot'
        return hopResponse
      }
      response = await politely(send, { gate: this.#gate })(url, { signal: signalOrDeadline })
      waitsFor = 'response'
      const failure = await this.#failureIn(response, signalOrDeadline)
      if (failure !== undefined) return failure
      body = await readBytes(response, this.#maxBodyBytes, signalOrDeadline)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RobotsDisallowedError) return readRefusalOf(error)
      if (deadline.aborted) return this.#timedOut(url, waitsFor)
      // While it waits for a slot, a TypeError means a redirect that cannot be followed.
      if (waitsFor !== 'response' && !(error instanceof TypeError)) throw error
      return { kind: 'failure', reason: 'network', message: `${url} could not be fetched: ${networkProblem(error)}` }
    } finally {
      linked.unlink()
    }
    const type = mediaTypeOf(response)
    const pageText = decodePage(body.bytes, type, response.url, form)
    const mediaType = type?.essence ?? 'no media type'
    const isCut = body.isCut || pageText.isCut
    const page: Page = { kind: 'page', url: response.url, status: response.status, mediaType, ...pageText, isCut }
    this.#cache.set(key, page)
    return page
  }

  async close(): Promise<void> {
    this.#gate.close()
    this.#cache.clear()
    await Promise.all([this.#robots.close(), this.#network.close()])
  }

  /** Returns a failure if the response is not a page of text. */
  async #failureIn(response: Response, signal: AbortSignal): Promise<ReadFailure | undefined> {
    const { url, status, ok } = response
    const type = mediaTypeOf(response)
    const coding = response.headers.get('content-encoding') ?? ''
    // fetch would not limit what its first decoder passes to the second, and aborting does not stop
    // its decoders.
    const isCodedTwice = coding.includes(',')
    if (ok && kindOf(type) !== 'other' && !isCodedTwice) return undefined
    await response.body?.cancel()
    if (ok && isCodedTwice) {
      const message = `${url} could not be read: its Content-Encoding is ${JSON.stringify(coding.slice(0, 100))}, and this ${this.self} decodes one coding`
      return { kind: 'failure', reason: 'network', message }
    }
    if (ok)
      return {
        kind: 'failure',
        reason: 'media-type',
        message: `${url} is ${type?.essence}; this ${this.self} reads text only`,
      }
    const name = [status, STATUS_CODES[status]].join(' ').trim()
    const failure: ReadFailure = { kind: 'failure', reason: 'status', message: `${url} responded with ${name}`, status }
    if (!defaultPushbackStatuses.includes(status)) return failure
    // The gate has seen the response and knows when the next request may start.
    const next = await this.#gate.when(url, { signal })
    return next.allowed ? { ...failure, retryAfterMs: next.waitMs } : failure
  }

  #slotTooLate({ verdict, waitMs, because, ahead }: SlotForecast): ReadFailure {
    const message = `the request to ${verdict.url} may start in ${seconds(waitMs)} (${because}, requests ahead: ${ahead}), and this ${this.self} waits ${seconds(this.#timeoutMs)} at most`
    return { kind: 'failure', reason: 'turn', message, retryAfterMs: waitMs }
  }

  #timedOut(url: string, waitedFor: Stage['waitsFor']): ReadFailure {
    const within = `within ${seconds(this.#timeoutMs)}`
    switch (waitedFor) {
      case 'robots.txt':
        return { kind: 'failure', reason: 'timeout', message: `robots.txt for ${url} did not arrive ${within}` }
      case 'slot':
        return {
          kind: 'failure',
          reason: 'turn',
          message: `the request to ${url} was still in the queue after ${seconds(this.#timeoutMs)}`,
        }
      case 'response':
        return { kind: 'failure', reason: 'timeout', message: `${url} did not arrive ${within}` }
    }
  }
}

/** `12 s`, `0.5 s` */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toPrecision(2))} s`
}

/** Makes a refusal from an error or a forecast of the gate. */
export function readRefusalOf({ verdict, retryAt }: Pick<RobotsDisallowedError, 'verdict' | 'retryAt'>): ReadRefusal {
  const isBlocked = verdict.access?.reason === 'blocked-address'
  if (retryAt === undefined || isBlocked) return { kind: 'refusal', verdict, retryAfterMs: undefined }
  return { kind: 'refusal', verdict, retryAfterMs: Math.max(0, retryAt - Date.now()) }
}

/** Rejects URLs that are never fetched, whatever robots.txt says. */
function urlFailure(url: string, self: Self): ReadFailure | undefined {
  const problem = urlProblem(url, self)
  if (problem === undefined) return undefined
  return { kind: 'failure', reason: 'url', message: `${JSON.stringify(url)} cannot be fetched: ${problem}` }
}

function urlProblem(url: string, self: Self): string | undefined {
  const parsed = parseUrl(url)
  if (typeof parsed === 'string' && parsed !== 'scheme') return explainUrlProblem(parsed, url)
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https URLs are supported'
  if (username !== '' || password !== '') return `it contains a user name or password, and this ${self} sends none`
  return undefined
}

/**
 * Returns the message of the innermost cause. The outer error of `fetch` says only that it failed.
 */
function networkProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return networkProblem(error.cause)
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || error.name
}
