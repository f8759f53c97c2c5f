// Every mistake on the command line prints one line on stderr that says what to write, exits with
// code 2 and prints no stack.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainUrlProblem, type OptionError, parseRobots } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { afterAll, expect, test } from 'vitest'
import { commands } from '../src/commands.ts'
import { runCli, runInThisProcess } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
const urls = join(folder, 'urls.txt')
const unreadable = join(folder, 'unreadable.txt')
writeFileSync(robots, 'User-agent: *\nDisallow: /private\n')
writeFileSync(unreadable, '')
writeFileSync(urls, 'https://example.com/\n')
chmodSync(unreadable, 0o000)
const empty = join(folder, 'empty.expect')
writeFileSync(empty, '')
const ignoring = join(folder, 'ignoring.txt')
writeFileSync(ignoring, 'User-agent: * # politely-ignore spelling\n')
const EXPECTATION = 'write a line such as "allow Googlebot /news" or "deny * /admin"'
/** Files with a mistake in their second line, and what is printed. */
const EXPECTATIONS: Readonly<Record<string, readonly [line: string, problem: string, column: number]>> = {
  'kind.expect': ['forbid * /a', `"forbid" is not an expectation; ${EXPECTATION}`, 1],
  'similar.expect': ['  sitemaps https://a.example/', '"sitemaps" is not an expectation; write sitemap', 3],
  'crawler.expect': ['allow Google.bot /a', '"Google.bot" is not a crawler; write its product token, or *', 7],
  'path.expect': ['allow * admin', '"admin" is not a path; begin it with /', 9],
  'paths.expect': ['allow * # all', `no path follows; ${EXPECTATION}`, 8],
  'use.expect': ['deny GPTBot use:train-a', '"train-a" is not a use; write use:train-ai', 13],
  'uses.expect': [
    'deny GPTBot use:money',
    '"money" is not a use; write one of index, follow, snippet, archive, search, train-ai, ai-input, text-and-data-mining',
    13,
  ],
  'only.expect': ['deny-only GPTBot use:train-ai', 'deny-only is about paths; write deny GPTBot use:train-ai', 18],
  'sign.expect': [
    'crawl-delay Bingbot 5',
    'no =, <, <=, > or >= follows; write crawl-delay Bingbot = 5, or = none',
    21,
  ],
  'seconds.expect': [
    'crawl-delay Bingbot = fast',
    '"fast" is not a number of seconds; write crawl-delay Bingbot = 5, or = none',
    21,
  ],
  'none.expect': [
    'crawl-delay Bingbot < none',
    '"none" is not a number of seconds; write crawl-delay Bingbot = 5, or = none',
    21,
  ],
  'unit.expect': [
    'size < 500 Kbit',
    '"500Kbit" is not a size; write a number with B, kB, KiB, MB or MiB, such as size < 500KiB',
    6,
  ],
  'size.expect': ['size', 'no =, <, <=, > or >= follows; write size < 500KiB', 5],
  'sitemap.expect': [
    'sitemap /sitemap.xml',
    'no URL of a sitemap follows; write sitemap https://example.com/sitemap.xml',
    9,
  ],
  'status.expect': ['status ok', 'no status follows; write one such as status 200', 8],
  'file.expect': [
    'status 200',
    'a file has no status; write --robots with the URL of a site, or leave this line out',
    8,
  ],
  'known.expect': [
    'known-crawlers My.Bot',
    '"My.Bot" is not a product token; write known-crawlers, or after it the names of your own crawlers',
    16,
  ],
}
for (const [name, [line]] of Object.entries(EXPECTATIONS)) writeFileSync(join(folder, name), `allow * /\n${line}\n`)
afterAll(() => rmSync(folder, { recursive: true }))

const BOT = ['--user-agent', 'ExampleBot']
const URL = 'http://127.0.0.1:9/'
const MATCH = ['match', '--robots', robots, ...BOT]
const MATCH_FILE = (file: string) => ['match', '--robots', file, ...BOT]
const NAMES = commands.map(({ name }) => name)
const COMMANDS = `${NAMES.slice(0, -1).join(', ')} or ${NAMES.at(-1)}`
const CHECK_OPTIONS = commands
  .find(({ name }) => name === 'check')
  ?.flags.map(({ name }) => `--${name}`)
  .join(', ')
const DIALECTS = 'rfc9309, google, draft-koster-rep-00, koster-1996, original-1994'
const WRITE_URLS = 'write the name of a file with one URL on each line, or - for stdin'
const WRITE_A_UA_OR_TOKEN = 'write one such as "ExampleBot/1.0", or give --product-token'
const WRITE_A_FILE = 'write the name of a robots.txt file, or the URL of a site'
const BROWSER = 'Mozilla/5.0 (X11; Linux)'

