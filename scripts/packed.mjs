// An empty project outside the workspace with all published packages, as users install them, and
// what only the checks of packages need: their peers, the runtimes, several versions of TypeScript.
//
// Its lockfile, packed/pnpm-lock.yaml, names the version of everything from outside. So the project is
// fetched in the first minute of CI (`npm run parts`), and later installed without the network. The
// packages are the unpacked tarballs, which the lockfile knows as folders.

import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { packAll, peersOf, publishedPackages } from './packages.mjs'
import { install, installLocked, SetupError } from './tools.mjs'

const run = promisify(execFile)
const LOCKFILE = 'scripts/packed/pnpm-lock.yaml'
const MANIFESTS = 'scripts/packed/manifests.json'
/** Where the project is fetched. */
const HOME = resolve('.tools', 'packed')

/** The runtimes and the bundler of check-runtimes.mjs. */
export const RUNTIMES = { deno: '2.9.6', bun: '1.4.5', workerd: '1.20261117.1', esbuild: '0.28.2' }
/** The versions of TypeScript that docs/runtimes.md names. */
export const TYPESCRIPTS = { 5.4: '5.4.5', 5.9: '5.9.3', '6.0': '6.0.3', '7.0': '7.0.2' }
/** The versions of Jest that docs/jest.md names. */
export const JESTS = { 'jest-29': 'npm:jest@29.7.0', 'jest-30': 'npm:jest@30.5.2' }
/** What the configurations of docs/jest.md name. */
const WITH_JEST = {
  '@babel/preset-env': '^7.28.0',
  '@swc/core': '^1.13.0',
  '@swc/jest': '^0.2.39',
  'ts-jest': '^29.4.0',
  typescript: TYPESCRIPTS[5.9],
}
/** What the examples of the READMEs import, apart from our packages and their peers. */
const IN_EXAMPLES = [
  '@crawlee/cheerio',
  '@modelcontextprotocol/server',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/sdk-metrics',
  'playwright',
]

/** Installs the project with the current packages into a new folder. Returns the packages with their tarballs. */
export async function installPacked(folder) {
  fetchPacked()
  const tarballs = await packAll(publishedPackages(), folder)
  const app = join(folder, 'app')
  writeProject(app)
  for (const { folder: from, tarball } of tarballs)
    await run('tar', ['xf', tarball, '--strip-components=1', '-C', join(app, folderOf(from))])
  installFrom(app, 'the packed packages', ['--frozen-lockfile', '--offline'])
  return { app, tarballs }
}

/** Downloads what the project needs. @throws {SetupError} */
export function fetchPacked() {
  const changed = changedSinceLock()
  if (changed.length > 0)
    throw new SetupError(`${LOCKFILE} is older than the manifest of ${changed.join(', ')}. Run \`npm run update\``)
  const what = `the dependencies named in ${LOCKFILE}`
  installLocked(HOME, { inputs: [LOCKFILE, MANIFESTS], what, prepare: () => writeProject(HOME) })
}

/**
 * Writes the lockfile anew if a manifest has changed. Versions stay, as far as the manifests allow
 * it.
 */
export function updatePackedLock() {
  if (changedSinceLock().length === 0) return
  writeProject(HOME)
  installFrom(HOME, 'what packed packages need', ['--lockfile-only', '--no-frozen-lockfile'])
  copyFileSync(join(HOME, 'pnpm-lock.yaml'), LOCKFILE)
  writeFileSync(MANIFESTS, `${JSON.stringify(manifests(), undefined, 2)}\n`)
}

/**
 * What the lockfile was made from: the dependencies of the project, and of each of our packages.
 */
function manifests() {
  const ours = publishedPackages().map(({ manifest }) => {
    const { name, dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies } = manifest
    return [name, { dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies }]
  })
  return { 'the project': { dependencies: projectDependencies() }, ...Object.fromEntries(ours) }
}

/**
 * Returns the names of changed manifests. pnpm doesn't look for changes in packages that are
 * folders.
 */
function changedSinceLock() {
  const locked = JSON.parse(readFileSync(MANIFESTS, 'utf8'))
  const current = manifests()
  const names = [...new Set([...Object.keys(locked), ...Object.keys(current)])]
  return names.filter((name) => JSON.stringify(locked[name]) !== JSON.stringify(current[name]))
}

function folderOf(from) {
  return from.replace(/^packages/, 'packed')
}

/** The published packages, as folders in the project. */
function packagesInFolders() {
  return Object.fromEntries(
    publishedPackages().map(({ folder, manifest }) => [manifest.name, `file:${folderOf(folder)}`]),
  )
}

function projectDependencies() {
  const packages = publishedPackages()
  const { dependencies } = JSON.parse(readFileSync('docs/package.json', 'utf8'))
  const typescripts = Object.values(TYPESCRIPTS).map((version) => [
    `typescript-${version}`,
    `npm:typescript@${version}`,
  ])
  return {
    ...peersOf(packages),
    ...Object.fromEntries(IN_EXAMPLES.map((name) => [name, dependencies[name]])),
    ...Object.fromEntries(typescripts),
    ...RUNTIMES,
    ...JESTS,
    ...WITH_JEST,
    '@types/node': '^22.19.0',
    undici: packages.find(({ folder }) => folder === 'packages/gate').manifest.dependencies.undici,
    ...packagesInFolders(),
  }
}

/**
 * Writes the manifests of the project, and the manifests of our packages as they will be packed.
 */
function writeProject(folder) {
  const allowBuilds = Object.fromEntries([
    ...Object.keys(RUNTIMES).map((name) => [name, true]),
    ...['@parcel/watcher', '@swc/core', 'unrs-resolver'].map((name) => [name, false]), // Jest runs without these
  ])
  const write = (path, value) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(value, undefined, 2))
  }
  write('package.json', { private: true, type: 'module', dependencies: projectDependencies() })
  // The project may be on another file system than the temporary folder, where pnpm has another
  // store.
  const storeDir = join(HOME, 'store')
  write('pnpm-workspace.yaml', { overrides: packagesInFolders(), allowBuilds, storeDir })
  copyFileSync(LOCKFILE, join(folder, 'pnpm-lock.yaml'))
  for (const { folder: from, manifest } of publishedPackages()) {
    const { scripts, devDependencies, ...published } = manifest
    const text = JSON.stringify(published).replaceAll('"workspace:*"', JSON.stringify(manifest.version))
    write(join(folderOf(from), 'package.json'), JSON.parse(text))
  }
}

function installFrom(folder, what, args) {
  install('pnpm', ['install', '--reporter=silent', ...args], { cwd: folder, what })
}
