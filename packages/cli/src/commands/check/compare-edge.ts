// `politely check --edge`: compares two responses for robots.txt. A cache on the way, such as the
// edge of a content delivery network, may have sent the first one. The second one is for a request
// that asks caches to revalidate.
import { type ClientVerdict, loggableVerdict, type RobotsClient } from '@politely/fetcher'
import { reasonText } from '../../output/reason-text.ts'
import { printable } from '../../output/style.ts'
import type { Headers } from './response-headers.ts'

/** A client, and the headers of its responses. */
export interface EdgeSide {
  readonly client: RobotsClient
  readonly headers: ReadonlyMap<string, Headers>
}

export interface EdgeComparison {
  /** The sentences for people. */
  readonly lines: readonly string[]
  /** JSON-safe. */
  readonly json: object
}

/** What tells where a response comes from, and how old it is. */
const SHOWN = ['age', 'x-cache', 'cf-cache-status', 'last-modified', 'etag'] as const

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
  const isSame = before.join('\n') === now.join('\n') && verdict.access.outcome === after.access?.outcome
  const change =
    removed + added === 0 ? 'the lines have another order' : `${count(removed)} gone and ${count(added)} new`
  const headers = { edge: plain.headers.get(origin) ?? {}, revalidated: revalidated.headers.get(origin) ?? {} }
  const json = { same: isSame, linesRemoved: removed, linesAdded: added, verdict: after, headers }
  if (isSame) return { lines: ['the same after a request that asks caches to revalidate'], json }
  if (after.access?.outcome === 'unreachable')
    return { lines: [`unknown: after a request that asks caches to revalidate, ${reasonText(after)}`], json }
  const lines = [
    `differs: after a request that asks caches to revalidate, ${change}`,
    `this URL ${after.allowed === verdict.allowed ? 'stays' : 'becomes'} ${after.allowed ? 'allowed' : 'disallowed'}: ${reasonText(after)}`,
    `cached response: ${textOf(headers.edge)}`,
    `revalidated response: ${textOf(headers.revalidated)}`,
    'to send the new file now, purge /robots.txt from the cache',
  ]
  return { lines, json }
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

function textOf(headers: Headers): string {
  const texts = SHOWN.filter((name) => name in headers).map((name) => `${name}: ${printable(headers[name] ?? '')}`)
  return texts.length === 0 ? 'no header about caching' : texts.join(', ')
}
