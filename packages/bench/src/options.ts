// Parses the command line of the benchmark.
import { parseArgs } from 'node:util'
import { libraries, ours } from './libraries/libraries.ts'
import type { Library } from './libraries/library.ts'

/**
 * The workloads in the order in which they run. The workloads of the client come early, because
 * others leave thousands of parsed files in memory, unlike in a crawler.
 */
const WORKLOADS = [
  'site-visit',
  'crawl',
  'growth',
  'cold-fetch',
  'warm-client',
  'long-files', // before workloads that fill the heap with files: with a full heap, a check takes twice as long
  'match',
  'hostile',
  'memory',
  'store-memory',
  'store-redis',
  'pace-postgres',
  'agreement',
  'gate',
] as const
type Workload = (typeof WORKLOADS)[number]

export interface Options {
  readonly workloads: readonly Workload[]
  readonly libraries: readonly Library[]
  /** Whether `--peers` was given. */
  readonly hasPeers: boolean
  readonly isQuick: boolean
  readonly isRecorded: boolean
  /**
   * The folder for the record and the page, from `--into`; undefined to write the repository's own.
   */
  readonly folder: string | undefined
}

/** The command line is invalid. The message says why. */
export class OptionsError extends Error {}

export const USAGE: string = `usage: npm run bench -- [${WORKLOADS.join('|')}]… [options]

  --quick         few files and few rounds: a minute or less
  --peers A,B     compare with these libraries only: ${libraries
    .filter((one) => one !== ours)
    .map(({ name }) => name)
    .join(', ')}
  --record        write the figures to packages/bench/record and docs/speed.md
  --into FOLDER   with --record: write both files into this folder instead
`

export function optionsFrom(args: readonly string[]): Options {
  const { values, positionals } = parsed(args)
  const { quick = false, record = false, into } = values
  const peers = values.peers?.split(',')
  for (const name of peers ?? []) {
    if (!libraries.some((one) => one.name === name))
      throw new OptionsError(`there is no library called ${name}; write names from the list below`)
  }
  const unknown = positionals.find((name) => !WORKLOADS.some((one) => one === name))
  if (unknown !== undefined)
    throw new OptionsError(`there is no workload called ${unknown}; write one from the list below`)
  if (into !== undefined && !record) throw new OptionsError('--into needs --record; write both')
  if (record && into === undefined && (quick || peers !== undefined || positionals.length > 0)) {
    throw new OptionsError(
      'a record must contain all workloads at full size; add --into FOLDER to write a partial one elsewhere',
    )
  }
  return {
    workloads: WORKLOADS.filter((one) => positionals.length === 0 || positionals.includes(one)),
    libraries: libraries.filter((one) => one === ours || peers === undefined || peers.includes(one.name)),
    hasPeers: peers !== undefined,
    isQuick: quick,
    isRecorded: record,
    folder: into,
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
