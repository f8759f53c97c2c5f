// The entry point of all npm scripts: `npm test` and others call
// `node scripts/run.mjs <task> [args…]`.
//
// A fresh clone needs npm and Node 18 or later. The script downloads everything else once, into
// .tools/ and node_modules/, and reports it: a supported Node, the pinned pnpm, and the
// dependencies. Then it runs the task.
//
//   PROJECT_NODE=26.10.0   run on exactly this Node (for the matrix)
//   FALLBACK_NODE=24.18.1  the Node to download if yours is too old (not every version is published for every system)
//
// Tested on Linux with glibc. The code for macOS, Windows and musl was never tested.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useSources } from './sources.mjs'
import { installLocked, installNode, installTool, log, SetupError, WINDOWS } from './tools.mjs'

// A task is a list of Node scripts with their arguments. No shell is involved, so a URL may contain
// `&`. Arguments after the task's name are passed to the last script. Tests, examples and the demo
// run the sources; what users get needs a build.
const TURBO = 'node_modules/turbo/bin/turbo'
const BUILD = [TURBO, 'run', 'build', '--output-logs=errors-only']
const TASKS = {
  setup: [],
  build: [[TURBO, 'run', 'build']],
  test: [['node_modules/vitest/vitest.mjs', 'run', '--tags-filter=!full && !page']],
  'test:all': [BUILD, ['scripts/test-all.mjs']],
  parts: [['scripts/parts.mjs']], // programs and packages that only tests need
  check: [['scripts/check.mjs']],
  update: [['scripts/update.mjs']], // writes all that is made from the source, and the formatting
  api: [['scripts/api.mjs']], // writes docs/reference/public-names.md, and docs/reference/api/, which git ignores
  pack: [BUILD, ['scripts/pack.mjs']], // `npm run pack -- FOLDER`
  'next-version': [['scripts/next-version.mjs']],
  packages: [BUILD, ['scripts/check-packages.mjs']],
  runtimes: [BUILD, ['scripts/check-packages.mjs', '--write']], // writes the tables of docs/runtimes.md
  format: [['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.']],
  demo: [['examples/polite-crawl/main.ts']],
  example: [[]], // `npm run example traps`, `npm run example -- examples/recipes/got.ts`
  bench: [BUILD, ['--expose-gc', 'packages/bench/src/main.ts']],
  simulate: [['packages/bench/src/fleet/main.ts']],
  site: [BUILD, ['scripts/site.mjs', 'serve']],
  'site:build': [BUILD, ['scripts/site.mjs', 'build']],
  'site:test': [BUILD, ['scripts/site.mjs', 'test']],
  pnpm: [], // the pinned pnpm itself: `npm run pnpm -- add -D some-package --filter @politely/core`
}

/** The tasks whose processes import the sources of the packages. Vitest's configuration does so itself. */
const RUNS_SOURCES = ['demo', 'example', 'simulate']

/** The packages that the demo needs, of which a third of the dependencies are. */
const OF_DEMO = '{examples/polite-crawl}...'

Object.assign(process.env, { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' })
const prependToPath = (folder) => {
  process.env.PATH = folder + delimiter + process.env.PATH
}

try {
  process.chdir(dirname(dirname(fileURLToPath(import.meta.url))))
  process.exitCode = await main(...process.argv.slice(2))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  log(error.message)
  process.exitCode = 1
}

async function main(task, ...args) {
  if (!Object.hasOwn(TASKS, task ?? '')) {
    console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join('|')} [args…]`)
    return 2
  }
  if (task === 'example') {
    const [given = ''] = args
    const files = [given, join(given, 'main.ts'), join('examples', given, 'main.ts')]
    const file = files.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    if (file === undefined) {
      console.error('usage: npm run example -- FILE [args…], such as traps, fleet or examples/recipes/got.ts')
      return 2
    }
    args[0] = file
  }
  useNode()
  usePnpm()
  if (task === 'pnpm') return await run('pnpm', args) // without installing, because this command may be what repairs the installation
  installDependencies(task === 'demo' ? OF_DEMO : undefined)
  if (RUNS_SOURCES.includes(task)) useSources()

  const notes = join(process.cwd(), '.tools', `notes-${process.pid}`)
  process.env.POLITELY_NOTES = notes
  for (const command of TASKS[task]) {
    const isLast = command === TASKS[task].at(-1)
    const status = isLast ? await run('node', [...command, ...args]) : await run('node', command, { quiet: true })
    if (isLast) showNotes(notes, { quiet: status !== 0 }) // after a failure, the test output is last
    if (status !== 0) return status
  }
  return 0
}

/**
 * Prints and deletes the notes that tests wrote for the end of the run, with `printAfterRun` in
 * packages/testkit/src/parts.ts.
 */
function showNotes(file, { quiet }) {
  if (!existsSync(file)) return
  const lines = new Set(readFileSync(file, 'utf8').trim().split('\n'))
  if (!quiet) for (const line of lines) console.error(line)
  rmSync(file)
}

/**
 * Puts the Node for all later commands first on PATH: yours if it is supported, otherwise one from
 * the npm registry.
 */
function useNode() {
  const own = process.versions.node
  const version = process.env.PROJECT_NODE ?? (isSupported(own) ? own : (process.env.FALLBACK_NODE ?? '24.21.0'))
  process.env.PROJECT_NODE_ACTUAL = version // part of turbo's cache key, so that builds of different Nodes are not mixed
  if (version === own) return prependToPath(dirname(process.execPath))

  const why = process.env.PROJECT_NODE ? 'PROJECT_NODE is set' : `Node ${own} is too old for this project`
  prependToPath(installNode(version, { why, orElse: '; or install Node >= 22.19' }))
}

function isSupported(version) {
  const [major, minor] = version.split('.').map(Number)
  return (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major >= 26
}

/** Puts the pinned pnpm on PATH, where turbo looks for it too. */
function usePnpm() {
  const [name, version] = JSON.parse(readFileSync('package.json', 'utf8')).packageManager.split('@')
  // `allowScripts`, because the install script of pnpm 12 puts its executable in place.
  const modules = installTool(name, version, { why: 'the pinned package manager', allowScripts: { [name]: true } })
  prependToPath(join(modules, '.bin'))
}

/**
 * Installs the dependencies if the lockfile or a manifest has changed since the last time.
 * @param only Which packages to install the dependencies of. Default: all.
 */
function installDependencies(only) {
  const folders = ['packages', 'examples']
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((folder) => folder !== join('packages', 'site')) // scripts/site.mjs installs it
  const manifests = [...folders, 'docs']
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(file))
  const inputs = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]
  installLocked('.', { inputs, what: 'the dependencies named in pnpm-lock.yaml', only })
}

/** Runs a command and returns its exit status. With `quiet`, prints its output only if it fails. */
function run(command, args, { quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    // On Windows, npm's commands are batch files, which need a shell.
    const shell = WINDOWS && command === 'pnpm'
    const child = spawn(command, args, { stdio: quiet ? 'pipe' : 'inherit', shell })
    // The child handles Ctrl-C, and this process waits for it. In a terminal, the child gets the
    // signal directly.
    const onInterrupt = () => process.stdout.isTTY || child.kill('SIGINT')
    const onTerminate = () => child.kill('SIGTERM')
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate)
    const printed = []
    child.stdout?.on('data', (chunk) => printed.push(chunk))
    child.stderr?.on('data', (chunk) => printed.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate)
      if (code !== 0) process.stderr.write(Buffer.concat(printed))
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
