// @module-tag full
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MANIFESTS = {
  'packages/core/package.json': '{ "name": "@politely/core" }',
  'packages/fetcher/package.json':
    '{ "name": "@politely/fetcher", "dependencies": { "@politely/core": "1", "a": "1" } }',
  'packages/gate/package.json': '{ "name": "@politely/gate", "devDependencies": { "undici": "1" } }',
  'packages/testkit/package.json': '{ "name": "@politely/testkit" }',
}

/** Runs the check on a temporary tree of files, given as path -> content. */
function check(tree) {
  const root = mkdtempSync(join(tmpdir(), 'layers-'))
  for (const [path, content] of Object.entries({ ...MANIFESTS, ...tree })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const script = fileURLToPath(new URL('check-layers.mjs', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  rmSync(root, { recursive: true })
  return { status, lines: stdout.trim().split('\n') }
}

// One violation in each row: the file (# is the row's number), its code, and the expected report,
// which starts with the line number.
const GLOBALS = ['Buffer', 'process', 'setTimeout', 'setInterval', 'setImmediate', 'performance', 'fetch', 'console']
const VIOLATIONS = [
  ['core/src/#.ts', "import { x } from 'a'", '1  imports a  core depends on nothing'],
  ['core/src/#.ts', "\nimport 'node:fs'", '2  imports node:fs  core depends on nothing'],
  ['core/src/usage/#.ts', "import 'node:fs'", '1  imports node:fs  core depends on nothing'],
  ['core/src/usage/#.ts', "import x from 'a'", '1  imports a  not in `dependencies`'],
  [
    'core/src/#.ts',
    "import type { X } from '@politely/fetcher'",
    '1  imports @politely/fetcher  core depends on nothing',
  ],
  ['core/src/#.ts', "type X = import('undici').Agent", '1  imports undici  core depends on nothing'],
  ['fetcher/src/#.ts', "export { x } from '@politely/gate'", '1  imports @politely/gate  fetcher may import core'],
  ['gate/src/#.ts', "await import('@politely/testkit')", '1  imports @politely/testkit  gate may import core, fetcher'],
  ['gate/src/#.ts', "import {\n  x,\n} from 'undici'", '3  imports undici  not in `dependencies`'],
  ['fetcher/src/#.ts', "import x from 'a'\nimport y from 'b/c'", '2  imports b/c  not in `dependencies`'],
  ['fetcher/src/#.ts', "import '../../core/src/x.ts'", '1  imports ../../core/src/x.ts  a relative import stays'],
  ['other/src/#.ts', '', '1  packages/other  unknown package'],
  ['core/src/match/#.ts', "import '../access/b.ts'", '1  imports ../access/b.ts  see FOLDERS'],
  ['core/src/url/#.ts', "import '../http/b.ts'", '1  imports ../http/b.ts  see FOLDERS'],
  ['core/src/pace/deep/#.ts', "import '../../match/b.ts'", '1  imports ../../match/b.ts  see FOLDERS'],
  ['fetcher/src/store/#.ts', "import type { X } from '../cache/b.ts'", '1  imports ../cache/b.ts  see FOLDERS'],
  ['gate/src/lane/#.ts', "import '../gate.ts'", '1  imports ../gate.ts  see FOLDERS'],
  ['server/src/permits/#.ts', "import '../http/b.ts'", '1  imports ../http/b.ts  see FOLDERS'],
  ['gate/src/http/#.ts', "import '../undici/b.ts'", '1  imports ../undici/b.ts  see FOLDERS'],
  ['core/src/match/#.ts', "import '../way-round.ts'", '1  imports ../way-round.ts  see FOLDERS'],
  ['core/src/other/#.ts', '', '1  core/src/other  unknown folder'],
  ['redis/src/other/#.ts', '', '1  redis/src/other  unknown folder'],
  ['core/src/index.ts', "export { x } from './x.ts'\n\nexport const y = 1", '3  code  an index.ts contains only'],
  ['gate/src/utils.ts', '', '1  utils.ts  name a file'],
  ['gate/src/types.ts', '', '1  types.ts  name a file'],
  ['gate/src/helpers.ts', '', '1  helpers.ts  name a file'],
  ['gate/src/#.ts', "export * from './b.ts'", '1  export *'],
  ['gate/src/#.ts', "export type * as b from './b.ts'", '1  export *'],
  ['gate/src/#.ts', "export type * from './b.ts'", '1  export *'],
  ['gate/src/#.ts', "export * from './shown-types.ts'", '1  export *'],
  ['gate/src/#.ts', 'export default 1', '1  default export'],
  ['gate/src/#.ts', 'await import(name)', '1  computed import'],
  ['core/src/#.ts', 'Date.now()', '1  Date.now  core has no'],
  ['core/src/#.ts', 'new Date()', '1  new Date()  core has no'],
  ['core/src/#.ts', 'new Date', '1  new Date()  core has no'],
  ['core/src/#.ts', 'Math.random()', '1  Math.random  core has no'],
  ['core/src/#.ts', `\`text \${\`\${Math.random()}\`}\``, '1  Math.random  core has no'],
  ['core/src/#.ts', "/* require */\nrequire('a')", '2  require  core has no'],
  ...GLOBALS.map((name) => ['core/src/url/#.ts', `// ${name}\nf(${name})`, `2  ${name}  core has no`]),
].map(([path, code, report], row) => ({ path: `packages/${path.replace('#', row)}`, code, report }))

const broken = check({
  'packages/core/src/way-round.ts': "import './access/b.ts'",
  ...Object.fromEntries(VIOLATIONS.map(({ path, code }) => [path, code])),
})

test.for(VIOLATIONS)('reports $path: $code', ({ path, report }) => {
  const lines = broken.lines.filter((line) => line.startsWith(`${path}:`))
  expect(lines).toEqual([expect.stringContaining(`${path}:${report}`)])
})

test('a violation fails the check, and nothing else is reported', () => {
  expect(broken.status).toBe(1)
  expect(broken.lines).toHaveLength(VIOLATIONS.length)
})

test('reports a circle of imports once, type imports included', () => {
  const { lines } = check({
    'packages/gate/src/lane/a.ts': "import './b.ts'",
    'packages/gate/src/lane/b.ts': "import type { C } from './c.ts'\nimport './alone.ts'",
    'packages/gate/src/lane/c.ts': "export { a } from './a.ts'",
    'packages/gate/src/lane/alone.ts': '',
  })
  expect(lines).toEqual([
    expect.stringMatching(
      /^packages\/gate\/src\/lane\/a\.ts:1 {2}circle of imports: lane\/a\.ts, lane\/b\.ts, lane\/c\.ts /,
    ),
  ])
})

test('reports a folder with more than 20 files beside each other', () => {
  const names = Array.from({ length: 21 }, (_, i) => `packages/testkit/src/cases/${i}.ts`)
  const { lines } = check(Object.fromEntries(names.map((name) => [name, ''])))
  expect(lines).toEqual([expect.stringContaining('21 files in cases  make folders')])
  expect(check(Object.fromEntries(names.slice(1).map((name) => [name, '']))).status).toBe(0)
})

test('allows everything else', () => {
  const allowed = check({
    'packages/core/src/index.ts':
      "// all\nexport { decide } from './decide.ts'\nexport type {\n  X,\n} from './x.ts'\n",
    'packages/core/src/decide.ts': "import './match/a.ts'\nimport './access/b.ts'",
    'packages/core/src/error.ts': 'export class E {}',
    'packages/core/src/match/a.ts':
      "import '../url/a.ts'\nimport '../parse/a.ts'\nimport './b.ts'\nimport '../error.ts'",
    'packages/core/src/words.ts': [
      "// import 'a', Date.now(), process",
      'new Date(0)',
      "plan.fetch({ process: 1, console: '`' })",
      'const quote = /[\'"`/]/g, text = "fetch from \'a\'"',
      'const half = 1 / 2 / 3',
      `const template = \`Math.random \${name} \\\` import "a" \${{ a: {} }} fetch\``,
      'prefetch(fetched, $process)',
    ].join('\n'),
    'packages/gate/src/index.ts': "export type * from './shown-types.ts'\nexport { x } from './x.ts'",
    'packages/fetcher/src/a.ts':
      "import '@politely/core'\nimport 'a/b'\nimport 'node:fs'\nconsole.log(Array.from('b'))",
  })
  expect(allowed).toEqual({ status: 0, lines: ['13 imports in 7 files of 4 packages are allowed'] })
})
