// The option `cache`: answers requests for pages from a cache, or stores what the site sends.
import {
  type BaseHttpClient,
  GotScrapingHttpClient,
  type HttpRequest,
  type Request,
  type StreamingHttpResponse,
} from '@crawlee/basic'
import { type BodyCheck, loadTransports } from '@politely/fetcher/internal'
import { type PoliteGate, type ResponseCache, RobotsDisallowedError } from '@politely/gate'
import { gatePort } from '@politely/gate/internal'
import { outsideTimeouts } from '../host-timeouts.ts'
import { linkSourcesOf } from '../link-sources.ts'
import { withUserAgent } from '../polite-http-client.ts'
import { currentTask } from '../pool-task.ts'
import { decodedResponse, rawHeaderLines, storedResponse, toWeb, withStream } from './web-response.ts'

export class CachedPages {
  readonly #cache: ResponseCache
  readonly #gate: PoliteGate
  readonly #isGot: boolean

  /** @param client What sends the requests. */
  constructor(cache: ResponseCache, gate: PoliteGate, client: BaseHttpClient) {
    this.#cache = cache
    this.#gate = gate
    this.#isGot = client instanceof GotScrapingHttpClient
  }

  /** Returns whether the cache can answer a request of the queue without asking the site. */
  async isFresh({ url, method, payload, headers }: Request): Promise<boolean> {
    if (method !== 'GET' || payload !== undefined) return false
    const own = headersOf(withUserAgent({ url, ...(headers && { headers }) }, this.#gate.robots.userAgent))
    const directives = [own['cache-control'], 'only-if-cached'].filter((one) => one !== undefined).join(', ')
    // HEAD, so that the body is not read.
    const request = { ...requestOf(new URL(url), 'HEAD'), headers: { ...own, 'cache-control': directives } }
    try {
      const response = await this.#cache.respond(request, {
        check: async () => undefined, // `answer` checks
        checkStored: async () => true,
        send: async () => new Response(null, { status: NOT_CACHED }),
        robotsTagsOf: () => [],
        codedBodyOf: () => undefined,
        isRateLimited: () => false,
        adopt: (stored) => stored,
      })
      return response.status !== NOT_CACHED
    } catch {
      return false // `answer` reports the error
    }
  }

  /** Answers one request, or one hop of a redirect. @param send Waits for its slot, and sends it. */
  async answer(
    hop: HttpRequest,
    url: URL,
    send: (hop: HttpRequest) => Promise<StreamingHttpResponse>,
  ): Promise<StreamingHttpResponse> {
    const own = headersOf(hop)
    const sent = new Map<object, Sent>()
    // got, Crawlee's own client, returns half a gzip without an error. With this option it leaves bodies coded.
    const isCoded = this.#isGot && hop.method !== 'HEAD' && hop.decompress !== false
    const coded = isCoded ? { decompress: false } : {}
    const accepted = isCoded && own['accept-encoding'] === undefined ? { 'accept-encoding': ACCEPT_ENCODING } : {}
    let robotsTags: readonly string[] = []
    let decision: string | undefined
    const check = async () => {
      decision = await this.#check(url, hop.signal)
    }
    const request = { ...requestOf(url, hop.method), headers: own, hasBody: hop.body !== undefined, signal: hop.signal }
    const result = await this.#cache.respond(request, {
      check,
      checkStored: async () => {
        await check()
        return true
      },
      send: async (headers) => {
        const added = Object.entries(headers).filter(([name]) => own[name] === undefined)
        const all = { ...hop.headers, ...accepted, ...Object.fromEntries(added) }
        const transports = isCoded ? await loadTransports() : undefined
        const received = await send({ ...hop, ...coded, headers: all })
        const { response, codedBody } = transports ? decodedResponse(received, transports) : { response: received }
        const web = toWeb(response)
        sent.set(web, { response, body: web.body, codedBody })
        return web
      },
      robotsTagsOf: (web) => rawHeaderLines(sent.get(web)?.response, 'x-robots-tag'),
      codedBodyOf: (web) => sent.get(web)?.codedBody,
      isRateLimited: () => false,
      adopt: (response, source) => {
        const original = sent.get(source)
        if (original !== undefined) sent.set(response, original)
        else robotsTags = source as readonly string[]
        if (original === undefined && decision !== undefined && sent.size === 0)
          this.#tellStored(decision, response.status)
        return response
      },
    })
    const original = sent.get(result)
    for (const { response, body } of sent.values())
      if (body === null && response !== original?.response) response.stream.resume() // frees the connection of a 304
    if (original === undefined) return storedResponse(result as Response, hop, url, robotsTags)
    return result.body === original.body ? original.response : withStream(original.response, result)
  }

  /**
   * Returns the id of the decision, with the option `evidence`.
   * @throws {RobotsDisallowedError} if robots.txt does not allow the URL.
   */
  async #check(url: URL, signal: AbortSignal | undefined): Promise<string | undefined> {
    const redirectedFrom = linkSourcesOf(currentTask()?.request)
    const { robots } = gatePort(this.#gate)
    const verdict = await outsideTimeouts('gate', async () => robots.check(url.href, signal, redirectedFrom))
    const { id, written } = robots.decide(verdict, redirectedFrom, 'stored-page') ?? {}
    if (written !== undefined) await robots.whileOpen(written, signal)
    if (!this.#gate.admits(verdict)) throw new RobotsDisallowedError(verdict)
    return id
  }

  #tellStored(id: string, status: number): void {
    const { decisions, now } = gatePort(this.#gate)
    decisions?.ended({ id, at: now(), outcome: 'stored-page', status })
  }
}

/** What a client has returned, and what it became. */
interface Sent {
  readonly response: StreamingHttpResponse
  readonly body: object | null
  readonly codedBody: BodyCheck | undefined
}

/** What got asks for. */
const ACCEPT_ENCODING = 'gzip, deflate, br'

/** The answer of a cache to `only-if-cached`, if it may not use what is stored (RFC 9111 §5.2.1.7). */
const NOT_CACHED = 504

function requestOf(url: URL, method = 'GET') {
  const [withoutFragment = ''] = url.href.split('#', 1)
  return { url: withoutFragment, method: method.toUpperCase(), hasBody: false, signal: undefined }
}

/** Names in lower case. */
function headersOf({ headers = {} }: HttpRequest): Record<string, string> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]))
}
