// Defines the commands and their options. A command's code is loaded when the command runs, so that
// `--help` and `--version` start quickly and `match` does not load the network code.
import { readFileSync } from 'node:fs'
import { dialects } from '@politely/core'
import { withoutCredentials } from '@politely/core/engine'
import { Command, type CommanderError, InvalidArgumentError, Option } from 'commander'
import type { CheckOptions } from './check.ts'
import { UsageError } from './errors.ts'
import { EXITS } from './exit-code.ts'
import type { MatchOptions } from './match.ts'

export function createProgram(): Command {
  const program = new Command('politely')
    .description('Checks URLs against robots.txt (RFC 9309).')
    .version(version())
    .addHelpText('after', `\n${EXAMPLES}\n\n${exitCodes()}`)
    .configureOutput({ writeErr: () => undefined }) // errors are thrown, and main.ts prints them
    .exitOverride(throwUsageError(() => program))

  const check: Command = program
    .command('check')
    .exitOverride(throwUsageError(() => check))
    .summary("fetch each site's robots.txt and check URLs")
    .description("Fetches the robots.txt of each URL's site and prints whether the URL may be fetched, and why.")
    .usage('<URL...> --user-agent <name> [options]')
    .argument('[URL...]', 'absolute URLs; - reads more URLs from stdin, one on each line')
    .option('--user-agent <name>', `${USER_AGENT}; required, and sent with each request`)
    .option('--product-token <token>', PRODUCT_TOKEN)
    .addOption(dialect())
    .addOption(timeout())
    .option('--json', 'print one JSON verdict on each line')
    .addHelpText('after', `\n${exitCodes()}`)
    .action(async (urls: string[], options: CheckOptions) => {
      const { check } = await import('./check.ts')
      process.exitCode = await check(urls, options)
    })

  const match: Command = program
    .command('match')
    .exitOverride(throwUsageError(() => match))
    .summary('check the URLs on stdin against a robots.txt file')
    .description(
      'Reads URLs or paths from stdin, one on each line, and prints one JSON verdict on each line. Makes no requests.',
    )
    .usage('--robots <file> --user-agent <name> [options] < urls.txt')
    .requiredOption('--robots <file>', 'a robots.txt file')
    .option('--user-agent <name>', `${USER_AGENT}; required unless --product-token is given`)
    .option('--product-token <token>', PRODUCT_TOKEN)
    .addOption(dialect())
    .option(
      '--origin <URL>',
      "the file's own origin: the verdict on URLs of other origins is other-origin (default: only paths are compared)",
    )
    .addHelpText(
      'after',
      '\nThe exit code is 0 when all of stdin was read, whatever the verdicts are, and 141 when the reader closed the output (| head).',
    )
    .action(async (options: MatchOptions) => {
      const { match } = await import('./match.ts')
      await match(options)
    })

  return program
}

/** Turns an error of commander into a one-line UsageError. */
function throwUsageError(commandOf: () => Command): (error: CommanderError) => never {
  return (error) => {
    if (error.exitCode === 0) throw error // --help, --version
    const command = commandOf()
    const path = command.parent ? `${command.parent.name()} ${command.name()}` : command.name()
    throw new UsageError(`${problemOf(error, command)}; see ${path} --help`)
  }
}

function problemOf({ code, message }: CommanderError, command: Command): string {
  if (code === 'commander.help') return 'write a command, check or match'
  const text = message
    .replace(/^error: |\.$/g, '')
    .replace(/\s*\n\s*/g, ' ') // commander's suggestion is a second line
    .replace(/^(.*(?:argument|command|option) '-*)(.*)'/, (_, start, given) => `${start}${withoutCredentials(given)}'`)
    .replace(/(?<=but got \d+: ).*/, withoutCredentials)
  if (text.includes('Did you mean')) return text
  const [, given = ''] = /'([^']*)'/.exec(text) ?? []
  if (code === 'commander.unknownCommand')
    return URL.canParse(given) ? `${text}; write politely check ${given}` : `${text}; write check or match`
  if (code === 'commander.excessArguments') return `${text}; ${command.name()} reads URLs from stdin: write < urls.txt`
  if (code !== 'commander.unknownOption' || command.parent === null) return text
  const owner = command.parent.commands.find(({ options }) => options.some(({ long }) => long === given))
  if (owner !== undefined) return `${text}; it is an option of ${owner.name()}`
  return `${text}; write one of ${command.options.map(({ long }) => long).join(', ')}`
}

const USER_AGENT = "the crawler's User-Agent: a name (ExampleBot) or a whole header (ExampleBot/1.0 (+https://…))"
const PRODUCT_TOKEN = 'the name to look for in robots.txt (default: taken from --user-agent)'

const EXAMPLES = `Examples:
  politely check https://example.com/page --user-agent ExampleBot
  politely check - --user-agent ExampleBot --json < urls.txt > verdicts.jsonl
  politely match --robots robots.txt --user-agent ExampleBot < urls.txt`

function exitCodes(): string {
  const rows = Object.values(EXITS).map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`)
  return `Exit codes:\n${rows.join('\n')}\n  If several of 0 to 3 apply: 2, else 3, else 1.`
}

function dialect(): Option {
  return new Option('--dialect <name>', 'how to parse robots.txt').choices(Object.keys(dialects)).default('rfc9309')
}

function timeout(): Option {
  return new Option('--timeout <seconds>', 'time limit for one robots.txt, including redirects and retries')
    .default(20_000, '20')
    .argParser(millisecondsOf)
}

function millisecondsOf(seconds: string): number {
  const ms = Number(seconds) * 1000
  if (ms >= 1 && ms <= 600_000) return ms
  throw new InvalidArgumentError('Expected seconds from 0.001 to 600, such as 10.')
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
