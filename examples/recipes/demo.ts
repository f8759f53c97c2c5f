// The demo of every recipe: a site on loopback, and requests for four of its pages.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeVerdict } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'

const ROBOTS = 'User-agent: *\nCrawl-delay: 0.2\nDisallow: /private\n'

/**
 * Requests all pages at once. Prints for each the result of `fetchPage`, or the line of robots.txt
 * that disallows it.
 */
export async function runDemo(open: (gate: PoliteGate) => DemoClient | Promise<DemoClient>): Promise<void> {
  const requested: string[] = []
  const server = createServer(({ url = '' }, response) => {
    requested.push(url)
    if (url === '/robots.txt') response.end(ROBOTS)
    else if (url === '/moved') response.writeHead(302, { location: '/private/page' }).end()
    else response.setHeader('content-type', 'text/html').end(`<title>${url.slice(1)}</title><p>This is ${url}.`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const robots = new RobotsClient({ userAgent: 'RecipeBot/1.0 (+https://recipe.example/bot)' })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 4 })
  const client = await open(gate)
  try {
    const results = ['/about', '/private', '/moved', '/contact'].map(async (path) => {
      const result = await client.fetchPage(origin + path).catch(describeRefusal)
      return `${path}: ${result}`
    })
    for (const line of await Promise.all(results)) console.log(line)
    console.log(`requested: ${requested.sort().join(' ')}`)
    console.log(`waited for the crawl-delay: ${gate.counters.waits['crawl-delay']} of ${gate.counters.started}`)
  } finally {
    await client.close?.()
    gate.close()
    await robots.close()
    server.close()
    server.closeAllConnections()
  }
}

export interface DemoClient {
  fetchPage(url: string): Promise<string | number>
  close?(): Promise<void>
}

/** Finds the gate's error, which a library may have wrapped. */
export function findRefusal(error: unknown): RobotsDisallowedError | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof RobotsDisallowedError ? error : findRefusal(error.cause)
}

function describeRefusal(error: unknown): string {
  const refusal = findRefusal(error)
  if (refusal === undefined) throw error
  return `${new URL(refusal.verdict.url).pathname} is ${describeVerdict(refusal.verdict)}`
}
