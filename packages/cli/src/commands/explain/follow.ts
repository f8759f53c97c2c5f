// `politely explain --follow`: requests the page, and follows its redirects as a polite crawler
// does. A URL that robots.txt disallows is not requested.
import { type ClientVerdict, loggableVerdict, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { politeAgent, politeInterceptor } from '@politely/gate/undici'
import type { Dispatcher } from 'undici'
import type { Arguments } from '../../command-line.ts'
import { allowedAddresses, timeoutOf } from '../../input/client.ts'
import { withFlags } from '../../output/sentences.ts'
import { errorLine } from '../../output/style.ts'

/** One URL on the way. Without `status` and `failure`, it was not requested. */
export interface PageHop {
  readonly verdict: ClientVerdict
  /** The status of the response. */
  readonly status?: number
  /** Why the response is missing, or why `follow` ignored its redirect. For people. */
  readonly failure?: string
}

/** As many as Google's crawlers follow for a page. */
const MAX_REDIRECTS = 10

/** @param proxy The dispatcher of `--proxy`. */
export async function* follow(
  first: string,
  client: RobotsClient,
  proxy: Dispatcher | undefined,
  args: Arguments,
): AsyncGenerator<PageHop> {
  const { request } = await import('undici')
  const log = (line: string) => void process.stderr.write(errorLine(line))
  // The gate obeys the Crawl-delay of the site, and logs a long wait.
  const gate = new PoliteGate({ robots: client, minDelayMs: 0, logger: { info: log, warn: log } })
  const dispatcher =
    proxy?.compose(politeInterceptor(gate)) ?? politeAgent({ gate, allowAddresses: allowedAddresses(args) })
  const headers = { 'user-agent': client.userAgent }
  const chain: string[] = []
  let url = withoutCredentials(first)
  try {
    for (;;) {
      const verdict = loggableVerdict(await client.check(url, { redirectedFrom: chain }))
      if (!verdict.allowed) return yield { verdict }
      let reply: Dispatcher.ResponseData
      try {
        const options = { dispatcher, headers, headersTimeout: timeoutOf(args), redirectedFrom: chain }
        reply = await request(url, options)
      } catch (error) {
        return yield { verdict, failure: withFlags((error as Error).message) }
      }
      reply.body.on('error', () => undefined).destroy() // only the head is needed
      const status = reply.statusCode
      const next = status >= 300 && status <= 399 ? targetOf(reply.headers.location, url) : undefined
      chain.push(url)
      if (next === undefined) return yield { verdict, status }
      const isLoop = chain.includes(next)
      if (isLoop || chain.length > MAX_REDIRECTS) {
        const failure = isLoop
          ? `leads back to ${next}`
          : `leads on to ${next}; no more than ${MAX_REDIRECTS} are followed`
        return yield { verdict, status, failure }
      }
      yield { verdict, status }
      url = next
    }
  } finally {
    if (proxy === undefined) await dispatcher.destroy()
    gate.close()
  }
}

/** Returns the URL that a redirect leads to, without credentials and fragment, if it is one of HTTP. */
function targetOf(location: string | string[] | undefined, base: string): string | undefined {
  const target = typeof location === 'string' ? URL.parse(location, base) : null
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined
  target.hash = ''
  return withoutCredentials(target.href)
}
