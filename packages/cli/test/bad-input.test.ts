// Whatever is typed wrong: one line on stderr that says what to write, the right exit code, no stack.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { politely, politelyHere } from './politely.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
const unreadable = join(folder, 'unreadable.txt')
writeFileSync(robots, 'User-agent: *\nDisallow: /private\n')
writeFileSync(unreadable, '')
chmodSync(unreadable, 0o000)
afterAll(() => rmSync(folder, { recursive: true }))

const BOT = ['--user-agent', 'ExampleBot']
const URL = 'http://127.0.0.1:9/'
const MATCH = ['match', '--robots', robots, '--agent', 'ExampleBot']
const WRITE_A_UA = 'write one such as "ExampleBot/1.0 (+https://example.com/bot)"'
const WRITE_A_FILE = 'write the name of a robots.txt file'
const WRITE_IT_WHOLE = 'the URL has no scheme and host; write it whole, such as https://example.com/page'

const ROWS: readonly (readonly [args: readonly string[], line: string])[] = [
  // commands and options
  [[], 'write a command, check or match; see politely --help'],
  [['chek'], "unknown command 'chek' (Did you mean check?); see politely --help"],
  [['help', 'chek'], 'write a command, check or match; see politely --help'],
  [['--frobnicate'], "unknown option '--frobnicate'; see politely --help"],
  [['two\nlines \u001b[31m'], "unknown command 'two lines \\u{1b}[31m'; see politely --help"],
  [['check', URL, '--frobnicate'], "unknown option '--frobnicate'; see politely check --help"],
  [
    ['check', URL, '--usr-agent', 'x'],
    "unknown option '--usr-agent' (Did you mean --user-agent?); see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--timeout', 'abc'],
    "option '--timeout <seconds>' argument 'abc' is invalid. Write seconds, such as 10; see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--timeout', '0'],
    "option '--timeout <seconds>' argument '0' is invalid. Write seconds, such as 10; see politely check --help",
  ],
  [
    ['check', URL, ...BOT, '--dialect', 'bing'],
    "option '--dialect <name>' argument 'bing' is invalid. Allowed choices are rfc9309, google, draft-koster-rep-00, koster-1996, original-1994; see politely check --help",
  ],

  // URLs
  [['check', ...BOT], 'no URL was given; write one such as https://example.com/page, or - to read them from stdin'],
  [['check', '', ...BOT], '"": no URL was given; write one such as https://example.com/page'],
  [['check', '/path', ...BOT], `"/path": ${WRITE_IT_WHOLE}`],
  [['check', 'example.com/page', ...BOT], `"example.com/page": ${WRITE_IT_WHOLE}`],
  [['check', 'x'.repeat(500), ...BOT], `"${'x'.repeat(200)}…": ${WRITE_IT_WHOLE}`],
  [
    ['check', 'mailto:bot@example.com', ...BOT],
    '"mailto:bot@example.com": only http, https and ftp URLs have a robots.txt; write one such as https://example.com/page',
  ],
  [['check', 'http://a b/', ...BOT], '"http://a b/": this is not a URL; write one such as https://example.com/page'],

  // who asks
  [['check', URL], `--user-agent: is missing or empty; ${WRITE_A_UA}`],
  [['check', URL, '--user-agent', ''], `--user-agent: is missing or empty; ${WRITE_A_UA}`],
  [['check', URL, '--user-agent'], "option '--user-agent <name>' argument missing; see politely check --help"],
  [
    ['check', URL, '--user-agent', 'Example\nBot'],
    `--user-agent: contains characters that a header must not contain; ${WRITE_A_UA}`,
  ],
  [
    ['check', URL, '--user-agent', 'Mozilla/5.0 (X11; Linux)'],
    '--user-agent: "Mozilla/5.0 (X11; Linux)" contains no product token; begin it with a name such as ExampleBot/1.0, or give --product-token',
  ],
  [
    ['check', URL, ...BOT, '--product-token', 'Example Bot'],
    '--product-token: "Example Bot" is not a product token; write a name of letters, digits, "-" and "_", such as ExampleBot',
  ],
  [
    ['match', '--robots', robots, '--agent', ''],
    '--agent: no product token can be taken from ""; write a name such as ExampleBot',
  ],
  [
    ['match', '--robots', robots, '--agent', '*'],
    '--agent: no product token can be taken from "*"; write a name such as ExampleBot',
  ],
  [['match', '--robots', robots], "required option '--agent <name>' not specified; see politely match --help"],

  // the file
  [['match', '--agent', 'B'], "required option '--robots <file>' not specified; see politely match --help"],
  [['match', '--robots', '', '--agent', 'B'], `--robots: "": there is no such file; ${WRITE_A_FILE}`],
  [['match', '--robots', 'no\nsuch', '--agent', 'B'], `--robots: "no\\nsuch": there is no such file; ${WRITE_A_FILE}`],
  [['match', '--robots', folder, '--agent', 'B'], `--robots: "${folder}": it is a directory; ${WRITE_A_FILE}`],
  [['match', '--robots', unreadable, '--agent', 'B'], `--robots: "${unreadable}": it may not be read; ${WRITE_A_FILE}`],
  [['match', '--robots', '-', '--agent', 'B'], `--robots: stdin holds the URLs; ${WRITE_A_FILE}`],
  [
    [...MATCH, '--origin', 'example.com'],
    '--origin: "example.com" is not an origin; write one such as https://example.com',
  ],
  [
    [...MATCH, URL],
    "too many arguments for 'match'. Expected 0 arguments but got 1: http://127.0.0.1:9/; see politely match --help",
  ],
]

const isRoot = process.getuid?.() === 0 // who may read everything

test.for(ROWS)('politely %j', async ([args, line], { skip }) => {
  if (args.includes(unreadable)) skip(isRoot, 'root may read every file')
  expect(await politelyHere(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test('as a process, that is the line on stderr and the exit code', async () => {
  const [[args, line] = [[], '']] = ROWS
  expect(await politely(args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${line}\n` })
})

test.for([
  ['one line', {}, /^politely: unexpected error: ENOSPC: [^\n]*; set POLITELY_DEBUG=1 to see where\n$/],
  ['the stack when asked for', { POLITELY_DEBUG: '1' }, /^Error: ENOSPC[^\n]*\n {4}at /],
] as const)('what nobody foresaw (here, a full disk) is a fault: %s', async ([, env, said]) => {
  const full = `data:text/javascript,process.stdout.write = () => { throw new Error('ENOSPC: no space left on device') }`
  const { code, stderr } = await politely(MATCH, { stdin: '/\n', env, node: ['--import', full] })
  expect(stderr).toMatch(said)
  expect(code).toBe(70)
})
