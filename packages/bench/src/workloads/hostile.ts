// How long does the worst file take that a site can write? Each library in a process of its own, which is ended when it takes
// too long and begun again with the next file.
import { fork } from 'node:child_process'
import { hostileFiles, MAX_FILE_BYTES } from '../files/hostile-file.ts'
import { ours } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import { median } from '../median.ts'
import { digits, type Finding, type Row, type Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export type HostileMessage =
  | { readonly file: number; readonly state: 'begun' }
  | { readonly file: number; readonly state: 'done'; readonly ms: number; readonly laterMs: number }
  | { readonly file: number; readonly state: 'failed' }

/** URLs that a client may really send are shorter. */
const USUAL_URL = 8_192

/** Garbage, the questions that follow, and a busy machine, come on top of what is measured. */
const GRACE_MS = 500

interface Outcome {
  /** Parsing and one question; infinite for a process that was ended. */
  readonly ms: number
  /** The slowest of the questions that followed. */
  readonly laterMs: number
  readonly failed: boolean
}

export async function hostile(plan: Plan): Promise<Sheet> {
  const contestants: { library: Library; source: 'text' | 'bytes' }[] = [
    ...plan.libraries.filter((one) => one === ours).map((library) => ({ library, source: 'bytes' as const })),
    ...plan.libraries.map((library) => ({ library, source: 'text' as const })),
  ]
  const rows: Row[] = []
  const findings: Finding[] = []
  const asides: string[] = []
  for (const { library, source } of contestants) {
    const step = library === ours ? plan.hostileSteps.ours : plan.hostileSteps.others
    const outcomes = await runAll(library, source, plan, step)
    const name = source === 'text' ? library.name : `${library.name}, from bytes`
    const every = hostileFiles.flatMap((_, i) => (outcomes[i] === undefined ? [] : [i]))
    const usual = every.filter((i) => (hostileFiles[i]?.url.length ?? 0) <= USUAL_URL)
    const msOf = (i: number) => outcomes[i]?.ms ?? 0
    const worst = (files: readonly number[]) => Math.max(...files.map(msOf))
    const answered = every.filter((i) => Number.isFinite(msOf(i)) && outcomes[i]?.failed === false)
    rows.push({
      name,
      cells: [
        cellFor(worst(every), plan),
        cellFor(worst(usual), plan),
        median(answered.map(msOf)),
        Math.max(...answered.map((i) => outcomes[i]?.laterMs ?? 0)),
        every.filter((i) => !Number.isFinite(msOf(i))).length,
        every.filter((i) => outcomes[i]?.failed).length,
        every.length,
      ],
    })
    const ranked = every.toSorted((x, y) => Math.min(msOf(y), 1e9) - Math.min(msOf(x), 1e9)) // two endless ones are alike
    asides.push(
      `${name}: ${ranked
        .slice(0, library === ours ? 6 : 2)
        .map((i) => tell(i, msOf(i)))
        .join('; ')}`,
    )
    if (library === ours && source === 'bytes') {
      const laterMs = (i: number) => outcomes[i]?.laterMs ?? 0
      const later = every.toSorted((x, y) => laterMs(y) - laterMs(x)).slice(0, 3)
      asides.push(`${name}, a later question: ${later.map((i) => tell(i, laterMs(i))).join('; ')}`)
      const finding = (what: string, ms: number): Finding => {
        return { what, value: Math.min(ms, plan.patienceMs), unit: 'ms', target: { below: 15 } }
      }
      findings.push(
        finding('hostile: the worst file', worst(every)),
        finding('hostile: the worst file with a URL of 8 KiB or less', worst(usual)),
      )
    }
  }
  return {
    workload: 'hostile',
    over: 'own',
    title: `hostile: ${hostileFiles.length} files of at most ${MAX_FILE_BYTES / 1024} KiB, each read and asked once`,
    columns: [
      { name: 'worst', unit: 'ms' },
      { name: 'URL ≤ 8 KiB', unit: 'ms' },
      { name: 'median', unit: 'ms' },
      { name: 'later ask', unit: 'ms' },
      { name: `> ${plan.patienceMs / 1e3} s`, unit: 'files' },
      { name: 'throws at', unit: 'files' },
      { name: 'of', unit: 'files' },
    ],
    rows,
    findings,
    asides,
  }
}

/** What became of each file; nothing of those that are left out. */
async function runAll(library: Library, source: 'text' | 'bytes', plan: Plan, step: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let next = 0; next < hostileFiles.length; ) next = await run(library, source, plan, step, next, outcomes)
  return outcomes
}

/** Runs from one file on; gives the one to go on with, when the process was ended. */
function run(
  library: Library,
  source: 'text' | 'bytes',
  plan: Plan,
  step: number,
  first: number,
  outcomes: Outcome[],
): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = [library.name, source, first, step, plan.rounds].map(String)
    const child = fork(new URL('./hostile-child.ts', import.meta.url), args, { execArgv: ['--expose-gc'] })
    let begun: number | undefined
    let timer: NodeJS.Timeout | undefined
    child.on('message', (message: HostileMessage) => {
      clearTimeout(timer)
      if (message.state === 'begun') {
        begun = message.file
        outcomes[begun] = { ms: Number.POSITIVE_INFINITY, laterMs: 0, failed: false } // until it says otherwise
        timer = setTimeout(() => child.kill('SIGKILL'), plan.patienceMs + GRACE_MS)
      } else if (message.state === 'done') {
        const { ms, laterMs } = message
        outcomes[message.file] = { ms: ms > plan.patienceMs ? Number.POSITIVE_INFINITY : ms, laterMs, failed: false }
      } else {
        outcomes[message.file] = { ms: 0, laterMs: 0, failed: true }
      }
    })
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      if (begun === undefined) reject(new Error(`${library.name} could not be run on hostile files`))
      else resolve(begun + step) // past the last one, or past the one at which patience or memory ended
    })
  })
}

function cellFor(ms: number, { patienceMs }: Plan): number | string {
  return Number.isFinite(ms) ? ms : `> ${digits(patienceMs)}`
}

function tell(file: number, ms: number): string {
  const { name = '', url = '' } = hostileFiles[file] ?? {}
  const length = url.length > 2_100 ? `, URL of ${digits(url.length)}` : ''
  return `${name}${length}: ${Number.isFinite(ms) ? `${ms.toFixed(1)} ms` : 'not waited for'}`
}
