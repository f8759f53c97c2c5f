// Requests one file. Follows redirects itself, so that each hop is known and a cycle is seen before it
// is requested. A polite fetch checks and paces each hop.
import { isPolitelyError } from '@politely/core'
import { type BlockedAddressError, type ClientVerdict, RobotsClient } from '@politely/fetcher'
import { clientPort, discard, UNTIL_HEADERS } from '@politely/fetcher/internal'
import type { SitemapReason } from '../file-result.ts'
import { type ByteSource, iteratorOf, messageWithCause } from './body-source.ts'
import type { ForeignHosts } from './foreign-hosts.ts'
import type { Task } from './resume-token.ts'

/** A fetch: `politely(fetch, …)`, the fetch of Node, or your own. */
export type SitemapFetch = (
  url: string,
  init: {
    readonly redirect: 'manual'
    readonly signal: AbortSignal
    readonly headers: Record<string, string>
    /** The URLs that led to this one. A site may not lead a request to a private host. */
    readonly redirectedFrom: string[]
  },
) => Promise<SitemapResponse>

/** The part of a response that is read. */
export interface SitemapResponse {
  readonly status: number
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly body: { cancel(): Promise<void> } | null
}

export interface RequestContext {
  readonly fetch: SitemapFetch
  readonly robots: RobotsClient | undefined
  /** Whether `robots` checks each hop, since the fetch does not. */
  readonly checksRequests: boolean
  readonly hosts: ForeignHosts
  readonly signal: AbortSignal
  readonly maxRedirects: number
  /** Returns whether a file was read before. */
  isRead(url: string): boolean
}

/** The result of a request. If it has a `reason`, its body is missing. */
export interface Requested {
  readonly hops: readonly { readonly url: string; readonly status: number }[]
  /** The URL after the redirects. */
  readonly url: string
  readonly response?: SitemapResponse
  readonly reason?: SitemapReason
  readonly detail?: string
  readonly verdict?: ClientVerdict
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** The longest Location that is followed, in characters as sent. The results keep the redirects. */
const MAX_LOCATION_LENGTH = 2_048

/** Requests a file. Rejects only with the reason of the signal. */
export async function request(
  { url: start, from }: Task,
  headers: Record<string, string>,
  context: RequestContext,
): Promise<Requested> {
  const hops: { url: string; status: number }[] = []
  let url = start
  for (;;) {
    const chain = [...(from === undefined ? [] : [from]), ...hops.map((hop) => hop.url)]
    const sent = await send(url, chain, headers, context)
    if ('reason' in sent) return { hops, url, ...sent }
    const { response } = sent
    const { status } = response
    if (!REDIRECTS.has(status)) {
      // A fetch that ignores `redirect: 'manual'` has followed redirects.
      const finalUrl = hops.length === 0 && URL.canParse(response.url) ? response.url : url
      if (status === 200 || status === 203) return { hops, url: finalUrl, response }
      await discard(response.body)
      return { hops, url: finalUrl, response, ...(status !== 304 && { reason: 'status' }) }
    }
    await discard(response.body)
    hops.push({ url, status })
    const location = response.headers.get('location') ?? ''
    const next = URL.parse(location, url)
    if (next === null || location === '')
      return { hops, url, response, reason: 'redirects', detail: 'the redirect has no valid Location' }
    if (location.length > MAX_LOCATION_LENGTH)
      return { hops, url, response, reason: 'redirects', detail: 'its Location is longer than 2,048 characters' }
    next.hash = ''
    url = next.href
    if (hops.some((hop) => hop.url === url))
      return { hops, url, response, reason: 'redirects', detail: 'the redirects form a circle' }
    if (hops.length > context.maxRedirects) return { hops, url, response, reason: 'limit: maxRedirects' }
    if (context.isRead(url))
      return { hops, url, response, reason: 'duplicate', detail: `it redirects to ${url}, which was read before` }
  }
}

/**
 * Requests the bytes of a file from this position on, after its connection was closed. Returns
 * undefined unless the server sends exactly these bytes of the same file (RFC 9110 §13.1.5, §15.3.7).
 */
export async function requestRest(
  { url, hops, response }: Requested,
  from: string | undefined,
  position: number,
  context: RequestContext,
): Promise<AsyncIterator<Uint8Array> | undefined> {
  const etag = response?.headers.get('etag')
  const validator = etag?.startsWith('"') ? etag : response?.headers.get('last-modified')
  if (!validator || response?.headers.get('content-encoding')) return undefined
  const chain = [...(from === undefined ? [] : [from]), ...hops.map((hop) => hop.url)]
  const rest = await send(url, chain, { range: `bytes=${position}-`, 'if-range': validator }, context)
  if ('reason' in rest) return undefined
  const { status, headers, body } = rest.response
  const isRest = status === 206 && headers.get('content-range')?.startsWith(`bytes ${position}-`)
  if (isRest && body !== null) return iteratorOf(body as unknown as ByteSource)
  await discard(rest.response.body)
  return undefined
}

type Failure = Pick<Requested, 'detail' | 'verdict'> & { readonly reason: SitemapReason }

/** Sends one request, unless it is refused. */
async function send(
  url: string,
  chain: string[],
  headers: Record<string, string>,
  context: RequestContext,
): Promise<{ readonly response: SitemapResponse } | Failure> {
  const { fetch, robots, checksRequests, hosts, signal } = context
  try {
    const blocked = await hosts.refusalOf(url, hosts.publicOf(chain), signal)
    if (blocked !== undefined) return blockedBy(robots, url, blocked)
    if (checksRequests && robots !== undefined) {
      const verdict = await robots.check(url, { signal, redirectedFrom: chain })
      if (!verdict.allowed) return { reason: 'disallowed', verdict }
    }
    const untilHeaders = { [UNTIL_HEADERS]: true } // `maxFileMs` is the time limit for the body
    const init = { redirect: 'manual', signal, headers, redirectedFrom: chain, ...untilHeaders } as const
    return { response: await fetch(url, init) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return failureOf(error)
  }
}

function blockedBy(robots: RobotsClient | undefined, url: string, refusal: BlockedAddressError): Failure {
  if (!(robots instanceof RobotsClient)) return { reason: 'refused', detail: refusal.message }
  return { reason: 'disallowed', verdict: clientPort(robots).blockedVerdict(url, refusal) }
}

function failureOf(error: unknown): Failure {
  const detail = messageWithCause(error)
  if (!isPolitelyError(error)) return { reason: 'network', detail }
  const { verdict } = error as { readonly verdict?: ClientVerdict }
  const reason = error.code === 'ERR_POLITELY_DISALLOWED' ? 'disallowed' : 'refused'
  return { reason, detail, ...(verdict !== undefined && { verdict }) }
}

/** Returns the headers of a conditional request. A file that was not whole is read again. */
export function conditionsOf(
  before: { outcome: string; etag?: string; lastModified?: string } | undefined,
  task: Task,
): Record<string, string> {
  const isWhole = before?.outcome === 'complete' || before?.outcome === 'unchanged'
  if (before === undefined || !isWhole || (task.skip ?? 0) > 0) return {}
  return {
    ...(before.etag !== undefined && { 'if-none-match': before.etag }),
    ...(before.lastModified !== undefined && { 'if-modified-since': before.lastModified }),
  }
}
