// `npm run update`: writes all that is made from the source: the pages that tests compare, the list
// of public names, and the formatting.

import { spawnSync } from 'node:child_process'

const SCRIPTS = [
  ['scripts/pages.mjs', '--write'],
  ['scripts/api.mjs', '--names'],
  ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '--colors=off', '.'],
]

const failed = SCRIPTS.filter((argv) => spawnSync(process.execPath, argv, { stdio: 'inherit' }).status !== 0)
console.log(failed.length > 0 ? '\nNot everything could be written.' : '\nRead what has changed: git diff')
process.exitCode = failed.length > 0 ? 1 : 0
