// `npm run test:all`: the full run on this Node; on the oldest and the newest Node the tests of what
// differs there, which have the tag `nodes`; then the documentation site, and the packed packages.
//
//   npm run test:all -- --no-matrix       only the full run
//   npm run test:all -- --deep            all cases of the generated tests
//   npm run test:all -- packages/core     other arguments are passed to vitest; then only the full run

import { spawn } from 'node:child_process'
import { testFiles } from './test-files.mjs'
import { NODES } from './tools.mjs'

const OWN = /^--(no-matrix|deep)$/
const args = process.argv.slice(2)
const others = args.filter((arg) => !OWN.test(arg))
const env = { ...process.env, POLITELY_TEST_ALL: args.includes('--deep') ? 'deep' : '1' }
const vitest = ['node_modules/vitest/vitest.mjs', 'run']

if (others.length > 0) await step('the full run', [...vitest, ...others], env)
else {
  // Slow tests wait most of the time, so they run at the same time as the others. What they print
  // comes when they have ended. Browsers get the machine for themselves.
  await Promise.all([
    step('the full run', [...vitest, '--project=!slow', '--project=!browser'], env),
    step('the full run: slow tests', [...vitest, '--project=slow'], env, { isQuiet: true }),
  ])
  await step('the full run: browsers', [...vitest, '--project=browser'], env)
  if (!args.includes('--no-matrix') && !process.exitCode) await matrix()
}

async function matrix() {
  const files = testFiles().filter(({ tags }) => tags.includes('nodes'))
  const some = files.filter(({ tags }) => !tags.includes('process')).map(({ file }) => file)
  const all = files.filter(({ tags }) => tags.includes('process')).map(({ file }) => file)
  for (const version of NODES.filter((one) => one !== process.versions.node)) {
    const ofNode = { ...process.env, PROJECT_NODE: version, POLITELY_TEST_BUILDS: '1' }
    await step(`Node ${version}`, ['scripts/run.mjs', 'test', ...some], ofNode)
    await step(`Node ${version}: processes`, ['scripts/run.mjs', 'test:all', '--tags-filter=nodes', ...all], ofNode)
  }
  await step('the site', ['scripts/site.mjs', 'test'])
  await step('the packages', ['scripts/check-packages.mjs'])
}

/** Runs a script, and prints how long it took. */
async function step(name, argv, env = process.env, { isQuiet = false } = {}) {
  const start = performance.now()
  const child = spawn(process.execPath, argv, { stdio: isQuiet ? 'pipe' : 'inherit', env })
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk))
  const status = await new Promise((resolve) => child.on('close', resolve))
  process.stdout.write(Buffer.concat(printed))
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}, ${seconds} s`)
  if (status !== 0) process.exitCode = 1
}
