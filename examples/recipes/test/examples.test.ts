// @module-tag full
// Runs each recipe as a reader does, and checks its output.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')
const statuses = { '/about': '200', '/contact': '200' }
const texts = { '/about': 'This is /about.', '/contact': 'This is /contact.' }

// The short run tests the same recipes in its own process, in contract.test.ts and
// failures.test.ts.
test.each([
  { file: 'got.ts', expected: statuses },
  { file: 'axios.ts', expected: statuses },
  { file: 'ky.ts', expected: statuses },
  { file: 'global-fetch.ts', expected: statuses },
  { file: 'node-crawler.ts', expected: statuses },
  { file: 'langchain.ts', expected: texts },
  { file: 'scoped-fetch.ts', expected: texts },
])('$file prints its results', async ({ file, expected }) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, file)], { timeout: 60_000 })
  expect(stdout.trimEnd().split('\n')).toEqual([
    `/about: ${expected['/about']}`,
    '/private: /private is disallowed: line 3 of robots.txt says "Disallow: /private" to *',
    '/moved: /private/page is disallowed: line 3 of robots.txt says "Disallow: /private" to *',
    `/contact: ${expected['/contact']}`,
    'requested: /about /contact /moved /robots.txt',
    'waited for the crawl-delay: 2 of 3',
  ])
  expect(stderr.replace(/^tslog: .*\n/, '')).toBe('') // a message of node-crawler's logger about silent mode
})
