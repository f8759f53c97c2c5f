// Crawlee with its own robots option, and Crawlee with Politely, on a small web of this machine each. What the servers were
// asked for is printed side by side, and nothing else.
import { CheerioCrawler, type CheerioCrawlerOptions, Configuration, log } from '@crawlee/cheerio'
import crawlee from '@crawlee/cheerio/package.json' with { type: 'json' }
import { MemoryStorage } from '@crawlee/memory-storage'
import { withRobots } from '@politely/crawlee'
import { type Column, printBlocks, printTable } from './columns.ts'
import { type Journal, startSmallWeb } from './small-web.ts'

const USER_AGENT = 'SideBot/1.0 (+https://example.com)'

const options: CheerioCrawlerOptions = {
  maxConcurrency: 1, // so that pages do not hold each other up in this one process, and the times are those of the crawler
  // Follows every link within the host, which all sites of the small web share.
  requestHandler: async ({ enqueueLinks }) => {
    await enqueueLinks()
  },
}

/** Lets one crawler loose on a small web of its own. */
async function crawl(crawler: CheerioCrawler): Promise<Journal> {
  const web = await startSmallWeb()
  try {
    await crawler.run([...web.seeds])
    return web.journal
  } finally {
    await web.close()
  }
}

function configuration(): Configuration {
  return new Configuration({ persistStorage: false, storageClient: new MemoryStorage({ persistStorage: false }) })
}

log.setLevel(log.LEVELS.OFF)

const own = new CheerioCrawler({ ...options, respectRobotsTxtFile: true }, configuration())
const left: Column = {
  head: `Crawlee ${crawlee.version} on its own`,
  how: 'respectRobotsTxtFile: true',
  journal: await crawl(own),
}

const polite = withRobots(new CheerioCrawler(options, configuration()), { userAgent: USER_AGENT, minDelayMs: 0 })
const right: Column = {
  head: `Crawlee ${crawlee.version} with Politely`,
  how: 'withRobots(crawler, { userAgent, minDelayMs: 0 })',
  journal: await crawl(polite),
}

console.log(
  'The same crawler on two copies of a small web: what the servers were asked for, in seconds from the first request.\n',
)
printBlocks(left, right)
printTable(left, right)
