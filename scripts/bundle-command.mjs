// Bundles the command `politely` into packages/cli/bundle, one file for each subcommand and for what
// several of them share. Node reads a bundle several times faster than the hundreds of modules of
// the packages, and a command that is run in a loop should start quickly. The bundle holds
// everything that the command loads except undici, and @politely/cache, @politely/evidence,
// @politely/mcp, @politely/server and @politely/web-bot-auth, which users install if they want them. So modules of
// @politely/fetcher and @politely/core exist once in its process, or twice with these packages. Its
// code is minified, and keeps the names of our functions for the stacks in reports of errors. Of
// dependencies it keeps the names of classes only, which is 8 kB less.

import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { build } from 'rolldown'
import { minify } from 'rolldown/experimental'
import { inAscii, licensesOf } from './bundled-code.mjs'

const FOLDER = new URL('../packages/cli/', import.meta.url).pathname

/**
 * Replaces undici. Its `index.js` loads all of it, which takes longer than a request for robots.txt.
 * So the fetcher gets the two parts that its own connections use. Only a proxy and requests for pages
 * load undici itself, from where npm has installed it.
 */
const partsOfUndici = {
  name: 'parts-of-undici',
  resolveId(id, importer) {
    if (id !== 'undici') return undefined
    return importer.includes('/packages/fetcher/') ? PARTS : { id, external: true }
  },
  load: (id) => (id === PARTS ? { code: codeOfParts(), moduleType: 'js' } : undefined),
  transform(code, id) {
    if (!id.endsWith('/undici/lib/dispatcher/client.js')) return undefined
    if (!code.includes(LOADS_HTTP2)) throw new Error(`${id} no longer says ${LOADS_HTTP2}`)
    return code.replace(LOADS_HTTP2, "const connectH2 = () => { throw new Error('HTTP/2 is not in the bundle') }")
  },
}
const PARTS = '\0parts-of-undici'
/** The own connections of the fetcher never use HTTP/2. */
const LOADS_HTTP2 = "const connectH2 = require('./client-h2.js')"

function codeOfParts() {
  const folder = dirname(createRequire(`${FOLDER}package.json`).resolve('undici'))
  return `
export { default as buildConnector } from '${folder}/lib/core/connect.js'
export { default as Client } from '${folder}/lib/dispatcher/client.js'`
}

rmSync(`${FOLDER}bundle`, { recursive: true, force: true })
const { output } = await build({
  input: `${FOLDER}dist/main.js`,
  platform: 'node',
  external: [
    '@politely/cache',
    '@politely/evidence',
    '@politely/evidence/audit',
    '@politely/mcp/command',
    '@politely/server/command',
    '@politely/web-bot-auth/operator',
  ],
  plugins: [partsOfUndici],
  // `sideEffects: false` of core says nothing about this file, which throws on an old Node.
  treeshake: { moduleSideEffects: [{ test: /\/core\/dist\/runtime\/node-version\.js$/, sideEffects: true }] },
  // As in Node's own bundle of undici: without the experimental parser Milo, which is off by default.
  transform: { define: { esbuildDetection: '1' } },
  output: {
    dir: `${FOLDER}bundle`,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true } },
    comments: false,
  },
  logLevel: 'warn',
})
for (const { fileName, code, moduleIds } of output) {
  const isOfOthers = moduleIds.every((id) => id.includes('/node_modules/') || id.startsWith('\0'))
  writeFileSync(`${FOLDER}bundle/${fileName}`, inAscii(isOfOthers ? await withoutFunctionNames(fileName, code) : code))
}
writeFileSync(`${FOLDER}bundle/LICENSES.txt`, licensesOf(output))

async function withoutFunctionNames(fileName, code) {
  const keepNames = { function: false, class: true }
  const { code: shorter, errors } = await minify(fileName, code, {
    compress: { keepNames },
    mangle: { keepNames },
    module: true,
  })
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`)
  return shorter
}
