// The commands and their flags. The code of a command is loaded when it runs, so that `--help`
// starts quickly and `match` does not load the network code.
import type { CommandSpec, Flag } from './command-line.ts'

/** As `dialects` of core; a test compares them. */
const DIALECTS = ['rfc9309', 'google', 'draft-koster-rep-00', 'koster-1996', 'original-1994'] as const

const USER_AGENT: Flag = {
  name: 'user-agent',
  value: 'NAME',
  text: "the crawler's User-Agent: a name (ExampleBot) or a whole header; sent with each request",
}
const PRODUCT_TOKEN: Flag = {
  name: 'product-token',
  value: 'TOKEN',
  text: 'the name to look for in robots.txt, if it is not the one in --user-agent; the first one that the file names counts',
  isRepeatable: true,
}
const DIALECT: Flag = {
  name: 'dialect',
  value: 'NAME',
  text: 'how to read robots.txt',
  choices: DIALECTS,
  byDefault: 'rfc9309',
}
const TIMEOUT: Flag = {
  name: 'timeout',
  value: 'SECONDS',
  text: 'time limit for one robots.txt, including redirects and retries',
  byDefault: '20',
}
const ROBOTS: Flag = {
  name: 'robots',
  value: 'FILE',
  text: 'a robots.txt file, or a URL of one',
}

