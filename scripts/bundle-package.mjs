// Bundles the modules of a package, after tsc has compiled them: one file for each entry point, and
// chunks for what several of them share. Node loads one large file much faster than a hundred small
// ones. Modules exist once, whatever entry points a program imports, so their classes do too.
//
//   node ../../scripts/bundle-package.mjs   (in the folder of a package)

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { build } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'

const { exports, dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'))
const libraries = Object.keys({ ...dependencies, ...peerDependencies })
const entries = Object.values(exports)
  .map((target) => target.default ?? target.import ?? target)
  .filter((target) => typeof target === 'string' && target.startsWith('./dist/') && target.endsWith('.js'))
const COMPILED = 'dist'
let loadedAtOnce
const before = readdirSync(COMPILED, { recursive: true }).filter((name) => /\.js(\.map)?$/.test(name))

/**
 * Makes the value of each variable of the top level the result of a call that is marked as free of
 * side effects, as all of ours are. So a bundler drops the values that a web page does not use.
 */
const pureValues = {
  name: 'pure-values',
  transform(code, id) {
    if (!id.endsWith('.js')) return undefined
    const values = parseAst(code, { lang: 'js' }).body.flatMap((statement) => {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      return declaration?.type === 'VariableDeclaration' && declaration.kind === 'const'
        ? declaration.declarations.map(({ init }) => init).filter(mayHaveEffects)
        : []
    })
    let marked = code
    for (const { start, end } of values.reverse())
      marked = `${marked.slice(0, start)}/* @__PURE__ */ (() => (${marked.slice(start, end)}))()${marked.slice(end)}`
    return marked
  },
}

function mayHaveEffects(node) {
  if (node === null || typeof node !== 'object' || /Function/.test(node.type ?? '')) return false
  if (/^(Call|New|Member|Class|TaggedTemplate)Expression$|^SpreadElement$/.test(node.type ?? '')) return true
  return Object.values(node).some(mayHaveEffects)
}

const { output } = await build({
  input: Object.fromEntries(entries.map((target) => [target.slice('./dist/'.length, -'.js'.length), target])),
  platform: 'node',
  plugins: [pureValues],
  external: (id) => id.startsWith('node:') || libraries.some((name) => id === name || id.startsWith(`${name}/`)),
  output: {
    dir: COMPILED,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    // A chunk for each folder: a bundler drops the folders that a web page does not use.
    codeSplitting: { groups: [{ name: chunkOf, debugName: 'folders' }] },
    comments: { annotation: true, jsdoc: false, legal: false },
    minifyInternalExports: false,
  },
  logLevel: 'warn',
})
const written = new Set(output.map(({ fileName }) => fileName))
for (const name of before) if (!written.has(name.replaceAll('\\', '/'))) rmSync(join(COMPILED, name))

/**
 * Returns the name of a chunk: the folder of a module. Modules that are imported when they are needed
 * (`await import`) stay apart, with everything that only they import.
 */
function chunkOf(id, context) {
  const getModuleInfo = (module) => context.getModuleInfo(module)
  loadedAtOnce ??= staticImportsOf(
    entries.map((target) => resolve(target)),
    getModuleInfo,
  )
  const folder = relative(resolve(COMPILED), dirname(id))
  return loadedAtOnce.has(id) && folder !== '' ? folder.replaceAll(sep, '-') : undefined
}

function staticImportsOf(ids, getModuleInfo, found = new Set()) {
  for (const id of ids) {
    if (found.has(id)) continue
    found.add(id)
    staticImportsOf(getModuleInfo(id)?.importedIds ?? [], getModuleInfo, found)
  }
  return found
}
