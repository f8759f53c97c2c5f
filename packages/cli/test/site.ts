// Sites on loopback at 127.0.0.1, which a child process reaches without a lookup of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { onTestFinished } from 'vitest'

export interface Site {
  readonly origin: string
  /** Records the requests that the site received. */
  readonly server: Sites
}

/** Starts a site until the end of the test: one response at one path, 404 at all others. */
export async function startSite(answer: Answer, path = '/robots.txt'): Promise<Site> {
  const server = await startSites()
  onTestFinished(() => server.close())
  server.respond(`http://127.0.0.1:PORT${path}`, answer)
  return { origin: server.withPort('http://127.0.0.1:PORT'), server }
}

/**
 * Starts a site until the end of the test, with these responses by path, and a robots.txt that disallows
 * /private. `at` returns a URL as `sites` knows it.
 */
export async function startPageSite(pages: Readonly<Record<string, Reply>>): Promise<{
  readonly sites: Sites
  readonly origin: string
  readonly at: (path: string) => string
}> {
  const { server: sites, origin } = await startSite({ status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  const at = (path: string) => `http://127.0.0.1:PORT${path}`
  sites.answerAll(Object.fromEntries(Object.entries(pages).map(([path, page]) => [at(path), page])))
  return { sites, origin, at }
}

/** Returns the origin of a site with this robots.txt. */
export async function originWithRules(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await startSite({ status: 200, headers, body })).origin
}

/** Returns the origin of a site that sends this status for robots.txt, with an empty body. */
export async function originWithStatus(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  return (await startSite({ status, headers })).origin
}

/** The server accepts the request and never responds. */
export const NO_RESPONSE: Answer = () => undefined

/** Starts a cache that sends `kept` until a request asks it to revalidate. Returns its origin. */
export async function startCache(kept: Reply, current: Reply): Promise<string> {
  const server = createServer(({ headers }, response) => {
    const { status, body, headers: sent } = headers['cache-control'] === 'no-cache' ? current : kept
    response.writeHead(status, sent as Record<string, string>).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
