// Bundles the command `politely` into packages/cli/bundle, one file for each subcommand. Node reads a
// bundle several times faster than the hundred modules of the packages, and a command that is run in
// a loop should start quickly. `check` and other commands that use the network import
// @politely/fetcher as it is, since it has modules that must exist once in a process.

import { rmSync } from 'node:fs'
import { build } from 'rolldown'

const FOLDER = new URL('../packages/cli/', import.meta.url).pathname

rmSync(`${FOLDER}bundle`, { recursive: true, force: true })
await build({
  input: `${FOLDER}dist/main.js`,
  platform: 'node',
  external: ['undici', 'csv-parse', /^@politely\/(?!core(?:\/(?:engine|crawlers))?$)/],
  output: { dir: `${FOLDER}bundle`, entryFileNames: '[name].js', chunkFileNames: '[name].js' },
  logLevel: 'warn',
})
