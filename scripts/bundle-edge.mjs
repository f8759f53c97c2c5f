// The bundle for runtimes without sockets, which the conditions `workerd` and `edge-light` lead to.
//
// A module of `src/edge` replaces the module with its name in another folder, or the library with its
// name: `edge/lookup.ts` replaces `network/lookup.ts`, and `edge/node-net.ts` replaces `node:net`. Of the
// modules of Node, `node:async_hooks` and `node:events` are left, which these runtimes have.

import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

/**
 * The compiled names of the modules of `src/edge`. The folder of compiled modules may also have the
 * bundles of an earlier build.
 */
export function edgeModules() {
  const modules = existsSync('src/edge') ? readdirSync('src/edge') : []
  return new Set(modules.filter((name) => name.endsWith('.ts')).map((name) => name.replace(/\.ts$/, '.js')))
}

/** The options of the bundler. @param compiled The folder with the compiled modules. */
export function edgeOptions(compiled) {
  const folder = resolve(compiled, 'edge')
  const twins = edgeModules()
  const twinOf = (id) => `${id.replaceAll(/[:/]/g, '-')}.js`
  const names = ['setTimeout', 'clearTimeout', 'setImmediate', 'process', 'FinalizationRegistry']
  return {
    hasTwin: (id) => id.startsWith('node:') && twins.has(twinOf(id)),
    inject: Object.fromEntries(names.map((name) => [name, [GLOBALS, name]])),
    plugin: {
      name: 'edge-twins',
      resolveId(id, importer) {
        if (twins.has(twinOf(id))) return resolve(folder, twinOf(id))
        const name = basename(id)
        if (!id.startsWith('.') || !twins.has(name)) return undefined
        const file = resolve(importer === undefined ? '.' : dirname(importer), id)
        return importer !== undefined && dirname(importer) === folder ? file : resolve(folder, name)
      },
    },
  }
}

const GLOBALS = new URL('edge-globals.mjs', import.meta.url).pathname
