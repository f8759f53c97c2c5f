// One name that reads pages: each request is allowed by the site's robots.txt, waits its turn, reaches the public internet only, and is
// bounded in time and size.
import { STATUS_CODES } from 'node:http'
import type { LookupFunction } from 'node:net'
import { explainUrlProblem, isPushback, parseUrl } from '@politely/core'
import { type ClientVerdict, NetworkGuard, RobotsClient } from '@politely/fetcher'
import { integer } from '@politely/fetcher/option-checks'
import {
  type AllowedForecast,
  type Forecast,
  type Pacer,
  PoliteGate,
  politely,
  RobotsDisallowedError,
} from '@politely/gate'
import { Agent, fetch, type RequestInit, type Response } from 'undici'
import { bytesOf, kindOf, mediaTypeOf, textOf } from './page-body.ts'
import { PageMemory } from './page-memory.ts'

export interface PageReaderOptions {
  /** Its name, for pages and for robots.txt: `ExampleMCP-User/1.0 (+https://example.com/mcp)`. */
  readonly userAgent: string
  /** Who keeps the pace. Readers that share one keep one pace together. */
  readonly pacer: Pacer
  /** The least pause between two requests to one origin. Milliseconds; default 1,000. */
  readonly minDelayMs?: number | undefined
  /** For one page, its wait included. Milliseconds; default 50,000, since MCP clients give up after 60 seconds. */
  readonly timeoutMs?: number | undefined
  /** Bytes of a decoded page that are read. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How often robots.txt is asked for again after a failure that may pass. Default 2. */
  readonly retries?: number | undefined
  /** Addresses and blocks, such as `10.0.0.0/8`, that may be reached although they are not public. Default none. */
  readonly allowAddresses?: readonly string[] | undefined
  /** Your own resolver, in the form of `dns.lookup`. Default the system's. */
  readonly lookup?: LookupFunction | undefined
}

/** What came of a wish to read a page. */
export type Reading = Page | Refusal | Failure

export interface Page {
  readonly kind: 'page'
  /** Where it was in the end, after redirects. */
  readonly url: string
  readonly status: number
  readonly mediaType: string
  readonly text: string
  /** Whether there was more of it than is read. */
  readonly isCut: boolean
}

/** robots.txt says no, or nobody knows what it says. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly verdict: ClientVerdict
  /** When robots.txt will be asked for again, where it is unreachable now. Milliseconds from now. */
  readonly retryAfterMs: number | undefined
}

/** It was not robots.txt. */
export interface Failure {
  readonly kind: 'failure'
  /**
   * `url`: nothing that can be fetched; `turn`: it did not come in time, or would not; `timeout`: the site took too long; `network`;
   * `status`: an answer other than 2xx; `media-type`: no text; `part`: there is no such part of the page.
   */
  readonly reason: 'url' | 'turn' | 'timeout' | 'network' | 'status' | 'media-type' | 'part'
  /** A sentence. */
  readonly message: string
  readonly status?: number
  /** When it makes sense to ask again, if that is known. Milliseconds from now. */
  readonly retryAfterMs?: number
}

/** What is being waited for. */
export type Stage =
  | { readonly waitsFor: 'robots.txt' | 'answer' }
  | { readonly waitsFor: 'turn'; readonly forecast: AllowedForecast }

export interface ReadOptions {
  readonly signal: AbortSignal
  /** HTML as `text`, or `raw`: as it came. Default `text`. */
  readonly form?: 'text' | 'raw'
  /** `copy`: one of the last five minutes will do, if there is one. Default `site`. */
  readonly from?: 'site' | 'copy'
  /** Is told what is being waited for. */
  readonly onStage?: (stage: Stage) => void
}

const DEFAULT_TIMEOUT_MS = 50_000
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

