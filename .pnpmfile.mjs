import { copyFileSync } from 'node:fs'
import { join } from 'node:path'

export const hooks = {
  /**
   * Leaves out what only the workspace needs, and adds the changelog, which all packages share.
   * pnpm adds LICENSE itself.
   */
  beforePacking(manifest, folder) {
    copyFileSync(join(import.meta.dirname, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'))
    const { scripts, devDependencies, ...published } = manifest
    const exports = Object.entries(manifest.exports).map(([path, target]) => [path, withoutSource(target)])
    return { ...published, exports: Object.fromEntries(exports) }
  },
}

/** Leaves out the condition that only tests and examples of the workspace use. */
function withoutSource(target) {
  if (typeof target === 'string') return target
  const { 'politely-source': _, ...published } = target
  return published
}
