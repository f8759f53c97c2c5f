// Puts src/search/pagefind.js in front of Pagefind's own module, which Starlight has written, and writes
// the sections that explain names.

import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'
import { namedSections } from '../search/index-words.ts'

export function search(): AstroIntegration {
  return {
    name: 'search',
    hooks: {
      'astro:build:done': ({ dir }) => {
        const folder = join(fileURLToPath(dir), 'pagefind')
        renameSync(join(folder, 'pagefind.js'), join(folder, 'engine.js'))
        copyFileSync(join(process.cwd(), 'src/search/pagefind.js'), join(folder, 'pagefind.js'))
        const sections = Object.entries(namedSections()).map(([name, section]) => [name.toLowerCase(), section])
        writeFileSync(join(folder, 'names.json'), JSON.stringify(Object.fromEntries(sections)))
      },
    },
  }
}
