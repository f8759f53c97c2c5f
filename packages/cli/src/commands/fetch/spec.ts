import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const fetchSpec: CommandSpec = {
  name: 'fetch',
  summary: 'fetch a page as a polite crawler does',
  description:
    'Fetches pages as a polite crawler does: checks robots.txt before each request and each redirect, and waits as robots.txt and Retry-After ask. Writes the pages to stdout, one after another, and a report about each of them to stderr.\n\nA second run does not know when the first run made its last request, so it does not wait for it. Give all URLs of a site to one run.\n\nWith --cache, pages are kept in a file (RFC 9111). A stored page is not requested while it is fresh. After that, the site is asked whether it has changed. The report says what the cache did: hit, revalidated, stored, stale or bypass.',
  usage: 'URL… --user-agent NAME',
  flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --output FILE  the file for the page, instead of stdout
    --include  write the status and the headers before the page
    --max-wait --min-delay --retry --store --cache --dialect --timeout --proxy --allow-address
    --format NAME  how to print the reports [one of text, ndjson] [default text]
    --json  the same as --format ndjson
  `),
  examples: examplesIn(`
    fetch https://example.com/page --user-agent ExampleBot > page.html  # Fetches one page.
    fetch https://example.com/a https://example.com/b --user-agent ExampleBot --store robots.sqlite --max-wait 30  # Fetches two pages, keeps robots.txt for the next run, and does not wait for over 30 seconds.
    fetch https://example.com/page --user-agent ExampleBot --cache pages.sqlite > page.html  # Fetches one page, unless the copy of an earlier run is still fresh.
  `),
  exits: {
    success: 'every page was fetched, whatever its status is',
    fails: 'a page is disallowed, would have to wait longer than --max-wait, or did not arrive',
  },
  run: async (args) => (await import('./fetch.ts')).fetchPages(args),
}
