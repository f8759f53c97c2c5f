import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import {
  BaseSequencer,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'
import { isFullRun } from './packages/testkit/src/scope.ts'

const ALL = ['{packages,examples}/*/test/**/*.test.ts', 'scripts/*.test.mjs']
// A pattern such as `!(site)` would leave out packages/sitemaps too.
const OF_THE_SITE = 'packages/site/test/**'

// These tests count the timers that are left on a fake clock. The libraries that other files use,
// such as undici, would add some of theirs.
const COUNT_TIMERS = [
  'packages/fetcher/test/{deadline,flights,redirect-limits}.test.ts',
  'packages/gate/test/{budget,circuit,concurrency,delay-factor,jitter,levels,max-wait,metrics,pace-by-function}.test.ts',
  'packages/gate/test/{pacing,random-aborts,random-levels,site-pacing}.test.ts',
]

// These tests measure the heap, for which they collect garbage again and again. In a process that has
// run a hundred other files, that took up to fifteen times as long, and their garbage could spoil
// the measurements.
const MEASURE_HEAP = [
  'packages/core/test/records.test.ts',
  'packages/fetcher/test/{body,memory-store,response-memory}.test.ts',
  'packages/gate/test/local-pacer.test.ts',
  'packages/sitemaps/test/memory.test.ts',
]
// Some of these tests observe all clients and gates of the process, and set its global context
// manager. The others observe all sockets, and would see the sockets of other files.
const OBSERVE_ALL = [
  'packages/otel/test/*.test.ts',
  'packages/fetcher/test/{client-close,ftp,network-guard,transport}.test.ts',
]
const ALONE = [...COUNT_TIMERS, ...MEASURE_HEAP, ...OBSERVE_ALL]

// Vitest starts the files first that took longest in the last run. These take long in the full run
// only.
const LONG_IN_FULL_RUN =
  /(redis|postgres).test.pacer-|(browser-|puppeteer.test.)contract|(fleet|clients).test.|crawlee.test.navigation|snippets|mutations|lint-truth|fix.test/

// Node stores the compiled modules there, for the workers and for the processes that tests start.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node')

/** The time limit of a test. */
const TIME_LIMIT_MS = isFullRun ? 180_000 : 60_000

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG_IN_FULL_RUN.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** Prints how far a long run is. */
class Progress implements Reporter {
  /** Shorter runs print nothing. */
  static readonly #MIN_FILES = 20
  #files = 0
  #ended = 0
  #startedAt = 0

  onTestRunStart(files: readonly TestSpecification[]) {
    this.#files = files.length
    this.#ended = 0
    this.#startedAt = performance.now()
  }

  onTestModuleEnd() {
    const tenthBefore = Math.floor((10 * this.#ended++) / this.#files)
    const tenth = Math.floor((10 * this.#ended) / this.#files)
    if (this.#files < Progress.#MIN_FILES || tenth === tenthBefore) return
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000)
    console.log(`${`${10 * tenth}`.padStart(3)} %  ${this.#ended} of ${this.#files} test files, ${seconds} s`)
  }
}

/** Names the tests that failed first and passed when they were repeated, with their first error. */
class UnstableTests implements Reporter {
  readonly #tests: TestCase[] = []

  onTestCaseResult(test: TestCase) {
    if (test.diagnostic()?.flaky) this.#tests.push(test)
  }

  onTestRunEnd() {
    for (const test of this.#tests) {
      const { message, stack = message } = test.result().errors?.[0] ?? { message: 'no error' }
      console.log(
        `unstable: ${test.module.relativeModuleId} > ${test.fullName}\n${stack.split('\n').slice(0, 2).join('\n')}`,
      )
    }
  }
}

/** Says how many tests the short run has skipped, where most of them are, and how to run them. */
class SkippedTests implements Reporter {
  #isWhole = true

  onInit({ config }: Vitest) {
    this.#isWhole = config.testNamePattern === undefined // with `-t`, all other tests count as skipped
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: string) {
    if (isFullRun || !this.#isWhole || reason !== 'passed') return
    const counts = modules
      .map((module) => ({ file: module.relativeModuleId, count: [...module.children.allTests('skipped')].length }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count)
    const [first, second, ...others] = counts.map(({ file, count }) => `${count} in ${file}`)
    if (first === undefined) return
    const sum = counts.reduce((total, { count }) => total + count, 0)
    const files = [first, second, others.length > 0 && `the others in ${others.length} more files`].filter(Boolean)
    console.log(
      `The short run skipped ${sum} tests (${files.join(', ')}) and most of the generated cases. To run all: npm run test:all -- --no-matrix, or npm run test:all -- FILE`,
    )
  }
}

export default defineConfig({
  test: {
    // `minimal` prints failures and a summary. `npm test -- --reporter=verbose` prints a line for
    // each test.
    reporters: ['minimal', new Progress(), new UnstableTests(), new SkippedTests()],
    // How often a failed test is repeated. CI repeats it once, on machines of unknown load, and
    // prints its name.
    retry: Number(process.env.TEST_RETRIES ?? 0),
    // Node imports the modules itself: a sixth less time than with Vite, whose features (`vi.mock`,
    // aliases) the tests do not use. Node 22 does not parse `await using`, so there Vite compiles
    // it.
    experimental: { viteModuleRunner: Number.parseInt(process.versions.node, 10) < 24, nodeLoader: false },
    silent: 'passed-only',
    sequence: { sequencer: LongestFirst },
    // Some tests start a browser or a server, and the machine may be busy.
    testTimeout: TIME_LIMIT_MS,
    hookTimeout: TIME_LIMIT_MS,
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait for a server or a browser, so more workers than processors keep the
    // processors busy. But each worker imports the modules and has its own heap. On two processors,
    // four workers were faster than three. In the full run, tests wait longer.
    maxWorkers: isFullRun ? 2 * availableParallelism() + 1 : availableParallelism() + 2,
    projects: [
      // Files share a worker and its modules, because separate workers cost a third of the run's
      // time. A helper that several files import must not call `afterEach` and the like at its top
      // level, because that would affect the first file only. Its functions call `onTestFinished`.
      {
        extends: true,
        test: { name: 'shared', include: ALL, exclude: [...ALONE, OF_THE_SITE], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
    execArgv: ['--disable-warning=ExperimentalWarning'], // Node 22 prints one for node:sqlite
  },
})
