import type { CommandSpec } from '../../command-line.ts'
import { DIALECT, formatFlag, jsonFlag, NETWORK, PRODUCT_TOKEN, ROBOTS, USER_AGENT } from '../../flags.ts'

export const explainSpec: CommandSpec = {
  name: 'explain',
  summary: 'draw which line of robots.txt decides about a URL, and why',
  description:
    'Draws the robots.txt with line numbers, marks the groups that apply to the crawler and the line that decides, and lists the other rules that match, each with the reason why it lost. Says which dialects decide differently.\n\nWithout --robots, the robots.txt of the URL is fetched. With it, the URL may be a path.',
  usage: 'URL --user-agent NAME [--robots FILE]',
  flags: [
    USER_AGENT,
    PRODUCT_TOKEN,
    ROBOTS,
    DIALECT,
    ...NETWORK,
    formatFlag('the explanation', ['text', 'json']),
    jsonFlag('json'),
  ],
  examples: [
    ['explain https://example.com/cart --user-agent ExampleBot', 'Explains the verdict of the site as it is.'],
    ['explain /cart --user-agent ExampleBot --robots public/robots.txt', 'Explains the verdict of a draft.'],
  ],
  exits: { success: 'the URL is allowed', fails: 'the URL is disallowed' },
  run: async (args) => (await import('./explain.ts')).explain(args),
}
