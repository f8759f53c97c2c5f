// Measures the memory of the rules of very many origins. A child process for each measurement
// reports its memory before and after.
import { measureInProcess } from '../held-bytes.ts'
import { ours } from '../libraries/libraries.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export interface MemoryMessage {
  readonly origins: number
  readonly rawBytes: number
  readonly heldBytes: number
  /** The sum of the sizes that the library reports; null if it reports none. */
  readonly reportedBytes: number | null
  /** Files at which the library threw. The sums do not include them. */
  readonly failures: number
}

/** Slow libraries keep this share of the files, which is enough for a ratio. */
const SAMPLE_SHARE = 0.2

const CHILD = new URL('./memory-child.ts', import.meta.url)

/** @param folder The folder of real files; undefined for generated ones. */
export async function memory(plan: Plan, folder: string | undefined): Promise<Sheet> {
  const all = plan.libraries.map(({ name, checks }) => ({ name, share: checks === 'all' ? 1 : SAMPLE_SHARE }))
  const keepers = [{ name: 'nothing', share: 1 }, { name: 'raw bytes', share: 1 }, ...all]
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const { name, share } of keepers) {
    const files = folder === undefined ? ['generated', plan.origins * share] : ['real', folder, plan.realBytes * share]
    const found = await measureInProcess<MemoryMessage>(CHILD, [name, ...files])
    const ratio = found.heldBytes / found.rawBytes
    rows.push({
      name: name === 'nothing' || name === 'raw bytes' ? `(${name})` : name,
      cells: [
        ratio,
        found.heldBytes / found.origins,
        found.rawBytes / found.origins,
        found.reportedBytes === null ? null : found.reportedBytes / found.rawBytes,
        found.origins,
        found.failures,
      ],
    })
    if (name !== ours.name) continue
    const target = folder === undefined ? null : { atMost: 0.3 }
    findings.push({ what: 'memory: used, relative to the raw bytes', value: ratio, unit: '×', target })
    if (found.reportedBytes !== null) {
      const value = found.reportedBytes / found.heldBytes
      findings.push({ what: 'memory: `memoryBytes`, relative to the memory used', value, unit: '×', target: null })
    }
  }
  return {
    workload: 'memory',
    over: folder === undefined ? 'generated' : 'real',
    title: 'memory: rules bound to one crawler, and nothing else, after some checks',
    columns: [
      { name: 'used', unit: '× raw bytes' },
      { name: 'used', unit: 'bytes/origin' },
      { name: 'raw', unit: 'bytes/origin' },
      { name: 'reported', unit: '× raw bytes' },
      { name: 'of', unit: 'origins' },
      { name: 'throws at', unit: 'files' },
    ],
    rows,
    findings,
    notes: [],
  }
}
