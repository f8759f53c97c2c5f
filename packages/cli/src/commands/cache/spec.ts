import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const cacheSpec: CommandSpec = {
  name: 'cache',
  summary: 'list, show, refresh, move and remove stored robots.txt files and pages',
  description:
    '"ls" lists the origins of a store. "show ORIGIN…" prints everything known about an origin, with its robots.txt.\n\n"refresh" fetches robots.txt again: for the given origins, for --all, or for origins last fetched before --older-than. After a failure, a server is left alone until its next attempt is due.\n\n"export" writes one entry on each line, as JSON with a checksum and a version. With --robots-dir, it writes one robots.txt file for each origin, for "politely match". "import FILE" reads the lines of "export"; of two entries about one origin, the newer one wins. If a line is wrong, nothing is imported.\n\n"prune" removes expired entries, and entries last fetched before --older-than.\n\nWith --cache, "ls", "show URL…" and "prune" work on the pages that "politely fetch --cache" keeps. "show" prints their headers and visits on stderr, and their bodies on stdout or into --output. "prune" removes pages that the site has neither sent nor confirmed since --older-than.',
  usage: 'ls|show|refresh|export|import|prune … --store FILE|--cache FILE',
  flags: flagsIn(`
    --store  the SQLite file of robots.txt files
    --cache FILE  the SQLite file of pages. Needs the package @politely/cache
    --host NAME  only origins or pages of this host and of the hosts under it
    --older-than DAYS  only entries whose last attempt to fetch robots.txt is older, or pages that the site sent or confirmed before; 30 and 30d are days, 12h hours
    --all  refresh every origin
    --output FILE  the file for the export, or for the page of show, instead of stdout
    --robots-dir DIR  a folder for the export of robots.txt files, such as example.com.txt
    --user-agent --product-token --timeout --proxy --allow-address
    --format NAME  how to print the entries [one of text, json, ndjson] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    cache ls --store robots.sqlite --host example.com  # Lists the origins of a host and its subdomains.
    cache show https://example.com --store robots.sqlite  # Prints the entry of an origin, and its robots.txt.
    cache refresh --older-than 1 --store robots.sqlite --user-agent ExampleBot  # Fetches what was last fetched more than a day ago.
    cache export --store robots.sqlite --output entries.ndjson  # Exports all entries.
    cache import entries.ndjson --store other.sqlite  # Imports them into another store.
    cache prune --older-than 30 --store robots.sqlite  # Removes what was not fetched in the last 30 days.
    cache ls --cache pages.sqlite --host example.com  # Lists stored pages, how fresh they are, and when to visit them.
    cache show https://example.com/page --cache pages.sqlite --output page.html  # Writes a stored page to a file.
    cache prune --older-than 30d --cache pages.sqlite  # Removes old pages.
  `),
  exits: {
    success: 'it was done',
    fails: 'show: an origin or page is not stored',
  },
  run: async (args) => (await import('./cache.ts')).cache(args),
}
