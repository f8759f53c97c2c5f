// A generated crawl, as records: sites with all kinds of robots.txt, waits, refusals, changes of a
// file, a delay that the crawler undercuts, lost records and a killed process.
import { hash } from 'node:crypto'
import { parseRobots } from '@politely/core'
import { defaultAccessPolicy } from '@politely/core/internal'
import type { DecisionRecord, EvidenceRecord, ResultRecord } from '../src/record.ts'

/** The records without the fields that link them. */
type Draft = EvidenceRecord extends infer R
  ? R extends EvidenceRecord
    ? Omit<R, 'v' | 'chain' | 'seq' | 'prev'>
    : never
  : never

export interface GeneratedCrawl {
  readonly records: readonly EvidenceRecord[]
  /** The files by their SHA-256, one character for each byte. */
  readonly files: ReadonlyMap<string, string>
}

const START = Date.UTC(2026, 10, 28, 16)
const MINUTE = 60_000
export const BY: DecisionRecord['by'] = {
  userAgent: 'ExampleBot/2.1 (+https://bot.example/about)',
  productTokens: ['ExampleBot'],
  purpose: 'search',
  dialect: 'rfc9309',
  policy: defaultAccessPolicy,
  maxBodyBytes: 512_000,
  politely: '0.1.0',
}

/**
 * Generates a crawl of some hours. The same arguments give the same records.
 * @param pages How many URLs of each site are asked for, about.
 */
export function generateCrawl(siteCount = 200, pages = 60): GeneratedCrawl {
  const random = randomNumbers(7)
  const files = new Map<string, string>()
  const drafts: Draft[] = []
  for (let n = 0; n < siteCount; n++) crawlSite(n, pages, random, files, drafts)
  drafts.push({
    kind: 'gap',
    time: iso(START + 70 * MINUTE),
    since: iso(START + 69 * MINUTE),
    lost: 12,
    error: 'ENOSPC: no space left on device, write',
  })
  drafts.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  const first: Draft = {
    kind: 'start',
    time: iso(START),
    politely: '0.1.0',
    node: 'v24.4.0',
    pid: 4711,
    host: 'c0ffee123456',
  }
  const records = [first, ...drafts].map(
    (draft, seq) => ({ v: 1, chain: 'ab12cd34ef56', seq, prev: '', ...draft }) as EvidenceRecord,
  )
  return { records, files }
}

