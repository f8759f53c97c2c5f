// The bundle for runtimes without sockets, which the conditions `workerd` and `edge-light` lead to.
//
// A module of `src/edge` replaces the module with its name in another folder, or the library with its
// name: `edge/lookup.ts` replaces `network/lookup.ts`.

import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

/** The plugin of the bundler. @param compiled The folder with the compiled modules. */
export function edgeTwins(compiled) {
  const folder = resolve(compiled, 'edge')
  const twins = new Set(existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.js')) : [])
  return {
    name: 'edge-twins',
    resolveId(id, importer) {
      if (twins.has(`${id}.js`)) return resolve(folder, `${id}.js`)
      const name = basename(id)
      if (!id.startsWith('.') || !twins.has(name)) return undefined
      const file = resolve(importer === undefined ? '.' : dirname(importer), id)
      return importer !== undefined && dirname(importer) === folder ? file : resolve(folder, name)
    },
  }
}
