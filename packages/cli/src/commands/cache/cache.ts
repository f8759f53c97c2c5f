// `politely cache`: chooses the verb, and checks its flags.

import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { storeFileOf } from '../../input/store.ts'
import { assertOperands, foreignFlag, verbIn } from '../../verb.ts'
import { listEntries, pruneEntries, showEntries } from './entries.ts'
import { exportEntries } from './export.ts'
import { importEntries } from './import.ts'
import { listPages, prunePages, showPages } from './pages.ts'
import { refresh } from './refresh.ts'

interface Verb {
  /** Whether origins, or the name of a file, follow the verb. */
  readonly hasOperands?: true
  /** The flags of this verb, apart from the file. */
  readonly flags: readonly string[]
  /** Returns the exit code. */
  run(args: Arguments, operands: readonly string[]): Promise<number>
  /** The same for the pages of `--cache`. */
  readonly pages?: Pick<Verb, 'flags' | 'run'>
}

const FORMAT = ['format', 'json']
const SELECTION = ['host', 'older-than']
const LIST = [...SELECTION, ...FORMAT]

const VERBS: Readonly<Record<string, Verb>> = {
  ls: { flags: LIST, run: listEntries, pages: { flags: LIST, run: listPages } },
  show: { hasOperands: true, flags: FORMAT, run: showEntries, pages: { flags: ['output', ...FORMAT], run: showPages } },
  refresh: {
    hasOperands: true,
    flags: [...SELECTION, 'all', 'user-agent', 'product-token', 'timeout', 'proxy', 'allow-address', ...FORMAT],
    run: refresh,
  },
  export: { flags: [...SELECTION, 'output', 'robots-dir'], run: exportEntries },
  import: { hasOperands: true, flags: [], run: importEntries },
  prune: { flags: SELECTION, run: pruneEntries, pages: { flags: SELECTION, run: prunePages } },
}
const FILES = ['store', 'cache']

/** Returns the exit code. */
export async function cache(args: Arguments): Promise<number> {
  const { name, verb, operands } = verbIn('cache', VERBS, args.operands)
  const { flags, run } = work(name, verb, args)
  const flag = foreignFlag(args, [...FILES, ...flags])
  if (flag !== undefined) {
    const isOfPages = args.has('cache')
    const owners = Object.keys(VERBS).filter((each) =>
      (isOfPages ? VERBS[each]?.pages : VERBS[each])?.flags.includes(flag),
    )
    const of = isOfPages ? ' --cache' : ''
    if (owners.length === 0) throw new UsageError(`--${flag} has no meaning for pages (--cache); leave it out`)
    throw new UsageError(`--${flag} is an option of cache ${owners.join(', ')}${of}, not of cache ${name}${of}`)
  }
  if (!verb.hasOperands) assertOperands(`cache ${name}`, operands, 0)
  return run(args, operands)
}

/** Returns what to do for robots.txt files (`--store`) or for pages (`--cache`). */
function work(name: string, verb: Verb, args: Arguments): Pick<Verb, 'flags' | 'run'> {
  if (args.has('cache')) {
    if (args.has('store'))
      throw new UsageError('--cache is a file of pages and --store one of robots.txt files; write one of them')
    if (verb.pages === undefined)
      throw new UsageError(`cache ${name}: is for robots.txt files; write --store FILE instead of --cache`)
    return verb.pages
  }
  if (verb.pages !== undefined && storeFileOf(args) === undefined)
    throw new UsageError(
      `cache ${name}: write --store robots.sqlite for robots.txt files (or set POLITELY_STORE), or --cache pages.sqlite for pages`,
    )
  return verb
}