/** The API's message about an invalid option. The command prints it after the name of the flag. */
function explanationOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as OptionError).explanation
  }
  throw new Error('the options are valid; write invalid ones')
}
const clientMessage = (options: RobotsClientOptions) => explanationOf(() => new RobotsClient(options))
const MISSING = clientMessage({ userAgent: '' })

const ROWS: readonly (readonly [args: readonly string[], line: string])[] = [
  // commands and options
  [[], `write a command, ${COMMANDS}; see politely --help`],
  [['chek'], '"chek" is not a command; write check; see politely --help'],
  [['help', 'chek'], '"chek" is not a command; write check; see politely --help'],
  [['frob', 'robots.txt'], `"frob" is not a command; write ${COMMANDS}; see politely --help`],
  [
    [URL, ...BOT],
    '"http://127.0.0.1:9/" is not a command; write politely check http://127.0.0.1:9/; see politely --help',
  ],
  [
    ['check', URL, ...BOT, '--origin', 'https://example.com'],
    '--origin is an option of diff, match, not of check; see politely check --help',
  ],
  [['--frobnicate'], `unknown option --frobnicate; write a command first, ${COMMANDS}; see politely --help`],
  [['two\nlines \u001b[31m'], `"two\\nlines \\u001b[31m" is not a command; write ${COMMANDS}; see politely --help`],
  [
    ['check', URL, '--frobnicate'],
    `unknown option --frobnicate; write one of ${CHECK_OPTIONS}; see politely check --help`,
  ],
  [['check', URL, '-q'], `unknown option -q; write one of ${CHECK_OPTIONS}; see politely check --help`],
  // the words of other programs
  ...(
    [
      ['check', '--ua', '--user-agent'],
      ['check', '-u', '--user-agent'],
      ['check', '-agent', '--user-agent'],
      ['check', '--USER_AGENT', '--user-agent'],
      ['check', '--bot', '--user-agent or --product-token'],
      ['check', '--token', '--product-token'],
      ['check', '--output', '--format'],
      ['check', '--file', '--robots'],
      ['completion', '--file', 'politely check, which has --robots'],
      [
        'check',
        '--url',
        'the value without --url, as in politely check URL… --user-agent NAME [--robots FILE|URL] [--edge]',
      ],
      ['explain', '-r', '--robots'],
      ['test', '--url', '--robots'],
      ['test', '--junit', '--format junit'],
      ['lint', '--robots', 'the value without --robots, as in politely lint FILE… [--fix] [--format NAME]'],
      ['lint', '--fail-on', '--max-severity'],
      ['lint', '--bot', 'politely diff, which has --crawler'],
      ['lint', '--version', 'politely --version'],
      ['completion', '--quiet', 'politely completion SHELL'],
      ['fetch', '-o', '--output'],
      ['fetch', '-O', '--output'],
      ['fetch', '--out', '--output'],
      ['fetch', '-i', '--include'],
      ['fetch', '--delay', '--min-delay'],
      ['fetch', '--max-time', '--timeout'],
      ['crawl', '--delay', '--min-delay'],
      ['crawl', '--wait', '--min-delay'],
      ['crawl', '--rate-limit', '--min-delay'],
      ['crawl', '--max-depth', '--depth'],
      ['crawl', '--level', '--depth'],
      ['crawl', '-r', '--depth'],
      ['crawl', '-n', '--max-pages'],
      ['crawl', '--limit', '--max-pages'],
      ['crawl', '--workers', '--concurrency'],
      ['crawl', '-o', '--format'],
      ['sitemap', '--limit', '--max-urls'],
      ['match', '-i', '--urls'],
      ['match', '--field', '--column'],
      ['crawl', '--tries', '--retry'],
      ['match', '--fail', '--fail-on'],
      ['explain', '--location', '--follow'],
    ] as const
  ).map(
    ([command, flag, remedy]) =>
      [[command, flag, 'x'], `unknown option ${flag}; write ${remedy}; see politely ${command} --help`] as const,
  ),
  ...(
    [
      ['fetch', '-L', 'redirects are followed, and each one is checked against robots.txt first'],
      ['crawl', '--follow', 'redirects are followed, and each one is checked against robots.txt first'],
      ['check', '--retry', 'robots.txt is requested up to three times'],
      ['crawl', '--ignore-robots', 'politely always obeys robots.txt, so there is no option for it'],
      ['fetch', '-k', 'to trust a certificate, set NODE_EXTRA_CA_CERTS=FILE'],
      [
        'fetch',
        '--cookie',
        'requests have no other headers than the User-Agent; for more, write a program with politely(fetch)',
      ],
      [
        'crawl',
        '--include',
        'crawl stays within the origins of its URLs, and has no filter; politely match filters lists of URLs',
      ],
      ['match', '--limit', 'match reads all URLs; write head -n 100 urls.txt | politely match …'],
      ['match', '--threads', 'match uses one thread; to use more, split the list of URLs'],
      ['lint', '--ignore', 'a comment "# politely-ignore CODE" in the file suppresses a finding'],
      ['check', '--verbose', 'to see all that is known, write --format json or ndjson'],
    ] as const
  ).map(
    ([command, flag, answer]) =>
      [[command, flag, 'x'], `unknown option ${flag}: ${answer}; see politely ${command} --help`] as const,
  ),
  [
    ['audit', robots, '--crawler', 'GPTBot'],
    '--crawler is an option of diff, match, not of audit; see politely audit --help',
  ],
  [
    ['match', '--url', URL],
    'unknown option --url; match reads URLs from stdin; write < urls.txt, or --urls FILE; see politely match --help',
  ],
  [
    ['check', URL, '--user-agent', '--json'],
    '--user-agent needs a value; write --user-agent NAME; see politely check --help',
  ],
  [
    ['check', URL, '—user-agent', 'ExampleBot'],
    '"—user-agent" begins with a dash that is not a hyphen; write --user-agent; see politely check --help',
  ],
  [
    ['lint', robots, '--fix', 'all'],
    '"all" after --fix is read as an operand; write --fix=all; see politely lint --help',
  ],
  [['lint', robots, '--format', 'JSON'], '--format: "JSON" is not known; write json; see politely lint --help'],
  [['--json', 'lint'], 'unknown option --json; write the command first: politely lint --json; see politely --help'],
  [['-v'], 'unknown option -v; write politely --version; see politely --help'],
  [['version'], '"version" is not a command; write politely --version; see politely --help'],
  [['validate', robots], '"validate" is not a command; write lint; see politely --help'],
  [[robots], `"${robots}" is not a command; write politely lint ${robots}; see politely --help`],
  [
    ['www.example.com/a'],
    '"www.example.com/a" is not a command; write politely check https://www.example.com/a; see politely --help',
  ],
  [['check', URL, '--usr-agent', 'x'], 'unknown option --usr-agent; write --user-agent; see politely check --help'],
  [['check', URL, ...BOT, '--json=yes'], '--json takes no value; write --json alone; see politely check --help'],
  ...['abc', '0', '20000'].map(
    (given) =>
      [
        ['check', URL, ...BOT, '--timeout', given],
        `--timeout: "${given}" is out of range; write seconds from 0.001 to 600, such as 10`,
      ] as const,
  ),
  [
    ['check', URL, ...BOT, '--dialect', 'bing'],
    `--dialect: "bing" is not known; write one of ${DIALECTS}; see politely check --help`,
  ],

  ...['localhost:8080', 'socks5://localhost:1080', 'http://localhost:99999', ''].map(
    (given) =>
      [
        ['check', URL, ...BOT, '--proxy', given],
        `--proxy: "${given}" is not the URL of an HTTP proxy; write one such as http://localhost:8080`,
      ] as const,
  ),
  ...['localhost', '10.0.0.0/99', ''].map(
    (given) =>
      [
        ['check', URL, ...BOT, '--allow-address', '10.1.2.3', '--allow-address', given],
        `--allow-address: "${given}" is neither an address nor a block; write one such as 10.1.2.3 or 10.0.0.0/8`,
      ] as const,
  ),

  // URLs
  [['check', ...BOT], 'no URL was given; write one such as https://example.com/page, or - to read URLs from stdin'],
  [['check', '', ...BOT], `"": ${explainUrlProblem('empty')}`],
  [['check', '/path', ...BOT], `"/path": ${explainUrlProblem('relative', '/path')}`],
  [
    ['check', 'localhost:8080/x', ...BOT],
    '"localhost:8080/x": the URL has no scheme; write it whole, such as https://localhost:8080/x',
  ],
  [['check', 'example.com/page', ...BOT], `"example.com/page": ${explainUrlProblem('relative', 'example.com/page')}`],
  [['check', 'x'.repeat(500), ...BOT], `"${'x'.repeat(200)}…": ${explainUrlProblem('relative')}`],
  [['check', 'mailto:bot@example.com', ...BOT], `"mailto:bot@example.com": ${explainUrlProblem('scheme')}`],
  [['check', 'http://a b/', ...BOT], `"http://a b/": ${explainUrlProblem('malformed')}`],

  [
    ['check', robots, ...BOT],
    `"${robots}": this is a file; to check URLs against it, write politely check URL --robots "${robots}"`,
  ],
  ...['explain', 'usage'].map(
    (command) =>
      [
        [command, robots, ...BOT],
        `"${robots}": this is a file; to check URLs against it, write politely ${command} URL --robots "${robots}"`,
      ] as const,
  ),
  ...['fetch', 'crawl', 'doctor'].map(
    (command) =>
      [
        [command, robots, ...BOT],
        `"${robots}": this is a file; to check URLs against it, write politely check URL --robots "${robots}"`,
      ] as const,
  ),
  [['check', urls, ...BOT], `"${urls}": this is a file; to check the URLs in it, write politely check - < "${urls}"`],

  // user agent and product token
  [['check', URL], `--user-agent: ${MISSING}`],
  [['check', URL, '--user-agent', ''], `--user-agent: ${MISSING}`],
  [['check', URL, '--user-agent'], '--user-agent needs a value; write --user-agent NAME; see politely check --help'],
  [['check', URL, '--user-agent', 'Example\nBot'], `--user-agent: ${clientMessage({ userAgent: 'Example\nBot' })}`],
  [
    ['check', URL, '--user-agent', BROWSER],
    `--user-agent: ${clientMessage({ userAgent: BROWSER }).replace(/`?productToken`?/, '--product-token')}`,
  ],
  [
    ['check', URL, ...BOT, '--product-token', 'Example Bot'],
    `--product-token: ${clientMessage({ userAgent: 'ExampleBot', productToken: 'Example Bot' })}`,
  ],
  [['match', '--robots', robots], `--user-agent: is missing or empty; ${WRITE_A_UA_OR_TOKEN}`],
  [['match', '--robots', robots, '--user-agent', ' '], `--user-agent: is missing or empty; ${WRITE_A_UA_OR_TOKEN}`],
  [
    ['match', '--robots', robots, '--user-agent', '*'],
    '--user-agent: "*" contains no clear product token: "*" has other characters than letters, digits, "-" and "_"; write the name to look for in robots.txt as --product-token, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0',
  ],
  [
    [...MATCH, '--crawler', '*', '--crawler', 'Example Bot'],
    '--crawler: "Example Bot" is not a product token; write letters, digits, "-" and "_", such as ExampleBot',
  ],
  [
    [...MATCH, '--product-token', 'Example Bot'],
    '--product-token: "Example Bot" is not a product token; write letters, digits, "-" and "_", such as ExampleBot',
  ],

  // the file
  [
    ['match', ...BOT],
    '--robots: is missing; write politely match --robots robots.txt < urls.txt, or --robots-dir FOLDER',
  ],
  [['match', ...BOT, '--robots='], `--robots: "": there is no such file; ${WRITE_A_FILE}`],
  [MATCH_FILE(''), `--robots: "": there is no such file; ${WRITE_A_FILE}`],
  [MATCH_FILE('no\nsuch'), `--robots: "no\\nsuch": there is no such file; ${WRITE_A_FILE}`],
  [MATCH_FILE(folder), `--robots: "${folder}": it is a directory; ${WRITE_A_FILE}`],
  [MATCH_FILE(unreadable), `--robots: "${unreadable}": permission to read it was denied; ${WRITE_A_FILE}`],
  [
    ['match', ...BOT, '--robots', robots, '--robots-dir', folder],
    '--robots and --robots-dir cannot be combined; write politely match --robots robots.txt < urls.txt, or --robots-dir FOLDER',
  ],
  [['match', ...BOT, '--robots-dir', 'no/such'], '--robots-dir: "no/such": there is no such folder'],
  [[...MATCH, '--urls', 'no/such'], `--urls: "no/such": there is no such file; ${WRITE_URLS}`],
  [[...MATCH, '--urls', folder], `--urls: "${folder}": it is a directory; ${WRITE_URLS}`],
  [[...MATCH, '--resume'], '--resume: needs the file of the last run; write --output FILE --resume'],
  [
    [...MATCH, '--output', robots],
    `--output: "${robots}" exists; write --resume to go on with it, or the name of a new file`,
  ],
  [[...MATCH, '--output', 'x', '--format', 'text'], '--output: text is for people; write --format ndjson or csv'],
  [MATCH_FILE('-'), '--urls: stdin was read already, because - was given before; write the name of a file'],
  [['diff', join(folder, 'none'), robots], `diff: "${join(folder, 'none')}": there is no such file; ${WRITE_A_FILE}`],
  [['diff', '-', '-'], 'diff: stdin was read already, because - was given before; write the name of a file'],
  [['lint', '-', '--fix'], '--fix: - is stdin, which cannot be fixed; write the name of a file'],
  [
    [...MATCH, '--origin', 'example.com'],
    `--origin: ${explanationOf(() => parseRobots('', { origin: 'example.com' }))}`,
  ],
  [
    [...MATCH, URL],
    '"http://127.0.0.1:9/": match reads URLs from stdin; write < urls.txt, or --urls FILE; see politely match --help',
  ],
  // explain
  [['explain', '-', ...BOT], 'explain is about one URL; to check the URLs on stdin, write politely check - < urls.txt'],
  [['explain', ...BOT], 'no URL was given; write one, such as politely explain https://example.com/page'],
  [
    ['explain', '/a', '/b', ...BOT],
    'more than one URL was given; write one, such as politely explain https://example.com/page',
  ],
  [
    ['explain', '/a', ...BOT, '--robots', robots, '--follow'],
    '--follow requests the page; leave --robots out, or leave --follow out',
  ],
  [
    ['check', '/a', ...BOT, '--robots', robots, '--edge'],
    '--edge compares two responses of a site; leave --robots out, or leave --edge out',
  ],

  // test
  [['test'], 'no file of expectations was given; write one such as politely test robots.expect --robots robots.txt'],
  [['test', robots], '--robots: is missing; write politely test robots.expect --robots robots.txt'],
  [
    ['test', 'no-such', '--robots', robots],
    'test: "no-such": there is no such file; write the name of a file of expectations',
  ],
  [['test', empty, '--robots', robots], `${empty}: there is no expectation; write one such as "deny * /admin"`],
  // completion
  [['completion'], 'no shell was given; write one of bash, zsh, fish'],
  [['completion', 'tcsh'], '"tcsh" is not known; write one of bash, zsh, fish'],

  // lint and diff
  [['lint'], 'no file was given; write one such as politely lint public/robots.txt, or the URL of a site'],
  [
    ['lint', 'no-such'],
    'lint: "no-such": there is no such file; write the name of a robots.txt file, or the URL of a site',
  ],
  [
    ['lint', ignoring],
    'line 1: politely-ignore: "spelling" is no code of a finding; write one that politely lint prints',
  ],
  [['audit'], 'no file was given; write the name of a robots.txt, such as politely audit public/robots.txt'],
  [['audit', robots, 'admin'], 'audit: "admin" is not a path; begin it with /'],
  [
    ['audit', `${robots}.missing`],
    `audit: ${JSON.stringify(`${robots}.missing`)}: there is no such file; write the name of a robots.txt file, or the URL of a site`,
  ],
  [['diff', robots], 'write two files or URLs, such as politely diff live.txt public/robots.txt --urls urls.txt'],
  [
    ['diff', robots, robots, '--product-token', 'Google bot'],
    '--product-token: "Google bot" is not a product token; write letters, digits, "-" and "_", such as ExampleBot',
  ],
  [['lint', 'https://example.com', '--fix'], '--fix: https://example.com is a URL; write the name of a file'],
  [['diff', robots, robots, '--urls', empty], `--urls: ${empty} has no URLs; write one on each line`],

  ...Object.entries(EXPECTATIONS).map(
    ([name, [, problem, column]]) =>
      [['test', join(folder, name), '--robots', robots], `${join(folder, name)}:2:${column}: ${problem}`] as const,
  ),
]

const isRoot = process.getuid?.() === 0 // root may read every file

test.for(ROWS)('rejects `politely` with the arguments %j', async ([args, line], { skip }) => {
  if (args.includes(unreadable)) skip(isRoot, 'root may read every file')
  expect(await runInThisProcess(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test('a child process prints that line on stderr and exits with code 2', { tags: 'full' }, async () => {
  const [[args, line] = [[], '']] = ROWS
  expect(await runCli(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test.for([
  ['in one line', {}, /^politely: unexpected error: ENOSPC: [^\n]*; set POLITELY_DEBUG=1 to print the stack\n$/],
  ['with its stack, with POLITELY_DEBUG', { POLITELY_DEBUG: '1' }, /^Error: ENOSPC[^\n]*\n {4}at /],
] as const)(
  'reports an unexpected error (a full disk) with exit code 70, %s',
  { tags: 'full' },
  async ([, env, expected]) => {
    const full = `data:text/javascript,process.stdout.write = () => { throw new Error('ENOSPC: no space left on device') }`
    const { code, stderr } = await runCli(MATCH, { stdin: '/\n', env, node: ['--import', full] })
    expect(stderr).toMatch(expected)
    expect(code).toBe(70)
  },
)
