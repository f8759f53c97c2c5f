// Checks the sizes that core adds to a web page: with `parseRobots` only, with `parseRobots` of
// `@politely/core/match`, with everything of the main entries, and with `robotsDirectives` only.
// And the size of `politely(fetch)` in a worker, which has no undici.
// Bundled for browsers, minified and compressed with gzip.

import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'

const DIST = new URL('../packages/core/dist/', import.meta.url).pathname

// Slightly more than the current sizes. Raise them only in the change that needs it.
const CASES = [
  { name: 'parseRobots', code: `export { parseRobots } from '${DIST}index.js'`, maxBytes: 16_950 },
  { name: 'match', code: `export { parseRobots } from '${DIST}small/index.js'`, maxBytes: 7_450 },
  {
    name: 'everything',
    code: `export * from '${DIST}index.js'\nexport * from '${DIST}engine.js'\nexport * from '${DIST}internal.js'`,
    maxBytes: 54_850,
  },
  {
    name: 'robotsDirectives',
    code: `export { robotsDirectives } from '${DIST}usage/index.js'`,
    maxBytes: 12_850,
  },
  {
    name: 'politely(fetch) in a worker',
    code: `export { politely } from '${DIST.replace('core', 'cli')}index.js'`,
    conditionNames: ['workerd', 'import'],
    maxBytes: 136_200,
  },
]

const sizes = await Promise.all(CASES.map(async (one) => ({ ...one, bytes: await sizeOf(one) })))
console.log(sizes.map(({ name, bytes, maxBytes }) => `${name}: ${bytes} bytes, at most ${maxBytes}`).join('; '))
process.exitCode = sizes.some(({ bytes, maxBytes }) => bytes > maxBytes) ? 1 : 0

/** Returns the size of a module with everything that it imports. */
async function sizeOf({ code, conditionNames }) {
  const entry = 'virtual:entry'
  const { output } = await build({
    input: entry,
    platform: 'browser',
    external: /^node:/,
    ...(conditionNames && { resolve: { conditionNames } }),
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined),
      },
    ],
    output: { minify: true },
    write: false,
  })
  return output.reduce((sum, chunk) => sum + gzipSync(chunk.code, { level: 9 }).length, 0)
}
