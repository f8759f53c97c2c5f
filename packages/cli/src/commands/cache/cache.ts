// `politely cache`: chooses the verb, and checks its flags.
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { storeFileOf } from '../../input/store.ts'
import { runVerb, type Verbs, verbOf } from '../../verb.ts'
import { listEntries, pruneEntries, showEntries } from './entries.ts'
import { exportEntries } from './export.ts'
import { importEntries } from './import.ts'
import { listPages, prunePages, showPages } from './pages.ts'
import { refresh } from './refresh.ts'

const FORMAT = ['format', 'json']
const SELECTION = ['host', 'older-than']
const LIST = [...SELECTION, ...FORMAT]
const NETWORK = ['user-agent', 'product-token', 'timeout', 'proxy', 'allow-address']

const VERBS: Verbs = {
  ls: { count: [0, 0], flags: LIST, run: listEntries },
  show: { flags: FORMAT, run: showEntries },
  refresh: { flags: [...LIST, 'all', ...NETWORK], run: refresh },
  export: { count: [0, 0], flags: [...SELECTION, 'output', 'robots-dir'], run: exportEntries },
  import: { flags: [], run: importEntries },
  prune: { count: [0, 0], flags: SELECTION, run: pruneEntries },
}
/** The same verbs for the pages of `--cache`. */
const PAGE_VERBS: Verbs = {
  ls: { count: [0, 0], flags: LIST, run: listPages },
  show: { flags: ['output', ...FORMAT], run: showPages },
  prune: { count: [0, 0], flags: SELECTION, run: prunePages },
}

/** Returns the exit code. */
export async function cache(args: Arguments): Promise<number> {
  const name = verbOf('cache', VERBS, args)
  const isOfPages = args.has('cache')
  if (isOfPages && args.has('store'))
    throw new UsageError('--cache is a file of pages and --store one of robots.txt files; write one of them')
  if (isOfPages && PAGE_VERBS[name] === undefined)
    throw new UsageError(`cache ${name}: is for robots.txt files; write --store FILE instead of --cache`)
  if (!isOfPages && PAGE_VERBS[name] !== undefined && storeFileOf(args) === undefined)
    throw new UsageError(
      `cache ${name}: write --store robots.sqlite for robots.txt files (or set POLITELY_STORE), or --cache pages.sqlite for pages`,
    )
  return isOfPages ? runVerb('cache', PAGE_VERBS, args, ' --cache') : runVerb('cache', VERBS, args)
}
