// @module-tag nodes
// @module-tag process
// @module-tag full
// The package can be loaded like robots-parser: with require and with import, in JavaScript and in
// TypeScript.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'politely-modules-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules', 'robots-parser'), 'junction')
})
afterAll(() => rmSync(folder, { recursive: true }))

const call = ".isAllowed('https://example.com/page')"
const file = "('https://example.com/robots.txt', 'User-agent: *\\nDisallow: /page')"

it.each([
  ['require', 'a.cjs', `console.log(require('robots-parser')${file}${call})`],
  ['new', 'b.cjs', `const R = require('robots-parser'); console.log(new R${file}${call})`],
  ['import', 'c.mjs', `import robotsParser from 'robots-parser'; console.log(robotsParser${file}${call})`],
  [
    'a TypeScript default import compiled to CommonJS',
    'd.cjs',
    `const importDefault = (m) => (m && m.__esModule ? m : { default: m })
    console.log(importDefault(require('robots-parser')).default${file}${call})`,
  ],
  ['import()', 'e.cjs', `import('robots-parser').then((m) => console.log(m.default${file}${call}))`],
  [
    'require and import return the same function',
    'f.cjs',
    `import('robots-parser').then((m) => console.log(m.default !== require('robots-parser')))`,
  ],
])('works with %s', (_, name, code) => {
  writeFileSync(join(folder, name), code)
  const { stdout, stderr } = spawnSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['false\n', '']) // and no warning on stderr
})

// Code that compiles with robots-parser's own types, in CommonJS and in ES modules.
const program = `
import robotsParser from 'robots-parser'
import type { Robot } from 'robots-parser'
const robots: Robot = robotsParser('https://example.com/robots.txt', '')
export const again: ReturnType<typeof robotsParser> = robotsParser.default('https://example.com/robots.txt', '')
export const allowed: boolean | undefined = robots.isAllowed('https://example.com/')
export const disallowed: boolean | undefined = robots.isDisallowed('https://example.com/', 'ExampleBot')
export const line: number = robots.getMatchingLineNumber('https://example.com/', 'ExampleBot')
export const delay: number | undefined = robots.getCrawlDelay()
export const sitemaps: string[] = robots.getSitemaps()
export const host: string | null = robots.getPreferredHost()
// @ts-expect-error there are types, and they are checked
robots.isAllowed(5)
`
const required = `
import robotsParser = require('robots-parser')
export const robots: robotsParser.Robot = robotsParser('https://example.com/robots.txt', '')
`

const modes = [
  ['nodenext'],
  ['esnext', '--moduleResolution', 'bundler'],
  ['node16'],
  ['commonjs', '--moduleResolution', 'bundler'],
]

it.each(modes)('type-checks with --module %s %s %s', (...mode) => {
  const isNode = mode.length === 1
  const names = isNode ? ['program.cts', 'program.mts', 'required.cts'] : ['program.ts']
  for (const name of names) writeFileSync(join(folder, name), name === 'required.cts' ? required : program)
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--esModuleInterop', '--module', ...mode]
  expect(() =>
    execFileSync(process.execPath, [tsc(), ...options, ...names], { cwd: folder, stdio: 'pipe' }),
  ).not.toThrow()
})

function tsc(): string {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
  return join(dirname(manifest), 'bin', 'tsc')
}
