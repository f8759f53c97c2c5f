// node-crawler (`crawler`): it hands to got what got understands, so an agent is polite for it, too. Its own `preRequest` sees no redirect's
// hops, and `send` leaves it out.
import { globalAgent as httpAgent } from 'node:http'
import { globalAgent as httpsAgent } from 'node:https'
import { type PoliteGate, politeHttpAgent, RobotsDisallowedError } from '@politely/gate'
import Crawler, { type CrawlerOptions } from 'crawler'
import { refuseHttp2 } from './got.ts'
import { showOnSmallWeb } from './small-web.ts'

export function politeCrawler(gate: PoliteGate, options: CrawlerOptions = {}): Crawler {
  const crawler = new Crawler({
    ...options,
    userAgents: gate.robots.userAgent, // or it would be a browser's
    agent: { http: politeHttpAgent(httpAgent, gate), https: politeHttpAgent(httpsAgent, gate) },
    hooks: { beforeRequest: [refuseHttp2, countSilenceOnly] },
  })
  // It would try a refusal again.
  crawler.on('request', (job) => {
    const stopAtRefusal = (error: Error) => {
      if (error.cause instanceof RobotsDisallowedError) job.retries = 0
      return error
    }
    job.hooks = { ...job.hooks, beforeError: [stopAtRefusal] }
  })
  return crawler
}

/** Its timeout would count the wait for the turn, too. As the one of the socket it counts from the connection on. */
function countSilenceOnly(options: { timeout: Timeouts }): void {
  options.timeout = { socket: options.timeout.request }
}

interface Timeouts {
  readonly request?: number | undefined
  readonly socket?: number | undefined
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const crawler = politeCrawler(gate, { jQuery: false, silence: true })
    return {
      visit: (url) =>
        new Promise((resolve, reject) => {
          crawler.add({
            url,
            callback: (error, response, done) => {
              done()
              if (error) reject(error)
              else resolve(response.statusCode)
            },
          })
        }),
    }
  })
}
