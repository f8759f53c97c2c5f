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
import { install, installLocked } from './tools.mjs'

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

/** Downloads what the project needs. */
export function fetchPacked() {
  const what = `the dependencies named in ${LOCKFILE}`
  installLocked(HOME, { inputs: [LOCKFILE], what, prepare: () => writeProject(HOME) })
}

/** Writes the lockfile anew. Versions stay, as far as the manifests allow it. */
export function updatePackedLock() {
  writeProject(HOME)
  installFrom(HOME, 'what packed packages need', ['--lockfile-only', '--no-frozen-lockfile'])
  copyFileSync(join(HOME, 'pnpm-lock.yaml'), LOCKFILE)
}

/** Returns what differs between the manifests of our packages and the lockfile. */
export function outdatedInPackedLock() {
  const { packages, snapshots } = parse(readFileSync(LOCKFILE, 'utf8'))
  return publishedPackages().flatMap(({ folder, manifest: { name, dependencies = {} } }) => {
    const id = `${name}@file:${folderOf(folder)}`
    const [, snapshot] = Object.entries(snapshots).find(([key]) => key === id || key.startsWith(`${id}(`)) ?? []
    const locked = snapshot?.dependencies ?? {}
    const missing = Object.keys(dependencies).filter((one) => !(one in locked))
    return packages[id] === undefined ? [name] : missing.map((one) => `${name} > ${one}`)
  })
}

function folderOf(from) {
  return from.replace(/^packages/, 'packed')
}

/** Writes the manifests of the project, and those of our packages as they will be packed. */
function writeProject(folder) {
  const packages = publishedPackages()
  const { dependencies } = JSON.parse(readFileSync('docs/package.json', 'utf8'))
  const ours = Object.fromEntries(packages.map(({ folder, manifest }) => [manifest.name, `file:${folderOf(folder)}`]))
  const typescripts = Object.values(TYPESCRIPTS).map((version) => [
    `typescript-${version}`,
    `npm:typescript@${version}`,
  ])
  const others = {
    ...peersOf(packages),
    ...Object.fromEntries(IN_EXAMPLES.map((name) => [name, dependencies[name]])),
    ...Object.fromEntries(typescripts),
    ...RUNTIMES,
    '@types/node': '^22.19.0',
    undici: packages.find(({ folder }) => folder === 'packages/gate').manifest.dependencies.undici,
  }
  const allowBuilds = Object.fromEntries(Object.keys(RUNTIMES).map((name) => [name, true]))
  const write = (path, value) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(value, undefined, 2))
  }
  write('package.json', { private: true, type: 'module', dependencies: { ...others, ...ours } })
  write('pnpm-workspace.yaml', { overrides: ours, allowBuilds })
  copyFileSync(LOCKFILE, join(folder, 'pnpm-lock.yaml'))
  for (const { folder: from, manifest } of packages) {
    const { scripts, devDependencies, ...published } = manifest
    const text = JSON.stringify(published).replaceAll('"workspace:*"', JSON.stringify(manifest.version))
    write(join(folderOf(from), 'package.json'), JSON.parse(text))
  }
}

function installFrom(folder, what, args) {
  install('pnpm', ['install', '--reporter=silent', ...args], { cwd: folder, what })
}
