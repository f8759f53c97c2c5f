// What can be typed. Commands load their own code when they run: help and version are there at once, and `match` does
// without the network's part.
import { readFileSync } from 'node:fs'
import { dialects } from '@politely/core'
import { Command, type CommanderError, InvalidArgumentError, Option } from 'commander'
import type { CheckOptions } from './check.ts'
import { EXIT_CODES } from './exit-code.ts'
import { UsageError } from './failure.ts'
import type { MatchOptions } from './match.ts'

export function createProgram(): Command {
  const program = new Command('politely')
    .description('May I fetch this URL, and when? Ask robots.txt (RFC 9309).')
    .version(version())
    .addHelpText('after', `\n${EXAMPLES}\n\n${exitCodes()}`)
    .configureOutput({ writeErr: () => undefined }) // what is wrong is thrown, and said in one place
    .exitOverride(refusal('politely'))

  program
    .command('check')
    .exitOverride(refusal('politely check'))
    .summary("ask each URL's own site")
    .description("Gets the robots.txt of each URL's site and says whether the URL may be fetched, and why.")
    .usage('<URL...> --user-agent <name> [options]')
    .argument('[URL...]', 'absolute URLs; - reads more of them from stdin, one a line')
    .option(
      '--user-agent <name>',
      'who asks: a name (ExampleBot) or the whole header (ExampleBot/1.0 (+https://…)); required',
    )
    .option('--product-token <token>', 'the name to look for in robots.txt (default: taken from the user agent)')
    .addOption(dialect())
    .addOption(timeout())
    .option('--json', 'one JSON verdict a line')
    .addHelpText('after', `\n${exitCodes()}`)
    .action(async (urls: string[], options: CheckOptions) => {
      const { check } = await import('./check.ts')
      process.exitCode = await check(urls, options)
    })

  program
    .command('match')
    .exitOverride(refusal('politely match'))
    .summary('ask a robots.txt file about the URLs on stdin')
    .description('Reads URLs, or paths, from stdin, one a line, and writes one JSON verdict a line. Asks no site.')
    .usage('--robots <file> --agent <name> [options] < urls.txt')
    .requiredOption('--robots <file>', 'a robots.txt file')
    .requiredOption('--agent <name>', 'whose rules: a product token (ExampleBot), or a header to take it from')
    .addOption(dialect())
    .option(
      '--origin <URL>',
      "the file's own origin: URLs of others are answered other-origin (default: paths alone count)",
    )
    .addHelpText('after', '\nThe exit code is 0 when it ran through, whatever the verdicts are.')
    .action(async (options: MatchOptions) => {
      const { match } = await import('./match.ts')
      await match(options)
    })

  return program
}

/** What commander finds wrong, in one line: it suggests the nearest word on a second one. */
function refusal(command: string): (error: CommanderError) => never {
  return (error) => {
    if (error.exitCode === 0) throw error // --help, --version
    const words = error.message.replace(/^error: |\.$/g, '').replace(/\s*\n\s*/g, ' ')
    const problem = error.code === 'commander.help' ? 'write a command, check or match' : words
    throw new UsageError(`${problem}; see ${command} --help`)
  }
}

const EXAMPLES = `Examples:
  politely check https://example.com/page --user-agent ExampleBot
  politely check - --user-agent ExampleBot --json < urls.txt > verdicts.jsonl
  politely match --robots robots.txt --agent ExampleBot < urls.txt`

function exitCodes(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`)
  return `Exit codes:\n${rows.join('\n')}\n  Where URLs fare differently: 2 before 3 before 1 before 0.`
}

function dialect(): Option {
  return new Option('--dialect <name>', 'how robots.txt is read').choices(Object.keys(dialects)).default('rfc9309')
}

function timeout(): Option {
  return new Option('--timeout <seconds>', 'for one robots.txt, redirects and retries included')
    .default(20_000, '20')
    .argParser(millisecondsOf)
}

function millisecondsOf(seconds: string): number {
  const ms = Number(seconds) * 1000
  if (ms >= 1 && ms <= 86_400_000) return ms
  throw new InvalidArgumentError('Write seconds, such as 10.')
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
