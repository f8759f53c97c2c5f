// `npm run test:all`: the full run on this Node; on the oldest and the newest Node the tests of what
// differs there, which have the tag `nodes`; then the documentation site, and the packed packages.
//
//   npm run test:all -- --no-matrix       only the full run
//   npm run test:all -- --deep            eight times as many cases of the long fuzz tests
//   npm run test:all -- packages/core     other arguments are passed to vitest; then only the full run

import { spawnSync } from 'node:child_process'
import { testFiles } from './test-files.mjs'
import { NODES } from './tools.mjs'

const OWN = /^--(no-matrix|deep)$/
const args = process.argv.slice(2)
const others = args.filter((arg) => !OWN.test(arg))
const passed = step('the full run', ['node_modules/vitest/vitest.mjs', 'run', ...others], {
  POLITELY_TEST_ALL: args.includes('--deep') ? 'deep' : '1',
})
if (passed && others.length === 0 && !args.includes('--no-matrix')) {
  const files = testFiles().filter(({ tags }) => tags.includes('nodes'))
  const ofNodes = ['scripts/run.mjs', 'test', ...files.map(({ file }) => file)]
  for (const version of NODES.filter((one) => one !== process.versions.node))
    step(`Node ${version}`, ofNodes, { PROJECT_NODE: version })
  step('the site', ['scripts/site.mjs', 'test'])
  step('the packages', ['scripts/check-packages.mjs'])
}

/** Runs a script, prints how long it took, and returns whether it passed. */
function step(name, argv, env) {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, argv, { stdio: 'inherit', env: { ...process.env, ...env } })
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}, ${seconds} s`)
  if (status !== 0) process.exitCode = 1
  return status === 0
}
