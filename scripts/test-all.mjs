// `npm run test:all`: the full run on this Node, then the documentation site, then the short run on
// each other supported Node, then the installed packages on each runtime.
//
//   npm run test:all -- --no-matrix       only the full run
//   npm run test:all -- --tested=22.19.0  without the short run on this Node, which was made before
//   npm run test:all -- --deep            eight times as many cases of the long fuzz tests
//   npm run test:all -- packages/core     other arguments are passed to vitest; then only the full run

import { spawnSync } from 'node:child_process'
import { NODES } from './tools.mjs'

const OWN = /^--(no-matrix|deep|tested=.*)$/
const args = process.argv.slice(2)
const others = args.filter((arg) => !OWN.test(arg))
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...others], {
  stdio: 'inherit',
  env: { ...process.env, POLITELY_TEST_ALL: args.includes('--deep') ? 'deep' : '1' },
})
process.exitCode = status ?? 1

if (status === 0 && others.length === 0 && !args.includes('--no-matrix')) {
  const site = spawnSync(process.execPath, ['scripts/site.mjs', 'test'], { stdio: 'inherit' })
  if (site.status !== 0) process.exitCode = 1
  const isTested = (version) => version === process.versions.node || args.includes(`--tested=${version}`)
  for (const version of NODES.filter((one) => !isTested(one))) testOn(version)
  const runtimes = spawnSync(process.execPath, ['scripts/check-runtimes.mjs'], { stdio: 'inherit' })
  if (runtimes.status !== 0) process.exitCode = 1
}

/** Runs `npm test` on another Node. Prints its summary, and all output if it fails. */
function testOn(version) {
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'test'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, PROJECT_NODE: version, NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  const seconds = Math.round((performance.now() - start) / 1000)
  const [tests = ''] = stdout.match(/^ *Tests .*$/m) ?? []
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  Node ${version}, npm test, ${seconds} s: ${tests.trim()}`)
  for (const line of stdout.match(/^unstable: .*\n.*$/gm) ?? []) console.log(line)
  if (status === 0) return
  console.log(`${stdout}${stderr}`)
  process.exitCode = 1
}
