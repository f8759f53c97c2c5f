import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { isFullRun } from './packages/testkit/src/scope.ts'

export default defineConfig({
  test: {
    include: ['{packages,examples}/*/test/**/*.test.ts', 'scripts/*.test.mjs'],
    // Prints failures and a summary. `npm test -- --reporter=verbose` prints a line for each test.
    reporters: ['minimal'],
    silent: 'passed-only',
    testTimeout: 60_000, // some start a browser, and the machine may be busy
    // Many tests wait for a server or a browser, so more workers than processors keep the processors busy. The full run
    // has more to compute, and deadlines of seconds that a crowded machine would miss.
    maxWorkers: isFullRun ? availableParallelism() + 1 : availableParallelism() * 2 + 1,
    // Files share a worker and its modules: a worker of its own for each file costs a third of the run. So a helper that
    // several files import must not call afterEach and the like itself, which the second file would go without; it calls
    // onTestFinished in its functions.
    isolate: false,
    execArgv: ['--disable-warning=ExperimentalWarning'], // node:sqlite of Node 22
  },
})
