// Measures the memory of a MemoryStore with the texts of very many origins, and compares it with
// the size that the store reports. Starts a child process for each measurement.
import { measureInProcess } from '../held-bytes.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export interface StoreMemoryMessage {
  readonly heldBytes: number
  /** The `memoryBytes` that the store reports. */
  readonly reportedBytes: number
}

/**
 * A very short text, the entry of a usual robots.txt, and the entry of a long robots.txt. The store
 * gets fewer of the long ones.
 */
const TEXTS = [
  { characters: 20, share: 1 },
  { characters: 700, share: 1 },
  { characters: 20_000, share: 0.05 },
]
/** This workload has this many times the origins of the workload memory. */
const ORIGINS_FACTOR = 10

const CHILD = new URL('./store-memory-child.ts', import.meta.url)

export async function storeMemory(plan: Plan): Promise<Sheet> {
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const { characters, share } of TEXTS) {
    const origins = plan.origins * ORIGINS_FACTOR * share
    const { heldBytes, reportedBytes } = await measureInProcess<StoreMemoryMessage>(CHILD, [origins, characters])
    rows.push({
      name: `texts of ${characters} characters`,
      cells: [heldBytes / origins, reportedBytes / origins, reportedBytes / heldBytes, origins],
    })
    findings.push({
      what: `MemoryStore: \`memoryBytes\` against memory used, texts of ${characters}`,
      value: reportedBytes / heldBytes,
      unit: '×',
      target: { atLeast: 1 },
    })
  }
  return {
    workload: 'store memory',
    over: 'own',
    title: 'store memory: texts in a MemoryStore',
    columns: [
      { name: 'used', unit: 'bytes/origin' },
      { name: 'reported', unit: 'bytes/origin' },
      { name: 'reported', unit: '× used' },
      { name: 'of', unit: 'origins' },
    ],
    rows,
    findings,
    notes: [],
  }
}
