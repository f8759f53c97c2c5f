// Each recipe is run as its readers run it, and prints what it did.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isFullRun } from '@politely/testkit/scope'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')
const statuses = { '/about': '200', '/contact': '200' }
const texts = { '/about': 'This is /about.', '/contact': 'This is /contact.' }

// The short run plays the same recipes in its own process: contract.test.ts, failures.test.ts.
test.runIf(isFullRun).each([
  { file: 'got.ts', told: statuses },
  { file: 'axios.ts', told: statuses },
  { file: 'ky.ts', told: statuses },
  { file: 'global-fetch.ts', told: statuses },
  { file: 'node-crawler.ts', told: statuses },
  { file: 'langchain.ts', told: texts },
])('$file', async ({ file, told }) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, file)], { timeout: 15_000 })
  expect(stdout.trimEnd().split('\n')).toEqual([
    `/about: ${told['/about']}`,
    '/private: /private is disallowed: line 3 of robots.txt says "Disallow: /private" to *',
    '/moved: /private/page is disallowed: line 3 of robots.txt says "Disallow: /private" to *',
    `/contact: ${told['/contact']}`,
    'asked for: /about /contact /moved /robots.txt',
    'waited for the crawl-delay: 2 of 3',
  ])
  expect(stderr.replace(/^tslog: .*\n/, '')).toBe('') // what node-crawler's own logger says of being silenced
})
