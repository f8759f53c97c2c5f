// Vitest imports the sources of the packages: the short run needs no build. The processes that tests
// start do so too in the short run, and use the builds in the full run.
//
// A tag says what is special about a test: `test('…', { tags: 'full' }, …)`. The comment
// `// @module-tag full` gives the tag to all tests of its file. Some tags move a file to another
// project.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node'
import { isFullRun, usesBuilds } from './packages/testkit/src/scope.ts'
import { FROM_SOURCES, useSources } from './scripts/sources.mjs'
import { testFiles } from './scripts/test-files.mjs'

if (!usesBuilds) useSources()
// Node stores the compiled modules there, for the workers and for the processes that tests start.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node')

// The folder for temporary files of all tests, which is deleted with what they leave. Other users may
// enter it, because Postgres does not run as root.
const temporary = mkdtempSync(join(tmpdir(), 'politely-tests-'))
chmodSync(temporary, 0o755)
process.env.TMPDIR = temporary
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
process.once('SIGTERM', () => process.exit(143))

/** The time limit of a test. Some start a browser or a server, and the machine may be busy. */
const TIME_LIMIT_MS = isFullRun ? 180_000 : 60_000

/** A run in which more tests were repeated fails, because some of them are unreliable. */
const MAX_REPEATED = 2

// In the short run, Vitest need not import a file to find that all its tests are left out.
const files = testFiles().filter(({ tags }) => isFullRun || !tags.includes('full'))
const tagged = (tag: string) => files.filter(({ tags }) => tags.includes(tag)).map(({ file }) => file)
const OF_PROJECTS = ['browser', 'heap', 'sockets', 'timers', ...(isFullRun ? ['slow'] : [])]

/** Names the tests that failed first and passed when they were repeated. Fails a run with several. */
class Repeated implements Reporter {
  readonly #tests: TestCase[] = []

  onTestCaseResult(test: TestCase) {
    if (test.diagnostic()?.flaky) this.#tests.push(test)
  }

  onTestRunEnd(_modules: readonly TestModule[], _errors: unknown, reason: TestRunEndReason) {
    for (const test of this.#tests) {
      const { message, stack = message } = test.result().errors?.[0] ?? { message: 'no error' }
      const [first, second = ''] = stack.split('\n')
      console.log(`repeated: ${test.module.relativeModuleId} > ${test.fullName}\n${first}\n${second}`)
    }
    if (this.#tests.length <= MAX_REPEATED || reason !== 'passed') return
    console.error(`${this.#tests.length} tests passed only when they were repeated; at most ${MAX_REPEATED} may`)
    process.exitCode = 1
  }
}

export default defineConfig({
  // For Node 22, and for `--changed`, which follows the imports.
  ssr: { resolve: { conditions: ['politely-source', 'module', 'node', 'development|production'] } },
  test: {
    reporters: [isFullRun || process.stdout.isTTY ? 'default' : 'minimal', new Repeated()],
    tags: [
      { name: 'full', description: 'Only `npm run test:all` runs it: it takes long, or starts many processes.' },
      { name: 'slow', description: 'Waits for minutes, mostly for servers and other processes.' },
      { name: 'page', description: 'Compares a page of the documentation. `npm run update` writes the page.' },
      { name: 'nodes', description: 'Runs on the oldest and the newest Node too: it uses what differs there.' },
      { name: 'process', description: 'Starts processes: `nodes` includes its tests with the tag `full`.' },
      { name: 'browser', description: 'Starts browsers. These files run one at a time.' },
      { name: 'heap', description: 'Measures the heap. Each file has its own process, one at a time.' },
      { name: 'sockets', description: 'Watches all sockets or all clients of the process.' },
      { name: 'timers', description: 'Counts the timers of a fake clock. Libraries of other files would leave some.' },
    ],
    // How often a failed test is repeated. CI repeats it once, on machines of unknown load.
    retry: Number(process.env.TEST_RETRIES ?? 0),
    // Node imports the modules itself: a sixth less time than with Vite, whose features (`vi.mock`,
    // aliases) the tests do not use. Node 22 does not parse `await using`, so there Vite compiles
    // it.
    experimental: { viteModuleRunner: Number.parseInt(process.versions.node, 10) < 24, nodeLoader: false },
    execArgv: FROM_SOURCES,
    silent: 'passed-only',
    testTimeout: TIME_LIMIT_MS,
    hookTimeout: TIME_LIMIT_MS,
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait for a server, so a worker more than processors keeps the processors busy. But
    // each worker imports the modules and has its own heap.
    maxWorkers: availableParallelism() + 1,
    projects: [
      // Files share a worker and its modules, because separate workers cost a third of the run's
      // time. A helper that several files import must not call `afterEach` and the like at its top
      // level, because that would affect the first file only. Its functions call `onTestFinished`.
      project(
        'shared',
        files.filter(({ tags }) => !tags.some((tag) => OF_PROJECTS.includes(tag))).map(({ file }) => file),
        { isolate: false },
      ),
      project('timers', tagged('timers'), { isolate: false }),
      project('sockets', tagged('sockets'), { isolate: false }),
      project('slow', isFullRun ? tagged('slow') : [], { maxWorkers: 2, sequence: { groupOrder: 1 } }),
      // One file after another, after all others: bounds of the heap, and browsers, which have many
      // processes, should not depend on what else runs.
      project('heap', tagged('heap'), { sequence: { groupOrder: 2 }, maxWorkers: 1 }),
      project('browser', tagged('browser'), { sequence: { groupOrder: 3 }, maxWorkers: 1 }),
    ],
  },
})

function project(name: string, include: string[], options: object = {}) {
  return { extends: true as const, test: { name, include, ...options } }
}
