// Requests one file. Follows redirects itself, so that each hop is known and a cycle is seen before it
// is requested. A polite fetch checks and paces each hop.
import { isPolitelyError } from '@politely/core'
import type { ClientVerdict, RobotsClient } from '@politely/fetcher'
import type { SitemapReason } from '../file-result.ts'
import { messageOf } from './body-source.ts'
import type { Task } from './queue.ts'

/** A fetch: `politely(fetch, …)`, the fetch of Node, or your own. */
export type SitemapFetch = (
  url: string,
  init: {
    readonly redirect: 'manual'
    readonly signal: AbortSignal
    readonly headers: Record<string, string>
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
  /** Checks each hop. Undefined if the fetch does that. */
  readonly robots: RobotsClient | undefined
  readonly signal: AbortSignal
  readonly maxRedirects: number
  readonly headers: Record<string, string>
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

/** Requests a file. Rejects only with the reason of the signal. */
export async function request(start: string, context: RequestContext): Promise<Requested> {
  const hops: { url: string; status: number }[] = []
  let url = start
  for (;;) {
    const refused = await refusalOf(url, hops, context)
    if (refused !== undefined) return { hops, url, ...refused }
    const init = { redirect: 'manual', signal: context.signal, headers: context.headers } as const
    let response: SitemapResponse
    try {
      response = await context.fetch(url, init)
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason
      return { hops, url, ...failureOf(error) }
    }
    const { status } = response
    if (!REDIRECTS.has(status)) {
      // A fetch that ignores `redirect: 'manual'` has followed redirects.
      const finalUrl = hops.length === 0 && URL.canParse(response.url) ? response.url : url
      if (status === 200 || status === 203) return { hops, url: finalUrl, response }
      await cancel(response)
      return { hops, url: finalUrl, response, ...(status !== 304 && { reason: 'status' }) }
    }
    await cancel(response)
    hops.push({ url, status })
    const next = URL.parse(response.headers.get('location') ?? '', url)
    if (next === null || !response.headers.get('location')) {
      return { hops, url, response, reason: 'redirects', detail: 'the redirect has no valid Location' }
    }
    next.hash = ''
    url = next.href
    if (hops.some((hop) => hop.url === url))
      return { hops, url, response, reason: 'redirects', detail: 'the redirects form a circle' }
    if (hops.length > context.maxRedirects) return { hops, url, response, reason: 'limit: maxRedirects' }
    if (context.isRead(url))
      return { hops, url, response, reason: 'duplicate', detail: `it redirects to ${url}, which was read before` }
  }
}

type Failure = Pick<Requested, 'reason' | 'detail' | 'verdict'>

async function refusalOf(
  url: string,
  hops: Requested['hops'],
  { robots, signal }: RequestContext,
): Promise<Failure | undefined> {
  if (robots === undefined) return undefined
  try {
    const verdict = await robots.check(url, { signal, redirectedFrom: hops.map((hop) => hop.url) })
    return verdict.allowed ? undefined : { reason: 'disallowed', verdict }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return failureOf(error)
  }
}

function failureOf(error: unknown): Failure {
  const detail = messageOf(error)
  if (!isPolitelyError(error)) return { reason: 'network', detail }
  const { verdict } = error as { readonly verdict?: ClientVerdict }
  const reason = error.code === 'ERR_POLITELY_DISALLOWED' ? 'disallowed' : 'refused'
  return { reason, detail, ...(verdict !== undefined && { verdict }) }
}

async function cancel({ body }: SitemapResponse): Promise<void> {
  await body?.cancel().catch(() => undefined)
}

/** Returns the headers of a conditional request. A file that was not whole is read again. */
export function validatorsOf(
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
