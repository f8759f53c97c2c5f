// Measures core together with matchers in other languages: all read the same files and answer the
// same questions, in the same rounds.
//
// Each matcher runs in a process, its reader. The reader gets a file with all sites, and the name of
// a crawler. For each line that it receives, a number N, it reads the robots.txt of every site and
// checks the first N URLs of the site. Then it writes the nanoseconds of processor time for one
// site, and how many URLs were allowed.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { CRAWLER } from '../../crawler.ts'
import type { Site } from '../../libraries/prepared.ts'
import { median } from '../../median.ts'
import type { Finding, Row, Sheet } from '../../sheet.ts'
import type { Plan } from '../plan.ts'
import { type Checkouts, compiledReader, PEER_OPTIONS } from './peers.ts'

const URL_COUNTS = [1, 10, 50, 200]
/** Each reader reads at least so many sites before the first round: V8 compiles core meanwhile. */
const WARM_UP_SITES = 2_000
/** From so many URLs on, no other matcher may be faster. */
const FASTEST_FROM_URLS = 10

const CORE_SCRIPT = fileURLToPath(new URL('./core-child.ts', import.meta.url))

/** The process of a matcher, and what it measured. */
class Reader {
  readonly name: string
  /** For each number of URLs, the nanoseconds of each round. */
  readonly ns: readonly number[][] = URL_COUNTS.map(() => [])
  /** How many URLs it allowed, for each number of URLs. */
  readonly allowed: number[] = []
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(name: string, program: string, args: readonly string[]) {
    this.name = name
    this.#process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]()
  }

  async measure(urlCount: number, isWarmUp: boolean): Promise<void> {
    this.#process.stdin.write(`${urlCount}\n`)
    const { done, value } = await this.#lines.next()
    if (done) throw new Error(`${this.name} ended`)
    const [ns, allowed] = value.split(' ').map(Number) as [number, number]
    const i = URL_COUNTS.indexOf(urlCount)
    this.allowed[i] = allowed
    if (!isWarmUp) this.ns[i]?.push(ns)
  }

  kill(): void {
    this.#process.kill()
  }
}

export async function languages(
  plan: Plan,
  sites: readonly Site[],
  over: Sheet['over'],
  checkouts: Checkouts = {},
): Promise<Sheet> {
  const folder = mkdtempSync(join(tmpdir(), 'politely-languages-'))
  const readers: Reader[] = []
  const skipped: string[] = []
  try {
    const file = join(folder, 'sites')
    writeFileSync(file, Buffer.concat(sites.flatMap(partsOf)))
    for (const dialect of ['rfc9309', 'google']) {
      const args = [...process.execArgv, CORE_SCRIPT, file, CRAWLER, dialect]
      readers.push(new Reader(`core, ${dialect}`, process.execPath, args))
    }
    for (const option of PEER_OPTIONS) {
      const reader = compiledReader(option, checkouts[option], folder)
      if ('skipped' in reader) skipped.push(reader.skipped)
      else readers.push(new Reader(reader.name, reader.path, [file, CRAWLER]))
    }
    for (let round = -Math.ceil(WARM_UP_SITES / sites.length); round < plan.rounds; round++) {
      for (const count of URL_COUNTS) {
        for (const i of readers.keys()) {
          await readers.at((i + round) % readers.length)?.measure(count, round < 0)
        }
      }
    }
  } finally {
    for (const reader of readers) reader.kill()
    rmSync(folder, { recursive: true })
  }
  return {
    workload: 'languages',
    over,
    title: `languages: ${sites.length} files; each is parsed, and N URLs are checked`,
    columns: [
      ...URL_COUNTS.map((count) => ({ name: `N = ${count}`, unit: 'µs of processor' })),
      { name: 'allowed', unit: '%' },
    ],
    rows: readers.map((reader) => rowOf(reader, sites.length)),
    findings: findingsOf(readers),
    notes: skipped,
  }
}

/** Returns the parts of a site in the file of the readers. */
function partsOf({ file, urls }: Site): Buffer[] {
  // Every seventh URL: URLs made from rules alternate with others.
  const checked = urls.map((_, i) => `${urls[(7 * i) % urls.length]}\n`)
  return [Buffer.from(`${file.bytes.length} ${urls.length}\n`), file.bytes, Buffer.from(`\n${checked.join('')}`)]
}

function rowOf({ name, ns, allowed }: Reader, siteCount: number): Row {
  const all = siteCount * (URL_COUNTS.at(-1) as number)
  return { name, cells: [...ns.map((rounds) => median(rounds) / 1e3), (100 * (allowed.at(-1) as number)) / all] }
}

function findingsOf([core, google, ...others]: readonly Reader[]): Finding[] {
  return URL_COUNTS.flatMap((count, i): Finding[] => {
    if (core === undefined || google === undefined || count < FASTEST_FROM_URLS) return []
    /** The median of the ratios within a round. */
    const ratio = (of: Reader, to: Reader) =>
      median((of.ns[i] ?? []).map((ns, round) => ns / (to.ns[i]?.[round] as number)))
    const fastest = Math.max(...others.map((other) => ratio(core, other)))
    const what = `languages, ${count} URLs`
    return [
      {
        what: `${what}: dialect google, against rfc9309`,
        value: ratio(google, core),
        unit: '×',
        target: { atMost: 1.1 },
      },
      ...(others.length === 0
        ? []
        : [{ what: `${what}: time against the fastest other`, value: fastest, unit: '×', target: { atMost: 1 } }]),
    ]
  })
}
