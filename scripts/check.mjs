// `npm run check`: runs all static checks.

import { runSteps } from './steps.mjs'

const TURBO_RUN = ['node_modules/turbo/bin/turbo', 'run', '--continue', '--output-logs=errors-only']
const CHECKS = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off', '.'],
  ['types and build', ...TURBO_RUN, 'typecheck', 'build'],
  ['layers', 'scripts/check-layers.mjs'],
  ['size of core', 'scripts/check-size.mjs'],
  ['unused code', 'node_modules/knip/bin/knip.js'],
  ['public names', 'scripts/api.mjs', '--check'],
  ['packages, installed', 'scripts/check-packages.mjs'],
]

const failed = runSteps(CHECKS)
if (failed > 0) console.log(`\n${failed} of ${CHECKS.length} checks failed`)
process.exitCode = failed > 0 ? 1 : 0
