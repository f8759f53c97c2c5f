import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const diffSpec: CommandSpec = {
  name: 'diff',
  summary: 'say what a change of robots.txt does to URLs',
  description:
    'Compares two robots.txt by effect: for each crawler, how many URLs become disallowed or allowed, and which line does it. Without --urls, it makes up paths from the rules of both files. Without --crawler, it compares * and every crawler that either file names.',
  usage: 'OLD NEW [--urls FILE]',
  flags: flagsIn(`
    --urls --sitemap --input --column --crawler --product-token
    --user-agent  the User-Agent for the request, if OLD or NEW is a URL
    --dialect
    --origin URL  the site whose robots.txt is compared, if OLD or NEW is a store (an SQLite file) [otherwise the site of the other file]
    --timeout --proxy --allow-address
    --format NAME  how to print the changes [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    diff live.txt public/robots.txt --urls urls.txt  # What would the new file change?
    diff https://example.com public/robots.txt --user-agent ExampleBot  # Compares what the site sends now with a draft.
    diff robots.sqlite https://example.com --user-agent ExampleBot  # Compares the copy of a store with what the site sends now.
  `),
  exits: { success: 'no verdict changes', fails: 'a verdict changes' },
  run: async (args) => (await import('./diff.ts')).diff(args),
}
