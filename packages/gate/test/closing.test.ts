// @module-tag full
// After `close`, nothing that does not respond keeps the process alive: no lookup, no delay and no
// store.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a process ends after `close`, whatever does not respond', async ({ signal }) => {
  const child = join(import.meta.dirname, 'closing-child.ts')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [child], { signal })
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n')).toEqual([
    'a lookup for the pace: nothing',
    'a delay of an origin, and one of a domain: nothing',
    'a read of the store: nothing',
    'a release of a lease: nothing',
    'DNS queries for the pace: nothing',
    'DNS queries for robots.txt: nothing',
    'DNS queries for a page: nothing',
  ])
})
