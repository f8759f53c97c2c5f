import type { CommandSpec } from '../../command-line.ts'
import { formatFlag, jsonFlag, NETWORK, PRODUCT_TOKEN, STORE, USER_AGENT } from '../../flags.ts'

export const cacheSpec: CommandSpec = {
  name: 'cache',
  summary: 'list, show, refresh and move the robots.txt files of a store',
  description:
    '"ls" lists the origins of a store. "show ORIGIN…" prints everything known about an origin, with its robots.txt.\n\n"refresh" fetches robots.txt again: for the given origins, for --all, or for origins last fetched before --older-than. After a failure, a server is left alone until its next attempt is due.\n\n"export" writes one entry on each line, as JSON with a checksum and a version. With --robots-dir, it writes one robots.txt file for each origin, for "politely match". "import FILE" reads the lines of "export"; of two entries about one origin, the newer one wins. If a line is wrong, nothing is imported.\n\n"prune" removes expired entries, and entries last fetched before --older-than.',
  usage: 'ls|show|refresh|export|import|prune … --store FILE',
  flags: [
    { ...STORE, text: 'the SQLite file' },
    { name: 'host', value: 'NAME', text: 'only origins of this host and of the hosts under it' },
    {
      name: 'older-than',
      value: 'DAYS',
      text: 'only entries whose last attempt to fetch robots.txt is older',
    },
    { name: 'all', text: 'refresh every origin' },
    { name: 'output', value: 'FILE', text: 'the file for the export, instead of stdout' },
    { name: 'robots-dir', value: 'DIR', text: 'a folder for the export of robots.txt files, such as example.com.txt' },
    USER_AGENT,
    PRODUCT_TOKEN,
    ...NETWORK,
    formatFlag('the entries', ['text', 'json', 'ndjson']),
    jsonFlag('json'),
  ],
  examples: [
    ['cache ls --store robots.sqlite --host example.com', 'Lists the origins of a host and its subdomains.'],
    ['cache show https://example.com --store robots.sqlite', 'Prints the entry of an origin, and its robots.txt.'],
    [
      'cache refresh --older-than 1 --store robots.sqlite --user-agent ExampleBot',
      'Fetches what was last fetched more than a day ago.',
    ],
    ['cache export --store robots.sqlite --output entries.ndjson', 'Exports all entries.'],
    ['cache import entries.ndjson --store other.sqlite', 'Imports them into another store.'],
    ['cache prune --older-than 30 --store robots.sqlite', 'Removes what was not fetched in the last 30 days.'],
  ],
  exits: {
    success: 'it was done',
    fails: 'show: an origin is not in the store',
  },
  run: async (args) => (await import('./cache.ts')).cache(args),
}
