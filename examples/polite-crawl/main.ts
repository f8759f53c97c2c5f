// A polite crawler in a hundred lines. Without arguments it crawls a small web of its own on this machine; with URLs it crawls
// those sites, ten pages each. `--svg FILE` writes its timeline as a picture.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { RobotsClient } from '@politely/fetcher'
import { CrawlTimeline, type Permit, PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { Agent, fetch } from 'undici'
import { Journal } from './journal.ts'
import { startSmallWeb } from './small-web.ts'

const USER_AGENT = 'PolitelyDemo/0.1'
const MOST_PAGES_PER_ORIGIN = 10

const { positionals: seeds, values } = parseArgs({ allowPositionals: true, options: { svg: { type: 'string' } } })
const web = seeds.length === 0 ? await startSmallWeb() : undefined
const robots = new RobotsClient({ userAgent: USER_AGENT, ...(web && { lookup: web.lookup }) })
const gate = new PoliteGate({ robots, minDelayMs: 250 })
const agent = new Agent(web ? { connect: { lookup: web.lookup } } : {})
const journal = new Journal()
const timeline = new CrawlTimeline({ gate })

const seen = new Set<string>()
const pagesOf = new Map<string, number>()

/** Waits for a page's turn; undefined where robots.txt does not allow it. */
async function enter(url: string): Promise<Permit | undefined> {
  try {
    return await gate.enter(url)
  } catch (error) {
    if (!(error instanceof RobotsDisallowedError)) throw error
    journal.refused(error.verdict)
    return undefined
  }
}

/** Fetches one page when its turn has come, and then all that it leads to. */
async function visit(url: string): Promise<void> {
  if (seen.has(url)) return
  seen.add(url)
  const pass = await enter(url)
  if (pass === undefined) return
  const leftAt = performance.now()
  try {
    const headers = { 'user-agent': USER_AGENT }
    // A redirect is a link like any other: its target is checked, and waits its turn, before it is asked for.
    const response = await fetch(url, { headers, redirect: 'manual', dispatcher: agent })
    pass.release(response)
    const location = response.headers.get('location')
    journal.fetched(pass.verdict, response.status, pass.waitedMs, leftAt, location)
    const html = await response.text()
    await Promise.all(linksOf(url, location, html).map(visit))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // fetch's own way to fail
    journal.failed(url, error.cause instanceof Error ? error.cause : error)
  } finally {
    pass.release()
  }
}

/** Where a page leads: on the small web anywhere, on the real one within the site and to ten pages at most. */
function linksOf(url: string, location: string | null, html: string): string[] {
  const hrefs = Array.from(html.matchAll(/<a\s[^>]*?href="([^"]+)"/gi), (match) => match[1] ?? '')
  const links: string[] = []
  for (const href of location === null ? hrefs : [location]) {
    const target = URL.parse(href, url)
    if (target === null) continue
    target.hash = ''
    const pages = pagesOf.get(target.origin) ?? 0
    if (seen.has(target.href) || pages >= MOST_PAGES_PER_ORIGIN) continue
    if (web === undefined && target.origin !== new URL(url).origin) continue
    pagesOf.set(target.origin, pages + 1)
    links.push(target.href)
  }
  return links
}

console.log(`Politely: a crawler that asks first and waits its turn. It calls itself ${USER_AGENT}.`)
if (web)
  console.log(
    `It crawls a small web on this machine: ${web.origins} sites on one loopback port. Try npm run demo -- URL…`,
  )
console.log()
try {
  await Promise.all((web ? [web.seed] : seeds).map(visit))
  journal.summary()
  console.log(`\n${timeline.text({ columns: Math.min(120, Math.max(60, process.stdout.columns ?? 100)) })}`)
  if (values.svg !== undefined) writeFileSync(values.svg, timeline.svg())
} finally {
  gate.close()
  await robots.close()
  await agent.close()
  await web?.close()
}
