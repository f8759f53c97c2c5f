import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const matchSpec: CommandSpec = {
  name: 'match',
  summary: 'check millions of URLs, or find who in a log broke robots.txt',
  description:
    'Reads URLs or paths, from stdin without --urls, and prints a verdict on each. Makes no requests, unless --robots is a URL. Skips lines that begin with #.\n\n--robots-dir has one file for each origin: example.com.txt is for https://example.com, http_example.com.txt for http://example.com, example.com_8443.txt for https://example.com:8443.\n\nWith --by-agent, says who in an access log broke robots.txt: counts the requests by crawler, and names the rules of --robots that each one broke. Requests for robots.txt and requests of browsers are left out.',
  usage: '--robots FILE --user-agent NAME < urls.txt',
  flags: flagsIn(`
    --robots
    --robots-dir FOLDER  a folder with robots.txt files of many origins
    --urls --sitemap --input --column --user-agent --product-token --crawler --dialect
    --origin URL  the file's own origin: the verdict on URLs of other origins is other-origin [otherwise only paths are compared]
    --by-agent  count the requests of an access log by crawler, as the User-Agent of each line names it
    --ranges NAME=FILE…  with --by-agent: the IP ranges of a crawler, as JSON with "prefixes" as Google publishes it; its requests are verified, or not in the ranges
    --format NAME  how to print the verdicts [one of ndjson, text, csv] [otherwise text in a terminal, otherwise ndjson]
    --json  the same as --format ndjson
    --output FILE  write the verdicts to a file instead of stdout
    --resume  continue an interrupted run with the same --output
    --fail-on NAME  the exit code is 1 if there is such a verdict [one of disallowed] [otherwise none]
    --timeout --proxy --allow-address
  `),
  examples: examplesIn(`
    match --robots robots.txt --user-agent ExampleBot < urls.txt  # Checks a list of URLs.
    match --by-agent --robots robots.txt --urls access.log  # Who in my log broke robots.txt, and which rule?
    match --by-agent --robots robots.txt --urls access.log.gz --ranges Googlebot=googlebot.json  # Who broke it? Real Googlebots are told from fake ones by their addresses.
    match --robots robots.txt --urls access.log.gz --crawler Googlebot --crawler Bingbot --format csv  # Checks the URLs of an access log for two crawlers.
    match --robots-dir files --urls urls.txt --user-agent ExampleBot --output verdicts.ndjson --resume  # Checks URLs of many sites, and continues where the last run ended.
  `),
  exits: { success: 'all URLs were read, whatever the verdicts are', fails: 'with --fail-on, a URL is disallowed' },
  noOperands: 'match reads URLs from stdin; write < urls.txt, or --urls FILE',
  run: async (args) => (await import('./match.ts')).match(args),
}