export class PageReader {
  readonly userAgent: string
  readonly #robots: RobotsClient
  readonly #gate: PoliteGate
  readonly #agent: Agent
  readonly #memory = new PageMemory()
  readonly #timeoutMs: number
  readonly #maxBodyBytes: number

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: PageReaderOptions) {
    const { userAgent, pacer, minDelayMs, retries, allowAddresses = [], lookup } = options
    this.#timeoutMs = integer('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, { min: 1 })
    this.#maxBodyBytes = integer('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, { min: 1 })
    // What a model asks for is hostile input: a page may have talked it into asking this machine, or its neighbours.
    const network = { network: 'public-only', allowAddresses, ...(lookup && { lookup }) } as const
    this.#robots = new RobotsClient({ userAgent, ...network, ...(retries !== undefined && { retries }) })
    this.#gate = new PoliteGate({ robots: this.#robots, pacer, minDelayMs, maxConcurrentPerOrigin: 1 })
    this.#agent = new Agent({ connect: new NetworkGuard(network).connector({ allowH2: false }), allowH2: false })
    this.userAgent = userAgent
  }

  /** May this page be fetched, and when? */
  async forecast(url: string, signal: AbortSignal): Promise<Forecast | Failure> {
    return problemOf(url) ?? (await this.#gate.when(url, { signal }))
  }

  /** Fetches a page. What a site does is never thrown; the signal's reason is, and a `GateClosedError` after `close`. */
  async read(url: string, { signal, form = 'text', from = 'site', onStage }: ReadOptions): Promise<Reading> {
    const problem = problemOf(url)
    if (problem !== undefined) return problem
    const key = `${form} ${url}`
    const copy = from === 'copy' ? this.#memory.get(key) : undefined
    if (copy !== undefined) return copy
    const deadline = AbortSignal.timeout(this.#timeoutMs)
    const ends = AbortSignal.any([signal, deadline])
    let waitsFor: Stage['waitsFor'] = 'robots.txt'
    let response: Response
    let body: Awaited<ReturnType<typeof bytesOf>>
    try {
      onStage?.({ waitsFor })
      const forecast = await this.#gate.when(url, { signal: ends })
      waitsFor = 'turn'
      if (forecast.allowed) {
        if (forecast.waitMs > this.#timeoutMs) return this.#tooFarOff(forecast)
        onStage?.({ waitsFor, forecast })
      }
      // It is called when the turn of a request has come; at a redirect, for each hop.
      const send = async (hop: string, init?: RequestInit): Promise<Response> => {
        waitsFor = 'answer'
        onStage?.({ waitsFor })
        const answer = await fetch(hop, { ...init, dispatcher: this.#agent })
        waitsFor = 'turn'
        return answer
      }
      response = await politely(send, { gate: this.#gate })(url, { signal: ends })
      waitsFor = 'answer'
      const failure = await this.#failureIn(response, ends)
      if (failure !== undefined) return failure
      body = await bytesOf(response, this.#maxBodyBytes)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RobotsDisallowedError) return refusalOf(error)
      if (deadline.aborted) return this.#timedOut(url, waitsFor)
      // In `turn`, a TypeError is about a redirect that cannot be followed.
      if (waitsFor !== 'answer' && !(error instanceof TypeError)) throw error
      return { kind: 'failure', reason: 'network', message: `${url} could not be fetched: ${networkProblem(error)}` }
    }
    const type = mediaTypeOf(response)
    const text = textOf(body.bytes, type, response.url, form)
    const mediaType = type?.essence ?? 'no media type'
    const page: Page = { kind: 'page', url: response.url, status: response.status, mediaType, text, isCut: body.isCut }
    this.#memory.set(key, page)
    return page
  }

  async close(): Promise<void> {
    this.#gate.close()
    this.#memory.clear()
    await Promise.all([this.#robots.close(), this.#agent.destroy()])
  }

  /** What makes an answer no page. */
  async #failureIn(response: Response, signal: AbortSignal): Promise<Failure | undefined> {
    const { url, status, ok } = response
    const type = mediaTypeOf(response)
    if (ok && kindOf(type) !== 'other') return undefined
    await response.body?.cancel()
    if (ok)
      return { kind: 'failure', reason: 'media-type', message: `${url} is ${type?.essence}; only text is read here` }
    const name = [status, STATUS_CODES[status]].join(' ').trim()
    const failure: Failure = { kind: 'failure', reason: 'status', message: `${url} answered ${name}`, status }
    if (!isPushback({ status })) return failure
    // The gate has heard it, and knows when the next request may leave.
    const next = await this.#gate.when(url, { signal })
    return next.allowed ? { ...failure, retryAfterMs: next.waitMs } : failure
  }

  #tooFarOff({ verdict, waitMs, because, ahead }: AllowedForecast): Failure {
    const message = `the turn of ${verdict.url} comes in ${seconds(waitMs)} (${because}, ${ahead} before it), and a call waits ${seconds(this.#timeoutMs)} at most`
    return { kind: 'failure', reason: 'turn', message, retryAfterMs: waitMs }
  }

  #timedOut(url: string, waitedFor: Stage['waitsFor']): Failure {
    const within = `within ${seconds(this.#timeoutMs)}`
    switch (waitedFor) {
      case 'robots.txt':
        return { kind: 'failure', reason: 'timeout', message: `the robots.txt for ${url} did not come ${within}` }
      case 'turn':
        return { kind: 'failure', reason: 'turn', message: `the turn of ${url} did not come ${within}` }
      case 'answer':
        return { kind: 'failure', reason: 'timeout', message: `${url} was not there ${within}` }
    }
  }
}

/** `12 s`, `0.5 s` */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toPrecision(2))} s`
}

/** As an error of the gate, or its forecast, has it. */
export function refusalOf({ verdict, retryAt }: Pick<RobotsDisallowedError, 'verdict' | 'retryAt'>): Refusal {
  const isBlocked = 'access' in verdict && verdict.access.reason === 'blocked-address'
  if (retryAt === undefined || isBlocked) return { kind: 'refusal', verdict, retryAfterMs: undefined }
  return { kind: 'refusal', verdict, retryAfterMs: Math.max(0, retryAt - Date.now()) }
}

/** What no tool should fetch, whatever robots.txt says. */
function problemOf(url: string): Failure | undefined {
  const why = whyNot(url)
  if (why === undefined) return undefined
  return { kind: 'failure', reason: 'url', message: `${JSON.stringify(url)} cannot be fetched: ${why}` }
}

function whyNot(url: string): string | undefined {
  const address = parseUrl(url)
  if (typeof address === 'string' && address !== 'scheme') return explainUrlProblem(address)
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https are spoken here'
  if (username !== '' || password !== '') return 'it has a user name or password in it, and none is sent from here'
  return undefined
}

/** The innermost reason; fetch itself says little more than that it failed. */
function networkProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return networkProblem(error.cause)
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || error.name
}
