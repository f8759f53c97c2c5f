// Bundles the modules of a package, after tsc has compiled them: one file for each entry point, and
// chunks for what several of them share. Node loads one large file much faster than a hundred small
// ones. Modules exist once, whatever entry points a program imports, so their classes do too. What no
// entry point reaches is deleted from dist: compiled modules, declarations, and files of earlier builds.
//
//   node ../../scripts/bundle-package.mjs   (in the folder of a package)

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { build } from 'rolldown'
import { minifySync } from 'rolldown/experimental'
import { parseAst } from 'rolldown/parseAst'
import { bundleCommonJs } from './bundle-commonjs.mjs'
import { edgeModules, edgeOptions } from './bundle-edge.mjs'
import { inAscii, licensesOf, WITH_NAMES } from './bundled-code.mjs'

const {
  name: packageName,
  engines,
  exports,
  bin = {},
  dependencies = {},
  peerDependencies = {},
} = JSON.parse(readFileSync('package.json', 'utf8'))
const libraries = Object.keys({ ...dependencies, ...peerDependencies })
const entries = [...Object.values(exports), ...Object.values(bin)]
  .map((target) => target.default ?? target.import?.default ?? target)
  .map((target) => (/^\w/.test(target) ? `./${target}` : target))
  .filter((target) => typeof target === 'string' && target.startsWith('./dist/') && target.endsWith('.js'))
const COMPILED = 'dist'

/**
 * Marks the values of variables and the classes of the top level as free of side effects, as all of
 * ours are: each becomes the result of a call with that mark. So a bundler drops the values that
 * a web page does not use.
 */
const pureValues = {
  name: 'pure-values',
  transform(code, id) {
    if (!id.endsWith('.js') || id.includes('/node_modules/')) return undefined
    const parts = parseAst(code, { lang: 'js' }).body.flatMap((statement) => {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (declaration?.type === 'ClassDeclaration') return initializesItself(declaration) ? [declaration] : []
      return declaration?.type === 'VariableDeclaration' && declaration.kind === 'const'
        ? declaration.declarations.map(({ init }) => init).filter(mayHaveEffects)
        : []
    })
    let marked = code
    for (const { type, id: name, start, end } of parts.reverse()) {
      const variable = type === 'ClassDeclaration' ? `const ${name.name} = ` : ''
      const value = `${variable}/* @__PURE__ */ (() => (${marked.slice(start, end)}))()`
      marked = `${marked.slice(0, start)}${value}${variable && ';'}${marked.slice(end)}`
    }
    return marked
  },
}

/** Whether a class computes something when it is declared. */
function initializesItself({ superClass, body }) {
  return superClass !== null || body.body.some((member) => member.type === 'StaticBlock' || member.static)
}

function mayHaveEffects(node) {
  if (node === null || typeof node !== 'object' || /Function/.test(node.type ?? '')) return false
  if (/^(Call|New|Member|Class|TaggedTemplate)Expression$|^SpreadElement$/.test(node.type ?? '')) return true
  return Object.values(node).some(mayHaveEffects)
}

/**
 * The bundle contains the libraries that are devDependencies, so that users don't install them.
 * These are evaluated at the first call of one of their functions: the Public Suffix List in tldts
 * takes a sixth of the time that importing the package would take.
 */
const LAZY_LIBRARIES = ['tldts', 'ipaddr.js']
const LAZY = 'lazy:'
/** lru-cache reads the global `performance` when it is loaded, which loads node:perf_hooks. */
const READS_CLOCK = 'typeof performance=="object"&&performance&&typeof performance.now=="function"?performance:Date'
/** The chunk that libraries are in. */
const LIBRARIES = 'libraries'
const require = createRequire(resolve('package.json'))
const lazyLibraries = {
  name: 'lazy-libraries',
  resolveId(id, importer) {
    if (importer?.startsWith(LAZY)) return require.resolve(id)
    return LAZY_LIBRARIES.includes(id) ? `${LAZY}${id}` : undefined
  },
  load(id) {
    if (!id.startsWith(LAZY)) return undefined
    const name = id.slice(LAZY.length)
    const names = Object.keys(require(name))
    const functionOf = (key) => `export const ${key} = (...values) => require('${name}').${key}(...values)`
    return [...names.map(functionOf), `export default { ${names} }`].join('\n')
  },
  transform(code, id) {
    if (id.includes('/node_modules/lru-cache/')) {
      if (!code.includes(READS_CLOCK)) throw new Error(`${id} no longer says ${READS_CLOCK}`)
      return code.replace(READS_CLOCK, '{ now: () => performance.now() }')
    }
    // V8 reads a list in a string much faster than one in code.
    if (!LAZY_LIBRARIES.some((name) => id.includes(`/node_modules/${name}/`))) return undefined
    return code.replace(/\[[\d,\s]{1000,}\]/g, (list) => `JSON.parse('${list.replace(/\s/g, '')}')`)
  },
}

/**
 * Modules of Node that are taken as `require` returns them. An import makes a namespace first, with all
 * exports: for node:util it evaluates each of them, and so loads node:worker_threads and others. Not
 * node:net and node:timers, whose exports mocks replace.
 */
const TAKEN = /^node:(?:async_hooks|diagnostics_channel|events|querystring|stream|util|zlib)$/
const TAKING = 'taking:'
const isTaken = (id) => engines.node !== '>=20' && TAKEN.test(id)
const takenModules = {
  name: 'taken-modules',
  resolveId: (id) => (isTaken(id) ? `${TAKING}${id}.js` : undefined),
  load(id) {
    if (!id.startsWith(TAKING)) return undefined
    const name = id.slice(TAKING.length, -'.js'.length)
    const module = name.replaceAll(/\W/g, '_')
    const names = Object.keys(process.getBuiltinModule(name))
    const exported = names.map((each) => `export const ${each} = ${module}.${each}`)
    return [`const ${module} = process.getBuiltinModule('${name}')`, `export default ${module}`, ...exported].join('\n')
  },
}

