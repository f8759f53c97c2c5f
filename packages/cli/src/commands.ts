// The commands, in the order of the help: flags, examples and exit codes. The code of a command is
// loaded when it runs, so that `--help` starts quickly and `match` does not load the network code.
import { MCP_FLAGS } from '@politely/mcp/flags'
import { SERVE_FLAGS } from '@politely/server/flags'
import type { CommandSpec } from './command-line.ts'
import { examplesIn, flagsIn, PURPOSES } from './flags.ts'
import { runInstalled } from './installed-command.ts'

export const commands: readonly CommandSpec[] = [
  {
    name: 'check',
    summary: "fetch each site's robots.txt and check URLs",
    description:
      "Fetches the robots.txt of each URL's site and says whether you may fetch the URL, and why. Also says how it got robots.txt, and what to change if that failed.\n\nWith --robots, that file decides for URLs of any site, and a URL can be just a path.",
    usage: 'URL… --user-agent NAME [--robots FILE|URL] [--edge]',
    flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token --robots
    --edge  fetch robots.txt again, asking caches to revalidate, and say what differs
    --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the verdicts [one of text, json, ndjson] [default text]
    --json  the same as --format ndjson
  `),
    examples: examplesIn(`
    check https://example.com/page --user-agent ExampleBot  # Checks one URL.
    check /cart /about --user-agent ExampleBot --robots public/robots.txt  # Checks paths against a draft.
    check https://example.com/ --user-agent ExampleBot --edge  # Says whether a CDN still sends an old file.
    check - --user-agent ExampleBot --format ndjson < urls.txt > verdicts.ndjson  # Checks the URLs on standard input, one per line.
  `),
    exits: { success: 'every URL is allowed', fails: 'a URL is disallowed' },
    run: async (args) => (await import('./commands/check/check.ts')).check(args),
  },
  {
    name: 'explain',
    summary: 'draw which line of robots.txt decides about a URL, and why',
    description:
      "Draws robots.txt with line numbers, and marks the crawler's groups and the deciding line. Lists the other matching rules, and why each of them lost. Lists rules that nearly match, and why they don't. Says which dialects decide differently.\n\nWithout --robots, it fetches the site's robots.txt. With --robots, the URL can be a path. It requests the page itself only with --follow: a GET whose body it doesn't read, and at most ten redirects.",
    usage: 'URL --user-agent NAME [--robots FILE|URL]',
    flags: flagsIn(`
    --user-agent --product-token --robots --policy-token
    --follow  request the page too, and check each of its redirects; disallowed URLs aren't requested
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
    leavesSignals: true,
    run: async (args) => (await import('./commands/explain/explain.ts')).explain(args),
  },
  {
    name: 'usage',
    summary: 'say what a crawler may do with a page: index it, train on it',
    description:
      'Says what a site lets a crawler do with a page: show it in a search index, follow its links, train a model on it, and so on. Reads robots.txt (Content-Usage, Content-Signal, License), /.well-known/tdmrep.json, the headers of the page and the head of its HTML. It requests the page only if robots.txt allows it. It names licenses, but never fetches them.\n\nWith --header, --headers or --html, it reads those instead of requesting the page. With --robots, it reads only the files you give.',
    usage: 'URL… --user-agent NAME [--purpose NAME]',
    flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --purpose NAME…  print only this purpose (text), and exit with 1 if it is disallowed [one of ${PURPOSES.join(', ')}]
    --no-page  don't request the page; read only robots.txt and tdmrep.json
    --robots --policy-token
    --header LINE…  a header of the page, such as "X-Robots-Tag: noindex"
    --headers FILE  the headers of the page, as curl -I prints them; - for stdin
    --html FILE  the HTML of the page; - for stdin
    --tdmrep FILE  with --robots: a tdmrep.json file; none: ignore the site's file
    --max-wait --min-delay --retry --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the answers [one of text, json, ndjson] [default text]
    --json  the same as --format ndjson
  `),
    examples: examplesIn(`
    usage https://example.com/page --user-agent ExampleBot  # Says what ExampleBot may do with a page.
    usage https://example.com/page --user-agent ExampleBot --purpose train-ai  # Exits with 1 if the page must not be used for training.
    usage --sitemap https://example.com --user-agent ExampleBot --purpose index  # Which pages of the sitemaps are marked noindex?
    usage /page --user-agent ExampleBot --robots public/robots.txt --header "X-Robots-Tag: noindex" --html page.html  # Reads drafts of the files, and sends no requests.
    usage https://example.com/ --user-agent ExampleBot --headers - < headers.txt  # Reads the output of curl -I instead of the page.
  `),
    exits: {
      success: 'every URL has an answer, whatever it is; with --purpose, nothing refuses the purpose',
      fails:
        'with --purpose: it is disallowed, or robots.txt disallows the page, or the page or tdmrep.json could not be read',
    },
    run: async (args) => (await import('./commands/usage/usage.ts')).usage(args),
  },
  {
    name: 'test',
    summary: 'check that a robots.txt does what a file of expectations says',
    description:
      'Reads files of expectations and checks a robots.txt against them. Each line is one expectation:\n\n"allow CRAWLER PATH…": the crawler may fetch these paths. "deny CRAWLER PATH…": it may not. "deny-only CRAWLER PATH…": these paths are closed to it, and nothing else is.\n\n"deny CRAWLER use:train-ai PATH…": the file refuses this use of these paths, or of / if you give no path. "allow CRAWLER use:search PATH…": the file allows it; saying nothing isn\'t enough. politely usage --help lists the uses.\n\n"crawl-delay CRAWLER = 5": in seconds, or none; <, <=, > and >= work too. "sitemap URL": the file names this sitemap. "known-crawlers NAME…": each name in the file belongs to a known crawler that is in use and obeys robots.txt, or is one of NAME…. This finds misspelt names. "size < 500KiB": also with B, kB, MB and MiB. "status 200": what the server sent, if --robots is a URL.\n\nCRAWLER is a product token or a documented name, such as archive.org_bot; * means all crawlers that the file doesn\'t name. Text after # is a comment.',
    usage: 'EXPECTATIONS… --robots FILE',
    flags: flagsIn(`
    --robots  the robots.txt file to test, or the URL of a site or a deploy preview
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
    leavesSignals: true,
    run: async (args) => (await import('./commands/test/test.ts')).test(args),
  },
  {
    name: 'lint',
    summary: 'find mistakes in robots.txt files',
    description:
      'Prints each mistake with its line, its code and what to write. docs/reference/lint-findings.md describes the codes.\n\nA comment "# politely-ignore CODE" at the end of a line suppresses a finding about that line. On a line by itself, it is about the next line. On the first line, it is also about the whole file.\n\n--fix changes a line only if it can prove that no verdict changes: for any crawler, any path, and the dialects rfc9309 and google. It leaves the other fixes to you, and says why.',
    usage: 'FILE… [--fix] [--format NAME]',
    flags: flagsIn(`
    --format NAME  how to print the findings [one of text, json, ndjson, sarif, github, gitlab, junit] [default text]
    --json  the same as --format json
    --dialect  which crawlers the file is for; google also prints the fields that Google ignores
    --max-severity NAME  the highest severity for which the exit code is 0 [one of none, note, warning, error] [default note]
    --fix[=all]  make the fixes that change no verdict; with =all, also fixes that may change one, and say what they change [one of all]
    --policy-token
    --user-agent  the User-Agent for the request, if a URL is given
    --timeout --proxy --allow-address
  `),
    examples: examplesIn(`
    lint public/robots.txt  # Lints a file.
    lint public/robots.txt --fix  # Fixes what it can without changing a verdict.
    lint public/robots.txt --dialect google  # Also prints the fields that Google ignores.
    lint https://example.com --user-agent ExampleBot  # Lints the robots.txt that a site sends.
    lint public/robots.txt --format sarif > robots.sarif  # For code scanning.
  `),
    exits: {
      success: 'no finding is more severe than --max-severity',
      fails: 'a finding is more severe than --max-severity',
    },
    leavesSignals: true,
    run: async (args) => (await import('./commands/lint/lint.ts')).lint(args),
  },
  {
    name: 'diff',
    summary: 'say what a change of robots.txt does to URLs',
    description:
      'Compares two robots.txt by effect: for each crawler, how many URLs become disallowed or allowed, and which line does it. Without --urls, it makes up paths from the rules of both files. Without --crawler, it compares * and every crawler that either file names.',
    usage: 'OLD NEW [--urls FILE]',
    flags: flagsIn(`
    --urls --sitemap --input --column --crawler --product-token
    --user-agent  the User-Agent for the request, if OLD or NEW is a URL
    --dialect
    --origin URL  the site whose robots.txt to compare, if OLD or NEW is a store (an SQLite file) [otherwise the site of the other file]
    --timeout --proxy --allow-address
    --format NAME  how to print the changes [one of text, json] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    diff live.txt public/robots.txt --urls urls.txt  # What would the new file change?
    diff https://example.com public/robots.txt --user-agent ExampleBot  # Compares what the site sends now with a draft.
    diff robots.sqlite https://example.com --user-agent ExampleBot  # Compares the copy in a store with what the site sends now.
  `),
    exits: { success: 'no verdict changes', fails: 'a verdict changes' },
    leavesSignals: true,
    run: async (args) => (await import('./commands/diff/diff.ts')).diff(args),
  },
  {
    name: 'audit',
    summary: 'say which known crawlers may read a site, and which names in robots.txt do nothing',
    description:
      "Compares a robots.txt with a catalogue of known crawlers (docs/reference/known-crawlers.md). First it says which of them may read which paths, sorted by what they fetch pages for. Then it says which names in the file do nothing. No crawler sends a misspelt or retired name, or the name of a product, such as ChatGPT. Other names belong to crawlers that ignore robots.txt, as their operators say.\n\nWithout a PATH, it uses / and paths made from the file's rules.",
    usage: 'FILE [PATH…]',
    flags: flagsIn(`
    --purpose NAME…  only the crawlers that fetch pages for this [one of search, ai-training, ai-search, ai-assistant, ai-agent, preview, seo, archive, monitoring, advertising, scraper, other]
    --policy-token
    --all  also list the crawlers that the file does not name
    --fail-on NAME…  which names in the file lead to exit code 1 [one of misspelt, retired, ignored, never] [default misspelt, retired, ignored]
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
    leavesSignals: true,
    run: async (args) => (await import('./commands/audit/audit.ts')).audit(args),
  },
  {
    name: 'match',
    summary: 'check millions of URLs, or find who in a log broke robots.txt',
    description:
      'Reads URLs or paths from --urls or stdin, and prints a verdict on each. Makes no requests, unless --robots is a URL. Skips lines that begin with #.\n\n--robots-dir has one file for each origin: example.com.txt is for https://example.com, http_example.com.txt for http://example.com, example.com_8443.txt for https://example.com:8443.\n\nWith --by-agent, says who in an access log broke robots.txt: counts the requests of each crawler, and names the rules that it broke. Leaves out browsers, and requests for robots.txt.',
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
    run: async (args) => (await import('./commands/match/match.ts')).match(args),
  },
  {
    name: 'fetch',
    summary: 'fetch a page as a polite crawler does',
    description:
      "Fetches pages as a polite crawler does: checks robots.txt before each request and each redirect, and waits as robots.txt and Retry-After ask. Writes the pages to stdout, one after another, and a report on each to stderr.\n\nA second run doesn't know when the first run made its last request, so it doesn't wait for it. Give all URLs of a site to one run.\n\nWith --cache, it keeps pages in a file (RFC 9111). It doesn't request a stored page while it's fresh. After that, it asks the site whether the page has changed. The report says what the cache did: hit, revalidated, stored, stale or bypass.",
    usage: 'URL… --user-agent NAME',
    flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --output FILE  write the page to a file instead of stdout
    --include  write the status and the headers before the page
    --max-wait --min-delay --retry --store --cache --evidence --dialect --timeout --proxy --allow-address
    --format NAME  how to print the reports [one of text, ndjson] [default text]
    --json  the same as --format ndjson
  `),
    examples: examplesIn(`
    fetch https://example.com/page --user-agent ExampleBot > page.html  # Fetches one page.
    fetch https://example.com/a https://example.com/b --user-agent ExampleBot --store robots.sqlite --max-wait 30  # Fetches two pages, keeps robots.txt for the next run, and never waits longer than 30 seconds.
    fetch https://example.com/page --user-agent ExampleBot --cache pages.sqlite > page.html  # Fetches one page, unless the copy of an earlier run is still fresh.
  `),
    exits: {
      success: 'every page was fetched, whatever its status is',
      fails: 'a page is disallowed, would have to wait longer than --max-wait, or did not arrive',
    },
    run: async (args) => (await import('./commands/fetch/fetch.ts')).fetchPages(args),
  },
  {
    name: 'sitemap',
    summary: "read a site's sitemaps, and say what is missing",
    description:
      'Reads the sitemaps that a site names in its robots.txt, or one sitemap by its URL, as a polite crawler does. For each file, it says how many URLs it lists, what is wrong with it, and whether you can trust its dates. `!` marks a whole file with problems, which search engines may refuse.\n\nWith --format ndjson or csv, the URLs go to stdout, and the files are reported on stderr.',
    usage: 'SITE|URL… --user-agent NAME',
    flags: flagsIn(`
    --user-agent --product-token
    --guess  read /sitemap.xml of a site whose robots.txt names no sitemap
    --since DATE  leave out URLs and sitemaps unchanged since then, as far as their dates can be trusted
    --max-urls NUMBER  read at most this many URLs [otherwise no limit]
    --max-files NUMBER  read at most this many files [default 10000]
    --return-links  check that pages in other languages name each other
    --min-delay --retry --store --dialect --timeout --proxy --allow-address
    --format NAME  how to print the result [one of text, json, ndjson, csv] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    sitemap https://example.com --user-agent ExampleBot  # What do the sitemaps of the site list?
    sitemap https://example.com/news.xml --user-agent ExampleBot --since 2026-11-01 --format csv > urls.csv  # The URLs of one sitemap that have changed since.
  `),
    exits: {
      success: 'every file was read',
      fails:
        'a file was read in part or not at all, the site has no sitemap, or --return-links found a page that is not named in return',
    },
    run: async (args) => (await import('./commands/sitemap/sitemap.ts')).sitemap(args),
  },
  {
    name: 'crawl',
    summary: 'crawl a few pages politely, and draw when each request started',
    description:
      'Follows links within the origins of the given URLs, as far and as fast as robots.txt allows. In a terminal, it draws the timeline of the requests while they run; otherwise it prints one line for each page. It does not store the pages.\n\nIt follows redirects like links. It skips and counts links with rel="nofollow", and all links of a page whose robots meta tag or X-Robots-Tag header says nofollow or none. Ctrl-C and SIGTERM end the crawl with a summary. It requests a sitemap only when it needs the URLs. An invalid URL in a list is reported as refused, and the crawl goes on; the exit code is then 2.',
    usage: 'URL… --user-agent NAME',
    flags: flagsIn(`
    --urls --sitemap --input --column --user-agent --product-token
    --max-pages NUMBER  the most pages to request [default 50]
    --depth NUMBER  the most links from a given URL to a page [otherwise no limit]
    --concurrency NUMBER  the most requests at once [default 8]
    --nofollow NAME  what to do with links under nofollow [one of skip, follow] [default skip]
    --min-delay --retry --store --evidence --dialect --timeout --proxy --allow-address
    --format NAME  how to print the pages [one of text, ndjson] [default text]
    --json  the same as --format ndjson
  `),
    examples: examplesIn(`
    crawl https://example.com --user-agent ExampleBot  # Crawls the first pages of a site.
    crawl https://example.com --user-agent ExampleBot --max-pages 500 --format ndjson > pages.ndjson  # Writes one JSON object for each page, and the summary to stderr.
  `),
    exits: {
      success: 'at least one page was fetched, or the list has no URLs',
      fails: 'no page was fetched',
    },
    leavesSignals: true,
    run: async (args) => (await import('./commands/crawl/crawl.ts')).crawl(args),
  },
  {
    name: 'cache',
    summary: 'list, show, refresh, move and remove stored robots.txt files and pages',
    description:
      '"ls" lists the origins of a store. "show ORIGIN…" prints everything known about an origin, with its robots.txt.\n\n"refresh" fetches robots.txt again: for the origins you name, for --all, or for origins last fetched before --older-than. After a failure, it leaves a server alone until the next attempt is due.\n\n"export" writes one entry per line, as JSON with a checksum and a version. With --robots-dir, it writes one robots.txt file for each origin, for "politely match". "import FILE" reads the lines of "export". Of two entries about one origin, the newer entry wins. If a line is wrong, it imports nothing.\n\n"prune" removes expired entries, and entries last fetched before --older-than.\n\nWith --cache, "ls", "show URL…" and "prune" work on the pages that "politely fetch --cache" keeps. "show" prints their headers and visits on stderr, and their bodies on stdout or into --output. "prune" removes pages that the site has neither sent nor confirmed since --older-than.',
    usage: 'ls|show|refresh|export|import|prune … --store FILE|--cache FILE',
    flags: flagsIn(`
    --store  the SQLite file of robots.txt files
    --cache FILE  the SQLite file of pages. Needs the package @politely/cache
    --host NAME  only origins or pages of this host and of the hosts under it
    --older-than DAYS  only entries last tried, or pages last sent or confirmed, longer ago than this; 30 and 30d are days, 12h is hours
    --all  refresh every origin
    --output FILE  write the export, or the page of show, to a file instead of stdout
    --robots-dir DIR  a folder for the export of robots.txt files, such as example.com.txt
    --user-agent --product-token --timeout --proxy --allow-address
    --format NAME  how to print the entries [one of text, json, ndjson] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    cache ls --store robots.sqlite --host example.com  # Lists the origins of a host and its subdomains.
    cache show https://example.com --store robots.sqlite  # Prints the entry of an origin, and its robots.txt.
    cache refresh --older-than 1 --store robots.sqlite --user-agent ExampleBot  # Fetches again what is over a day old.
    cache export --store robots.sqlite --output entries.ndjson  # Exports all entries.
    cache import entries.ndjson --store other.sqlite  # Imports them into another store.
    cache prune --older-than 30 --store robots.sqlite  # Removes what wasn't fetched in the last 30 days.
    cache ls --cache pages.sqlite --host example.com  # Lists stored pages, how fresh they are, and when to visit them.
    cache show https://example.com/page --cache pages.sqlite --output page.html  # Writes a stored page to a file.
    cache prune --older-than 30d --cache pages.sqlite  # Removes old pages.
  `),
    exits: {
      success: 'it was done',
      fails: 'show: an origin or page is not stored',
    },
    run: async (args) => (await import('./commands/cache/cache.ts')).cache(args),
  },
  {
    name: 'doctor',
    summary: 'say what works from here: Node, proxy, DNS, TLS, clock, store',
    description:
      'Checks what a crawler needs on this machine, and says what to do about each problem. Without a URL it makes no requests. With a URL, it resolves the host, connects, and requests the robots.txt of the site twice: once to look at the response, and once as the client of politely does.',
    usage: '[URL] [--store FILE] [--user-agent NAME]',
    flags: flagsIn(`
    --user-agent --product-token --store --timeout --proxy --allow-address
    --format NAME  how to print the findings [one of text, json] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    doctor --user-agent "ExampleBot/1.0" --store robots.sqlite  # Checks this machine, without any request.
    doctor https://example.com --user-agent ExampleBot  # Checks the way to a site, too.
  `),
    exits: { success: 'nothing failed; there may be warnings', fails: 'something failed' },
    run: async (args) => (await import('./commands/doctor/doctor.ts')).doctor(args),
  },
  {
    name: 'mcp',
    summary: 'serve a fetch tool that obeys robots.txt to MCP clients',
    description:
      'Runs the server of the package @politely/mcp, which npm install @politely/mcp installs. An MCP client starts it, and talks to it over stdin and stdout.',
    usage: '--user-agent NAME',
    flags: MCP_FLAGS,
    examples: [['mcp --user-agent YourMCP', 'Serves until the client disconnects.']],
    exits: { success: 'the client has disconnected' },
    noOperands: 'mcp takes no operands',
    leavesSignals: true,
    run: (args) => runInstalled('@politely/mcp', () => import('@politely/mcp/command'), args, MCP_FLAGS),
  },
  {
    name: 'serve',
    summary: 'grant permits to crawlers in any language, over HTTP',
    description:
      'Runs the server of the package @politely/server, which npm install @politely/server installs. Crawlers ask it which URL they may request, and when. All of them share one pace and one copy of each robots.txt.\n\nserve token NAME prints a token for a caller, and the line for the file of --tokens.',
    usage: '--user-agent NAME',
    flags: SERVE_FLAGS,
    examples: [
      [
        'serve --user-agent "ExampleBot/1.0 (+https://example.com/bot)"',
        'Serves programs of this machine at port 7420.',
      ],
      ['serve --user-agent ExampleBot --socket /run/politely.sock', 'Serves programs of this user.'],
      ['serve token search', 'Prints a token for the caller named search.'],
    ],
    exits: { success: 'the server was stopped by SIGTERM or SIGINT' },
    leavesSignals: true,
    run: (args) => runInstalled('@politely/server', () => import('@politely/server/command'), args, SERVE_FLAGS),
  },
  {
    name: 'identity',
    summary: 'make and check what a crawler publishes about itself',
    description:
      'Experimental. Needs the package @politely/web-bot-auth. docs/identity.md explains it, and lists the fields of FILE.\n\n"init FILE" makes what sites expect, from one JSON file with the name of your crawler, its product token, its contact, and so on: the page about it with an example robots.txt, the User-Agent, its IP ranges as JSON, the signed key directory, and the signature agent card. Run it again to sign the directory again: it replaces its files, but keeps a page that you have edited.\n\n"check FILE" looks at all of them as a stranger does, and says what is wrong and what to do. It makes its requests directly, without a proxy.',
    usage: 'init|check FILE …',
    flags: flagsIn(`
    --output DIR  init: the folder for the files
    --key FILE…  a key of the directory, from politely keys new; check: it must be there
    --valid DAYS  init: how long the directory's signatures stay valid [default 7]
    --overwrite  init: replace a page that you have edited
    --user-agent NAME  check: the header that your crawler really sends [otherwise the header that init has made]
    --dns-server ADDRESS  check: a DNS server outside your network, such as 9.9.9.9 [otherwise the DNS servers of this machine]
    --timeout SECONDS  check: time limit of each request [default 20]
    --allow-address
    --format NAME  how to print the result [one of text, json] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    identity init bot.json --key bot.jwk --output public  # Makes the files in the folder public.
    identity check bot.json --key bot.jwk  # Checks what is published.
    identity check bot.json --dns-server 9.9.9.9  # Asks a DNS server outside your network.
  `),
    exits: { success: 'it was done; check: nothing failed, there may be warnings', fails: 'check: something failed' },
    run: async (args) => (await import('./commands/identity/identity.ts')).identity(args),
  },
  {
    name: 'keys',
    summary: 'create, rotate, publish and check the keys that sign requests',
    description:
      'Experimental. For Web Bot Auth: signed requests tell a site who you are. Needs the package @politely/web-bot-auth. docs/identity.md explains it.\n\n"new FILE" creates an Ed25519 key, in a file that only you may read. "rotate OLD NEW" creates the key that replaces OLD, and writes into OLD how long it stays published. Until then, both keys are in the directory.\n\n"directory KEY… --agent URL" signs the key directory: a JSON file, and headers that prove whose it is. With --output, it writes them into a folder for a static host; sign again before they expire. A program can serve them with directoryHandler, which signs by itself.\n\n"check URL" fetches a directory as a stranger does, and says what is wrong and what to do.',
    usage: 'new|rotate|directory|check …',
    flags: flagsIn(`
    --agent URL  directory: where it will be: an origin such as https://bot.example, which stands for its well-known path
    --output DIR  directory: write the file and its headers to a folder instead of stdout
    --valid DAYS  directory: how long its signatures stay valid; new: how long the key does [otherwise 7 for a directory, no end for a key]
    --lead DAYS  rotate: how long you publish the new key before you sign with it; verifiers keep a directory for up to a day [default 1]
    --overlap DAYS  rotate: how long the old key stays published after that [default 7]
    --key FILE…  check: a key that must be in the directory
    --timeout SECONDS  check: time limit of the request [default 20]
    --allow-address
    --format NAME  how to print the result [one of text, json] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    keys new bot.jwk  # Creates a key.
    keys directory bot.jwk --agent https://bot.example --output public  # Writes the key's directory, for you to publish at https://bot.example.
    keys rotate bot.jwk bot-2.jwk  # Creates the next key. Publish both now, and sign with the new one tomorrow.
    keys check https://bot.example --key bot.jwk  # Looks at the directory as a verifier does.
  `),
    exits: { success: 'it was done; check: nothing failed, there may be warnings', fails: 'check: something failed' },
    run: async (args) => (await import('./commands/keys/keys.ts')).keys(args),
  },
  {
    name: 'evidence',
    summary: 'check, explain and replay what a crawler has recorded of its decisions',
    description:
      'Reads a folder that the option evidence of politely has written. Needs the package @politely/evidence. docs/evidence.md explains it. It makes no requests.\n\n"verify DIR" checks that no record is missing or changed, that each robots.txt is there, and that signatures are valid. It says what such a check can\'t see.\n\n"explain DIR URL" says what was decided about a URL, by which line of which robots.txt, and what happened then.\n\n"replay DIR" makes all decisions once more with this version, and names those that come out differently. With --dialect or --user-agent, it says what would have been decided for that crawler.\n\n"report DIR" makes a page about the crawl: sites, refusals by rule, waits, and sites that changed their robots.txt.',
    usage: 'verify|explain|replay|report DIR …',
    flags: flagsIn(`
    --key FILE…  verify: your public key, as a JWK, a key file or a key directory; a signature by another key is an error
    --at TIME  explain: the last decision until then, such as 2026-11-28T16:00:00Z [otherwise the last decision]
    --dialect NAME  replay: what if robots.txt were read in this dialect? [one of rfc9309, google, draft-koster-rep-00, koster-1996, original-1994] [otherwise the dialect of each decision]
    --user-agent NAME  replay: what if the crawler had this name? [otherwise the names of each decision]
    --product-token
    --output FILE  report: write it to a file instead of stdout
    --format NAME  how to print the result; the text of a report is HTML [one of text, json, ndjson] [default text]
    --json  the same as --format json
  `),
    examples: examplesIn(`
    evidence verify evidence --key bot.jwk  # Checks that nothing is missing or changed, and that your key has signed it.
    evidence explain evidence https://example.com/page --at 2026-11-28T16:00:00Z  # What was decided about this page then, and why?
    evidence replay evidence  # Makes all decisions once more with this version.
    evidence replay evidence --user-agent Googlebot --dialect google  # What would Googlebot have been allowed?
    evidence report evidence --output report.html  # Makes a page about the crawl.
  `),
    exits: {
      success:
        'verify: no error; explain: something is known; replay: nothing came out differently, or a flag asked "what if"; report: it was made',
      fails:
        'verify: something is missing or changed; explain: nothing is known; replay: a decision came out differently',
    },
    run: async (args) => (await import('./commands/evidence/evidence.ts')).evidence(args),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in a shell',
    description: 'Prints a script for bash, zsh or fish. Its first lines say where to write it.',
    usage: 'SHELL',
    flags: [],
    examples: [['completion bash > /etc/bash_completion.d/politely', 'For bash.']],
    exits: { success: 'the script was printed' },
    run: async (args, all) => (await import('./commands/completion/completion.ts')).completion(args, all),
  },
]
