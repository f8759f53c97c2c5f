// Parses the command line. Commands are data (commands.ts), so that `--help`, the completion and
// docs/cli.md say the same, and a mistake is answered by one line that says what to write.
import { parseArgs } from 'node:util'
import { Arguments, type Flag, parseOptions } from '@politely/core/flags'
import { nearestName } from '@politely/core/review'
import { UsageError } from './exit-code.ts'
import { explainUnknownFlag } from './flag-synonyms.ts'

export { Arguments, type Flag }

export interface CommandSpec {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** One or more paragraphs. */
  readonly description: string
  /** What follows the name: `URL… --user-agent NAME`. */
  readonly usage: string
  readonly flags: readonly Flag[]
  /** Command lines without `politely`, each with what it does. */
  readonly examples: readonly (readonly [line: string, text: string])[]
  /** What the exit codes 0 and 1 mean; without `fails` the command never exits with 1. */
  readonly exits: { readonly success: string; readonly fails?: string }
  /** Why operands make no sense, if the command takes none: `match reads URLs from stdin`. */
  readonly noOperands?: string
  /**
   * The runner does not listen to Ctrl-C and SIGTERM. Either the command does, and has something to do
   * then. Or it computes for seconds, in which Node calls no listener: then the signal must end it.
   */
  readonly leavesSignals?: true
  /** Loads the code of the command and runs it. Returns the exit code. @param all All commands. */
  run(args: Arguments, all: readonly CommandSpec[]): Promise<number>
}

/** Every command has these flags. */
export const COMMON_FLAGS: readonly Flag[] = [
  { name: 'color', text: 'print colours also into a file or pipe' },
  { name: 'no-color', text: 'print no colours; the environment variable NO_COLOR does the same' },
  { name: 'help', text: 'print this help' },
]

/** @throws {UsageError} for an unknown flag, and for a flag with a wrong value or without one. */
export function parseCommand(spec: CommandSpec, args: readonly string[], commands: readonly CommandSpec[]): Arguments {
  const flags = new Map([...spec.flags, ...COMMON_FLAGS].map((flag) => [flag.name, flag]))
  const { tokens } = parseArgs({
    args: [...args],
    options: parseOptions([...flags.values()]),
    strict: false,
    tokens: true,
  })
  const see = `; see politely ${spec.name} --help`
  const operands: string[] = []
  const values = new Map<string, string[]>()
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'positional') operands.push(checkedOperand(token.value, tokens[i - 1], flags, see))
    if (token.kind !== 'option') continue
    const flag = flags.get(token.name)
    if (flag === undefined) {
      // `parseArgs` splits `-agent` into the letters of a group.
      const rawName = token.rawName.startsWith('--') ? token.rawName : (args[token.index] as string)
      throw new UsageError(`${explainUnknownFlag(rawName, spec, commands)}${see}`, rawName.replace(/^-+/, ''))
    }
    const given = [
      [flag.name, valueOfFlag(flag, token, flags, see)] as const,
      ...(flag.shortFor ? [flag.shortFor] : []),
    ]
    for (const [name, value] of given) values.set(name, [...(values.get(name) ?? []), value])
  }
  return new Arguments(operands, values, spec.flags)
}

/**
 * @throws {UsageError} for a flag with a dash that is not a hyphen, and for a value of `--fix` without `=`.
 */
function checkedOperand(
  operand: string,
  before: { readonly kind: string; readonly name?: string } | undefined,
  flags: ReadonlyMap<string, Flag>,
  see: string,
): string {
  const dashes = /^[\u2010-\u2015\u2212]+/.exec(operand)?.[0]
  if (dashes !== undefined)
    throw new UsageError(
      `${JSON.stringify(operand)} begins with a dash that is not a hyphen; write --${operand.slice(dashes.length)}${see}`,
      operand,
    )
  const flag = flags.get(before?.name ?? '')
  if (flag?.isValueOptional && flag.choices?.includes(operand))
    throw new UsageError(
      `${JSON.stringify(operand)} after --${flag.name} is read as an operand; write --${flag.name}=${operand}${see}`,
      operand,
    )
  return operand
}

function valueOfFlag(
  flag: Flag,
  token: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
  flags: ReadonlyMap<string, Flag>,
  see: string,
): string {
  const { name, value: placeholder, choices } = flag
  if (placeholder === undefined) {
    if (token.value !== undefined) throw new UsageError(`--${name} takes no value; write --${name} alone${see}`)
    return ''
  }
  if (token.value === undefined && flag.isValueOptional) return ''
  const isNextFlag = token.inlineValue === false && flags.has(/^--([^=]+)/.exec(token.value ?? '')?.[1] ?? '')
  if (token.value === undefined || isNextFlag)
    throw new UsageError(`--${name} needs a value; write --${name} ${placeholder}${see}`)
  if (choices !== undefined && !choices.includes(token.value)) {
    const similar = nearestName(token.value, choices)
    const remedy = similar === undefined ? `one of ${choices.join(', ')}` : similar
    throw new UsageError(`--${name}: ${JSON.stringify(token.value)} is not known; write ${remedy}${see}`, token.value)
  }
  return token.value
}
