import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { isFullRun } from './packages/testkit/src/scope.ts'

export default defineConfig({
  test: {
    include: ['{packages,examples}/*/test/**/*.test.ts', 'scripts/*.test.mjs'],
    // Prints failures and a summary. `npm test -- --reporter=verbose` prints a line for each test.
    reporters: ['minimal'],
    silent: 'passed-only',
    testTimeout: 60_000, // some tests start a browser, and the machine may be busy
    // Many tests wait for a server or a browser, so more workers than processors keep the processors busy. The full run computes more, and
    // has time limits of seconds that tests would exceed on an overloaded machine.
    maxWorkers: isFullRun ? availableParallelism() + 1 : availableParallelism() * 2 + 1,
    // Files share a worker and its modules, because separate workers cost a third of the run's time. A helper that several files import must
    // not call `afterEach` and the like at its top level, because that would affect the first file only. Its functions call `onTestFinished`.
    isolate: false,
    execArgv: ['--disable-warning=ExperimentalWarning'], // Node 22 prints one for node:sqlite
  },
})
