// `npm run check`: all checks that take seconds. `npm run check -- --fast` is for before a commit:
// format, layers and types, then the tests of what has changed, which compare the pages that are
// made from it.

import { spawnSync } from 'node:child_process'

const isFast = process.argv.includes('--fast')
const FAST = ['format', 'layers', 'types']
const ALL = [...FAST, 'pages', 'unused', 'names', 'size', 'weight']

/** How long the tests of `--fast` may take. A change far below may need all tests. */
const MAX_TEST_MS = 20_000

const turbo = ['node_modules/turbo/bin/turbo', 'run', '--continue', '--output-logs=errors-only']
const since = git('merge-base', 'HEAD', '@{upstream}') || git('rev-parse', 'HEAD')
const hasNewPages = isFast && /\.md$/m.test(git('diff', '--name-only', since))
const fast = hasNewPages ? [...FAST, 'pages'] : FAST
const checks = (isFast ? fast : ALL).map((name) => `check:${name}`)
process.exitCode = run([...turbo, ...checks]).status ?? 1
if (isFast && process.exitCode === 0) testChanges()

/** Runs the tests of the files that were not committed, or not pushed, and of what imports them. */
function testChanges() {
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
