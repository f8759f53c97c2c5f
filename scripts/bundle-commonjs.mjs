// The CommonJS build of a package, for Jest and for a Node that can't `require` ES modules. The package
// has one if its `exports` have `require`. It's a second copy of the code, so `exports` name the ES
// module first for everything that can load it: `module-sync` for Node, `module` for bundlers, `worker` for
// Wrangler, which leaves `module` out, and `bun`.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'rolldown'
import { inAscii, WITH_NAMES } from './bundled-code.mjs'

/**
 * Bundles the entry points, `dist/index.cjs` and so on, with chunks for what several of them share.
 * Runs before the ES modules of the same names are overwritten.
 * @param entries Paths of entry points, such as `./dist/index.cjs`.
 * @param declarationsOf Returns the declaration files that a declaration file leads to.
 * @returns The names of the files in `folder`.
 */
export async function bundleCommonJs({ entries, folder, options, declarationsOf }) {
  if (entries.length === 0) return []
  const nameOf = (target) => target.slice('./dist/'.length, -'.cjs'.length)
  const { output } = await build({
    ...options,
    input: Object.fromEntries(entries.map((target) => [nameOf(target), target.replace(/\.cjs$/, '.js')])),
    output: {
      ...options.output,
      format: 'cjs',
      exports: 'named',
      esModule: true,
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name].cjs',
      minify: WITH_NAMES,
    },
  })
  const files = []
  for (const { name, fileName, code, isEntry, exports } of output) {
    // A default export is what `require` returns: the packages that we replace are such functions.
    const isFunction = isEntry && exports.includes('default')
    writeFileSync(join(folder, fileName), `${inAscii(code)}${isFunction ? 'module.exports = exports.default\n' : ''}`)
    files.push(fileName)
    if (!isEntry || isFunction) continue
    const declarations = `${name}.d.cts`
    const found = [...declarationsOf([join(folder, `${name}.d.ts`)])].map((path) => readFileSync(path, 'utf8'))
    writeFileSync(join(folder, declarations), declarationsFor(basename(name), exports, found.join('\n')))
    files.push(declarations)
  }
  return files
}

/**
 * The types of a CommonJS entry refer to the ES module. For TypeScript, a copy of a class with private
 * fields would be another type, although on Node both forms give the same class.
 */
function declarationsFor(name, values, declarations) {
  const from = `'./${name}.js' with { 'resolution-mode': 'import' }`
  const lines = values.toSorted().flatMap((value) => {
    const type = new RegExp(`^export (?:declare )?(?:abstract )?(?:class|interface|type) ${value}\\b(<?)`, 'm')
    const [isType, hasParameters] = type.exec(declarations) ?? []
    if (hasParameters)
      throw new Error(`${value} is a value and a generic type, which ${import.meta.filename} can't write`)
    return [
      `export declare const ${value}: typeof m.${value}`,
      ...(isType ? [`export type ${value} = m.${value}`] : []),
    ]
  })
  return [`import type * as m from ${from}`, `export type * from ${from}`, ...lines, ''].join('\n')
}
