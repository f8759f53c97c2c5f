// Checks the packages as a user gets them: installed into an empty project outside the workspace.
// Lints them with publint and attw, runs the examples of their READMEs, starts them on a Node that is
// too old, loads them in Jest, compiles the declarations of users who install with pnpm, and runs a program for each of
// them on each runtime. Part of `npm run test:all`.
//
//   npm run runtimes     only the last part, of which it writes the tables of docs/runtimes.md

import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { examplesOf, runExample, startExampleSite } from '../packages/testkit/src/examples.ts'
import { findBrowser } from '../packages/testkit/src/parts.ts'
import { noPostgres } from '../packages/testkit/src/servers/postgres.ts'
import { noRedis } from '../packages/testkit/src/servers/redis.ts'
import { jestProblems } from './check-jest.mjs'
import { oldNodeProblems } from './check-old-node.mjs'
import { checkRuntimes } from './check-runtimes.mjs'
import { declarationErrors } from './declarations.mjs'
import { eachInParallel, publishedPackages } from './packages.mjs'
import { installPacked } from './packed.mjs'

const run = promisify(execFile)
const MANIFEST_KEYS = [
  'description',
  'keywords',
  'license',
  'homepage',
  'bugs',
  'repository',
  'engines',
  'exports',
  'files',
]

/** The largest package is `politely`, with its command and its guides. */
const MAX_UNPACKED_BYTES = 1_600_000

/** The size of all files of `npm install politely`, with all that it depends on. */
const MAX_INSTALLED_BYTES = 7_500_000

/** What `parseRobots` of an entry adds to a web page, bundled by esbuild and compressed with gzip. */
const MAX_BUNDLE_BYTES = { '@politely/core': 17_300, '@politely/core/match': 7_600 }

