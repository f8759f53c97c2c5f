import type { CommandSpec, Flag } from '../../command-line.ts'
import { DIALECT, formatFlag, jsonFlag, NETWORK, PRODUCT_TOKEN, ROBOTS, STORE, URLS, USER_AGENT } from '../../flags.ts'

const EDGE: Flag = {
  name: 'edge',
  text: 'fetch robots.txt a second time with a request that asks caches to revalidate, and say what differs',
}

export const checkSpec: CommandSpec = {
  name: 'check',
  summary: "fetch each site's robots.txt and check URLs",
  description:
    "Fetches the robots.txt of each URL's site and says whether you may fetch the URL, and why. Also says how robots.txt was obtained, and what to change if that failed.\n\nWith --robots, this file decides, whatever the site of a URL. Then a URL may be a path.",
  usage: 'URL… --user-agent NAME [--robots FILE|URL] [--edge]',
  flags: [
    ...URLS,
    USER_AGENT,
    PRODUCT_TOKEN,
    ROBOTS,
    EDGE,
    STORE,
    DIALECT,
    ...NETWORK,
    formatFlag('the verdicts', ['text', 'json', 'ndjson']),
    jsonFlag('ndjson'),
  ],
  examples: [
    ['check https://example.com/page --user-agent ExampleBot', 'Checks one URL.'],
    ['check /cart /about --user-agent ExampleBot --robots public/robots.txt', 'Checks paths against a draft.'],
    ['check https://example.com/ --user-agent ExampleBot --edge', 'Says whether a CDN still sends an old file.'],
    [
      'check - --user-agent ExampleBot --format ndjson < urls.txt > verdicts.ndjson',
      'Checks the URLs on standard input, one on each line.',
    ],
  ],
  exits: { success: 'every URL is allowed', fails: 'a URL is disallowed' },
  run: async (args) => (await import('./check.ts')).check(args),
}
