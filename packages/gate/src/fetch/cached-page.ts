// The option `cache` of politely(fetch): a cache answers a page, or lets it be sent.
import { sentPageOf } from '@politely/fetcher/internal'
import type { AllowedCheck } from '../robots/allowed-check.ts'
import { type Init, isRequest, plainHeaders } from './fetch-input.ts'
import type { FetchResponse } from './fetch-response.ts'
import type { CachedRequest } from './page-cache.ts'
import { type PageRequest, sendPage } from './page-exchange.ts'
import { rememberOrigin, responseOriginOf } from './response-usage.ts'

/** Answers a page from the cache, or sends it. */
export function answerPage(page: PageRequest): Promise<FetchResponse> {
  const { polite, url, signal, redirectedFrom, init } = page
  const { cache, gate, port } = polite
  const request = cache && requestToCache(page)
  if (cache === undefined || request === undefined) return sendPage(page, init)
  let check: AllowedCheck | undefined
  const untilWritten = (written: Promise<void>) => port.robots.whileOpen(written, signal)
  return cache.respond(request, {
    check: async () => {
      check = await port.robots.requireAllowed(url, signal, redirectedFrom, 'stored-page')
      if (check.receipt?.written !== undefined) await untilWritten(check.receipt.written)
    },
    checkStored: async () => {
      check = await port.robots.requireStored(url, signal)
      if (check?.receipt?.written !== undefined) await untilWritten(check.receipt.written)
      return check !== undefined
    },
    send: (headers) => sendPage(page, initOfCache(init, request, headers)),
    robotsTagsOf: (sent) => sentPageOf(sent)?.robotsTags ?? [],
    codedBodyOf: (sent) => responseOriginOf(sent)?.codedBody,
    isRateLimited: (sent) => responseOriginOf(sent)?.isRateLimited === true,
    adopt: (response, source) => {
      const sent = isLines(source)
        ? { robotsTags: source, decision: page.decision ?? stored(page, response, check), decisions: port.decisions }
        : sentPageOf(source)
      return rememberOrigin(response, { ...sent, robots: gate.robots, url, redirectedFrom })
    },
  })
}

/** Keeps that the cache has answered without a request. Returns the id of the decision, with the option `evidence`. */
function stored({ polite }: PageRequest, { status }: Response, check: AllowedCheck | undefined): string | undefined {
  if (check?.receipt === undefined) return undefined
  const { id } = check.receipt
  const { decisions, now } = polite.port
  decisions?.ended({ id, at: now(), outcome: 'stored-page', status })
  return id
}

const isLines = (source: FetchResponse | readonly string[]): source is readonly string[] => Array.isArray(source)

/** The cache mode of fetch (WHATWG Fetch §2.2.5), as the directives of a request that mean the same. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  'no-store': 'no-store',
  reload: 'no-cache',
  'no-cache': 'max-age=0',
  'force-cache': 'max-stale',
  'only-if-cached': 'only-if-cached, max-stale',
}

/** Returns a request as a cache sees it; undefined for one that no cache can answer. */
function requestToCache({ url, input, init, signal }: PageRequest): CachedRequest | undefined {
  if (!/^https?:/.test(url)) return undefined
  const request = isRequest(input) ? input : undefined
  // fetch refuses a URL with a password, and compares the bytes that it receives itself with a hash.
  const { integrity = request?.integrity } = init
  if (integrity || /^https?:\/\/[^/?#]*@/.test(url)) return undefined
  const headers = plainHeaders(init.headers)
  const { cache: mode = request?.cache ?? 'default' } = init
  const directive = DIRECTIVES[mode]
  const own = headers['cache-control']
  if (directive !== undefined) headers['cache-control'] = own === undefined ? directive : `${directive}, ${own}`
  return {
    url: url.split('#', 1)[0] as string,
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    headers,
    hasBody: (init.body ?? request?.body ?? null) !== null,
    ...(mode === 'reload' && { isReload: true }),
    signal,
  }
}

/**
 * Returns the options with the headers of a cache. If these make a request conditional, fetch would
 * add Cache-Control: no-cache, and servers then send the page again (WHATWG Fetch §4.6, step 14). The
 * mode `no-cache` adds max-age=0 instead.
 */
function initOfCache(init: Init, request: CachedRequest, headers: Readonly<Record<string, string>>): Init {
  const isNew = (name: string) => headers[name] !== undefined && request.headers[name] === undefined
  const isConditional = isNew('if-none-match') || isNew('if-modified-since')
  return isConditional ? { ...init, headers, cache: 'no-cache' } : { ...init, headers }
}
