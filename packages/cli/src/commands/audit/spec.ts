import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const auditSpec: CommandSpec = {
  name: 'audit',
  summary: 'say which known crawlers may read a site, and which names in robots.txt do nothing',
  description:
    'Compares a robots.txt with a catalogue of known crawlers (docs/reference/known-crawlers.md). First it says which of them may read which paths, sorted by what they fetch pages for. Then it says which names in the file do nothing. No crawler sends a name that is misspelt or retired, or that belongs to a product, such as ChatGPT. Other names belong to crawlers that ignore robots.txt, as their operators say.\n\nWithout a PATH it uses / and paths that it makes from the rules of the file.',
  usage: 'FILE [PATH…]',
  flags: flagsIn(`
    --purpose NAME…  only the crawlers that fetch pages for this [one of search, ai-training, ai-search, ai-assistant, ai-agent, preview, seo, archive, monitoring, advertising, scraper, other]
    --policy-token
    --all  also list the crawlers that the file does not name
    --fail-on NAME…  for which names in the file the exit code is 1 [one of misspelt, retired, ignored, never] [default misspelt, retired, ignored]
    --dialect
    --user-agent  the User-Agent for the request, if FILE is the URL of a site
    --timeout --proxy --allow-address
    --format NAME  how to print the audit [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    audit public/robots.txt  # Which crawlers may read the site, and which lines do nothing?
    audit public/robots.txt /news/ /drafts/ --purpose ai-training --all  # May AI training read these paths?
    audit https://example.com --user-agent ExampleBot  # Audits what a site sends.
  `),
  exits: {
    success: 'every name in the file that the catalogue knows does something',
    fails: 'a name is misspelt or retired, or its crawler ignores robots.txt; see --fail-on',
  },
  run: async (args) => (await import('./audit.ts')).audit(args),
}
