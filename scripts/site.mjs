// The documentation site and the playground, packages/site. It has its own lockfile, because Astro takes
// 200 MB: only these commands and `npm run parts` install it.
//
//   node scripts/site.mjs build    builds it into packages/site/dist; build --address https://docs.example/: for this
//                                  address, which canonical links and Open Graph pictures need
//   node scripts/site.mjs serve    builds it, and serves it on loopback; serve --dev: shows changes of a file at once
//   node scripts/site.mjs test     builds it, checks its links, and opens it in a browser

import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { installSite, log, SITE } from './tools.mjs'

const [command, ...args] = process.argv.slice(2)
installSite()
writeApiReference()
process.exitCode = run()

/** Returns the exit status of the command. */
function run() {
  const onLoopback = ['--host', '127.0.0.1']
  if (command === 'serve' && args.includes('--dev')) return astro('dev', ...onLoopback)
  const status = build()
  if (status !== 0 || command === 'build') return status
  return command === 'serve' ? astro('preview', ...onLoopback) : test()
}

/** Writes docs/reference/api, whose pages are on the site only. */
function writeApiReference() {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/api.mjs'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the API reference could not be written:\n${stdout}${stderr}`)
}

function build() {
  const start = performance.now()
  const at = command === 'build' ? args.indexOf('--address') : -1
  if (at >= 0) process.env.SITE_ADDRESS = args[at + 1]
  const status = astro('build', '--silent', '--force') // --force: pages that are unchanged may be rendered differently
  if (status === 0) log(`built ${join(SITE, 'dist')} in ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return status
}

/** Checks the types of the site, and runs its tests. The arguments are Vitest's, such as a file. */
function test() {
  const modules = resolve('node_modules')
  const types = node(join(modules, 'typescript', 'bin', 'tsc'), ['-p', '.'])
  return types || node(join(modules, 'vitest', 'vitest.mjs'), ['run', ...args])
}

function astro(...argv) {
  return node(join('node_modules', 'astro', 'bin', 'astro.mjs'), argv)
}

/** Runs a Node script in the folder of the site, and returns its exit status. */
function node(script, argv) {
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' }
  return spawnSync(process.execPath, [script, ...argv], { cwd: SITE, stdio: 'inherit', env }).status ?? 1
}
