// The test files, and what their first lines say about them: `// @module-tag full`.

import { globSync, readFileSync } from 'node:fs'

const OF_THE_SITE = 'packages/site/' // it has another configuration

/** Returns the paths of all test files from the root, with their module tags. */
export function testFiles() {
  return globSync(['{packages,examples}/*/test/**/*.test.ts', 'scripts/*.test.mjs'])
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith(OF_THE_SITE))
    .map((file) => {
      const tags = readFileSync(file, 'utf8').matchAll(/^\/\/ @module-tag (\w+)$/gm)
      return { file, tags: Array.from(tags, ([, tag]) => tag) }
    })
}
