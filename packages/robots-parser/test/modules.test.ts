// One build, which programs of both kinds get as they got robots-parser, and TypeScript of both kinds too.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isFullRun } from '@politely/testkit/scope'
import { afterAll, beforeAll, expect, it } from 'vitest'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'politely-modules-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules', 'robots-parser'), 'junction')
})
afterAll(() => rmSync(folder, { recursive: true }))

const question = ".isAllowed('https://example.com/page')"
const file = "('https://example.com/robots.txt', 'User-agent: *\\nDisallow: /page')"

it.each([
  ['require', 'a.cjs', `console.log(require('robots-parser')${file}${question})`],
  ['new', 'b.cjs', `const R = require('robots-parser'); console.log(new R${file}${question})`],
  ['import', 'c.mjs', `import robotsParser from 'robots-parser'; console.log(robotsParser${file}${question})`],
  [
    'import of TypeScript, as CommonJS',
    'd.cjs',
    `const importDefault = (m) => (m && m.__esModule ? m : { default: m })
    console.log(importDefault(require('robots-parser')).default${file}${question})`,
  ],
  ['import()', 'e.cjs', `import('robots-parser').then((m) => console.log(m.default${file}${question}))`],
  [
    'require and import give one function',
    'f.cjs',
    `import('robots-parser').then((m) => console.log(m.default !== require('robots-parser')))`,
  ],
])('%s', (_, name, code) => {
  writeFileSync(join(folder, name), code)
  const { stdout, stderr } = spawnSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['false\n', '']) // no warning either
})

// What was written against robots-parser's own types, in a project of either kind.
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

it.each(isFullRun ? modes : modes.slice(0, 1))('TypeScript, with --module %s %s %s', (...mode) => {
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
