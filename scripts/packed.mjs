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
import { parse } from 'yaml'
import { packAll, peersOf, publishedPackages } from './packages.mjs'
import { install, installLocked, SetupError } from './tools.mjs'

const run = promisify(execFile)
const LOCKFILE = 'scripts/packed/pnpm-lock.yaml'
/** Where the project is fetched. */
const HOME = resolve('.tools', 'packed')

/** The runtimes and the bundler of check-runtimes.mjs. */
export const RUNTIMES = { deno: '2.9.6', bun: '1.4.5', workerd: '1.20261117.1', esbuild: '0.28.2' }
/** The versions of TypeScript that docs/runtimes.md names. */
export const TYPESCRIPTS = { 5.4: '5.4.5', 5.9: '5.9.3', '6.0': '6.0.3', '7.0': '7.0.2' }
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
  const missing = missingInPackedLock()
  if (missing.length > 0) throw new SetupError(`${LOCKFILE} lacks ${missing.join(', ')}. Run \`npm run update\``)
  const what = `the dependencies named in ${LOCKFILE}`
  installLocked(HOME, { inputs: [LOCKFILE], what, prepare: () => writeProject(HOME) })
}

/** Writes the lockfile anew if it lacks something. Versions stay, as far as the manifests allow it. */
export function updatePackedLock() {
  if (missingInPackedLock().length === 0) return
  writeProject(HOME)
  installFrom(HOME, 'what packed packages need', ['--lockfile-only', '--no-frozen-lockfile'])
  copyFileSync(join(HOME, 'pnpm-lock.yaml'), LOCKFILE)
}

/**
 * Returns what the manifests have and the lockfile lacks. pnpm compares the manifest of the
 * project, but not the manifests of packages in folders.
 */
function missingInPackedLock() {
  const { importers, packages, snapshots } = parse(readFileSync(LOCKFILE, 'utf8'))
  const locked = importers['.'].dependencies
  const own = Object.entries(projectDependencies()).filter(([name, range]) => locked[name]?.specifier !== range)
  const ours = publishedPackages().flatMap(({ folder, manifest: { name, dependencies = {} } }) => {
    const id = `${name}@file:${folderOf(folder)}`
    if (packages[id] === undefined) return [name]
    const [, snapshot] = Object.entries(snapshots).find(([key]) => key === id || key.startsWith(`${id}(`)) ?? []
    const missing = Object.keys(dependencies).filter((one) => snapshot?.dependencies?.[one] === undefined)
    return missing.map((one) => `${name} > ${one}`)
  })
  return [...own.map(([name, range]) => `${name}@${range}`), ...ours]
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
    '@types/node': '^22.19.0',
    undici: packages.find(({ folder }) => folder === 'packages/gate').manifest.dependencies.undici,
    ...packagesInFolders(),
  }
}

/** Writes the manifests of the project, and the manifests of our packages as they will be packed. */
function writeProject(folder) {
  const allowBuilds = Object.fromEntries(Object.keys(RUNTIMES).map((name) => [name, true]))
  const write = (path, value) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(value, undefined, 2))
  }
  write('package.json', { private: true, type: 'module', dependencies: projectDependencies() })
  write('pnpm-workspace.yaml', { overrides: packagesInFolders(), allowBuilds })
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
