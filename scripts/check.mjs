// `npm run check`: runs all static checks and prints one line for each. A failed check does not stop the others. The output of a check is
// printed only if it fails.

import { spawnSync } from 'node:child_process'

const TURBO_RUN = ['node_modules/turbo/bin/turbo', 'run', '--continue', '--output-logs=errors-only']
const CHECKS = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off', '.'],
  ['types and build', ...TURBO_RUN, 'typecheck', 'build'],
  ['layers', 'scripts/check-layers.mjs'],
  ['size of core', 'scripts/check-size.mjs'],
  ['unused code', 'node_modules/knip/bin/knip.js'],
  ['API reference', 'scripts/api.mjs', '--check'],
  ['packages, installed', 'scripts/check-packages.mjs'],
]

let failed = 0
for (const [name, ...argv] of CHECKS) {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const output = stdout.trim()
  const figure = status === 0 && !output.includes('\n') ? output : '' // a passed check prints one line or nothing
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(20)} ${seconds} s  ${figure}`.trimEnd())
  if (status === 0) continue
  failed++
  console.log(`${stdout}${stderr}`.trim().replace(/^/gm, '    '))
}
if (failed > 0) console.log(`\n${failed} of ${CHECKS.length} checks failed`)
process.exitCode = failed > 0 ? 1 : 0
