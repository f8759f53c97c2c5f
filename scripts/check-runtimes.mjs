// Installs the packed packages into an empty project, runs a program for each package on each
// runtime and in each module form, and compiles imports of each entry point with several versions
// of TypeScript. The results are the tables of docs/runtimes.md. Part of `npm run test:all`.
//
//   npm run runtimes           writes the tables (`--write`); without it, the script fails if they differ
//
// The runtimes are downloaded into .tools/ once. Without them their columns are not run; with
// REQUIRE_PARTS=1 that fails.

import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { startExampleSite } from '../packages/testkit/src/examples.ts'
import { createProject, entryPoints, packAll, peersOf, publishedPackages } from './packages.mjs'
import { programs } from './runtime-programs.mjs'
import { installNode, installTool, log, NODES, SetupError } from './tools.mjs'

const PAGE = 'docs/runtimes.md'
const TOOLS = { deno: '2.9.6', bun: '1.4.5', workerd: '1.20261117.1', esbuild: '0.28.2' }
const TYPESCRIPTS = { 5.4: '5.4.5', 5.9: '5.9.3', '6.0': '6.0.3', '7.0': '7.0.2' }
const TIMEOUT_MS = 30_000

const WHY = 'docs/runtimes.md says that the packages work there'
const runProgram = promisify(execFile)
const packages = publishedPackages().filter(({ manifest }) => manifest.name in programs)
const start = performance.now()
const folder = mkdtempSync(join(tmpdir(), 'politely-runtimes-'))
const app = join(folder, 'app')
const site = await startExampleSite()
try {
  const tarballs = await packAll(publishedPackages(), folder)
  const compilers = Object.values(TYPESCRIPTS).map((version) => [`typescript-${version}`, `npm:typescript@${version}`])
  const others = { ...peersOf(packages), '@types/node': '^22.19.0', ...Object.fromEntries(compilers) }
  await createProject(app, tarballs, others)
  copyFileSync('scripts/runtime-programs.mjs', join(app, 'programs.mjs'))
  const runtimes = runtimeColumns()
  const names = packages.map(({ manifest }) => manifest.name)
  const tables = [await fill(runtimes, names), await fill(typescriptColumns(), names)]
  report(tables)
} finally {
  site.close()
  rmSync(folder, { recursive: true, force: true })
}

/**
 * A column has a title and a function that tries one row. The function resolves to undefined if the
 * row works, to the error if it does not, and to '–' if the row makes no sense there.
 */
function runtimeColumns() {
  const columns = []
  for (const version of NODES) {
    const node = install(() =>
      join(installNode(version, { why: WHY }), process.platform === 'win32' ? 'node.exe' : 'node'),
    )
    const short = version.replace(/\.\d+$/, '')
    columns.push({ title: `Node ${short}, \`import\``, missing: !node, run: (name) => execute([node], esm(name)) })
    columns.push({ title: `Node ${short}, \`require\``, missing: !node, run: (name) => execute([node], cjs(name)) })
  }
  const command = Object.fromEntries(
    Object.entries(TOOLS).map(([name, version]) => [
      name,
      install(() => join(installTool(name, version, { why: WHY, allowScripts: { [name]: true } }), '.bin', name)),
    ]),
  )
  const { deno, bun, workerd, esbuild } = command
  columns.push(
    { title: 'Deno 2.9', missing: !deno, run: (name) => execute([deno, 'run', '--allow-all', '--no-lock'], esm(name)) },
    { title: 'Bun 1.4', missing: !bun, run: (name) => execute([bun], esm(name)) },
    {
      title: 'esbuild 0.28, ESM bundle on Node',
      missing: !esbuild,
      run: async (name) =>
        needsFramework(name)
          ? '–'
          : bundle(esbuild, esm(name), 'node').then((file) => execute([process.execPath], file), messageOf),
    },
    {
      title: 'workerd 2026-11-17',
      missing: !workerd || !esbuild,
      run: async (name) => {
        if (name !== '@politely/core') return '–'
        return bundle(esbuild, worker(name), 'browser').then(
          (file) => execute([workerd, 'test'], capnp(file)),
          messageOf,
        )
      },
    },
  )
  return columns
}

