import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

/** As `purposes` of core; a test compares them. Core is not loaded for `--help`. */
export const PURPOSES = [
  'index',
  'follow',
  'snippet',
  'archive',
  'search',
  'train-ai',
  'ai-input',
  'text-and-data-mining',
] as const

export const usageSpec: CommandSpec = {
  name: 'usage',
  summary: 'say what a crawler may do with a page: index it, train on it',
  description:
    'Says what a site lets a crawler do with a page: show it in a search index, follow its links, train a model on it, and so on. Reads robots.txt (Content-Usage, Content-Signal, License), /.well-known/tdmrep.json, the headers of the page and the head of its HTML. It requests the page only if robots.txt allows it. It names licenses, and never fetches them.\n\n--header, --headers and --html are read instead of the page, so no request is made for it. With --robots, only the given files are read.',
  usage: 'URL… --user-agent NAME [--purpose NAME]',
  flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --purpose NAME…  print only this purpose (text), and exit with 1 if it is disallowed [one of ${PURPOSES.join(', ')}]
    --no-page  do not request the page; read only robots.txt and tdmrep.json
    --robots --policy-token
    --header LINE…  a header of the page, such as "X-Robots-Tag: noindex"
    --headers FILE  the headers of the page, as curl -I prints them; - for stdin
    --html FILE  the HTML of the page; - for stdin
    --tdmrep FILE  with --robots: a tdmrep.json file; none: do without the file of the site
    --max-wait --min-delay --retry --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the answers [one of text, json, ndjson] [default text]
    --json  the same as --format ndjson
  `),
  examples: examplesIn(`
    usage https://example.com/page --user-agent ExampleBot  # Says what ExampleBot may do with a page.
    usage https://example.com/page --user-agent ExampleBot --purpose train-ai  # Exits with 1 if the page must not be used for training.
    usage --sitemap https://example.com --user-agent ExampleBot --purpose index  # Which pages of the sitemaps are marked noindex?
    usage /page --user-agent ExampleBot --robots public/robots.txt --header "X-Robots-Tag: noindex" --html page.html  # Reads drafts of the files, and sends no request.
    usage https://example.com/ --user-agent ExampleBot --headers - < headers.txt  # Reads headers that curl -I has written, instead of the page.
  `),
  exits: {
    success: 'every URL has an answer, whatever it is; with --purpose, nothing refuses the purpose',
    fails:
      'with --purpose: it is disallowed, or robots.txt disallows the page, or the page or tdmrep.json could not be read',
  },
  run: async (args) => (await import('./usage.ts')).usage(args),
}
