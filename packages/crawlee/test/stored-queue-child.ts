// Crawls a queue that is stored in a folder. Arguments: the folder, then the URLs to add.
import { Configuration, LogLevel, log, RequestQueue } from '@crawlee/basic'
import { CheerioCrawler } from '@crawlee/cheerio'
import { MemoryStorage } from '@crawlee/memory-storage'
import { withRobots } from '../src/index.ts'

const [localDataDirectory, ...urls] = process.argv.slice(2)
log.setLevel(LogLevel.OFF)
const config = new Configuration({ persistStorage: true, purgeOnStart: false })
config.useStorageClient(new MemoryStorage({ persistStorage: true, ...(localDataDirectory && { localDataDirectory }) }))
const requestQueue = await RequestQueue.open('kept', { config })
const crawler = withRobots(new CheerioCrawler({ requestQueue, requestHandler: () => undefined }, config), {
  userAgent: 'ExampleBot/1.0 (+https://example.com/bot)',
  minDelayMs: 0,
})
await crawler.run(urls)
