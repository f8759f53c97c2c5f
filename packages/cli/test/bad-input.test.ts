// Every mistake on the command line prints one line on stderr that says what to write, exits with
// code 2 and prints no stack.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainUrlProblem, type OptionError, parseRobots } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { afterAll, expect, test } from 'vitest'
import { runCli, runInThisProcess } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
const urls = join(folder, 'urls.txt')
const unreadable = join(folder, 'unreadable.txt')
writeFileSync(robots, 'User-agent: *\nDisallow: /private\n')
writeFileSync(unreadable, '')
writeFileSync(urls, 'https://example.com/\n')
chmodSync(unreadable, 0o000)
afterAll(() => rmSync(folder, { recursive: true }))

const BOT = ['--user-agent', 'ExampleBot']
const URL = 'http://127.0.0.1:9/'
const MATCH = ['match', '--robots', robots, ...BOT]
const MATCH_FILE = (file: string) => ['match', '--robots', file, ...BOT]
const CHECK_OPTIONS = '--user-agent, --product-token, --dialect, --timeout, --json'
const MATCH_OPTIONS = '--robots, --user-agent, --product-token, --dialect, --origin'
const WRITE_A_UA_OR_TOKEN = 'write one such as "ExampleBot/1.0", or give --product-token'
const WRITE_A_FILE = 'write the name of a robots.txt file'
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
  [[], 'write a command, check or match; see politely --help'],
  [['chek'], "unknown command 'chek' (Did you mean check?); see politely --help"],
  [['help', 'chek'], 'write a command, check or match; see politely --help'],
  [['lint', 'robots.txt'], "unknown command 'lint'; write check or match; see politely --help"],
  [
    [URL, ...BOT],
    "unknown command 'http://127.0.0.1:9/'; write politely check http://127.0.0.1:9/; see politely --help",
  ],
  [
    ['check', URL, ...BOT, '--robots', robots],
    "unknown option '--robots'; it is an option of match; see politely check --help",
  ],
  [['--frobnicate'], "unknown option '--frobnicate'; see politely --help"],
  [['two\nlines \u001b[31m'], "unknown command 'two lines \\u{1b}[31m'; write check or match; see politely --help"],
  [
    ['check', URL, '--frobnicate'],
    `unknown option '--frobnicate'; write one of ${CHECK_OPTIONS}; see politely check --help`,
  ],
  [
    ['match', '--robots', robots, '--agent', 'ExampleBot'],
    `unknown option '--agent'; write one of ${MATCH_OPTIONS}; see politely match --help`,
  ],
  [
    ['check', URL, '--usr-agent', 'x'],
    "unknown option '--usr-agent' (Did you mean --user-agent?); see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--timeout', 'abc'],
    "option '--timeout <seconds>' argument 'abc' is invalid. Expected seconds from 0.001 to 600, such as 10; see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--timeout', '0'],
    "option '--timeout <seconds>' argument '0' is invalid. Expected seconds from 0.001 to 600, such as 10; see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--timeout', '20000'],
    "option '--timeout <seconds>' argument '20000' is invalid. Expected seconds from 0.001 to 600, such as 10; see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--dialect', 'bing'],
    "option '--dialect <name>' argument 'bing' is invalid. Allowed choices are rfc9309, google, draft-koster-rep-00, koster-1996, original-1994; see politely check --help",
  ],

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
    `"${robots}": this is a file; to check URLs against it, write politely match --robots "${robots}" < urls.txt`,
  ],
  [['check', urls, ...BOT], `"${urls}": this is a file; to check the URLs in it, write politely check - < "${urls}"`],

  // user agent and product token
  [['check', URL], `--user-agent: ${MISSING}`],
  [['check', URL, '--user-agent', ''], `--user-agent: ${MISSING}`],
  [['check', URL, '--user-agent'], "option '--user-agent <name>' argument missing; see politely check --help"],
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
    [...MATCH, '--product-token', 'Example Bot'],
    '--product-token: "Example Bot" is not a product token; write letters, digits, "-" and "_", such as ExampleBot',
  ],

  // the file
  [['match', ...BOT], "required option '--robots <file>' not specified; see politely match --help"],
  [MATCH_FILE(''), `--robots: "": there is no such file; ${WRITE_A_FILE}`],
  [MATCH_FILE('no\nsuch'), `--robots: "no\\nsuch": there is no such file; ${WRITE_A_FILE}`],
  [MATCH_FILE(folder), `--robots: "${folder}": it is a directory; ${WRITE_A_FILE}`],
  [MATCH_FILE(unreadable), `--robots: "${unreadable}": permission to read it was denied; ${WRITE_A_FILE}`],
  [
    MATCH_FILE('https://example.com/robots.txt'),
    '--robots: "https://example.com/robots.txt" is a URL; write politely check URL, or the name of a robots.txt file',
  ],
  [MATCH_FILE('-'), `--robots: stdin contains the URLs; ${WRITE_A_FILE}`],
  [
    [...MATCH, '--origin', 'example.com'],
    `--origin: ${explanationOf(() => parseRobots('', { origin: 'example.com' }))}`,
  ],
  [
    [...MATCH, URL],
    "too many arguments for 'match'. Expected 0 arguments but got 1: http://127.0.0.1:9/; match reads URLs from stdin: write < urls.txt; see politely match --help",
  ],
]

const isRoot = process.getuid?.() === 0 // root may read every file

test.for(ROWS)('rejects `politely` with the arguments %j', async ([args, line], { skip }) => {
  if (args.includes(unreadable)) skip(isRoot, 'root may read every file')
  expect(await runInThisProcess(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test('a child process prints that line on stderr and exits with code 2', async () => {
  const [[args, line] = [[], '']] = ROWS
  expect(await runCli(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test.for([
  ['in one line', {}, /^politely: unexpected error: ENOSPC: [^\n]*; set POLITELY_DEBUG=1 to print the stack\n$/],
  ['with its stack, with POLITELY_DEBUG', { POLITELY_DEBUG: '1' }, /^Error: ENOSPC[^\n]*\n {4}at /],
] as const)('reports an unexpected error (a full disk) with exit code 70, %s', async ([, env, expected]) => {
  const full = `data:text/javascript,process.stdout.write = () => { throw new Error('ENOSPC: no space left on device') }`
  const { code, stderr } = await runCli(MATCH, { stdin: '/\n', env, node: ['--import', full] })
  expect(stderr).toMatch(expected)
  expect(code).toBe(70)
})
