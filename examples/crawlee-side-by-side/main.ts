// Crawls the same local sites twice: with Crawlee's own robots option, and with Politely. Prints
// the requests that the servers received side by side.
import { CheerioCrawler, type CheerioCrawlerOptions, Configuration, log } from '@crawlee/cheerio'
import crawlee from '@crawlee/cheerio/package.json' with { type: 'json' }
import { MemoryStorage } from '@crawlee/memory-storage'
import { withRobots } from '@politely/crawlee'
import { type Column, printBlocks, printTable } from './columns.ts'
import { type RequestLog, startLocalSites } from './local-sites.ts'

const USER_AGENT = 'SideBot/1.0 (+https://example.com)'

const options: CheerioCrawlerOptions = {
  maxConcurrency: 1, // otherwise the times also measure how pages slow each other down in this process
  // Follows every link within the host. All local sites share one host.
  requestHandler: async ({ enqueueLinks }) => {
    await enqueueLinks()
  },
}

/** Runs a crawler on local sites of its own. */
async function crawl(crawler: CheerioCrawler): Promise<RequestLog> {
  const web = await startLocalSites()
  try {
    await crawler.run([...web.seeds])
    return web.log
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
  log: await crawl(own),
}

const polite = withRobots(new CheerioCrawler(options, configuration()), { userAgent: USER_AGENT, minDelayMs: 0 })
const right: Column = {
  head: `Crawlee ${crawlee.version} with Politely`,
  how: 'withRobots(crawler, { userAgent, minDelayMs: 0 })',
  log: await crawl(polite),
}

console.log(
  'The same crawler on two copies of seven local sites: requests to the servers, in seconds from the first request.\n',
)
printBlocks(left, right)
printTable(left, right)
