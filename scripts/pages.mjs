// Compares the pages of the documentation that are made from the source with what their tests make
// of it. These tests have the tag `page`.
//
//   node scripts/pages.mjs           compares the pages that take seconds
//   node scripts/pages.mjs --write   writes all pages; several tests write to one page, so one at a time

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { testFiles } from './test-files.mjs'

const isWriting = process.argv.includes('--write')
const files = testFiles()
  .filter(({ file, tags }) => (isWriting || !tags.includes('full')) && readFileSync(file, 'utf8').includes("'page'"))
  .map(({ file }) => file)
const how = isWriting ? ['--tags-filter=page', '-u', '--no-file-parallelism'] : ['--tags-filter=page && !full']
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...how, ...files], {
  stdio: 'inherit',
  env: { ...process.env, ...(isWriting && { POLITELY_TEST_ALL: '1' }) },
})
process.exitCode = status ?? 1
