// Checks the packages as a user gets them. Packs every published package, installs the tarballs into an empty project outside the workspace, lints
// them with publint and attw, and runs the examples of their READMEs there.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { examplesOf, runExample, startExampleSite } from '../packages/testkit/src/examples.ts'
import { findBrowser } from '../packages/testkit/src/parts.ts'

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

const packages = readdirSync('packages')
  .map((name) => ({
    folder: `packages/${name}`,
    manifest: JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')),
  }))
  .filter(({ manifest }) => !manifest.private)

const problems = []
const folder = mkdtempSync(join(tmpdir(), 'politely-packages-'))
try {
  const tarballs = await pack()
  await Promise.all([installInto(join(folder, 'app'), tarballs), ...tarballs.map(lint)])
  const count = await runExamples(join(folder, 'app'))
  console.log(`${tarballs.length} packages installed from tarballs, ${count} examples run`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

/** Packs all packages. Each tarball must have what npm shows and nothing that only the workspace needs. */
async function pack() {
  return Promise.all(
    packages.map(async ({ folder: from, manifest }) => {
      const { stdout } = await run('pnpm', ['pack', '--json', '--pack-destination', folder], { cwd: resolve(from) })
      const { filename, files } = JSON.parse(stdout)
      const tarball = resolve(folder, filename)
      const published = JSON.parse((await run('tar', ['xOf', tarball, 'package/package.json'])).stdout)
      for (const key of MANIFEST_KEYS)
        if (!(key in published) && !(key === 'exports' && published.bin)) problems.push(`${from}: no ${key}`)
      for (const key of ['scripts', 'devDependencies'])
        if (key in published) problems.push(`${from}: ${key} in the tarball`)
      for (const file of ['README.md', 'LICENSE']) {
        if (!files.some(({ path }) => path === file)) problems.push(`${from}: no ${file} in the tarball`)
      }
      return { name: manifest.name, manifest, tarball, from }
    }),
  )
}

async function installInto(app, tarballs) {
  mkdirSync(app)
  const peers = Object.assign({}, ...tarballs.map(({ manifest }) => manifest.peerDependencies))
  const examples = JSON.parse(readFileSync('docs/package.json', 'utf8')).dependencies
  const dependencies = {
    ...Object.fromEntries(tarballs.map(({ name, tarball }) => [name, `file:${tarball}`])),
    ...Object.fromEntries(
      ['@crawlee/cheerio', 'playwright', ...Object.keys(peers)].map((name) => [name, examples[name] ?? peers[name]]),
    ),
  }
  writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd: app,
  })
}

async function lint({ name, tarball, manifest }) {
  const tools = [
    ['publint', 'node_modules/publint/src/cli.js', tarball, '--strict'],
    // A package that is only a command has no types to check.
    ...(manifest.exports['.']
      ? [['attw', 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, ...attwOptions(manifest)]]
      : []),
  ]
  for (const [tool, ...argv] of tools) {
    await run(process.execPath, argv).catch(({ stdout, stderr }) =>
      problems.push(`${tool} ${name}:\n${stdout}${stderr}`),
    )
  }
}

/**
 * Node's `require` loads ES modules, so one form is enough. `robots-parser` has CommonJS of its own, as the package that it replaces: the module
 * is the function, which TypeScript's oldest resolution cannot express.
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
