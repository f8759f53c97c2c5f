// `npm run bench`: measures speed and memory, also of other libraries. docs/speed.md describes the
// workloads.
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
import { coldFetch } from './workloads/cold-fetch.ts'
import { crawl } from './workloads/crawl/crawl.ts'
import { growth } from './workloads/crawl/growth.ts'
import { gate } from './workloads/gate/gate-overhead.ts'
import { hostile } from './workloads/hostile.ts'
import { longFiles } from './workloads/long-files.ts'
import { match } from './workloads/match.ts'
import { memory } from './workloads/memory.ts'
import { pacePostgres } from './workloads/pace-postgres.ts'
import { full, type Plan, quick, withoutSampledLibraries } from './workloads/plan.ts'
import { siteVisit } from './workloads/site-visit.ts'
import { storeMemory } from './workloads/store-memory.ts'
import { storeRedis } from './workloads/store-redis.ts'
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
  if (globalThis.gc === undefined) console.log('Node runs without --expose-gc: figures vary more\n')

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
  if (options.isRecorded) saveRecord(sheets, { ...options, machine, date })
}

async function runAll(
  { workloads, hasPeers, isQuick }: Options,
  plan: Plan,
  corpus: Corpus | undefined,
  show: (...found: readonly Sheet[]) => void,
): Promise<void> {
  const generated = lazy(() => sitesOf(siteFiles(plan.files)))
  const real = lazy(() => corpus && sitesOf(filesIn(corpus.folder, plan.maxRealFiles)))
  const processPlan = isQuick && !hasPeers ? withoutSampledLibraries(plan) : plan
  for (const workload of workloads) {
    if (workload === 'long-files') show(...(await longFiles(plan)))
    else if (workload === 'gate') show(...(await gate(plan)))
    else if (workload === 'hostile') show(await hostile(processPlan))
    else if (workload === 'crawl') show(await crawl(plan))
    else if (workload === 'growth') show(await growth(plan))
    else if (workload === 'cold-fetch') show(await coldFetch(plan))
    else if (workload === 'warm-client') show(await warmClient(plan))
    else if (workload === 'store-memory') show(await storeMemory(plan))
    else if (workload === 'pace-postgres') show(await pacePostgres(plan))
    else if (workload === 'store-redis') {
      show(...(await storeRedis(plan, corpus && Array.from(filesIn(corpus.folder, plan.maxRealFiles)))))
    } else if (workload === 'memory') {
      show(await memory(processPlan, undefined))
      if (corpus) show(await memory(processPlan, corpus.folder))
    } else {
      const run = { match, 'site-visit': siteVisit, agreement }[workload]
      show(await run(plan, generated(), 'generated'))
      const files = real()
      if (files) show(await run(plan, files, 'real'))
    }
  }
}

function lazy<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}

function sitesOf(files: Iterable<SiteFile>): Site[] {
  return Array.from(files, (file, i) => siteOf(file, i + 1))
}

/** Writes the record, and updates the tables of the page. */
function saveRecord(sheets: readonly Sheet[], run: Options & Parameters<typeof recordOf>[1]): void {
  const { folder } = run
  const file = writeRecord(recordOf(sheets, run), folder ?? RECORDS)
  const page = folder === undefined ? SPEED_PAGE : join(folder, 'speed.md')
  writeFileSync(page, speedPage(readFileSync(SPEED_PAGE, 'utf8'), newestRecord(folder ?? RECORDS)))
  if (folder === undefined) format(file)
  console.log(`wrote ${file}\nand   ${page}`)
}

/** Formats the file as `npm run check` requires. */
function format(file: string): void {
  const root = join(import.meta.dirname, '../../..')
  spawnSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', file], { cwd: root })
}
