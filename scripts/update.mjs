// `npm run update`: writes all that is made from the source: the tables of core, the pages that
// tests compare, the list of public names, the lockfile of packed packages, and the formatting.

import { spawnSync } from 'node:child_process'
import { updatePackedLock } from './packed.mjs'
import { SetupError } from './tools.mjs'

const SCRIPTS = [
  ['scripts/catalogue.mjs'], // other pages are made from these tables
  ['scripts/pages.mjs', '--write'],
  ['scripts/api.mjs', '--names'],
  ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '--colors=off', '.'],
]

const failed = SCRIPTS.filter((argv) => spawnSync(process.execPath, argv, { stdio: 'inherit' }).status !== 0)
try {
  updatePackedLock()
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(error.message)
  failed.push('the lockfile')
}
console.log(failed.length > 0 ? '\nNot everything could be written.' : '\nRead what has changed: git diff')
process.exitCode = failed.length > 0 ? 1 : 0