export const commands: readonly CommandSpec[] = [
  {
    name: 'check',
    summary: "fetch each site's robots.txt and check URLs",
    description: "Fetches the robots.txt of each URL's site and prints whether the URL may be fetched, and why.",
    usage: 'URL… --user-agent NAME',
    flags: [USER_AGENT, PRODUCT_TOKEN, DIALECT, TIMEOUT, { name: 'json', text: 'print one JSON verdict on each line' }],
    examples: [
      ['check https://example.com/page --user-agent ExampleBot', 'Checks one URL.'],
      [
        'check - --user-agent ExampleBot --json < urls.txt > verdicts.jsonl',
        'Checks the URLs on standard input, one on each line.',
      ],
    ],
    exits: { success: 'every URL is allowed', fails: 'a URL is disallowed' },
    run: async (args) => (await import('./commands/check.ts')).check(args),
  },
  {
    name: 'explain',
    summary: 'draw which line of robots.txt decides about a URL, and why',
    description:
      'Draws the robots.txt with line numbers, marks the groups that apply to the crawler and the line that decides, and lists the other rules that match, each with the reason why it lost. Says which dialects decide differently.\n\nWithout --robots, the robots.txt of the URL is fetched. With it, the URL may be a path.',
    usage: 'URL --user-agent NAME [--robots FILE]',
    flags: [USER_AGENT, PRODUCT_TOKEN, ROBOTS, DIALECT, TIMEOUT, { name: 'json', text: 'print one JSON object' }],
    examples: [
      ['explain https://example.com/cart --user-agent ExampleBot', 'Explains the verdict of the site as it is.'],
      ['explain /cart --user-agent ExampleBot --robots public/robots.txt', 'Explains the verdict of a draft.'],
    ],
    exits: { success: 'the URL is allowed', fails: 'the URL is disallowed' },
    run: async (args) => (await import('./commands/explain.ts')).explain(args),
  },
  {
    name: 'test',
    summary: 'check that a robots.txt does what a file of expectations says',
    description:
      'Reads files of expectations and checks a robots.txt against them. Each line is one expectation:\n\n"allow CRAWLER PATH…" and "deny CRAWLER PATH…" for paths that the crawler may or may not fetch; "deny-only CRAWLER PATH…" if these paths, and nothing else, are closed to the crawler. The crawler * stands for all that the file does not name. Text after # is a comment.',
    usage: 'EXPECTATIONS… --robots FILE',
    flags: [
      { ...ROBOTS, text: 'the robots.txt file to test, or the URL of a site or of a deploy preview' },
      { ...USER_AGENT, text: 'the User-Agent for the request, if --robots is a URL' },
      DIALECT,
      TIMEOUT,
      {
        name: 'format',
        value: 'NAME',
        text: 'how to print the results',
        choices: ['text', 'json', 'junit', 'github'],
        byDefault: 'text',
      },
    ],
    examples: [
      ['test robots.expect --robots public/robots.txt', 'Tests a file before it goes live.'],
      ['test robots.expect --robots https://preview.example.com --user-agent ExampleBot', 'Tests what a server sends.'],
    ],
    exits: { success: 'every expectation is met', fails: 'an expectation is not met' },
    run: async (args) => (await import('./commands/test.ts')).test(args),
  },
  {
    name: 'lint',
    summary: 'find mistakes in robots.txt files',
    description:
      'Prints each mistake with its line, its code and what to write. The codes are described in docs/reference/lint-findings.md.\n\nA comment "# politely-ignore CODE" at the end of a line suppresses a finding about this line; alone on a line, about the next one; in the first line, also about the whole file.\n\n--fix compares the verdicts of all crawlers that the file names, and of one that it does not name, before and after, on paths that it makes from the rules, in the dialects rfc9309 and google. A fix that changes a verdict is left to you.',
    usage: 'FILE… [--fix] [--format NAME]',
    flags: [
      {
        name: 'format',
        value: 'NAME',
        text: 'how to print the findings',
        choices: ['text', 'json', 'ndjson', 'sarif', 'github', 'gitlab', 'junit'],
        byDefault: 'text',
      },
      {
        name: 'max-severity',
        value: 'NAME',
        text: 'the highest severity for which the exit code is 0',
        choices: ['none', 'note', 'warning', 'error'],
        byDefault: 'note',
      },
      {
        name: 'fix',
        value: 'all',
        isValueOptional: true,
        text: 'write the fixes that change no verdict into the files; with =all, also the fixes that change one, each with what it changes',
        choices: ['all'],
      },
      { ...USER_AGENT, text: 'the User-Agent for the request, if a URL is given' },
      TIMEOUT,
    ],
    examples: [
      ['lint public/robots.txt', 'Lints a file.'],
      ['lint public/robots.txt --fix', 'Fixes what can be fixed without a change of any verdict.'],
      ['lint https://example.com --user-agent ExampleBot', 'Lints the robots.txt that a site sends.'],
      ['lint public/robots.txt --format sarif > robots.sarif', 'For code scanning.'],
    ],
    exits: {
      success: 'no finding is more severe than --max-severity',
      fails: 'a finding is more severe than --max-severity',
    },
    run: async (args) => (await import('./commands/lint.ts')).lint(args),
  },
  {
    name: 'diff',
    summary: 'say what a change of robots.txt does to URLs',
    description:
      'Compares two robots.txt by effect: for each crawler, how many URLs become disallowed or allowed, and by which line. Without --urls it compares paths that it makes from the rules of both files. Without --product-token it compares * and every crawler that one of the files names.',
    usage: 'OLD NEW [--urls FILE]',
    flags: [
      { name: 'urls', value: 'FILE', text: 'a file with one URL or path on each line; - for standard input' },
      PRODUCT_TOKEN,
      { ...USER_AGENT, text: 'the User-Agent for the request, if OLD or NEW is a URL' },
      DIALECT,
      TIMEOUT,
      { name: 'json', text: 'print one JSON object' },
    ],
    examples: [
      ['diff live.txt public/robots.txt --urls urls.txt', 'What would the new file change?'],
      [
        'diff https://example.com public/robots.txt --user-agent ExampleBot',
        'Compares what the site sends now with a draft.',
      ],
    ],
    exits: { success: 'no verdict changes', fails: 'a verdict changes' },
    run: async (args) => (await import('./commands/diff.ts')).diff(args),
  },
  {
    name: 'match',
    summary: 'check the URLs on stdin against a robots.txt file',
    description:
      'Reads URLs or paths from stdin, one on each line, and prints one JSON verdict on each line. Makes no requests.',
    usage: '--robots FILE --user-agent NAME < urls.txt',
    flags: [
      { ...ROBOTS, text: 'a robots.txt file' },
      USER_AGENT,
      PRODUCT_TOKEN,
      DIALECT,
      {
        name: 'origin',
        value: 'URL',
        text: "the file's own origin: the verdict on URLs of other origins is other-origin",
        byDefault: 'only paths are compared',
      },
    ],
    examples: [['match --robots robots.txt --user-agent ExampleBot < urls.txt', 'Checks a list of URLs.']],
    exits: { success: 'all of stdin was read, whatever the verdicts are' },
    noOperands: 'match reads URLs from stdin; write < urls.txt',
    run: async (args) => (await import('./commands/match.ts')).match(args),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in a shell',
    description: 'Prints a script for bash, zsh or fish. Its first lines say where to write it.',
    usage: 'SHELL',
    flags: [],
    examples: [['completion bash > /etc/bash_completion.d/politely', 'For bash.']],
    exits: { success: 'the script was printed' },
    run: async (args, all) => (await import('./commands/completion.ts')).completion(args, all),
  },
]
