// `npm run check`: all checks that take seconds. `npm run check -- --fast` is for before a commit: it
// leaves out the slower ones, and runs the tests of what has changed.

import { spawnSync } from 'node:child_process'

const isFast = process.argv.includes('--fast')
const FAST = ['format', 'layers', 'types', 'pages']
const ALL = [...FAST, 'unused', 'names', 'size']

/** How long the tests of `--fast` may take. A change far below may need all tests. */
const MAX_TEST_MS = 20_000

const turbo = ['node_modules/turbo/bin/turbo', 'run', '--continue', '--output-logs=errors-only']
const checks = (isFast ? FAST : ALL).map((name) => `check:${name}`)
process.exitCode = run([...turbo, ...checks]).status ?? 1
if (isFast && process.exitCode === 0) testChanges()

/** Runs the tests of the files that were not committed, or not pushed, and of what imports them. */
function testChanges() {
  const since = git('merge-base', 'HEAD', '@{upstream}') || git('rev-parse', 'HEAD')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--tags-filter=!full', '--passWithNoTests', '--bail=1']
  const { status, error } = run([...vitest, `--changed=${since}`], { timeout: MAX_TEST_MS })
  if (error?.code === 'ETIMEDOUT') console.log('The tests of this change take longer: run npm test')
  else process.exitCode = status ?? 1
}

function run(argv, options) {
  return spawnSync(process.execPath, argv, { stdio: 'inherit', ...options })
}

function git(...args) {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout.trim()
}
