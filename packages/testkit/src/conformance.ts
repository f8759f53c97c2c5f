// The reference's cases, where a checkout of them is at hand. They are other people's files, so they are not part of this
// repository: POLITELY_CONFORMANCE_DIR names a folder with
//   public.ndjson.gz          a case a line: id, agent, url, and `file` (in the corpus) or `robots_b64`
//   corpus-public.tar.gz      the robots.txt files that cases name
//   vectors-access.ndjson.gz  questions out of other libraries' test suites
//   vectors-other.ndjson.gz   the same about crawl-delays, sitemaps and all else
//   judge.mjs                 counts how far results agree: judge.mjs DIALECT CASES RESULTS CORPUS
import { execFileSync, spawnSync } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { printAfterRun } from './parts.ts'

export interface ConformanceCase {
  readonly id: string
  readonly agent: string
  readonly url: string
  readonly robots: Uint8Array
}

/** What a matcher answers to a case; `line` is that of the deciding rule, 0 for none. */
export interface ConformanceAnswer {
  readonly allowed: boolean
  readonly line: number
}

export interface Agreement {
  /** What the judge printed. */
  readonly report: string
  /** Whether everything that binds agrees. */
  readonly complete: boolean
  readonly cases: number
}

/** The folder that POLITELY_CONFORMANCE_DIR names, if it names one. */
export function conformanceDir(): string | undefined {
  const dir = process.env.POLITELY_CONFORMANCE_DIR
  return dir ? realpathSync(dir) : undefined // the judge compares its own path with the real one
}

/** Like `conformanceDir`, for tests: a run without the folder ends with a line that says that they were skipped. */
export function conformanceDirOrNote(): string | undefined {
  const dir = conformanceDir()
  if (dir === undefined)
    printAfterRun('Tests were skipped because POLITELY_CONFORMANCE_DIR names no folder of conformance cases.')
  return dir
}

/** Puts every case to a matcher, and the results to the judge. */
export async function judgeConformance(
  dir: string,
  dialect: string,
  answer: (asked: ConformanceCase) => ConformanceAnswer,
): Promise<Agreement> {
  const folder = mkdtempSync(join(tmpdir(), 'politely-conformance-'))
  try {
    execFileSync('tar', ['-xzf', join(dir, 'corpus-public.tar.gz'), '-C', folder])
    const corpus = join(folder, 'corpus-public')
    const casesFile = join(dir, 'public.ndjson.gz')
    const results: string[] = []
    for await (const asked of casesIn(casesFile, corpus)) {
      results.push(JSON.stringify({ id: asked.id, ...answer(asked) }))
    }
    const resultsFile = join(folder, 'results.ndjson')
    writeFileSync(resultsFile, results.join('\n'))
    const judge = spawnSync(process.execPath, [join(dir, 'judge.mjs'), dialect, casesFile, resultsFile, corpus], {
      encoding: 'utf8',
    })
    return { report: judge.stdout + judge.stderr, complete: judge.status === 0, cases: results.length }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function* casesIn(casesFile: string, corpus: string): AsyncGenerator<ConformanceCase> {
  const files = new Map<string, Uint8Array>()
  const read = (file: string) => {
    const known = files.get(file) ?? readFileSync(join(corpus, file))
    files.set(file, known)
    return known
  }
  const lines = createInterface({
    input: createReadStream(casesFile).pipe(createGunzip()),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  for await (const line of lines) {
    if (line === '') continue
    const { id, agent, url, file, robots_b64: base64 } = JSON.parse(line)
    yield { id, agent, url, robots: file === undefined ? Buffer.from(base64, 'base64') : read(file) }
  }
}

/** A question out of another library's test suite, with that suite's answer and the reference's. */
export interface Vector {
  readonly id: string
  /** `owner/repository:file:name of the test`. */
  readonly source: string
  readonly kind: string
  readonly robots: Uint8Array
  readonly agents: readonly string[]
  readonly url: string
  /** What does not fit elsewhere: for some suites, the URL of the robots.txt. */
  readonly note?: string
  /** The suite's answer. */
  readonly expected: boolean
  /** The answer of google/robotstxt. */
  readonly google: boolean
  /** Whether the suite wants the same. */
  readonly agree: boolean
  /** Why it does not. */
  readonly reason?: string
}

export async function vectorsIn(dir: string): Promise<readonly Vector[]> {
  return linesOf(join(dir, 'vectors-access.ndjson.gz'), (line) => {
    const { agent, agents = [agent], ...rest } = JSON.parse(line)
    return { ...rest, agents, robots: robotsIn(rest) }
  })
}

/** A question about something else than access, or one that has no plain answer, with the suite's answer. */
export interface OtherVector {
  readonly id: string
  readonly source: string
  /** What is asked: `crawl-delay`, `sitemaps`, `host`, `line`, … */
  readonly kind: string
  readonly robots: Uint8Array
  readonly agent?: string
  readonly url?: string
  readonly note?: string
  readonly expected: unknown
}

export async function otherVectorsIn(dir: string): Promise<readonly OtherVector[]> {
  return linesOf(join(dir, 'vectors-other.ndjson.gz'), (line) => {
    const vector = JSON.parse(line)
    return { ...vector, robots: robotsIn(vector) }
  })
}

function robotsIn({
  robots,
  robots_b64: base64 = '',
}: {
  readonly robots?: string
  readonly robots_b64?: string
}): Uint8Array {
  return robots === undefined ? Buffer.from(base64, 'base64') : Buffer.from(robots)
}

async function linesOf<T>(file: string, read: (line: string) => T): Promise<readonly T[]> {
  const lines: T[] = []
  const input = createReadStream(file).pipe(createGunzip())
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') lines.push(read(line))
  }
  return lines
}
