// Reads what a context of Crawlee has of its page: status, headers and the head of the HTML.
import { documentTagsOf } from '@politely/cdp/internal'
import { OptionError } from '@politely/core'
import { type PageHead, pageHeadOf, type ResponseHeaders } from '@politely/core/usage'
import type { ClientUsage, UsageOptions } from '@politely/fetcher'
import { describeValue, isHtml } from '@politely/fetcher/internal'
import type { PoliteGate } from '@politely/gate'
import { outsideTimeouts } from '../host-timeouts.ts'

/** The part of a context of an HTTP crawler or a browser crawler that is read. */
export interface PageContext {
  readonly request: { readonly url: string; readonly loadedUrl?: string | undefined }
  /** Undefined if the request skips its navigation, and in a `BasicCrawler`. */
  readonly response?: HttpResponse | BrowserResponse | null | undefined
  /** The body. Only HTTP crawlers have it. */
  readonly body?: unknown
  /** Only HTTP crawlers have it. */
  readonly contentType?: { readonly type: string; readonly encoding?: string | undefined } | undefined
  /** Only browser crawlers have it. */
  readonly page?: { content(): Promise<string> } | undefined
}

/** The response of Crawlee's HTTP clients, which is a stream of Node. */
interface HttpResponse {
  readonly statusCode?: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Names and values in turn. Missing if Crawlee has converted the encoding of the body. */
  readonly rawHeaders?: readonly string[]
}

/** The raw headers of HTTP clients, by their `headers`: Crawlee keeps this object in all cases. */
const rawHeadersOf = new WeakMap<object, readonly string[]>()

/** Remembers the raw headers of a response of an HTTP client, if it has some. */
export function rememberRawHeaders(response: object): void {
  const { headers, rawHeaders } = response as Partial<HttpResponse>
  if (headers !== undefined && rawHeaders !== undefined) rawHeadersOf.set(headers, rawHeaders)
}

/** The response to a navigation, in Playwright and in Puppeteer. */
interface BrowserResponse {
  status(): number
  headers(): Readonly<Record<string, string>>
  /** Only Puppeteer's request has an `id`. */
  request(): { readonly id?: string }
  /** Only Playwright has it. */
  headersArray?(): Promise<readonly { readonly name: string; readonly value: string }[]>
  text(): Promise<string>
}

/** What was read of a page. */
export interface LoadedPage {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Undefined if the page is not HTML. */
  readonly html: PageHead | undefined
}

/** Reads the page of a context. Returns undefined if the context has no page. */
export async function loadedPage({ response, body, contentType, page }: PageContext): Promise<LoadedPage | undefined> {
  if (response === undefined || response === null) return undefined
  if ('text' in response && typeof response.text === 'function' && page !== undefined)
    return pageOfBrowser(response, page)
  const { statusCode = 200, headers, rawHeaders } = response as HttpResponse
  const isRead = isHtml(contentType?.type ?? '') && (typeof body === 'string' || body instanceof Uint8Array)
  const html = isRead ? pageHeadOf(body, { charset: contentType?.encoding }) : undefined
  return { status: statusCode, headers: rawHeaders ?? rawHeadersOf.get(headers) ?? headers, html }
}

/**
 * Reads the HTML as the server sent it, and as scripts have changed it. The rules of both count.
 * draft-illyes-repext-03 §3.
 */
async function pageOfBrowser(response: BrowserResponse, page: NonNullable<PageContext['page']>): Promise<LoadedPage> {
  const status = response.status()
  const headers = (await response.headersArray?.()) ?? headersOfPuppeteer(response)
  if (!isHtml(response.headers()['content-type'] ?? '')) return { status, headers, html: undefined }
  // The browser may have discarded the body, and a page that navigates has no content.
  const texts = [response.text(), page.content()].map((text) => text.catch(() => undefined))
  const [sent, current] = (await Promise.all(texts)).map((text) => (text === undefined ? undefined : pageHeadOf(text)))
  return { status, headers, html: sent && current ? union(sent, current) : partOf(sent ?? current) }
}

function partOf(head: PageHead | undefined): PageHead | undefined {
  return head && { ...head, isComplete: false }
}

/** Returns the headers, with the lines of X-Robots-Tag apart if the guard has seen them. */
function headersOfPuppeteer(response: BrowserResponse): ResponseHeaders {
  const headers = response.headers()
  const lines = documentTagsOf(response.request().id ?? '')
  return lines?.join(', ') === headers['x-robots-tag'] ? { ...headers, 'x-robots-tag': lines } : headers
}

/** Returns the elements of both heads, each once. */
function union(a: PageHead, b: PageHead): PageHead {
  const once = <Item extends object>(list: readonly Item[]) => [
    ...new Map(list.map((one) => [JSON.stringify(one), one])).values(),
  ]
  return {
    metas: once([...a.metas, ...b.metas]),
    base: a.base ?? b.base,
    licenses: once([...a.licenses, ...b.licenses]),
    uncounted: once([...(a.uncounted ?? []), ...(b.uncounted ?? [])]),
    isComplete: a.isComplete && b.isComplete,
  }
}

// usageOf: what may be done with the page of a context of Crawlee.

/**
 * The context that a handler of a crawler gets.
 * @inline
 */
interface CrawledPage {
  readonly request: { readonly url: string; readonly loadedUrl?: string | undefined }
  readonly crawler: object
}

/** The gates of all polite crawlers. */
export const gates: WeakMap<object, PoliteGate> = new WeakMap()

/**
 * Returns what may be done with the page of a handler: whether the site lets the crawler index it,
 * train on it and so on. The same as `usage` of the crawler's RobotsClient, with the URL after
 * redirects. Fetches robots.txt and tdmrep.json of the origin if they are not cached or are stale,
 * and nothing else. Meanwhile `requestHandlerTimeoutSecs` stands still.
 *
 * Of an HTTP crawler, it reads the headers and the head of the body. Of a browser crawler, it reads
 * the headers of the navigation, the head of the HTML that the server sent, and the head of the page
 * as it is now. Call it before the handler navigates elsewhere.
 *
 * @example
 * ```ts
 * import { CheerioCrawler } from '@crawlee/cheerio'
 * import { usageOf, withRobots } from '@politely/crawlee'
 *
 * const crawler = new CheerioCrawler({
 *   requestHandler: async (context) => {
 *     const { purposes } = await usageOf(context)
 *     if (purposes['train-ai'].answer === 'disallowed') return
 *     console.log(context.request.loadedUrl)
 *   },
 * })
 * withRobots(crawler, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * ```
 *
 * @throws {OptionError} for a value that is not the context of a polite crawler, and for an invalid
 * option.
 */
export async function usageOf(context: CrawledPage, options: UsageOptions = {}): Promise<ClientUsage> {
  const { crawler, request } = (context ?? {}) as Partial<CrawledPage>
  if (typeof crawler !== 'object' || crawler === null || request === undefined)
    throw new OptionError(
      'context',
      `${describeValue(context)} is not a context; write usageOf(context) in the requestHandler`,
    )
  const gate = gates.get(crawler)
  if (gate === undefined)
    throw new OptionError('context', 'its crawler is not polite; write withRobots(crawler, { … }) before crawler.run()')
  const page = await loadedPage(context as PageContext)
  // The time limit of the handler is not for the fetches of these files.
  return outsideTimeouts('gate', () => gate.robots.usage(request.loadedUrl ?? request.url, page, options))
}
