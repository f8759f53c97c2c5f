// The published packages: their manifests, their entry points, and their tarballs.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { copyGuides } from './guides.mjs'

const run = promisify(execFile)

/** Returns the folder and the manifest of each published package. */
export function publishedPackages() {
  return readdirSync('packages')
    .map((name) => ({
      folder: `packages/${name}`,
      manifest: JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')),
    }))
    .filter(({ manifest }) => !manifest.private)
}

/**
 * Returns what users can import from a package: `@politely/core/engine`, the file behind it, relative to
 * the package, and whether there is a CommonJS build too.
 */
export function entryPoints({ name, exports }) {
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object') // package.json and data have a path
    .map(([path, { default: file, import: { default: esm } = {}, require: commonJs }]) => ({
      specifier: path.replace('.', name),
      file: file ?? esm,
      isCommonJs: commonJs !== undefined,
    }))
}

/**
 * Packs the packages into a folder. Adds to each its tarball, the paths in it, and the manifest in
 * it.
 */
export async function packAll(packages, destination) {
  return eachInParallel(packages, async (one) => {
    if (one.manifest.files.includes('docs')) copyGuides(one.folder, repositoryOf(one.manifest))
    const { stdout } = await run('pnpm', ['pack', '--json', '--pack-destination', destination], {
      cwd: resolve(one.folder),
    })
    const { filename, files } = JSON.parse(stdout)
    const tarball = resolve(destination, filename)
    const published = JSON.parse((await run('tar', ['xOf', tarball, 'package/package.json'])).stdout)
    return { ...one, tarball, published, paths: files.map(({ path }) => path) }
  })
}

/** Works on all items, as many at once as there are processors. Resolves to the results, in order. */
export async function eachInParallel(items, work) {
  const results = []
  const left = [...items.entries()]
  const next = async () => {
    for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
      const [i, item] = entry
      results[i] = await work(item)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, next))
  return results
}

/** Returns the address of the repository on the web. */
function repositoryOf({ repository }) {
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/**
 * Returns the other libraries that the packages want beside them, with the versions that docs/
 * uses.
 */
export function peersOf(packages) {
  const { dependencies } = JSON.parse(readFileSync('docs/package.json', 'utf8'))
  const peers = Object.assign({}, ...packages.map(({ manifest }) => manifest.peerDependencies))
  return Object.fromEntries(Object.keys(peers).map((name) => [name, dependencies[name] ?? peers[name]]))
}
