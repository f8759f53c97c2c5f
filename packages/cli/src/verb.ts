// The verbs of a command, such as `new` of `politely keys new`.
import { nearestName } from '@politely/core/internal'
import type { Arguments } from './command-line.ts'
import { UsageError } from './exit-code.ts'
export interface Verb {
  /** What follows the verb: `FILE`. Empty if nothing does. */
  readonly operands: string
  /** How many operands there must be. */
  readonly count: readonly [min: number, max: number]
  /** The flags of this verb. */
  readonly flags: readonly string[]
  /** Returns the exit code. */
  run(args: Arguments, operands: readonly string[]): Promise<number>
}

const COMMON = ['color', 'no-color', 'help']

/** Returns the verb that the first operand names. @throws {UsageError} for an unknown verb. */
export function verbIn<V>(
  command: string,
  verbs: Readonly<Record<string, V>>,
  [name, ...operands]: readonly string[],
): { readonly name: string; readonly verb: V; readonly operands: readonly string[] } {
  const names = Object.keys(verbs)
  if (name === undefined) throw new UsageError(`write what to do: politely ${command} ${names.join('|')}`)
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (verb !== undefined) return { name, verb, operands }
  const similar = nearestName(name, names) ?? names.join('|')
  throw new UsageError(`${JSON.stringify(name)} is not known; write politely ${command} ${similar}`, name)
}

/** Returns the first flag of the command line that is neither common to all commands nor listed. */
export function foreignFlag(args: Arguments, flags: readonly string[]): string | undefined {
  return args.names.find((each) => !COMMON.includes(each) && !flags.includes(each))
}

/** @throws {UsageError} for more operands than `max`. */
export function assertOperands(what: string, operands: readonly string[], max: number): void {
  const extra = operands[max]
  if (extra !== undefined)
    throw new UsageError(`${what}: ${JSON.stringify(extra)} has no meaning here; leave it out`, extra)
}

/**
 * Runs the verb that the first operand names.
 * @throws {UsageError} for an unknown verb, a flag of another verb, and too few or too many
 * operands.
 */
export async function runVerb(
  command: string,
  verbs: Readonly<Record<string, Verb>>,
  args: Arguments,
): Promise<number> {
  const { name, verb, operands } = verbIn(command, verbs, args.operands)
  const flag = foreignFlag(args, verb.flags)
  if (flag !== undefined) {
    const owners = Object.keys(verbs).filter((each) => verbs[each]?.flags.includes(flag))
    throw new UsageError(`--${flag} is an option of ${command} ${owners.join(', ')}, not of ${command} ${name}`)
  }
  const [min, max] = verb.count
  assertOperands(`${command} ${name}`, operands, max)
  if (operands.length < min) throw new UsageError(`write politely ${command} ${name} ${verb.operands}`)
  return verb.run(args, operands)
}
