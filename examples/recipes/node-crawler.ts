// node-crawler (`crawler`): it hands to got what got understands, so an agent is polite for it, too. Its own `preRequest` sees no redirect's
// hops, and `send` leaves it out.
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import Crawler, { type CrawlerOptions } from 'crawler'
import { politeAgents, refuseBypass } from './got.ts'
import { showOnSmallWeb } from './small-web.ts'

export function politeCrawler(gate: PoliteGate, options: CrawlerOptions = {}): Crawler {
  const agent = politeAgents(gate)
  const crawler = new Crawler({
    ...options,
    userAgents: gate.robots.userAgent, // or it would be a browser's
    agent,
    hooks: { beforeRequest: [refuseBypass(agent), countSilenceOnly] },
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
