import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const checkSpec: CommandSpec = {
  name: 'check',
  summary: "fetch each site's robots.txt and check URLs",
  description:
    "Fetches the robots.txt of each URL's site and says whether you may fetch the URL, and why. Also says how robots.txt was obtained, and what to change if that failed.\n\nWith --robots, this file decides, whatever the site of a URL. Then a URL may be a path.",
  usage: 'URL… --user-agent NAME [--robots FILE|URL] [--edge]',
  flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token --robots
    --edge  fetch robots.txt a second time with a request that asks caches to revalidate, and say what differs
    --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the verdicts [one of text, json, ndjson] [default text]
    --json  the same as --format ndjson
  `),
  examples: examplesIn(`
    check https://example.com/page --user-agent ExampleBot  # Checks one URL.
    check /cart /about --user-agent ExampleBot --robots public/robots.txt  # Checks paths against a draft.
    check https://example.com/ --user-agent ExampleBot --edge  # Says whether a CDN still sends an old file.
    check - --user-agent ExampleBot --format ndjson < urls.txt > verdicts.ndjson  # Checks the URLs on standard input, one on each line.
  `),
  exits: { success: 'every URL is allowed', fails: 'a URL is disallowed' },
  run: async (args) => (await import('./check.ts')).check(args),
}
