// What do the rules of very many origins take? A process for each measurement, which says what it held before and after.
import { fork } from 'node:child_process'
import { ours } from '../libraries/libraries.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export interface MemoryMessage {
  readonly origins: number
  readonly rawOctets: number
  readonly heldBytes: number
  /** The sum of what the library says of itself. */
  readonly claimedBytes: number | null
  /** Files that it threw at. They are in neither sum. */
  readonly failures: number
}

/** Libraries that are asked a sample only hold one, too: a ratio needs no more. */
const SAMPLE_SHARE = 0.2

/** @param folder Of real files; undefined for generated ones. */
export async function memory(plan: Plan, folder: string | undefined): Promise<Sheet> {
  const all = plan.libraries.map(({ name, questions }) => ({ name, share: questions === 'all' ? 1 : SAMPLE_SHARE }))
  const keepers = [{ name: 'nothing', share: 1 }, { name: 'raw octets', share: 1 }, ...all]
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const { name, share } of keepers) {
    const files = folder === undefined ? ['generated', plan.origins * share] : ['real', folder, plan.realOctets * share]
    const found = await measure(name, files.map(String))
    const ratio = found.heldBytes / found.rawOctets
    rows.push({
      name: name === 'nothing' || name === 'raw octets' ? `(${name})` : name,
      cells: [
        ratio,
        found.heldBytes / found.origins,
        found.rawOctets / found.origins,
        found.claimedBytes === null ? null : found.claimedBytes / found.rawOctets,
        found.origins,
        found.failures,
      ],
    })
    if (name !== ours.name) continue
    const target = folder === undefined ? null : { atMost: 0.3 }
    findings.push({ what: 'memory: held, against the raw octets', value: ratio, unit: '×', target })
    if (found.claimedBytes !== null) {
      const value = found.claimedBytes / found.heldBytes
      findings.push({ what: 'memory: `memoryBytes` against what is held', value, unit: '×', target: null })
    }
  }
  return {
    workload: 'memory',
    over: folder === undefined ? 'generated' : 'real',
    title: 'memory: rules bound to one crawler, and nothing else, after some questions',
    columns: [
      { name: 'held', unit: '× raw octets' },
      { name: 'held', unit: 'bytes/origin' },
      { name: 'raw', unit: 'bytes/origin' },
      { name: 'as it says', unit: '× raw octets' },
      { name: 'of', unit: 'origins' },
      { name: 'throws at', unit: 'files' },
    ],
    rows,
    findings,
    asides: [],
  }
}

function measure(keeper: string, files: readonly string[]): Promise<MemoryMessage> {
  return new Promise((resolve, reject) => {
    const execArgv = ['--expose-gc', '--max-old-space-size=8192']
    const child = fork(new URL('./memory-child.ts', import.meta.url), [keeper, ...files], { execArgv })
    let found: MemoryMessage | undefined
    child.on('message', (message: MemoryMessage) => {
      found = message
    })
    child.on('error', reject)
    child.on('exit', () => {
      if (found === undefined) reject(new Error(`the memory of ${keeper} could not be measured`))
      else resolve(found)
    })
  })
}
