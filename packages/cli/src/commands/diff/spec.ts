import type { CommandSpec } from '../../command-line.ts'
import { CRAWLER, DIALECT, formatFlag, jsonFlag, NETWORK, PRODUCT_TOKEN, URLS, USER_AGENT } from '../../flags.ts'

export const diffSpec: CommandSpec = {
  name: 'diff',
  summary: 'say what a change of robots.txt does to URLs',
  description:
    'Compares two robots.txt by effect: for each crawler, how many URLs become disallowed or allowed, and which line does it. Without --urls, it makes up paths from the rules of both files. Without --crawler, it compares * and every crawler that either file names.',
  usage: 'OLD NEW [--urls FILE]',
  flags: [
    ...URLS,
    CRAWLER,
    PRODUCT_TOKEN,
    { ...USER_AGENT, text: 'the User-Agent for the request, if OLD or NEW is a URL' },
    DIALECT,
    {
      name: 'origin',
      value: 'URL',
      text: 'the site whose robots.txt is compared, if OLD or NEW is a store (an SQLite file)',
      defaultText: 'the site of the other file',
    },
    ...NETWORK,
    formatFlag('the changes', ['text', 'json']),
    jsonFlag('json'),
  ],
  examples: [
    ['diff live.txt public/robots.txt --urls urls.txt', 'What would the new file change?'],
    [
      'diff https://example.com public/robots.txt --user-agent ExampleBot',
      'Compares what the site sends now with a draft.',
    ],
    [
      'diff robots.sqlite https://example.com --user-agent ExampleBot',
      'Compares the copy of a store with what the site sends now.',
    ],
  ],
  exits: { success: 'no verdict changes', fails: 'a verdict changes' },
  run: async (args) => (await import('./diff.ts')).diff(args),
}
