// What does a question cost when the robots.txt is known? Through the client, as a crawler asks.
import type { LookupFunction } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { LRUCache } from 'lru-cache'
import { type SiteFile, siteFiles } from '../files/site-file.ts'
import { questionsFor } from '../files/site-question.ts'
import { ours, reference } from '../libraries/libraries.ts'
import { CRAWLER } from '../libraries/library.ts'
import { countAllowed, countAllowedAtOnce, ownCopy } from '../loops.ts'
import { type Contestant, inRounds, nowNs } from '../rounds.ts'
import type { Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

/** Links of one page go to one site, mostly. */
const LINKS = 10
/** Questions about each site. */
const QUESTIONS = 50

export async function warmClient(plan: Plan): Promise<Sheet> {
  const client = new RobotsClient({ userAgent: `${CRAWLER}/1.0`, lookup: onLoopback })
  try {
    return await withRobotsServer(plan.warmOrigins, (port) => compare(plan, client, port))
  } finally {
    await client.close()
  }
}

async function compare(plan: Plan, client: RobotsClient, port: number): Promise<Sheet> {
  const files = Array.from(siteFiles(plan.warmOrigins), (file, i) => ({
    ...file,
    origin: `http://site${i}.test:${port}`,
  }))
  const { success } = await client.prefetch(files.map(({ origin }) => `${origin}/`))
  if (success !== files.length) throw new Error(`only ${success} of ${files.length} files could be fetched`)
  const cache = new LRUCache<string, { readonly rules: unknown }>({ max: files.length })
  for (const file of files) {
    const rules = await reference.prepare(file.bytes.toString('utf8'), `${file.origin}/robots.txt`)
    cache.set(file.origin, { rules })
  }

  const count = {
    isAllowed: ownCopy(countAllowed, 'isAllowed'),
    check: ownCopy(countAllowed, 'check'),
    theirs: ownCopy(countAllowedAtOnce, `${reference.name} in a cache`),
  }
  const byIsAllowed = (url: string) => client.isAllowed(url)
  const byCheck = async (url: string) => (await client.check(url)).allowed
  const byTheirs = (known: typeof cache, url: string) => reference.isAllowed(known.get(new URL(url).origin)?.rules, url)

  const urls = { 'in runs of ten': inRuns(files, LINKS), 'site by site': inRuns(files, 1) }
  const rows: Sheet['rows'][number][] = []
  const findings: Sheet['findings'][number][] = []
  for (const [order, asked] of Object.entries(urls)) {
    const contestants = [
      new Asking(asked.length, () => count.isAllowed(byIsAllowed, asked)),
      new Asking(asked.length, () => count.check(byCheck, asked)),
      new Asking(asked.length, () => count.theirs(byTheirs, cache, asked)),
    ]
    const medians = await inRounds(contestants, 1, plan.rounds)
    const [isAllowed = Number.NaN, check = Number.NaN, theirs = Number.NaN] = medians.map(
      ([ns]) => (ns ?? Number.NaN) / 1e3,
    )
    rows.push(
      { name: `${ours.name}, isAllowed, ${order}`, cells: [isAllowed, theirs / isAllowed] },
      { name: `${ours.name}, check, ${order}`, cells: [check, theirs / check] },
      { name: `${reference.name} + LRU cache, ${order}`, cells: [theirs, 1] },
    )
    const target = order === 'in runs of ten'
    findings.push(
      {
        what: `warm, ${order}: a question`,
        value: isAllowed,
        unit: 'µs',
        target: target ? { atMost: 1.2 } : null,
      },
      {
        what: `warm, ${order}: rate against ${reference.name} + LRU`,
        value: theirs / isAllowed,
        unit: '×',
        target: target ? { atLeast: 6 } : null,
      },
    )
  }
  return {
    workload: 'warm client',
    over: 'own',
    title: `warm client: ${files.length} sites known, ${QUESTIONS} questions about each`,
    columns: [
      { name: 'a question', unit: 'µs' },
      { name: 'rate', unit: `× ${reference.name}` },
    ],
    rows,
    findings,
    asides: [],
  }
}

/** All questions, so many about one site and then about the next. */
function inRuns(files: readonly SiteFile[], length: number): string[] {
  const questions = files.map((file, i) => questionsFor(file, i + 1, QUESTIONS))
  const urls: string[] = []
  for (let start = 0; start < QUESTIONS; start += length) {
    for (const of of questions) urls.push(...of.slice(start, start + length))
  }
  return urls
}

/** Answers are counted, and the count is kept, so that no compiler may leave the question out. */
class Asking implements Contestant {
  readonly #questions: number
  readonly #countAllowed: () => number | Promise<number>
  allowed = 0

  constructor(questions: number, countAllowed: () => number | Promise<number>) {
    this.#questions = questions
    this.#countAllowed = countAllowed
  }

  async measure(): Promise<number> {
    const start = nowNs()
    this.allowed += await this.#countAllowed()
    return (nowNs() - start) / this.#questions
  }
}

const onLoopback: LookupFunction = (_host, { all }, found) => {
  if (all) found(null, [{ address: '127.0.0.1', family: 4 }])
  else found(null, '127.0.0.1', 4)
}
