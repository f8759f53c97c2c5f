// `politely cache`: chooses the verb, and checks its flags.

import { nearestName } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { exportEntries } from './export.ts'
import { importEntries } from './import.ts'
import { list } from './list.ts'
import { prune } from './prune.ts'
import { refresh } from './refresh.ts'
import { show } from './show.ts'

interface Verb {
  /** Whether origins, or the name of a file, follow the verb. */
  readonly hasOperands?: true
  /** The flags of this verb, beside `--store`. */
  readonly flags: readonly string[]
  /** Returns the exit code. */
  run(args: Arguments, operands: readonly string[]): Promise<number>
}

const FORMAT = ['format', 'json']
const SELECTION = ['host', 'older-than']

const VERBS: Readonly<Record<string, Verb>> = {
  ls: { flags: [...SELECTION, ...FORMAT], run: list },
  show: { hasOperands: true, flags: FORMAT, run: show },
  refresh: {
    hasOperands: true,
    flags: [...SELECTION, 'all', 'user-agent', 'product-token', 'timeout', 'proxy', 'allow-address', ...FORMAT],
    run: refresh,
  },
  export: { flags: [...SELECTION, 'output', 'robots-dir'], run: exportEntries },
  import: { hasOperands: true, flags: [], run: importEntries },
  prune: { flags: SELECTION, run: prune },
}
const COMMON = ['store', 'color', 'no-color', 'help']

/** Returns the exit code. */
export async function cache(args: Arguments): Promise<number> {
  const [name, ...operands] = args.operands
  const names = Object.keys(VERBS)
  if (name === undefined) throw new UsageError(`write what to do: politely cache ${names.join('|')}`)
  const verb = VERBS[name]
  if (verb === undefined) {
    const similar = nearestName(name, names)
    throw new UsageError(
      `${JSON.stringify(name)} is not known; write politely cache ${similar ?? names.join('|')}`,
      name,
    )
  }
  const flag = args.names.find((each) => ![...COMMON, ...verb.flags].includes(each))
  if (flag !== undefined) {
    const owners = names.filter((each) => VERBS[each]?.flags.includes(flag))
    throw new UsageError(`--${flag} is an option of cache ${owners.join(', ')}, not of cache ${name}`)
  }
  const [operand] = operands
  if (operand !== undefined && !verb.hasOperands)
    throw new UsageError(`cache ${name}: ${JSON.stringify(operand)} has no meaning here; leave it out`, operand)
  return verb.run(args, operands)
}
