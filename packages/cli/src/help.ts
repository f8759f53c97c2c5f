// Formats the help of the program and of each command. docs/cli.md is made from the same text.
import { describeFlag, flagText } from '@politely/core/flags'
import { COMMON_FLAGS, type CommandSpec } from './command-line.ts'
import { EXITS } from './exit-code.ts'
import { wrap } from './output/wrap.ts'

/** What people ask, and the command line that answers it. */
export const QUESTIONS: readonly (readonly [question: string, line: string])[] = [
  ['May I fetch this page, and why?', 'check https://example.com/page --user-agent ExampleBot'],
  ['What is wrong with my robots.txt?', 'lint public/robots.txt'],
  ['Who in my access log broke robots.txt?', 'match --by-agent --robots robots.txt --urls access.log'],
  ['What would a new robots.txt change?', 'diff https://example.com public/robots.txt --user-agent ExampleBot'],
  ['Which known crawlers may read my site?', 'audit public/robots.txt'],
  [
    'Which pages of my sitemaps say noindex?',
    'usage --sitemap https://example.com --user-agent ExampleBot --purpose index',
  ],
]

export function programHelp(commands: readonly CommandSpec[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const)
  return `${[
    'politely: may a crawler fetch this URL, and why? (robots.txt, RFC 9309)',
    'Usage: politely COMMAND …',
    section(
      'Examples',
      QUESTIONS.flatMap(([question, line]) => [`  ${question}`, `      politely ${line}`]),
    ),
    section('Commands', table(rows)),
    section('Exit codes', exitRows(EXITS.success.meaning, EXITS.disallowed.meaning)),
    'politely COMMAND --help describes a command, with more examples; politely --version prints the version.',
  ].join('\n\n')}\n`
}

export function commandHelp({ name, usage, description, flags, examples, exits }: CommandSpec): string {
  return `${[
    `Usage: politely ${name} ${usage}`,
    description
      .split('\n\n')
      .map((paragraph) => wrap(paragraph, 0))
      .join('\n\n'),
    section(
      'Examples',
      examples.flatMap(([line, text]) => [
        `  politely ${line}`,
        ...wrap(text, 6)
          .split('\n')
          .map((each) => `      ${each}`),
      ]),
    ),
    section('Options', table([...flags, ...COMMON_FLAGS].map((flag) => [flagText(flag), describeFlag(flag)] as const))),
    section('Exit codes', exitRows(exits.success, exits.fails)),
  ].join('\n\n')}\n`
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.join('\n')}`
}

/** The codes 0 and 1 of a command, and the codes that all commands share. */
function exitRows(success: string, fails: string | undefined): readonly string[] {
  const own: [string, string][] = [['0', success], ...(fails === undefined ? [] : [['1', fails] as [string, string]])]
  const shared = (['usage', 'unreachable', 'internal', 'interrupted', 'outputClosed'] as const).map(
    (name) => [String(EXITS[name].code), EXITS[name].meaning] as const,
  )
  return table([...own, ...shared])
}

/** Two columns; the second one is wrapped. */
function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const left = Math.min(28, Math.max(...rows.map(([name]) => name.length)))
  return rows.flatMap(([name, text]) => {
    const [first = '', ...rest] = wrap(text, left + 4).split('\n')
    const indent = ' '.repeat(left + 4)
    if (name.length > left) return [`  ${name}`, ...[first, ...rest].map((line) => `${indent}${line}`)]
    return [`  ${name.padEnd(left)}  ${first}`, ...rest.map((line) => `${indent}${line}`)]
  })
}
