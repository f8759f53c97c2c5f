import type { CommandSpec } from '../../command-line.ts'
import { DIALECT, PRODUCT_TOKEN, ROBOTS, USER_AGENT } from '../../flags.ts'

export const matchSpec: CommandSpec = {
  name: 'match',
  summary: 'check the URLs on stdin against a robots.txt file',
  description:
    'Reads URLs or paths from stdin, one on each line, and prints one JSON verdict on each line. Makes no requests.',
  usage: '--robots FILE --user-agent NAME < urls.txt',
  flags: [
    { ...ROBOTS, text: 'a robots.txt file' },
    USER_AGENT,
    PRODUCT_TOKEN,
    DIALECT,
    {
      name: 'origin',
      value: 'URL',
      text: "the file's own origin: the verdict on URLs of other origins is other-origin",
      byDefault: 'only paths are compared',
    },
  ],
  examples: [['match --robots robots.txt --user-agent ExampleBot < urls.txt', 'Checks a list of URLs.']],
  exits: { success: 'all of stdin was read, whatever the verdicts are' },
  noOperands: 'match reads URLs from stdin; write < urls.txt',
  run: async (args) => (await import('./match.ts')).match(args),
}