function crawlSite(n: number, pages: number, random: () => number, files: Map<string, string>, drafts: Draft[]): void {
  const origin = `https://${['shop', 'news', 'blog', 'wiki', 'uni'][n % 5]}-${n}.example`
  const kind = n % 20 === 3 ? 'missing' : n % 20 === 7 ? 'unreachable' : 'found'
  const delaySeconds = n % 4 === 0 ? [1, 2, 5, 10][(n / 4) % 4] : undefined
  const undercuts = n % 40 === 8
  const texts = [robotsTxt(n, delaySeconds, false), robotsTxt(n, delaySeconds, n % 25 === 4)]
  let at = START + random() * 20 * MINUTE
  let confirmedAt = at - 1_000
  for (let page = 0; page < pages * (0.3 + random() * 1.4); page++) {
    const text = texts[page < 20 ? 0 : 1] ?? ''
    if (page === 20) confirmedAt = at
    const sha256 = hash('sha256', text)
    const url = `${origin}${['/', '/products/', '/private/', '/search?q=', '/news/2026/'][Math.floor(random() * 5)]}${page}`
    const robots = parseRobots(text).forCrawler('ExampleBot')
    const verdict =
      kind === 'found'
        ? robots.check(url)
        : kind === 'missing'
          ? ({ allowed: true, because: 'unavailable' } as const)
          : ({ allowed: false, because: 'unreachable' } as const)
    const access = {
      outcome: { found: 'success', missing: 'unavailable', unreachable: 'unreachable' }[kind],
      reason: kind === 'unreachable' ? 'timeout' : 'status',
      status: { found: 200, missing: 404, unreachable: undefined }[kind],
      url: `${origin}/robots.txt`,
      hops: n % 30 === 1 ? [{ url: `${origin.replace('https', 'http')}/robots.txt`, status: 301 }] : [],
      checkedAt: confirmedAt,
      nextAttemptAt: confirmedAt + 86_400_000,
      copy:
        kind === 'found'
          ? { freshness: 'fresh', ageMs: at - confirmedAt, bytes: text.length, truncated: false }
          : undefined,
    } as unknown as NonNullable<DecisionRecord['access']>
    if (kind === 'found' && !files.has(sha256)) {
      files.set(sha256, text)
      drafts.push({
        kind: 'robots-txt',
        time: iso(at),
        sha256,
        bytes: text.length,
        truncated: false,
        url: access.url,
        status: 200,
      })
    }
    const { crawlDelayMs, requestRates } = robots
    const id = `${n}-${page}`
    const robotsCopy = {
      sha256,
      truncated: false,
      confirmedAt,
      url: access.url,
      etag: undefined,
      lastModified: undefined,
      lifetimeMs: undefined,
    }
    drafts.push({
      kind: 'decision',
      time: iso(at),
      id,
      use: 'request',
      url,
      by: BY,
      verdict: { ...verdict },
      origin,
      access,
      ...(kind === 'found' && { robotsTxt: robotsCopy, asked: { crawlDelayMs, requestRates } }),
    })
    const delayMs = crawlDelayMs ?? 1_000
    const isShort = undercuts && random() < 0.2
    if (verdict.allowed)
      endRequest(
        id,
        at,
        isShort ? 'cap' : crawlDelayMs === undefined ? 'own-delay' : 'crawl-delay',
        delayMs,
        page,
        random,
        drafts,
      )
    at += isShort
      ? delayMs * (0.3 + random() * 0.6)
      : delayMs + random() * 4_000 + (random() < 0.05 ? 600_000 * random() : 0)
  }
}

function endRequest(
  id: string,
  at: number,
  because: 'cap' | 'own-delay' | 'crawl-delay',
  delayMs: number,
  page: number,
  random: () => number,
  drafts: Draft[],
): void {
  if (random() < 0.002) return // the process was killed
  const tookMs = Math.round(50 + random() * 900)
  const waitedMs = page === 0 ? 0 : Math.round(delayMs * random())
  const waitedFor = waitedMs === 0 ? 'none' : random() < 0.02 ? 'retry-after' : random() < 0.1 ? 'concurrency' : because
  const outcome: ResultRecord['outcome'] = random() < 0.02 ? 'failed' : random() < 0.05 ? 'stored-page' : 'answered'
  const status = random() < 0.05 ? 404 : random() < 0.01 ? 503 : random() < 0.05 ? 301 : 200
  drafts.push({
    kind: 'result',
    time: iso(at + tookMs),
    id,
    outcome,
    ...(outcome === 'answered' && { status, tookMs }),
    ...(outcome !== 'stored-page' && {
      permit: { time: iso(at), waitedMs, waitedFor, key: 'origin', delay: { delayMs, because } },
    }),
    ...(outcome === 'failed' && { error: 'ECONNRESET' }),
  })
}

function robotsTxt(n: number, delaySeconds: number | undefined, isChanged: boolean): string {
  const delay = delaySeconds === undefined ? '' : `Crawl-delay: ${isChanged ? delaySeconds * 2 : delaySeconds}\n`
  const news = isChanged ? 'Disallow: /news/\nAllow: /private/\n' : ''
  return `# site ${n}\nUser-agent: *\nDisallow: /private/\nDisallow: /search?q=\n${news}${delay}\nUser-agent: OtherBot\nDisallow: /\n`
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

/** The generator of Park and Miller. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
