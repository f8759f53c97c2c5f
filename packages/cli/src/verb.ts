// The verbs of a command, such as `new` of `politely keys new`.
import { nearestName } from '@politely/core/review'
import type { Arguments } from './command-line.ts'
import { UsageError } from './exit-code.ts'

interface Verb {
  /** What follows the verb in an example: `bot.jwk`. */
  readonly operands?: string
  /** How many operands there must be. Default: any number. */
  readonly count?: readonly [min: number, max: number]
  /** The flags of this verb. */
  readonly flags: readonly string[]
  /** Returns the exit code. */
  run(args: Arguments, operands: readonly string[]): Promise<number>
}

export type Verbs = Readonly<Record<string, Verb>>

/** The flags of every verb. */
const COMMON = ['color', 'no-color', 'help', 'store', 'cache']

/** Returns the name of the verb, the first operand. @throws {UsageError} for an unknown verb. */
export function verbOf(command: string, verbs: Verbs, { operands: [name] }: Arguments): string {
  const names = Object.keys(verbs)
  if (name === undefined) throw new UsageError(`write what to do: politely ${command} ${names.join('|')}`)
  if (names.includes(name)) return name
  const similar = nearestName(name, names) ?? names.join('|')
  throw new UsageError(`${JSON.stringify(name)} is not known; write politely ${command} ${similar}`, name)
}

/**
 * Runs the verb that the first operand names.
 * @param about A flag of the command line that says what the verbs are about: ` --cache`.
 * @throws {UsageError} for an unknown verb, a flag of another verb, and too few or too many
 * operands.
 */
export async function runVerb(command: string, verbs: Verbs, args: Arguments, about = ''): Promise<number> {
  const name = verbOf(command, verbs, args)
  const { operands: example, count: [min, max] = [0, Infinity], flags, run } = verbs[name] as Verb
  const flag = args.names.find((each) => !COMMON.includes(each) && !flags.includes(each))
  if (flag !== undefined) {
    const owners = Object.keys(verbs).filter((each) => verbs[each]?.flags.includes(flag))
    if (owners.length === 0) throw new UsageError(`--${flag} has no meaning for pages (--cache); leave it out`)
    const isOf = `is an option of ${command} ${owners.join(', ')}${about}`
    throw new UsageError(`--${flag} ${isOf}, not of ${command} ${name}${about}`)
  }
  const operands = args.operands.slice(1)
  const extra = operands[max]
  if (extra !== undefined)
    throw new UsageError(`${command} ${name}: ${JSON.stringify(extra)} has no meaning here; leave it out`, extra)
  if (operands.length < min) throw new UsageError(`write politely ${command} ${name} ${example}`)
  return run(args, operands)
}
