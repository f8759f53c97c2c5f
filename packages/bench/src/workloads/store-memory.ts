// What do the texts of very many origins take in a MemoryStore, and does it know? A process for each measurement.
import { measuredIn } from '../held-memory.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export interface StoreMemoryMessage {
  readonly heldBytes: number
  /** What the store says of itself. */
  readonly claimedBytes: number
}

/** Hardly anything, the entry of a usual robots.txt, and one of a long one, of which fewer are kept. */
const TEXTS = [
  { characters: 20, share: 1 },
  { characters: 700, share: 1 },
  { characters: 20_000, share: 0.05 },
]
/** The sheet about rules holds so many times fewer. */
const TIMES_AS_MANY = 10

const CHILD = new URL('./store-memory-child.ts', import.meta.url)

export async function storeMemory(plan: Plan): Promise<Sheet> {
  const rows: Row[] = []
  const findings: Finding[] = []
  for (const { characters, share } of TEXTS) {
    const origins = plan.origins * TIMES_AS_MANY * share
    const { heldBytes, claimedBytes } = await measuredIn<StoreMemoryMessage>(CHILD, [origins, characters])
    rows.push({
      name: `texts of ${characters} characters`,
      cells: [heldBytes / origins, claimedBytes / origins, claimedBytes / heldBytes, origins],
    })
    findings.push({
      what: `MemoryStore: its \`memoryBytes\` against what is held, texts of ${characters}`,
      value: claimedBytes / heldBytes,
      unit: '×',
      target: { atLeast: 1 },
    })
  }
  return {
    workload: 'store memory',
    over: 'own',
    title: 'store memory: texts in a MemoryStore',
    columns: [
      { name: 'held', unit: 'bytes/origin' },
      { name: 'as it says', unit: 'bytes/origin' },
      { name: 'as it says', unit: '× held' },
      { name: 'of', unit: 'origins' },
    ],
    rows,
    findings,
    asides: [],
  }
}
