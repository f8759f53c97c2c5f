// What do the rules of very many origins take? A process for each measurement, which says what it held before and after.
import { measuredIn } from '../held-memory.ts'
import { ours } from '../libraries/libraries.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export interface MemoryMessage {
  readonly origins: number
  readonly rawBytes: number
  readonly heldBytes: number
  /** The sum of what the library says of itself. */
  readonly claimedBytes: number | null
  /** Files that it threw at. They are in neither sum. */
  readonly failures: number
}

/** Libraries that are asked a sample only hold one, too: a ratio needs no more. */
const SAMPLE_SHARE = 0.2

const CHILD = new URL('./memory-child.ts', import.meta.url)

/** @param folder Of real files; undefined for generated ones. */
export async function memory(plan: Plan, folder: string | undefined): Promise<Sheet> {
  const all = plan.libraries.map(({ name, questions }) => ({ name, share: questions === 'all' ? 1 : SAMPLE_SHARE }))
  const keepers = [{ name: 'nothing', share: 1 }, { name: 'raw bytes', share: 1 }, ...all]
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const { name, share } of keepers) {
    const files = folder === undefined ? ['generated', plan.origins * share] : ['real', folder, plan.realBytes * share]
    const found = await measuredIn<MemoryMessage>(CHILD, [name, ...files])
    const ratio = found.heldBytes / found.rawBytes
    rows.push({
      name: name === 'nothing' || name === 'raw bytes' ? `(${name})` : name,
      cells: [
        ratio,
        found.heldBytes / found.origins,
        found.rawBytes / found.origins,
        found.claimedBytes === null ? null : found.claimedBytes / found.rawBytes,
        found.origins,
        found.failures,
      ],
    })
    if (name !== ours.name) continue
    const target = folder === undefined ? null : { atMost: 0.3 }
    findings.push({ what: 'memory: held, against the raw bytes', value: ratio, unit: '×', target })
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
      { name: 'held', unit: '× raw bytes' },
      { name: 'held', unit: 'bytes/origin' },
      { name: 'raw', unit: 'bytes/origin' },
      { name: 'as it says', unit: '× raw bytes' },
      { name: 'of', unit: 'origins' },
      { name: 'throws at', unit: 'files' },
    ],
    rows,
    findings,
    asides: [],
  }
}
