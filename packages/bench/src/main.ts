// Measures speed and memory, beside other libraries: npm run bench. docs/speed.md describes the workloads.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Corpus, filesIn, openCorpus } from './files/corpus.ts'
import { type SiteFile, siteFiles } from './files/site-file.ts'
import { type Site, siteOf } from './libraries/prepared.ts'
import { thisMachine } from './machine.ts'
import { type Options, OptionsError, optionsFrom, USAGE } from './options.ts'
import { newestRecord, RECORDS, recordOf, writeRecord } from './record.ts'
import type { Sheet } from './sheet.ts'
import { SPEED_PAGE, speedPage } from './speed-page.ts'
import { sheetText } from './terminal.ts'
import { agreement } from './workloads/agreement.ts'
import { ask } from './workloads/ask.ts'
import { coldFetch } from './workloads/cold-fetch.ts'
import { gate } from './workloads/gate.ts'
import { hostile } from './workloads/hostile.ts'
import { longFiles } from './workloads/long-files.ts'
import { memory } from './workloads/memory.ts'
import { full, type Plan, quick, withoutBareWalk, withoutSlowOnes } from './workloads/plan.ts'
import { siteVisit } from './workloads/site-visit.ts'
import { storeMemory } from './workloads/store-memory.ts'
import { warmClient } from './workloads/warm-client.ts'

try {
  await bench(optionsFrom(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof OptionsError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}

async function bench(options: Options): Promise<void> {
  const { libraries, isQuick } = options
  const plan: Plan = { ...(isQuick ? quick : full), libraries }
  const machine = thisMachine()
  const date = new Date().toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length)
  console.log(`${machine.processor}, ${machine.cores} cores, Node ${machine.node}${isQuick ? ', a quick run' : ''}\n`)
  if (globalThis.gc === undefined) console.log('Node runs without --expose-gc: figures will be less steady\n')

  const sheets: Sheet[] = []
  const show = (...found: readonly Sheet[]) => {
    sheets.push(...found)
    for (const sheet of found) console.log(sheetText(sheet))
  }
  const corpus = openCorpus()
  try {
    await runAll(options, plan, corpus, show)
  } finally {
    corpus?.close()
  }
  if (options.isRecorded) keep(sheets, { ...options, machine, date })
}

async function runAll(
  { workloads, isChosen, isQuick }: Options,
  plan: Plan,
  corpus: Corpus | undefined,
  show: (...found: readonly Sheet[]) => void,
): Promise<void> {
  const generated = once(() => sitesOf(siteFiles(plan.files)))
  const real = once(() => corpus && sitesOf(filesIn(corpus.folder, plan.mostRealFiles)))
  const others = withoutBareWalk(plan)
  const patient = isQuick && !isChosen ? withoutSlowOnes(others) : others
  for (const workload of workloads) {
    if (workload === 'long-files') show(...(await longFiles(others)))
    else if (workload === 'gate') show(...(await gate(plan)))
    else if (workload === 'hostile') show(await hostile(patient))
    else if (workload === 'cold-fetch') show(await coldFetch(plan))
    else if (workload === 'warm-client') show(await warmClient(plan))
    else if (workload === 'store-memory') show(await storeMemory(plan))
    else if (workload === 'memory') {
      show(await memory(patient, undefined))
      if (corpus) show(await memory(patient, corpus.folder))
    } else {
      const run = { ask, 'site-visit': siteVisit, agreement }[workload]
      const its = workload === 'ask' ? plan : others
      show(await run(its, generated(), 'generated'))
      const files = real()
      if (files) show(await run(its, files, 'real'))
    }
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function sitesOf(files: Iterable<SiteFile>): Site[] {
  return Array.from(files, (file, i) => siteOf(file, i + 1))
}

/** The record, and the page with its tables made anew. */
function keep(sheets: readonly Sheet[], run: Options & Parameters<typeof recordOf>[1]): void {
  const { into } = run
  const file = writeRecord(recordOf(sheets, run), into ?? RECORDS)
  const page = into === undefined ? SPEED_PAGE : join(into, 'speed.md')
  writeFileSync(page, speedPage(readFileSync(SPEED_PAGE, 'utf8'), newestRecord(into ?? RECORDS)))
  if (into === undefined) format(file)
  console.log(`kept in ${file}\nand in  ${page}`)
}

/** As Biome has every file here. */
function format(file: string): void {
  const root = join(import.meta.dirname, '../../..')
  spawnSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', file], { cwd: root })
}
