// Reads what a context of Crawlee has of its page: status, headers and the head of the HTML.
import { type HeadLicense, type HeadMeta, type PageHead, pageHeadOf, type ResponseHeaders } from '@politely/core/usage'

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

/** The response to a navigation, in Playwright and in Puppeteer. */
interface BrowserResponse {
  status(): number
  headers(): Readonly<Record<string, string>>
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
  const isRead = isHtml(contentType?.type) && (typeof body === 'string' || body instanceof Uint8Array)
  const html = isRead ? pageHeadOf(body, { charset: contentType?.encoding }) : undefined
  return { status: statusCode, headers: rawHeaders === undefined ? headers : pairsOf(rawHeaders), html }
}

/**
 * Reads the HTML as the server sent it, and as scripts have changed it. The rules of both count.
 * draft-illyes-repext-03 §3.
 */
async function pageOfBrowser(response: BrowserResponse, page: NonNullable<PageContext['page']>): Promise<LoadedPage> {
  const status = response.status()
  const headers = await headersOf(response)
  if (!isHtml(response.headers()['content-type'])) return { status, headers, html: undefined }
  // The browser may have discarded the body, and a page that navigates has no content.
  const texts = [response.text(), page.content()].map((text) => text.catch(() => undefined))
  const [sent, current] = (await Promise.all(texts)).map((text) => (text === undefined ? undefined : pageHeadOf(text)))
  return { status, headers, html: sent && current ? union(sent, current) : partOf(sent ?? current) }
}

function partOf(head: PageHead | undefined): PageHead | undefined {
  return head && { ...head, isComplete: false }
}

async function headersOf(response: BrowserResponse): Promise<ResponseHeaders> {
  if (response.headersArray === undefined) return response.headers() // Puppeteer joins the lines with commas
  return (await response.headersArray()).map(({ name, value }) => [name, value] as const)
}

function pairsOf(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  const count = Math.floor(rawHeaders.length / 2)
  return Array.from({ length: count }, (_, i) => [rawHeaders[2 * i], rawHeaders[2 * i + 1]] as [string, string])
}

function isHtml(type: string | undefined): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type ?? '')
}

/** Returns the elements of both heads, each once. */
function union(a: PageHead, b: PageHead): PageHead {
  const metaKey = ({ name, content }: HeadMeta) => `${name}\n${content}`
  const licenseKey = ({ element, href }: HeadLicense) => `${element}\n${href}`
  return {
    metas: [...new Map([...a.metas, ...b.metas].map((one) => [metaKey(one), one])).values()],
    licenses: [...new Map([...a.licenses, ...b.licenses].map((one) => [licenseKey(one), one])).values()],
    isComplete: a.isComplete && b.isComplete,
  }
}
