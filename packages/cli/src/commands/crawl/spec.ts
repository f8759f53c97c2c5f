import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const crawlSpec: CommandSpec = {
  name: 'crawl',
  summary: 'crawl a few pages politely, and draw when each request started',
  description:
    'Follows links within the origins of the given URLs, as far and as fast as robots.txt allows. In a terminal, it draws the timeline of the requests while they run; otherwise it prints one line for each page. It does not store the pages.\n\nA redirect is followed like a link. Links with rel="nofollow" are skipped and counted. So are all links of a page whose robots meta tag or X-Robots-Tag header says nofollow or none. Ctrl-C and SIGTERM end the crawl with a summary. A sitemap is requested when its URLs are wanted. A line of a list that is no URL is reported as refused, and the crawl goes on; the exit code is then 2.',
  usage: 'URL… --user-agent NAME',
  flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --max-pages NUMBER  the most pages to request [default 50]
    --depth NUMBER  the most links from a given URL to a page [otherwise no limit]
    --concurrency NUMBER  the most requests under way at once [default 8]
    --nofollow NAME  what to do with links under nofollow [one of skip, follow] [default skip]
    --min-delay --retry --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the pages [one of text, ndjson] [default text]
    --json  the same as --format ndjson
  `),
  examples: examplesIn(`
    crawl https://example.com --user-agent ExampleBot  # Crawls the first pages of a site.
    crawl https://example.com --user-agent ExampleBot --max-pages 500 --format ndjson > pages.ndjson  # Writes one JSON object for each page, and the summary to stderr.
  `),
  exits: {
    success: 'at least one page was fetched, or the list has no URLs',
    fails: 'no page was fetched',
  },
  endsItself: true,
  run: async (args) => (await import('./crawl.ts')).crawl(args),
}
