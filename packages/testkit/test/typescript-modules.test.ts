// @module-tag full
// docs/runtimes.md: with which values of `module` TypeScript accepts `require` of an ES module, and of a
// package with CommonJS.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

test.each([
  ['fleet', 'nodenext', ''],
  ['fleet', 'node20', ''],
  ['fleet', 'node18', 'TS1471'],
  ['fleet', 'node16', 'TS1471'],
  ['core', 'node16', ''],
] as const)('a CommonJS file that requires %s, with module %s: "%s"', (name, module, error) => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-module-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules/@politely'), { recursive: true })
  symlinkSync(join(root, 'packages', name), join(folder, 'node_modules/@politely', name))
  writeFileSync(
    join(folder, 'program.cts'),
    `import entry = require('@politely/${name}')\nexport const value: object = entry\n`,
  )
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--types', '', '--module', module, 'program.cts']
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, ...options], { cwd: folder, encoding: 'utf8' })
  if (error === '') expect(stdout).toBe('')
  else expect(stdout).toContain(error)
})
