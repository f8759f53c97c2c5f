// What each recipe shows itself on: a small web on loopback, four pages of it, and what came of them.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeVerdict } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'

const ROBOTS = 'User-agent: *\nCrawl-delay: 0.2\nDisallow: /private\n'

/** Visits the pages all at once, and prints what came of each: what `visit` returns, or the line of robots.txt that refused it. */
export async function showOnSmallWeb(open: (gate: PoliteGate) => Visitor | Promise<Visitor>): Promise<void> {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (url === '/robots.txt') response.end(ROBOTS)
    else if (url === '/moved') response.writeHead(302, { location: '/private/page' }).end()
    else response.setHeader('content-type', 'text/html').end(`<title>${url.slice(1)}</title><p>This is ${url}.`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const robots = new RobotsClient({ userAgent: 'RecipeBot/1.0 (+https://recipe.example/bot)' })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerOrigin: 4 })
  const visitor = await open(gate)
  try {
    const visits = ['/about', '/private', '/moved', '/contact'].map(async (path) => {
      const told = await visitor.visit(origin + path).catch(refused)
      return `${path}: ${told}`
    })
    for (const line of await Promise.all(visits)) console.log(line)
    console.log(`asked for: ${asked.sort().join(' ')}`)
    console.log(`waited for the crawl-delay: ${gate.counters.waits['crawl-delay']} of ${gate.counters.started}`)
  } finally {
    await visitor.close?.()
    gate.close()
    await robots.close()
    server.close()
    server.closeAllConnections()
  }
}

export interface Visitor {
  visit(url: string): Promise<string | number>
  close?(): Promise<void>
}

/** The refusal in an error of a library, which may have wrapped it. */
export function refusalIn(error: unknown): RobotsDisallowedError | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof RobotsDisallowedError ? error : refusalIn(error.cause)
}

function refused(error: unknown): string {
  const refusal = refusalIn(error)
  if (refusal === undefined) throw error
  return `${new URL(refusal.verdict.url).pathname} is ${describeVerdict(refusal.verdict)}`
}
