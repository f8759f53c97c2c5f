import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { copyGuides, withLinks } from './guides.mjs'

const REPOSITORY = 'https://example.com/owner/name'
const folder = mkdtempSync(join(tmpdir(), 'guides-'))
afterAll(() => rmSync(folder, { recursive: true }))
copyGuides(folder, REPOSITORY)
const files = readdirSync(join(folder, 'docs'), { recursive: true }).filter((file) => file.endsWith('.md'))

test('each link of a guide leads to another guide, or to an existing file of the repository', () => {
  expect(files.length).toBeGreaterThan(9)
  let count = 0
  for (const file of files) {
    const text = readFileSync(join(folder, 'docs', file), 'utf8').replace(/^```.*?^```/gms, '')
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      const path = target.split(`${REPOSITORY}/blob/main/`)[1]
      if (path === undefined && /^https?:/.test(target)) continue
      const place = path ?? join(folder, 'docs', file, '..', target)
      expect(existsSync(place), `${file}: ${target}`).toBe(true)
      count++
    }
  }
  expect(count).toBeGreaterThan(100)
})

test.for([
  ['[a](waiting.md#limits)', '[a](waiting.md#limits)'],
  ['[a](#limits)', '[a](#limits)'],
  ['[a](https://example.org/b.md)', '[a](https://example.org/b.md)'],
  [
    '[a](speed.md#b), [c](../SECURITY.md)',
    `[a](${REPOSITORY}/blob/main/docs/speed.md#b), [c](${REPOSITORY}/blob/main/SECURITY.md)`,
  ],
  ['```ts\nvalues[0](../x)\n```', '```ts\nvalues[0](../x)\n```'],
])('rewrites %j', ([line, expected]) => {
  expect(withLinks(line, 'docs/verdicts.md', REPOSITORY)).toBe(expected)
})
