import type { CommandSpec } from '../../command-line.ts'
import {
  DIALECT,
  formatFlag,
  jsonFlag,
  MIN_DELAY,
  NETWORK,
  PRODUCT_TOKEN,
  RETRY,
  STORE,
  URLS,
  USER_AGENT,
} from '../../flags.ts'

export const crawlSpec: CommandSpec = {
  name: 'crawl',
  summary: 'crawl a few pages politely, and draw when each request started',
  description:
    'Follows links within the origins of the given URLs, as far and as fast as robots.txt allows. In a terminal, it draws the timeline of the requests while they run; otherwise it prints one line for each page. It does not store the pages.\n\nA redirect is followed like a link. Links with rel="nofollow" are skipped and counted. So are all links of a page whose robots meta tag or X-Robots-Tag header says nofollow or none. Ctrl-C and SIGTERM end the crawl with a summary. A sitemap is requested when its URLs are wanted. A line of a list that is no URL is reported as refused, and the crawl goes on; the exit code is then 2.',
  usage: 'URL… --user-agent NAME',
  flags: [
    ...URLS,
    USER_AGENT,
    PRODUCT_TOKEN,
    { name: 'max-pages', value: 'NUMBER', text: 'the most pages to request', byDefault: '50' },
    { name: 'depth', value: 'NUMBER', text: 'the most links from a given URL to a page', defaultText: 'no limit' },
    { name: 'concurrency', value: 'NUMBER', text: 'the most requests under way at once', byDefault: '8' },
    {
      name: 'nofollow',
      value: 'NAME',
      text: 'what to do with links under nofollow',
      choices: ['skip', 'follow'],
      byDefault: 'skip',
    },
    MIN_DELAY,
    RETRY,
    STORE,
    DIALECT,
    ...NETWORK,
    formatFlag('the pages', ['text', 'ndjson']),
    jsonFlag('ndjson'),
  ],
  examples: [
    ['crawl https://example.com --user-agent ExampleBot', 'Crawls the first pages of a site.'],
    [
      'crawl https://example.com --user-agent ExampleBot --max-pages 500 --format ndjson > pages.ndjson',
      'Writes one JSON object for each page, and the summary to stderr.',
    ],
  ],
  exits: {
    success: 'at least one page was fetched, or the list has no URLs',
    fails: 'no page was fetched',
  },
  endsItself: true,
  run: async (args) => (await import('./crawl.ts')).crawl(args),
}