/**
 * Each entry point is a file to find and to load. So `internal` of core and fetcher exports what their
 * other entry points for programs export, and our packages import that one instead.
 */
const JOINED = /^(@politely\/(?:core|fetcher))(?:\/engine)?$/
const isJoined = (id) => engines.node !== '>=20' && libraries.some((name) => JOINED.exec(id)?.[1] === name)
const ALL = `${resolve(COMPILED)}/all.js`
const oneEntry = {
  name: 'one-entry',
  resolveId(id, importer) {
    if (isJoined(id)) return { id: id.replace(JOINED, '$1/internal'), external: true }
    return JOINED.test(packageName) && importer === undefined && /\/dist\/internal\.js$/.test(id) ? ALL : undefined
  },
  load(id) {
    if (id !== ALL) return undefined
    const names = ['internal', 'index', 'engine'].filter((name) => existsSync(`${COMPILED}/${name}.d.ts`))
    return names.map((name) => `export * from './${name}.js'`).join('\n')
  },
}

const options = {
  platform: 'node',
  // lru-cache for browsers is lru-cache without diagnostics_channel.
  resolve: { conditionNames: ['browser', 'import', 'default'] },
  plugins: [oneEntry, pureValues, lazyLibraries],
  external: (id) =>
    id.startsWith('node:') || (!isJoined(id) && libraries.some((name) => id === name || id.startsWith(`${name}/`))),
  output: {
    dir: COMPILED,
    codeSplitting: {
      groups: [
        { name: LIBRARIES, test: (id) => id.startsWith(LAZY) || id.includes('/node_modules/') },
        // Each file takes a millisecond to load. `match` is what the small entry point of core needs, and
        // no more. `flags` are what the command loads of a package, without its dependencies.
        ...(exports['./flags'] === undefined || libraries.length === 0
          ? [
              { name: 'match', test: /\/small\// },
              { name: 'shared', minShareCount: 2 },
            ]
          : []),
      ],
    },
    comments: { annotation: true, jsdoc: false, legal: false },
    minifyInternalExports: false,
  },
  checks: { pluginTimings: false },
  logLevel: 'warn',
}
const commonJs = await bundleCommonJs({
  entries: Object.values(exports).flatMap((target) => target.require?.default ?? []),
  folder: COMPILED,
  options,
  declarationsOf,
})
const output = await bundle(entries, { plugin: takenModules, hasTwin: isTaken })
// What the conditions `workerd` and `edge-light` lead to: the same modules, without sockets.
const EDGE = `${COMPILED}/edge`
const edgeEntries = Object.values(exports)
  .flatMap(({ workerd = [] }) => workerd)
  .map((target) => (edgeModules().has(target.slice(`./${EDGE}/`.length)) ? target : target.replace(EDGE, COMPILED)))
const edgeOutput = edgeEntries.length === 0 ? [] : await bundle(edgeEntries, edgeOptions(COMPILED))

/** Bundles ES modules. Returns the files that are to be written, whose sources are still needed. */
async function bundle(targets, { plugin, inject = {}, hasTwin = () => false } = {}) {
  const { output } = await build({
    ...options,
    input: Object.fromEntries(targets.map((target) => [target.replace(/^.\/dist\/(edge\/)?|\.js$/g, ''), target])),
    plugins: [plugin, ...options.plugins],
    transform: { inject },
    external: (id) => !hasTwin(id) && options.external(id),
    output: { ...options.output, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    write: false,
  })
  return output
}

for (const { name, fileName, code, isEntry } of output)
  write(join(COMPILED, fileName), `${isEntry ? checkOfNode(code) : ''}${smallOf(name, fileName, code)}`)
// Bundlers minify these for deployment.
for (const { fileName, code } of edgeOutput) {
  write(join(EDGE, fileName), inAscii(minifySync(fileName, code, { module: true, ...WITH_NAMES }).code))
}

function smallOf(name, fileName, code) {
  return inAscii(name === LIBRARIES ? minifySync(fileName, code, { module: true }).code : code)
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/**
 * The first import of every entry point, unless the package runs on older Nodes too. A command (`#!`)
 * loads all of its modules after the check itself.
 */
function checkOfNode(code) {
  return engines.node === '>=20' || code.startsWith('#!') ? '' : "import '@politely/core/node-version'\n"
}

const LICENSES = resolve(COMPILED, 'LICENSES.txt')
const licenses = licensesOf(output)
if (licenses !== '') writeFileSync(LICENSES, licenses)
const published = new Set([
  LICENSES,
  ...[...commonJs, ...output.map(({ fileName }) => fileName)].map((fileName) => resolve(COMPILED, fileName)),
  ...edgeOutput.map(({ fileName }) => resolve(EDGE, fileName)),
  ...declarationsOf(entries.map((target) => resolve(target.replace(/\.js$/, '.d.ts')))),
])
deleteOthers(resolve(COMPILED))

/** Returns the declaration files with everything that they import. */
function declarationsOf(files, found = new Set()) {
  for (const file of files) {
    if (found.has(file)) continue
    found.add(file)
    const imports = readFileSync(file, 'utf8').matchAll(/\b(?:from|import)\b[ (]*'(\.[^']+)\.[jt]s'/g)
    declarationsOf(
      Array.from(imports, ([, path]) => resolve(dirname(file), `${path}.d.ts`)),
      found,
    )
  }
  return found
}

/** Deletes the files of a folder that are not published, and folders that are empty then. */
function deleteOthers(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) deleteOthers(path)
    else if (!published.has(path)) rmSync(path)
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
