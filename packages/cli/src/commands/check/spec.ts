import type { CommandSpec } from '../../command-line.ts'
import { DIALECT, formatFlag, jsonFlag, NETWORK, PRODUCT_TOKEN, USER_AGENT } from '../../flags.ts'

export const checkSpec: CommandSpec = {
  name: 'check',
  summary: "fetch each site's robots.txt and check URLs",
  description: "Fetches the robots.txt of each URL's site and prints whether the URL may be fetched, and why.",
  usage: 'URL… --user-agent NAME',
  flags: [
    USER_AGENT,
    PRODUCT_TOKEN,
    DIALECT,
    ...NETWORK,
    formatFlag('the verdicts', ['text', 'json', 'ndjson']),
    jsonFlag('ndjson'),
  ],
  examples: [
    ['check https://example.com/page --user-agent ExampleBot', 'Checks one URL.'],
    [
      'check - --user-agent ExampleBot --format ndjson < urls.txt > verdicts.ndjson',
      'Checks the URLs on standard input, one on each line.',
    ],
  ],
  exits: { success: 'every URL is allowed', fails: 'a URL is disallowed' },
  run: async (args) => (await import('./check.ts')).check(args),
}
