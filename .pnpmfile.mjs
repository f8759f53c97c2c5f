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
    return published
  },
}
