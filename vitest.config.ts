import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'

const folders = [
  ...['packages', 'examples'].flatMap((parent) => readdirSync(parent).map((name) => `${parent}/${name}`)),
  'scripts',
]

// A project for each folder, all in one run with one summary.
export default defineConfig({
  test: {
    testTimeout: 60_000, // some start a browser, and the machine may be busy
    projects: folders.map((root) => ({
      extends: true,
      test: { name: basename(root), root, include: ['test/**/*.test.ts', '*.test.{ts,mjs}'] },
    })),
  },
})
