// `politely check --edge`: compares two responses for robots.txt. A cache on the way, such as the
// edge of a content delivery network, may have sent the first one. The second one is for a request
// that asks caches to revalidate.
import { type ClientVerdict, type FetchEvent, loggableVerdict, type RobotsClient } from '@politely/fetcher'
import { CACHE_HEADERS } from '@politely/fetcher/internal'
import { reasonText } from '../../output/sentences.ts'
import { printable } from '../../output/style.ts'

export type EdgeHeaders = NonNullable<FetchEvent['headers']>

/** A run may check any number of sites. Their verdicts come soon after their fetches. */
const MAX_ORIGINS = 1000

/** Returns a map that keeps the headers of the last responses of a client. */
export function responseHeaders({ events }: RobotsClient): ReadonlyMap<string, EdgeHeaders> {
  const kept = new Map<string, EdgeHeaders>()
  events.on('fetch', ({ origin, headers = {} }) => {
    kept.delete(origin)
    kept.set(origin, headers)
    const [oldest] = kept.keys()
    if (kept.size > MAX_ORIGINS && oldest !== undefined) kept.delete(oldest)
  })
  return kept
}

/** A client, and the headers of its responses. */
export interface EdgeSide {
  readonly client: RobotsClient
  readonly headers: ReadonlyMap<string, EdgeHeaders>
}

export interface EdgeComparison {
  /** The sentences for people. */
  readonly lines: readonly string[]
  /** JSON-safe. */
  readonly json: object
}

/** What tells where a response comes from, and how old it is. */
const SHOWN = ['age', ...CACHE_HEADERS, 'last-modified', 'etag'] as const

/** A copy that is younger than this is as good as a new copy. Seconds. */
const MIN_AGE = 5

/**
 * @param verdict The verdict by the copy of `plain`.
 * @param revalidated A client with the option `httpCaches: 'revalidate'`.
 */
export async function compareEdge(
  verdict: ClientVerdict,
  plain: EdgeSide,
  revalidated: EdgeSide,
): Promise<EdgeComparison | undefined> {
  const { url, origin } = verdict
  if (origin === undefined) return undefined
  const after = loggableVerdict(await revalidated.client.check(url))
  const [before, now] = await Promise.all([linesOf(plain.client, url), linesOf(revalidated.client, url)])
  const removed = missingIn(before, now)
  const added = missingIn(now, before)
  const headers = { edge: plain.headers.get(origin) ?? {}, revalidated: revalidated.headers.get(origin) ?? {} }
  const isRevalidated = wasRevalidated(headers.edge, headers.revalidated)
  const isEqual = before.join('\n') === now.join('\n') && verdict.access.outcome === after.access?.outcome
  const json = {
    same: isEqual && isRevalidated !== false,
    revalidated: isRevalidated,
    linesRemoved: removed,
    linesAdded: added,
    verdict: after,
    headers,
  }
  if (!isEqual && after.access?.outcome === 'unreachable')
    return { lines: [`unknown: after ${REQUEST}, ${reasonText(after)}`], json }
  const beyond = `to see the file of the site, request it with a query string that no cache knows, such as ${origin}/robots.txt?1; or purge /robots.txt from the cache, and check again`
  if (isRevalidated === false && isEqual)
    return {
      lines: [`unknown: the cache did not revalidate, although asked to (${textOf(headers.revalidated)})`, beyond],
      json,
    }
  if (isEqual) {
    const note = 'no header says whether a cache sent it; if there is a cache, this may be its old copy'
    return { lines: [`the same after ${REQUEST}`, ...(isRevalidated === undefined ? [note, beyond] : [])], json }
  }
  const change =
    removed + added === 0 ? 'the lines have another order' : `${count(removed)} gone and ${count(added)} new`
  const lines = [
    `differs: after ${REQUEST}, ${change}`,
    `this URL ${after.allowed === verdict.allowed ? 'stays' : 'becomes'} ${after.allowed ? 'allowed' : 'disallowed'}: ${reasonText(after)}`,
    `cached response: ${textOf(headers.edge)}`,
    `revalidated response: ${textOf(headers.revalidated)}`,
    ...(isRevalidated === false
      ? ['the second response came from a cache too, so the file of the site may differ again', beyond]
      : ['to send the new file now, purge /robots.txt from the cache']),
  ]
  return { lines, json }
}

const REQUEST = 'a request that asks caches to revalidate'

/**
 * Returns whether the second response is as new as its request, as far as its headers say: a cache may
 * ignore `Cache-Control: no-cache`, as most content delivery networks do. Undefined if no header says it.
 */
export function wasRevalidated(first: EdgeHeaders, second: EdgeHeaders): boolean | undefined {
  // RFC 9111 §5.1: how long ago the site generated or validated the response. Some caches set it to 0.
  const age = Number.parseInt(second.age ?? '', 10)
  // After a miss, a hit is the copy that the first request has just fetched.
  if (age >= MIN_AGE || (isHit(second) && isHit(first))) return false
  return age >= 0 || CACHE_HEADERS.some((name) => name in second) ? true : undefined
}

/** Returns whether a cache sent the response without a request to the site. */
function isHit(headers: EdgeHeaders): boolean {
  return CACHE_HEADERS.some((name) => {
    const value = headers[name] ?? ''
    if (name === 'cache-status') return /;\s*hit\b/i.test(value)
    // `RefreshHit` and `TCP_REFRESH_HIT` are copies that were revalidated.
    return /(?<![a-z]|refresh_)hit(?![a-z])|\b(?:stale|updating)\b/i.test(value)
  })
}

async function linesOf(client: RobotsClient, url: string): Promise<readonly string[]> {
  return ((await client.robots(url))?.text ?? '').split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
}

/** Returns how many lines of `a` are not in `b`. Equal lines count as often as they occur. */
function missingIn(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>()
  for (const line of b) left.set(line, (left.get(line) ?? 0) + 1)
  let missing = 0
  for (const line of a) {
    const n = left.get(line) ?? 0
    if (n === 0) missing++
    else left.set(line, n - 1)
  }
  return missing
}

function count(lines: number): string {
  return lines === 1 ? '1 line is' : `${lines} lines are`
}

function textOf(headers: EdgeHeaders): string {
  const texts = SHOWN.filter((name) => name in headers).map((name) => `${name}: ${printable(headers[name] ?? '')}`)
  return texts.length === 0 ? 'no header about caching' : texts.join(', ')
}
