// A polite crawler in a hundred lines. Without arguments it crawls demo sites on this machine. With
// URLs it crawls those sites, ten pages each. `--svg FILE` writes the timeline as an image.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { RobotsClient } from '@politely/fetcher'
import { type Permit, PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { CrawlTimeline } from '@politely/timeline'
import { Agent, fetch } from 'undici'
import { CrawlLog } from './crawl-log.ts'
import { startSmallWeb } from './small-web.ts'

const USER_AGENT = 'PolitelyDemo/0.1'
const MAX_PAGES_PER_ORIGIN = 10

const { positionals: seeds, values } = commandLine()
const web = seeds.length === 0 ? await startSmallWeb() : undefined
const robots = new RobotsClient({ userAgent: USER_AGENT, ...(web && { lookup: web.lookup }) })
const gate = new PoliteGate({ robots, minDelayMs: 250 })
const agent = new Agent(web ? { connect: { lookup: web.lookup } } : {})
const log = new CrawlLog()
const timeline = new CrawlTimeline({ gate })

const seen = new Set<string>()
const pagesOf = new Map<string, number>()

function commandLine() {
  try {
    return parseArgs({ allowPositionals: true, options: { svg: { type: 'string' } } })
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: npm run demo -- [--svg FILE] [URL…]`)
    process.exit(2)
  }
}

/**
 * Waits until the request may start. Returns undefined if robots.txt disallows the page.
 * @param redirectedFrom The page that links to it: a public page must not lead to a private host.
 */
async function enter(url: string, redirectedFrom: readonly string[]): Promise<Permit | undefined> {
  try {
    return await gate.enter(url, { redirectedFrom })
  } catch (error) {
    if (!(error instanceof RobotsDisallowedError)) throw error
    log.refused(error.verdict)
    return undefined
  }
}

/** Fetches a page when the gate permits it, then the pages that it links to. */
async function visit(url: string, redirectedFrom: readonly string[] = []): Promise<void> {
  if (seen.has(url)) return
  seen.add(url)
  const permit = await enter(url, redirectedFrom)
  if (permit === undefined) return
  const startedAt = performance.now()
  try {
    const headers = { 'user-agent': USER_AGENT }
    // Treats a redirect like a link: its target is checked and queued before it is requested.
    const response = await fetch(url, { headers, redirect: 'manual', dispatcher: agent })
    permit.release(response)
    const location = response.headers.get('location')
    log.fetched(permit.verdict, response.status, permit.waitedMs, startedAt, location)
    const html = await response.text()
    await Promise.all(linksOf(url, location, html).map((link) => visit(link, [url])))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // `fetch` throws a TypeError for network errors
    log.failed(url, error.cause instanceof Error ? error.cause : error)
  } finally {
    permit.release()
  }
}

/**
 * Returns the links of a page. On real sites, returns only links within the site, and at most ten
 * pages for each origin.
 */
function linksOf(url: string, location: string | null, html: string): string[] {
  const hrefs = Array.from(html.matchAll(/<a\s[^>]*?href="([^"]+)"/gi), (match) => match[1] ?? '')
  const links: string[] = []
  for (const href of location === null ? hrefs : [location]) {
    const target = URL.parse(href, url)
    if (target === null) continue
    target.hash = ''
    const pages = pagesOf.get(target.origin) ?? 0
    if (seen.has(target.href) || pages >= MAX_PAGES_PER_ORIGIN) continue
    if (web === undefined && target.origin !== new URL(url).origin) continue
    pagesOf.set(target.origin, pages + 1)
    links.push(target.href)
  }
  return links
}

console.log(`Politely: a crawler that obeys robots.txt and keeps delays. Its User-Agent is ${USER_AGENT}.`)
if (web)
  console.log(`It crawls ${web.origins} demo sites on one loopback port of this machine. Try npm run demo -- URL…`)
console.log()
try {
  await Promise.all((web ? [web.seed] : seeds).map((seed) => visit(seed)))
  log.summary()
  console.log(`\n${timeline.text({ columns: Math.min(120, Math.max(60, process.stdout.columns ?? 100)) })}`)
  if (values.svg !== undefined) writeFileSync(values.svg, timeline.svg())
} finally {
  gate.close()
  await robots.close()
  await agent.close()
  await web?.close()
}
