// Decisions as a client makes them.
import { type CrawlerRules, dialects, parseRobots } from '@politely/core'
import { type AccessPolicy, accessPolicyOf, decide, type Entry, type Headers, settle } from '@politely/core/engine'
import type { DecidingClient, Decision } from '@politely/fetcher'

export const START: number = Date.UTC(2026, 10, 28, 16, 0, 0)
const policy: AccessPolicy = accessPolicyOf(dialects.rfc9309.access)

export const CLIENT: DecidingClient = {
  userAgent: 'ExampleBot/1.0 (+https://example.com/bot)',
  productTokens: ['ExampleBot'],
  dialect: dialects.rfc9309,
  policy,
  maxBodyBytes: 524_288,
}

/** The headers of a robots.txt. */
export const HEADERS: Headers = {
  'content-type': 'text/plain',
  'cache-control': 'max-age=3600',
  'content-encoding': 'gzip',
  'content-length': '51',
  'set-cookie': ['session=abc', 'b=c'],
  server: 'example',
}

/** The file that most decisions use. */
export const ROBOTS = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n'

/** An entry whose robots.txt was fetched. */
export function entryOf(origin: string, text: string = ROBOTS, at: number = START): Entry {
  const url = `${origin}/robots.txt`
  const bytes = Buffer.from(text).toString('latin1')
  const body = { bytes, truncated: false }
  return settle(undefined, origin, { kind: 'success', status: 200, headers: HEADERS, body, hops: [], url }, at, policy)
}

/** A decision about a URL. @param more Replaces fields. */
export function decisionOf(url: string, entry: Entry, more: Partial<Decision> = {}): Decision {
  const at = more.at ?? START
  const rules = rulesOf(entry)
  const { verdict: why, access } = decide(entry, rules, url, at, policy)
  const verdict = { url, origin: entry.origin, ...why, access, crawlDelayMs: rules.crawlDelayMs }
  return { use: 'request', at, verdict, redirectedFrom: [], entry, headers: HEADERS, client: CLIENT, ...more }
}

/** A decision about an invalid URL. */
export function invalidDecision(url: string): Decision {
  const verdict = { url, allowed: false, because: 'invalid-url', problem: 'malformed' } as const
  return { use: 'check', at: START, verdict, redirectedFrom: [], entry: undefined, headers: undefined, client: CLIENT }
}

const known = new WeakMap<Entry, CrawlerRules>()

function rulesOf(entry: Entry): CrawlerRules {
  const bytes = Buffer.from(entry.copy?.bytes ?? '', 'latin1')
  const rules = known.get(entry) ?? parseRobots(bytes).forCrawler('ExampleBot')
  known.set(entry, rules)
  return rules
}
