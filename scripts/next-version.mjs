// `npm run next-version`: prepares a release from the files in .changeset/. Raises the version of
// all packages, and moves the texts of the changesets into CHANGELOG.md, which the packages share.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// ---\n"@politely/core": minor\n---\n\nThe text.
const texts = readdirSync('.changeset')
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => readFileSync(`.changeset/${file}`, 'utf8').split(/^---$/m)[2].trim())

// Operators add crawlers all the time. docs/reference/known-crawlers.md promises this limit.
const CATALOGUE_DAYS = 92
const { date: catalogueDate } = JSON.parse(readFileSync('packages/core/data/crawlers.json', 'utf8'))
const isCatalogueOld = Date.now() - Date.parse(catalogueDate) > CATALOGUE_DAYS * 86_400_000

if (isCatalogueOld) {
  console.error(
    `the catalogue of known crawlers is of ${catalogueDate}: compare it with the pages of the operators, and set the date of packages/core/data/crawlers.json`,
  )
  process.exitCode = 1
} else if (texts.length === 0) {
  console.error('there is nothing to release: .changeset/ has no changeset. `npm run pnpm -- changeset` writes one')
  process.exitCode = 1
} else {
  const { status } = spawnSync(process.execPath, ['node_modules/@changesets/cli/bin.js', 'version'], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
  if (status === 0) addToChangelog(JSON.parse(readFileSync('packages/core/package.json', 'utf8')).version)
}

function addToChangelog(version) {
  const section = `## ${version}\n\n${texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n')}\n\n`
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  writeFileSync(
    'CHANGELOG.md',
    changelog.replace(/^## /m, () => `${section}## `),
  )
}
