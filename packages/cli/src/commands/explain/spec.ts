import type { CommandSpec, Flag } from '../../command-line.ts'
import { DIALECT, formatFlag, jsonFlag, NETWORK, POLICY_TOKEN, PRODUCT_TOKEN, ROBOTS, USER_AGENT } from '../../flags.ts'

const FOLLOW: Flag = {
  name: 'follow',
  text: 'request the page too, and check each of its redirects; a URL that robots.txt disallows is not requested',
}

export const explainSpec: CommandSpec = {
  name: 'explain',
  summary: 'draw which line of robots.txt decides about a URL, and why',
  description:
    'Draws the robots.txt with line numbers. Marks the groups for the crawler, and the line that decides. Lists the other matching rules, and why each of them lost. Lists rules that nearly match, and what keeps each of them from it. Says which dialects decide differently.\n\nWithout --robots, the robots.txt of the URL is fetched. With it, the URL may be a path. The page itself is requested only with --follow: a GET whose body is not read, and at most ten redirects.',
  usage: 'URL --user-agent NAME [--robots FILE|URL]',
  flags: [
    USER_AGENT,
    PRODUCT_TOKEN,
    ROBOTS,
    POLICY_TOKEN,
    FOLLOW,
    DIALECT,
    ...NETWORK,
    formatFlag('the explanation', ['text', 'json']),
    jsonFlag('json'),
  ],
  examples: [
    ['explain https://example.com/cart --user-agent ExampleBot', 'Explains the verdict of the site as it is.'],
    ['explain https://example.com/old --user-agent ExampleBot --follow', 'Explains where the page redirects to.'],
    ['explain /cart --user-agent ExampleBot --robots public/robots.txt', 'Explains the verdict of a draft.'],
  ],
  exits: { success: 'the URL is allowed', fails: 'the URL is disallowed' },
  run: async (args) => (await import('./explain.ts')).explain(args),
}
