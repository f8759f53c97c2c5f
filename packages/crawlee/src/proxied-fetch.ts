// A fetch for robots.txt that uses the proxies of a crawler.
import { loadUndici } from '@politely/fetcher/internal'
import type { CrawleeProxies } from './crawlee-internals.ts'

/**
 * Returns a fetch that sends each request through a new proxy URL, as Crawlee does for a page. If
 * Crawlee has no proxy for a request, it goes through the global fetch.
 */
export function fetchThroughProxies(proxies: CrawleeProxies): typeof globalThis.fetch {
  return async (url, init) => {
    const proxyUrl = await proxies.newUrl()
    if (proxyUrl === undefined) return globalThis.fetch(url, init)
    const { fetch, ProxyAgent } = await loadUndici()
    const agent = new ProxyAgent({
      uri: proxyUrl,
      // Crawlee does the same for pages.
      ...(proxies.isManInTheMiddle === true && { requestTls: { rejectUnauthorized: false } }),
    })
    try {
      // The types of both fetches differ, and their values do not.
      const response = await fetch(String(url), { ...init, dispatcher: agent } as Parameters<typeof fetch>[1])
      return response as unknown as globalThis.Response
    } finally {
      agent.close().catch(() => undefined) // waits for the end of the body, whatever that is
    }
  }
}
