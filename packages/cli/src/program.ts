// Chooses the command, and prints help and version.
import { parseCommand } from './command-line.ts'
import { commands } from './commands.ts'
import { EXITS, UsageError } from './exit-code.ts'
import { commandFor } from './flag-synonyms.ts'
import { commandHelp, programHelp } from './help.ts'
import { isFile } from './input/is-file.ts'
import { untilInterrupted } from './interrupt.ts'
import { orList } from './output/wrap.ts'
import { write } from './output/write.ts'
import { version } from './version.ts'

/**
 * Runs a command line, without `node` and the name of the script. Returns the exit code.
 * @throws {UsageError} for a mistake on the command line.
 */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv
  if (first === undefined) throw new UsageError(`write a command, ${allNames()}; see politely --help`)
  const isHelp = first === '--help' || first === '-h' || first === 'help'
  if (first === '--version' || first === '-V') return print(`${version()}\n`)
  if (isHelp && rest[0] === undefined) return print(programHelp(commands))
  const name = isHelp ? (rest[0] as string) : first
  const spec = commands.find((each) => each.name === name)
  if (spec === undefined) throw new UsageError(`${unknownCommand(name, rest)}; see politely --help`, name)
  if (isHelp) return print(commandHelp(spec))
  const args = parseCommand(spec, rest, commands)
  if (args.has('help')) return print(commandHelp(spec))
  if (args.has('color')) process.env.FORCE_COLOR = '1'
  if (args.has('no-color')) process.env.FORCE_COLOR = '0'
  const [operand] = args.operands
  if (spec.noOperands !== undefined && operand !== undefined) {
    const problem = `${JSON.stringify(operand)}: ${spec.noOperands}; see politely ${spec.name} --help`
    throw new UsageError(problem, operand)
  }
  const exitCode = spec.run(args, commands)
  return spec.leavesSignals ? exitCode : untilInterrupted(exitCode)
}

function unknownCommand(name: string, rest: readonly string[]): string {
  const names = commands.map((command) => command.name)
  if (name === '-v') return 'unknown option -v; write politely --version'
  if (name.startsWith('-')) {
    const later = rest.find((word) => names.includes(word))
    const first =
      later === undefined ? `a command first, ${allNames()}` : `the command first: politely ${later} ${name}`
    return `unknown option ${name}; write ${first}`
  }
  const problem = `${JSON.stringify(name)} is not a command; write`
  if (name === 'version') return `${problem} politely --version`
  if (isFile(name)) return `${problem} politely lint ${name}`
  if (URL.canParse(name)) return `${problem} politely check ${name}`
  if (/^[\w-]+(?:\.[\w-]+)+(?:[/?#]|$)/.test(name)) return `${problem} politely check https://${name}`
  return `${problem} ${commandFor(name, names) ?? allNames()}`
}

function allNames(): string {
  return orList(commands.map(({ name }) => name))
}

async function print(text: string): Promise<number> {
  await write(text)
  return EXITS.success.code
}
