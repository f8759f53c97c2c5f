import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const sitemapSpec: CommandSpec = {
  name: 'sitemap',
  summary: "read a site's sitemaps, and say what is missing",
  description:
    'Reads the sitemaps that a site names in its robots.txt, or one sitemap by its URL, as a polite crawler does. For each file, it says how many URLs it lists, what is wrong with it, and whether you can trust its dates. `!` marks a whole file with problems, which search engines may refuse.\n\nWith --format ndjson or csv, the URLs go to stdout, and the files are reported on stderr.',
  usage: 'SITE|URL… --user-agent NAME',
  flags: flagsIn(`
    --user-agent --product-token
    --guess  read /sitemap.xml of a site whose robots.txt names no sitemap
    --since DATE  leave out URLs and sitemaps unchanged since then, as far as their dates can be trusted
    --max-urls NUMBER  read at most this many URLs [otherwise no limit]
    --max-files NUMBER  read at most this many files [default 10000]
    --return-links  check that pages in other languages name each other
    --min-delay --retry --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the result [one of text, json, ndjson, csv] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    sitemap https://example.com --user-agent ExampleBot  # What do the sitemaps of the site list?
    sitemap https://example.com/news.xml --user-agent ExampleBot --since 2026-11-01 --format csv > urls.csv  # The URLs of one sitemap that have changed since.
  `),
  exits: {
    success: 'every file was read',
    fails:
      'a file was read in part or not at all, the site has no sitemap, or --return-links found a page that is not named in return',
  },
  run: async (args) => (await import('./sitemap.ts')).sitemap(args),
}
