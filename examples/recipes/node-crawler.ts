// node-crawler (`crawler`): it passes options of got to got, so polite agents work here too. Its
// own hook `preRequest` is not enough, because it does not see the hops of a redirect, and `send`
// does not call it.
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import Crawler, { type CrawlerOptions } from 'crawler'
import { runDemo } from './demo.ts'
import { politeAgents, rejectBypass } from './got.ts'

export function politeCrawler(gate: PoliteGate, options: CrawlerOptions = {}): Crawler {
  const agent = politeAgents(gate)
  const crawler = new Crawler({
    ...options,
    userAgents: gate.robots.userAgent, // the default is a browser's
    agent,
    hooks: { beforeRequest: [rejectBypass(agent), useSocketTimeout] },
  })
  // Without this, node-crawler would retry pages that robots.txt disallows.
  crawler.on('request', (job) => {
    const stopRetriesOfRefusal = (error: Error) => {
      if (error.cause instanceof RobotsDisallowedError) job.retries = 0
      return error
    }
    job.hooks = { ...job.hooks, beforeError: [stopRetriesOfRefusal] }
  })
  return crawler
}

/**
 * node-crawler's timeout includes the wait in the gate's queue. As a socket timeout, it starts when
 * the socket connects.
 */
function useSocketTimeout(options: { timeout: Timeouts }): void {
  options.timeout = { socket: options.timeout.request }
}

interface Timeouts {
  readonly request?: number | undefined
  readonly socket?: number | undefined
}

if (import.meta.main) {
  await runDemo((gate) => {
    const crawler = politeCrawler(gate, { jQuery: false, silence: true })
    return {
      fetchPage: (url) =>
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
