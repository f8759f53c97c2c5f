// The documentation site and the playground, packages/site. It is a workspace of its own with a
// lockfile of its own, because Astro takes 200 MB: only these commands install it.
//
//   node scripts/site.mjs build    builds it into packages/site/dist
//   node scripts/site.mjs serve    builds it, and serves it on loopback; serve --dev: shows changes of a file at once
//   node scripts/site.mjs test     builds it, checks its links, and opens it in a browser

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from './once.mjs'
import { install, log } from './tools.mjs'

const SITE = join('packages', 'site')

const [command, ...args] = process.argv.slice(2)
installSite()
if (command === 'serve' && args.includes('--dev')) process.exitCode = astro('dev', '--host', '127.0.0.1')
else
  process.exitCode =
    build() || (command === 'serve' ? astro('preview', '--host', '127.0.0.1') : 0) || (command === 'test' ? test() : 0)

/** Installs what the site's lockfile names, unless that is installed. */
function installSite() {
  const hash = createHash('sha256')
  for (const name of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    hash.update(readFileSync(join(SITE, name)))
  }
  const current = hash.digest('hex')
  const stamp = join(SITE, 'node_modules', '.installed')
  const isDone = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === current
  once(isDone, () => {
    log(`installing the dependencies named in ${SITE}/pnpm-lock.yaml`)
    rmSync(stamp, { force: true })
    const options = { cwd: SITE, what: 'the dependencies of the site' }
    install('pnpm', ['install', '--frozen-lockfile', '--reporter=silent'], options)
    writeFileSync(stamp, current)
  })
}

function build() {
  return astro('build', '--silent')
}

function test() {
  return node(join('node_modules', 'vitest', 'vitest.mjs'), ['run', '--root', SITE])
}

function astro(...argv) {
  return node(join('node_modules', 'astro', 'bin', 'astro.mjs'), argv, { cwd: SITE })
}

/** Runs a Node script, and returns its exit status. */
function node(script, argv, options = {}) {
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' }
  return spawnSync(process.execPath, [script, ...argv], { stdio: 'inherit', env, ...options }).status ?? 1
}
