// Reads the conformance cases: real and generated robots.txt files with the verdicts of
// google/robotstxt. The files belong to other people, so they are not in this repository.
// POLITELY_CONFORMANCE_DIR names a folder with
//
//   public.ndjson.gz          one case per line: id, agent, url, and `file` (a path in the corpus) or `robots_b64`
//   corpus-public.tar.gz      the robots.txt files that the cases name
//   vectors-access.ndjson.gz  cases from the test suites of other libraries
//   vectors-other.ndjson.gz   cases from there that are not about access: crawl-delays, sitemaps and others
//   judge.mjs                 counts the results that agree with the reference: judge.mjs DIALECT CASES RESULTS CORPUS
import { execFile, execFileSync } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { printAfterRun } from '../parts.ts'

export interface ConformanceCase {
  readonly id: string
  readonly agent: string
  readonly url: string
  readonly robots: Uint8Array
}

/** A matcher's verdict on a case. */
export interface ConformanceVerdict {
  readonly allowed: boolean
  /** The line of the deciding rule; 0 if no rule decides. */
  readonly line: number
}

export interface Agreement {
  /** The output of `judge.mjs`. */
  readonly report: string
  /** Whether the results agree with the reference in all binding cases. */
  readonly complete: boolean
  readonly cases: number
}

/** Returns the folder that POLITELY_CONFORMANCE_DIR names; undefined if it is not set. */
export function conformanceDir(): string | undefined {
  const dir = process.env.POLITELY_CONFORMANCE_DIR
  return dir ? realpathSync(dir) : undefined // judge.mjs compares its own path with the real path
}

/**
 * Like `conformanceDir`, for tests. Without the folder, the test run ends with a line that says
 * that tests were skipped.
 */
export function conformanceDirOrNote(): string | undefined {
  const dir = conformanceDir()
  if (dir === undefined)
    printAfterRun('Tests were skipped because POLITELY_CONFORMANCE_DIR names no folder of conformance cases.')
  return dir
}

/**
 * Runs one matcher for each dialect on every case, and `judge.mjs` on the results. Returns an
 * agreement for each dialect.
 */
export async function judgeConformance<Dialect extends string>(
  dir: string,
  matchers: Readonly<Record<Dialect, { check(conformanceCase: ConformanceCase): ConformanceVerdict }>>,
): Promise<Record<Dialect, Agreement>> {
  const folder = mkdtempSync(join(tmpdir(), 'politely-conformance-'))
  try {
    execFileSync('tar', ['-xzf', join(dir, 'corpus-public.tar.gz'), '-C', folder])
    const corpus = join(folder, 'corpus-public')
    const casesFile = join(dir, 'public.ndjson.gz')
    const runs = (Object.keys(matchers) as Dialect[]).map((dialect) => ({ dialect, results: [] as string[] }))
    for await (const conformanceCase of casesIn(casesFile, corpus)) {
      for (const { dialect, results } of runs) {
        results.push(JSON.stringify({ id: conformanceCase.id, ...matchers[dialect].check(conformanceCase) }))
      }
    }
    const agreements = runs.map(async ({ dialect, results }) => {
      const resultsFile = join(folder, `${dialect}.ndjson`)
      writeFileSync(resultsFile, results.join('\n'))
      const judge = await judgeResults([join(dir, 'judge.mjs'), dialect, casesFile, resultsFile, corpus])
      return [dialect, { ...judge, cases: results.length }]
    })
    return Object.fromEntries(await Promise.all(agreements))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function judgeResults(args: readonly string[]): Promise<Pick<Agreement, 'report' | 'complete'>> {
  return new Promise((resolve) =>
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ report: stdout + stderr, complete: error === null }),
    ),
  )
}

async function* casesIn(casesFile: string, corpus: string): AsyncGenerator<ConformanceCase> {
  const files = new Map<string, Uint8Array>()
  const read = (file: string) => {
    const bytes = files.get(file) ?? readFileSync(join(corpus, file))
    files.set(file, bytes)
    return bytes
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

/**
 * A case from the test suite of another library, with the verdicts of that library and of the
 * reference.
 */
export interface Vector {
  readonly id: string
  /** `owner/repository:file:name of the test`. */
  readonly source: string
  readonly kind: string
  readonly robots: Uint8Array
  readonly agents: readonly string[]
  readonly url: string
  /** Other data: for some suites, the URL of the robots.txt. */
  readonly note?: string
  /** The verdict that the suite expects. */
  readonly expected: boolean
  /** The verdict of google/robotstxt. */
  readonly google: boolean
  /** Whether both verdicts agree. */
  readonly agree: boolean
  /** Why they do not agree. */
  readonly reason?: string
}

/** Reads the cases about access. */
export async function vectorsIn(dir: string): Promise<readonly Vector[]> {
  return linesOf(join(dir, 'vectors-access.ndjson.gz'), (line) => {
    const { agent, agents = [agent], ...rest } = JSON.parse(line)
    return { ...rest, agents, robots: robotsIn(rest) }
  })
}

/** A case that is not about access, or whose result is not a verdict. */
export interface OtherVector {
  readonly id: string
  readonly source: string
  /** What the suite tests: `crawl-delay`, `sitemaps`, `host`, `line`, … */
  readonly kind: string
  readonly robots: Uint8Array
  readonly agent?: string
  readonly url?: string
  readonly note?: string
  /** The result that the suite expects. */
  readonly expected: unknown
}

/** Reads the cases that are not about access. */
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
