// The options of the command line.
import { parseArgs } from 'node:util'
import { libraries, ours } from './libraries/libraries.ts'
import type { Library } from './libraries/library.ts'

/** In the order in which they run. The client's come first: the others leave thousands of prepared files in memory, which a crawler has not. */
const WORKLOADS = [
  'site-visit',
  'cold-fetch',
  'warm-client',
  'long-files', // before the thousands of files that fill the heap: in one so full a question there takes twice as long
  'ask',
  'hostile',
  'memory',
  'store-memory',
  'agreement',
  'gate',
] as const
type Workload = (typeof WORKLOADS)[number]

export interface Options {
  readonly workloads: readonly Workload[]
  readonly libraries: readonly Library[]
  /** Whether the libraries were chosen with `--peers`. */
  readonly isChosen: boolean
  readonly isQuick: boolean
  readonly isRecorded: boolean
  /** Where a record and the page are put that are not to be kept; undefined for the places of those that are. */
  readonly into: string | undefined
}

/** The command line cannot be followed; the message says why. */
export class OptionsError extends Error {}

export const USAGE: string = `usage: npm run bench -- [${WORKLOADS.join('|')}]… [options]

  --quick         few files and few rounds: a minute or less, for a look
  --peers A,B     beside ours only these libraries: ${libraries
    .filter((one) => one !== ours)
    .map(({ name }) => name)
    .join(', ')}
  --record        keep the figures in packages/bench/record and put them into docs/speed.md
  --into FOLDER   with --record: put both there instead, to see that it works
`

export function optionsFrom(args: readonly string[]): Options {
  const { values, positionals } = parsed(args)
  const { quick = false, record = false, into } = values
  const peers = values.peers?.split(',')
  for (const name of peers ?? []) {
    if (!libraries.some((one) => one.name === name)) throw new OptionsError(`no library is called ${name}`)
  }
  const strange = positionals.find((name) => !WORKLOADS.some((one) => one === name))
  if (strange !== undefined) throw new OptionsError(`no workload is called ${strange}`)
  if (into !== undefined && !record) throw new OptionsError('--into says where to --record')
  if (record && into === undefined && (quick || peers !== undefined || positionals.length > 0)) {
    throw new OptionsError('a record that is kept is of everything; add --into FOLDER for one that is not')
  }
  return {
    workloads: WORKLOADS.filter((one) => positionals.length === 0 || positionals.includes(one)),
    libraries: libraries.filter((one) => one === ours || peers === undefined || peers.includes(one.name)),
    isChosen: peers !== undefined,
    isQuick: quick,
    isRecorded: record,
    into,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        peers: { type: 'string' },
        record: { type: 'boolean' },
        into: { type: 'string' },
      },
    })
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : String(error))
  }
}
