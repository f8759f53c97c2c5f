// `npm run update`: rewrites what is generated from the source: the pages that tests compare, the
// list of public names, and the formatting.

import { globSync, readFileSync } from 'node:fs'
import { runSteps } from './steps.mjs'

/** The test files that compare whole pages of the documentation. */
const tests = globSync('packages/*/test/*.test.ts').filter((file) =>
  /\bexpect(Page|Tables)\(/.test(readFileSync(file, 'utf8')),
)

const failed = runSteps([
  // One file at a time, because several write to one page.
  ['tables in pages', 'node_modules/vitest/vitest.mjs', 'run', '-u', '--no-file-parallelism', ...tests],
  ['public names', 'scripts/api.mjs', '--names'],
  ['format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--write', '--colors=off', '.'],
])
console.log(failed > 0 ? '\nNot everything could be updated.' : '\nRead what has changed: git diff')
process.exitCode = failed > 0 ? 1 : 0
