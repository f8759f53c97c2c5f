import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const explainSpec: CommandSpec = {
  name: 'explain',
  summary: 'draw which line of robots.txt decides about a URL, and why',
  description:
    'Draws the robots.txt with line numbers. Marks the groups for the crawler, and the line that decides. Lists the other matching rules, and why each of them lost. Lists rules that nearly match, and what keeps each of them from it. Says which dialects decide differently.\n\nWithout --robots, the robots.txt of the URL is fetched. With it, the URL may be a path. The page itself is requested only with --follow: a GET whose body is not read, and at most ten redirects.',
  usage: 'URL --user-agent NAME [--robots FILE|URL]',
  flags: flagsIn(`
    --user-agent --product-token --robots --policy-token
    --follow  request the page too, and check each of its redirects; a URL that robots.txt disallows is not requested
    --dialect --timeout --proxy --allow-address
    --format NAME  how to print the explanation [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    explain https://example.com/cart --user-agent ExampleBot  # Explains the verdict of the site as it is.
    explain https://example.com/old --user-agent ExampleBot --follow  # Explains where the page redirects to.
    explain /cart --user-agent ExampleBot --robots public/robots.txt  # Explains the verdict of a draft.
  `),
  exits: { success: 'the URL is allowed', fails: 'the URL is disallowed' },
  run: async (args) => (await import('./explain.ts')).explain(args),
}
