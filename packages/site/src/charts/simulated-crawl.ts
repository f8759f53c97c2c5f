// Crawls five sites of a fake web on a fake clock. Prints the timeline of the crawl as JSON: an image
// for each width in the arguments. It is a process of its own, because it fakes the timers.
//
//   node src/charts/simulated-crawl.ts 680 340

import { mock } from 'node:test'
import { politely } from '@politely/gate'
import { fakeWeb } from '@politely/testing'
import { CrawlTimeline } from '@politely/timeline'

/** Longer than the crawl takes. */
const CRAWL_MS = 30_000

mock.timers.enable({ apis: ['setTimeout', 'Date'] })
let busyRequests = 0
const web = fakeWeb(
  {
    'https://shop.example': { robots: 'User-agent: *\nDisallow: /cart\nCrawl-delay: 2', pages: () => 'a page' },
    'https://news.example': { robots: 'User-agent: *\nCrawl-delay: 6', pages: () => 'a page' },
    'https://blog.example': { pages: () => 'a page' },
    'https://busy.example': {
      pages: () => (++busyRequests === 5 ? { status: 429, headers: { 'retry-after': '12' } } : 'a page'),
    },
    'https://docs.example': { robots: 'User-agent: *\nDisallow: /drafts', pages: () => 'a page' },
  },
  { timers: mock.timers },
)

const fetch = politely(web.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)', now: web.clock.now })
const timeline = new CrawlTimeline({ gate: fetch.gate })
const crawl = (origin: string, count: number) => Array.from({ length: count }, (_, n) => fetch(`${origin}/${n + 1}`))
/** Requests a page that robots.txt disallows, when the crawl has found a link to it. */
const refused = async (url: string, afterMs: number) => {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  await fetch(url).catch(() => undefined)
}
const requests = [
  ...crawl('https://news.example', 5),
  ...crawl('https://shop.example', 12),
  ...crawl('https://blog.example', 25),
  ...crawl('https://busy.example', 14),
  ...crawl('https://docs.example', 19),
  refused('https://shop.example/cart', 9_000),
  refused('https://docs.example/drafts/1', 4_500),
]
await web.clock.advance(CRAWL_MS)
await Promise.all(requests)
timeline.stop()
await fetch.close()
console.log(JSON.stringify(process.argv.slice(2).map((width) => timeline.svg({ width: Number(width) }))))
