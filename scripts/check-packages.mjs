// Checks the packages as a user gets them. Packs every published package, installs the tarballs
// into an empty project outside the workspace, lints them with publint and attw, runs the examples of
// their READMEs there, and compiles the declarations of users who install with pnpm.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { examplesOf, runExample, startExampleSite } from '../packages/testkit/src/examples.ts'
import { findBrowser } from '../packages/testkit/src/parts.ts'
import { noPostgres } from '../packages/testkit/src/servers/postgres.ts'
import { noRedis } from '../packages/testkit/src/servers/redis.ts'
import { declarationErrors } from './declarations.mjs'
import { createProject, packAll, peersOf, publishedPackages } from './packages.mjs'

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
const MAX_UNPACKED_BYTES = 1_500_000

/** What the examples of the READMEs import, apart from our packages and their peers. */
const IN_EXAMPLES = [
  '@crawlee/cheerio',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/sdk-metrics',
  'playwright',
]

const packages = publishedPackages()
const problems = []
const folder = mkdtempSync(join(tmpdir(), 'politely-packages-'))
try {
  const tarballs = await packAll(packages, folder)
  tarballs.forEach(checkContents)
  const { dependencies } = JSON.parse(readFileSync('docs/package.json', 'utf8'))
  const others = Object.fromEntries(IN_EXAMPLES.map((name) => [name, dependencies[name]]))
  Object.assign(others, peersOf(packages))
  await Promise.all([createProject(join(folder, 'app'), tarballs, others), ...tarballs.map(lint)])
  const count = await runExamples(join(folder, 'app'))
  problems.push(...(await declarationErrors(tarballs, join(folder, 'users'))))
  console.log(`${tarballs.length} packages installed from tarballs, ${count} examples run`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

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
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/.*\.md|(bundle|dist|src)\/.*|(grafana|prometheus)\/.*|sql\/.*\.sql|required\.(cjs|d\.cts))$/
  for (const path of paths)
    if (!expected.test(path)) problems.push(`${from}: ${path} in the tarball is of no use to users`)
  for (const path of paths.filter((path) => path.endsWith('.d.ts'))) {
    const [generic] =
      readFileSync(join(from, path), 'utf8').match(/^(?! *(?:\*|\/[/*])).*\b(Buffer|\w+Array)<Array.*/m) ?? []
    if (generic !== undefined)
      problems.push(`${from}: ${path} has a type that TypeScript before 5.7 does not know: ${generic.trim()}`)
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
 * Node's `require` loads ES modules, so one form is enough. `robots-parser` has CommonJS of its
 * own, as the package that it replaces: the module is the function, which TypeScript's oldest
 * resolution cannot express.
 */
function attwOptions({ exports }) {
  if (exports['.'].require === undefined) return ['--profile', 'esm-only']
  return ['--profile', 'node16', '--ignore-rules', 'false-export-default']
}

async function runExamples(app) {
  const site = await startExampleSite()
  const browser = findBrowser()
  let count = 0
  try {
    for (const { folder: from } of packages) {
      for (const [i, code] of examplesOf(readFileSync(`${from}/README.md`, 'utf8')).entries()) {
        if (code.includes('CHROME_BIN') && browser === undefined) continue
        if (code.includes('REDIS_URL') && noRedis()) continue
        if (code.includes('DATABASE_URL') && noPostgres()) continue
        const file = join(app, `${from.replaceAll('/', '-')}-${i}.ts`)
        const { status, printed, promised } = await runExample({ code, file, origin: site.origin, browser })
        count++
        if (status !== 0 || printed.join('\n') !== promised.join('\n')) {
          problems.push(
            `${from}/README.md, example ${i}: printed\n${printed.join('\n')}\ninstead of\n${promised.join('\n')}`,
          )
        }
      }
    }
  } finally {
    site.close()
  }
  return count
}
