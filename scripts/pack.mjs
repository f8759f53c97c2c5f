// `npm run pack -- FOLDER`: packs all published packages into a folder. The workflow `release`
// publishes these tarballs.

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { packAll, publishedPackages } from './packages.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: npm run pack -- FOLDER')
  process.exitCode = 2
} else {
  mkdirSync(folder, { recursive: true })
  for (const { tarball } of await packAll(publishedPackages(), resolve(folder))) console.log(tarball)
}