/** Whether a package needs another one that a bundle cannot hold, such as a framework. */
function needsFramework(name) {
  const { manifest } = packages.find((one) => one.manifest.name === name)
  return Object.keys(manifest.peerDependencies ?? {}).some((peer) => !manifest.peerDependenciesMeta?.[peer]?.optional)
}

/** Returns what `make` installs; undefined if that is impossible, for example without a network. */
function install(make) {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    log(error.message)
    return undefined
  }
}

/** Returns the error's line, or undefined. */
async function execute([command, ...args], file) {
  try {
    await runProgram(command, [...args, file], { cwd: app, timeout: TIMEOUT_MS })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** The line that names the error, without what differs between runs and machines. */
function messageOf({ stdout = '', stderr = '', message }) {
  const lines = stripVTControlCharacters(`${stderr}\n${stdout}\n${message}`).split('\n')
  const line = lines.find((one) => /^(error: )?(Uncaught .*)?\w*Error\b( \[\w+\])?:/.test(one)) ?? message
  return line.trim().replaceAll(site.origin, 'http://localhost').replaceAll(app, '…').replaceAll(folder, '…')
}

/** Writes a file, unless it exists: another runtime may be reading it. */
function write(name, extension, text) {
  const file = join(app, `${slug(name)}${extension}`)
  if (!existsSync(file)) writeFileSync(file, text)
  return file
}

/**
 * All entry points of a package as lines of code, the main one first:
 * `import * as m0 from '@politely/core'`.
 */
function lines(name, line) {
  const { manifest } = packages.find((one) => one.manifest.name === name)
  return entryPoints(manifest)
    .map(({ specifier }, i) => line(`m${i}`, specifier))
    .join('\n')
}

function imports(name) {
  return lines(
    name,
    (id, specifier) => `import * as ${id} from '${specifier}'; if (!${id}) throw new Error('${specifier}')`,
  )
}

function runOn(name) {
  return `programs['${name}'](m0, '${site.origin}')`
}

function esm(name) {
  return write(name, '.mjs', `import { programs } from './programs.mjs'\n${imports(name)}\nawait ${runOn(name)}\n`)
}

function cjs(name) {
  const requires = lines(name, (id, specifier) => `const ${id} = require('${specifier}')`)
  const text = `const { programs } = require('./programs.mjs')\n${requires}\n`
  return write(name, '.cjs', `${text}${runOn(name)}.catch((error) => { console.error(error); process.exitCode = 1 })\n`)
}

function worker(name) {
  const text = `import { programs } from './programs.mjs'\n${imports(name)}\n`
  return write(`${name}-worker`, '.mjs', `${text}export default { test: () => ${runOn(name)} }\n`)
}

async function bundle(esbuild, file, platform) {
  const out = file.replace(/\.mjs$/, `.${platform}.bundle.mjs`)
  // The programs of other packages import these, which need modules of Node.
  const args = ['--bundle', '--format=esm', `--platform=${platform}`, '--log-level=warning', `--outfile=${out}`]
  if (platform === 'browser') args.push('--external:@politely/gate', '--external:@politely/fetcher')
  await runProgram(esbuild, [file, ...args], { cwd: app, timeout: TIMEOUT_MS })
  return out
}

/** The configuration of workerd for one module. */
function capnp(file) {
  const module = `(name = "main", esModule = embed "${file.slice(app.length + 1)}")`
  return write(
    'workerd',
    '.capnp',
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (modules = [${module}], compatibilityDate = "2026-11-01"))]);
`,
  )
}

function slug(name) {
  return name.replaceAll(/\W+/g, '-')
}

/**
 * Only errors in the declarations of a package, and in the files that import its entry points,
 * count.
 */
function typescriptColumns() {
  return Object.entries(TYPESCRIPTS).flatMap(([short, version]) => {
    const errors = compile(version)
    return ['mts', 'cts'].map((extension) => ({
      title: `TypeScript ${short}, ${extension === 'mts' ? 'ES module' : 'CommonJS'}`,
      run: async (name) => {
        const ours = [`types${slug(name)}.${extension}(`, `node_modules/${name}/`]
        return (await errors).find((line) => ours.some((path) => line.startsWith(path)))?.replace(/^.*?: /, '')
      },
    }))
  })
}

/**
 * Compiles imports of all packages, from ES modules and from CommonJS, and returns the lines that
 * the compiler prints.
 */
async function compile(version) {
  const files = packages.flatMap(({ manifest: { name } }) =>
    ['.mts', '.cts'].map((extension) =>
      write(
        `types${name}`,
        extension,
        `${lines(name, (id, specifier) => `import * as ${id} from '${specifier}'\nexport const v${id}: unknown = ${id}`)}\n`,
      ),
    ),
  )
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
    '--pretty',
    'false',
  ]
  const tsc = join(app, 'node_modules', `typescript-${version}`, 'bin', 'tsc')
  const { stdout } = await runProgram(process.execPath, [tsc, ...options, ...files], {
    cwd: app,
    maxBuffer: 2 ** 28,
  }).catch((error) => error)
  return stdout.split('\n')
}

/** Runs all rows of all columns, as many at once as there are processors. */
async function fill(columns, rows) {
  const cells = new Map()
  const jobs = columns.flatMap((column) => rows.map((row) => ({ column, row })))
  const next = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift())
      if (!job.column.missing) cells.set(job, await job.column.run(job.row))
  }
  const all = [...jobs]
  await Promise.all(Array.from({ length: availableParallelism() }, next))
  return {
    columns,
    rows,
    cell: (column, row) => cells.get(all.find((one) => one.column === column && one.row === row)),
  }
}

function report(tables) {
  const missing = tables.flatMap(({ columns }) => columns.filter((column) => column.missing)).map(({ title }) => title)
  const cells = tables.reduce(
    (sum, { columns, rows }) => sum + rows.length * columns.filter((one) => !one.missing).length,
    0,
  )
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(
    `${cells} cells of ${PAGE} were run in ${seconds} s${missing.length > 0 ? `; not run: ${missing.join('; ')}` : ''}`,
  )
  if (missing.length > 0 && process.env.REQUIRE_PARTS === '1') process.exitCode = 1

  const old = readFileSync(PAGE, 'utf8')
  let i = 0
  const page = old.replaceAll(
    /(<!-- table -->\n).*?(<!-- end -->)/gs,
    (_, begin, end) => `${begin}\n${markdown(tables[i++])}\n${end}`,
  )
  if (process.argv.includes('--write')) {
    if (missing.length > 0) throw new Error(`cannot write ${PAGE}: not all runtimes are installed`)
    writeFileSync(PAGE, page)
  } else if (missing.length === 0 && page !== old) {
    console.error(`${PAGE} is not current; run \`npm run runtimes\` and read what changed:`)
    const before = old.split('\n')
    for (const line of page.split('\n')) if (!before.includes(line)) console.error(line)
    process.exitCode = 1
  }
}

/** A table, and the messages of the cells that say `no`. */
function markdown({ columns, rows, cell }) {
  const failures = new Map() // from a column and a message to the packages
  const body = rows.map((row) => {
    const texts = columns.map((column) => {
      const result = cell(column, row)
      if (result === undefined) return 'yes'
      if (result === '–') return '–'
      // TypeScript repeats the name of the package in its message.
      const failure = `${column.title}: \`${result.replaceAll('`', "'").replaceAll(row, '…')}\``
      failures.set(failure, [...(failures.get(failure) ?? []), `\`${row.split('/').at(-1)}\``])
      return '**no**'
    })
    return `| \`${row}\` | ${texts.join(' | ')} |`
  })
  const head = [`| | ${columns.map(({ title }) => title).join(' | ')} |`, `|---|${columns.map(() => '---|').join('')}`]
  const messages = [...failures].map(([failure, names]) => `- ${failure} (${names.join(', ')})`)
  return [...head, ...body, ...(messages.length > 0 ? ['', ...messages] : []), ''].join('\n')
}
