import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const testSpec: CommandSpec = {
  name: 'test',
  summary: 'check that a robots.txt does what a file of expectations says',
  description:
    'Reads files of expectations and checks a robots.txt against them. Each line is one expectation:\n\n"allow CRAWLER PATH…": the crawler may fetch these paths. "deny CRAWLER PATH…": it may not. "deny-only CRAWLER PATH…": these paths are closed to it, and nothing else is.\n\n"deny CRAWLER use:train-ai PATH…": the file refuses this use of these paths; without a path, of /. "allow CRAWLER use:search PATH…": it allows it; saying nothing is not enough. The uses are those of politely usage.\n\n"crawl-delay CRAWLER = 5": in seconds, or none; <, <=, > and >= work too. "sitemap URL": the file names this sitemap. "known-crawlers NAME…": each name in the file is of a known crawler that is in use and obeys robots.txt, or one of NAME…; so it finds misspelt names. "size < 500KiB": also with B, kB, MB and MiB. "status 200": what the server sent, if --robots is a URL.\n\nCRAWLER is a product token or a documented name, such as archive.org_bot; * stands for all crawlers that the file does not name. Text after # is a comment.',
  usage: 'EXPECTATIONS… --robots FILE',
  flags: flagsIn(`
    --robots  the robots.txt file to test, or the URL of a site or of a deploy preview
    --user-agent  the User-Agent for the request, if --robots is a URL
    --dialect --timeout --proxy --allow-address
    --format NAME  how to print the results [one of text, json, junit, github] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    test robots.expect --robots public/robots.txt  # Tests a file before it goes live.
    test robots.expect --robots https://preview.example.com --user-agent ExampleBot  # Tests what a server sends.
  `),
  exits: { success: 'every expectation is met', fails: 'an expectation is not met' },
  run: async (args) => (await import('./test.ts')).test(args),
}
