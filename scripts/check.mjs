// `npm run check`: everything a machine can say about the code without running it, one line each. All of them run, so
// that one visit shows all there is to mend; what a check printed is shown if it failed.

import { spawnSync } from 'node:child_process'

const TURBO_RUN = ['node_modules/turbo/bin/turbo', 'run', '--continue', '--output-logs=errors-only']
const CHECKS = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off', '.'],
  ['types and build', ...TURBO_RUN, 'typecheck', 'build'],
  ['layers', 'scripts/check-layers.mjs'],
  ['size of core', 'scripts/check-size.mjs'],
  ['unused code', 'node_modules/knip/bin/knip.js'],
  ['packages, installed', 'scripts/check-packages.mjs'],
]

let failed = 0
for (const [name, ...argv] of CHECKS) {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const said = stdout.trim()
  const figure = status === 0 && !said.includes('\n') ? said : '' // what is right is told in one line or not at all
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(20)} ${seconds} s  ${figure}`.trimEnd())
  if (status === 0) continue
  failed++
  console.log(`${stdout}${stderr}`.trim().replace(/^/gm, '    '))
}
if (failed > 0) console.log(`\n${failed} of ${CHECKS.length} checks failed`)
process.exitCode = failed > 0 ? 1 : 0
