// The public API of `@politely/core/crawlers`: the catalogue of known crawlers.

export type {} from '../index.ts' // see there
export type { KnownCrawler } from './known-crawler.ts'
export {
  type CrawlerReading,
  findCrawler,
  isCrawlerName,
  knownCrawlers,
  knownCrawlersDate,
  readingOf,
  rulesFor,
} from './known-crawlers.ts'