const problems = []
const folder = mkdtempSync(join(tmpdir(), 'politely-packages-'))
const site = await startExampleSite()
try {
  const { app, tarballs } = await step('packed and installed', () => installPacked(folder))
  if (!process.argv.includes('--write')) {
    tarballs.forEach(checkContents)
    const installed = installedBytes('politely', join(app, 'index.js'))
    if (installed > MAX_INSTALLED_BYTES)
      problems.push(`npm install politely: ${installed} bytes, at most ${MAX_INSTALLED_BYTES}`)
    await step('bundled by esbuild', () => checkBundles(app))
    await step('linted by publint and attw', () => eachInParallel(tarballs, lint))
    await step('examples of READMEs run', () => runExamples(app))
    await step('started on an old Node', async () => problems.push(...(await oldNodeProblems(app, tarballs))))
    await step('loaded by Jest', async () => problems.push(...(await jestProblems(app))))
    await step('declarations compiled', async () =>
      problems.push(...(await declarationErrors(tarballs, app, join(folder, 'users')))),
    )
  }
  problems.push(...(await checkRuntimes(app, site.origin, { isWriting: process.argv.includes('--write') })))
} finally {
  site.close()
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

async function step(what, work) {
  const start = performance.now()
  const result = await work()
  console.log(`packages: ${what}, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return result
}

/** A tarball has what npm and users look for, and nothing that only the workspace needs. */
function checkContents({ folder: from, published, paths }) {
  for (const key of MANIFEST_KEYS) if (!(key in published)) problems.push(`${from}: no ${key} in package.json`)
  for (const key of ['scripts', 'devDependencies'])
    if (key in published) problems.push(`${from}: ${key} in the package.json of the tarball`)
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md'])
    if (!paths.includes(file)) problems.push(`${from}: no ${file} in the tarball`)
  const bytes = paths.reduce((sum, path) => sum + (statSync(join(from, path), { throwIfNoEntry: false })?.size ?? 0), 0)
  if (bytes > MAX_UNPACKED_BYTES) problems.push(`${from}: ${bytes} bytes unpacked, at most ${MAX_UNPACKED_BYTES}`)
  const expected =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/.*\.md|(bundle|dist|src)\/.*|(grafana|prometheus)\/.*|sql\/.*\.sql|data\/.*\.schema\.json|required\.(cjs|d\.cts))$/
  if (JSON.stringify(published.exports).includes('politely-source'))
    problems.push(`${from}: the condition politely-source is in the tarball, whose sources are not`)
  for (const path of paths)
    if (!expected.test(path)) problems.push(`${from}: ${path} in the tarball is of no use to users`)
  for (const path of paths.filter((path) => path.endsWith('.d.ts'))) {
    const [generic] =
      readFileSync(join(from, path), 'utf8').match(/^(?! *(?:\*|\/[/*])).*\b(Buffer|\w+Array)<Array.*/m) ?? []
    if (generic !== undefined)
      problems.push(`${from}: ${path} has a type that TypeScript before 5.7 does not know: ${generic.trim()}`)
  }
}

/** Returns the size of the files of a package and its dependencies. */
function installedBytes(name, importer, seen = new Set()) {
  const manifest = realpathSync(findPackageJSON(name, importer))
  if (seen.has(manifest)) return 0
  seen.add(manifest)
  const files = globSync('**', { cwd: dirname(manifest), exclude: ['node_modules'], withFileTypes: true })
  const own = files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.keys(dependencies).reduce((sum, dependency) => sum + installedBytes(dependency, manifest, seen), own)
}

async function checkBundles(app) {
  for (const [entry, max] of Object.entries(MAX_BUNDLE_BYTES)) {
    const file = join(app, 'web-page.js')
    writeFileSync(file, `export { parseRobots } from '${entry}'`)
    const esbuild = join(app, 'node_modules', '.bin', 'esbuild')
    const { stdout } = await run(esbuild, [file, '--bundle', '--minify', '--format=esm', '--log-level=error'])
    const { length } = gzipSync(stdout, { level: 9 })
    if (length > max) problems.push(`parseRobots of ${entry}: ${length} bytes in a bundle, at most ${max}`)
  }
}

async function lint({ tarball, manifest }) {
  const tools = [
    ['publint', 'node_modules/publint/src/cli.js', tarball, '--strict'],
    ['attw', 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, ...attwOptions(manifest)],
  ]
  for (const [tool, ...argv] of tools) {
    await run(process.execPath, argv).catch(({ stdout, stderr }) =>
      problems.push(`${tool} ${manifest.name}:\n${stdout}${stderr}`),
    )
  }
}

/**
 * Node's `require` loads ES modules, so one form is enough for most packages. What has a CommonJS build
 * has it for all public entry points. `robots-parser` is a function, as the package that it replaces,
 * which TypeScript's oldest resolution cannot express.
 */
function attwOptions({ exports }) {
  if (exports['.'].require === undefined) return ['--profile', 'esm-only']
  const withoutCommonJs = ['./internal', './flags', './review', './node-version'] // of core, for our other packages
  return ['--profile', 'node16', '--ignore-rules', 'missing-export-equals', '--exclude-entrypoints', ...withoutCommonJs]
}

/** Runs the examples of the READMEs, each in the project. */
async function runExamples(app) {
  const browser = findBrowser()
  const examples = publishedPackages().flatMap(({ folder: from }) =>
    examplesOf(readFileSync(`${from}/README.md`, 'utf8')).map((code, i) => ({ from, code, i })),
  )
  const runnable = examples.filter(
    ({ code }) =>
      !(code.includes('CHROME_BIN') && browser === undefined) &&
      !(code.includes('REDIS_URL') && noRedis()) &&
      !(code.includes('DATABASE_URL') && noPostgres()),
  )
  await eachInParallel(runnable, async ({ from, code, i }) => {
    const file = join(app, `${from.replaceAll('/', '-')}-${i}.ts`)
    const { status, printed, promised } = await runExample({ code, file, origin: site.origin, browser })
    if (status === 0 && printed.join('\n') === promised.join('\n')) return
    const lines = `printed\n${printed.join('\n')}\ninstead of\n${promised.join('\n')}`
    problems.push(`${from}/README.md, example ${i}: ${lines}`)
  })
}
