// Runs a program for each installed package on each runtime and in each module form, and compiles
// imports of each entry point with several versions of TypeScript. The results are the tables of
// docs/runtimes.md.

import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { startCrawlSites } from './crawl-sites.mjs'
import { eachInParallel, entryPoints, publishedPackages } from './packages.mjs'
import { TYPESCRIPTS } from './packed.mjs'
import { programs } from './runtime-programs.mjs'
import { NODES, nodeCommand, OLDER_NODES } from './tools.mjs'

const PAGE = 'docs/runtimes.md'
const TIMEOUT_MS = 30_000

const runProgram = promisify(execFile)
const packages = publishedPackages().filter(({ manifest }) => manifest.name in programs)
let app
let origin

/**
 * Runs everything in the project `project`. Returns the problems; writes the page if `isWriting`.
 * @param site The address of the site that the programs visit.
 */
export async function checkRuntimes(project, site, { isWriting }) {
  app = project
  origin = site
  copyFileSync('scripts/runtime-programs.mjs', join(app, 'programs.mjs'))
  const start = performance.now()
  const names = packages.map(({ manifest }) => manifest.name)
  const tables = [
    await fill(runtimeColumns(), names),
    await fill(OLDER_NODES.flatMap(nodeColumns), names.filter(runsOnOlderNodes)),
    await fill(typescriptColumns(), names),
  ]
  const cells = tables.reduce((sum, { columns, rows }) => sum + rows.length * columns.length, 0)
  console.log(`packages: ${cells} cells of ${PAGE} run, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return compare(tables, isWriting)
}

/**
 * A column has a title and a function that tries one row. The function resolves to undefined if the
 * row works, to the error if it does not, and to '–' if the row makes no sense there.
 *
 * A runtime first loads all packages in one process. Only a package that fails there gets its own
 * process, whose error the page shows.
 */
function runtimeColumns() {
  const columns = NODES.flatMap(nodeColumns)
  const [deno, bun, workerd] = ['deno', 'bun', 'workerd'].map(binary)
  columns.push(
    { title: 'Deno 2.9', run: andCrawl(runner([deno, 'run', '--allow-all', '--no-lock'], esm), [deno, 'run', '-A']) },
    { title: 'Bun 1.4', run: andCrawl(runner([bun], esm), [bun]) },
    {
      title: 'esbuild 0.28, ESM bundle on Node',
      run: async (name) =>
        needsFramework(name)
          ? '–'
          : bundle(esm(name), 'node').then((file) => execute([process.execPath], file), messageOf),
    },
    { title: 'workerd 2026-11-17', run: (name) => onWorkerd(workerd, name) },
  )
  return columns
}

function nodeColumns(version) {
  const node = nodeCommand(version, { why: 'docs/runtimes.md says that packages work there' })
  const title = `Node ${version.replace(/\.\d+$/, '')}`
  return [
    { title: `${title}, \`import\``, run: runner([node], esm) },
    { title: `${title}, \`require\``, run: runner([node], cjs) },
  ]
}

/** Whether a package asks for no newer Node than its code needs. Its CommonJS build has all public entry points. */
function runsOnOlderNodes(name) {
  return packages.find((one) => one.manifest.name === name).manifest.engines.node === '>=20'
}

/** After the program of `politely`, runs the demo's crawl too. What its sites received is the result. */
function andCrawl(runOnRuntime, command) {
  return async (name) => {
    const error = await runOnRuntime(name)
    return error === undefined && name === 'politely' ? crawlOn(command, (seed) => crawlModule(seed)) : error
  }
}

async function crawlOn(command, fileOf) {
  const sites = await startCrawlSites()
  try {
    return (await execute(command, await fileOf(sites.seed))) ?? sites.problem()
  } finally {
    sites.close()
  }
}

function crawlModule(seed, start = (call) => `await ${call}`) {
  const imports = `import { crawl } from './programs.mjs'\nimport * as entry from 'politely'\n`
  return write(`crawl-${seed}`, '.mjs', `${imports}${start(`crawl(entry, '${seed}')`)}\n`)
}

/** Packages without a build for workerd have no cell: they need sockets or files. */
async function onWorkerd(workerd, name) {
  const { exports } = packages.find(({ manifest }) => manifest.name === name).manifest
  if (name === '@politely/core')
    return bundle(worker(name), 'browser').then((file) => execute([workerd, 'test'], capnp(file)), messageOf)
  if (exports['.'].workerd === undefined && name !== 'politely') return '–'
  const test = async (file) => execute([workerd, 'test'], capnp(await bundle(file, 'neutral')))
  const error = await test(worker(name)).catch(messageOf)
  if (error !== undefined || name !== 'politely') return error
  const inWorker = (call) => `export default { test: () => ${call} }`
  return crawlOn([workerd, 'test'], async (seed) => capnp(await bundle(crawlModule(seed, inWorker), 'neutral')))
}

/** @param fileOf Writes the program of a package, and returns its path. */
function runner(command, fileOf) {
  let together
  return async (name) => {
    together ??= runTogether(command, fileOf)
    if ((await together).includes(name)) return undefined
    return execute(command, fileOf(name))
  }
}

/**
 * Runs the programs of all packages in one process. Returns the names of the packages that worked.
 */
async function runTogether([command, ...args], fileOf) {
  const files = packages.map(({ manifest: { name } }) => [name, fileOf(name)])
  const program = files.map(
    ([name, file]) =>
      `try { await (await import(${JSON.stringify(file)})).default; console.log('works: ${name}') } catch {}`,
  )
  const file = write(`all-${slug(fileOf.name)}`, '.mjs', `${program.join('\n')}\n`)
  // If a package ends the process, or keeps it alive, each package gets its own.
  const { stdout } = await runProgram(command, [...args, file], { cwd: app, timeout: TIMEOUT_MS }).catch(() => ({
    stdout: '',
  }))
  return Array.from(stdout.matchAll(/^works: (.*)$/gm), ([, name]) => name)
}

function binary(name) {
  return join(app, 'node_modules/.bin', name)
}

/** Whether a package needs another one that a bundle cannot hold, such as a framework. */
function needsFramework(name) {
  const { manifest } = packages.find((one) => one.manifest.name === name)
  return Object.keys(manifest.peerDependencies ?? {}).some((peer) => !manifest.peerDependenciesMeta?.[peer]?.optional)
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
  return line.trim().replaceAll(origin, 'http://localhost').replaceAll(app, '…')
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
    .filter(({ isCommonJs }) => isCommonJs || !runsOnOlderNodes(name))
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
  return `programs['${name}'](m0, '${origin}')`
}

function esm(name) {
  return write(name, '.mjs', `import { programs } from './programs.mjs'\n${imports(name)}\nawait ${runOn(name)}\n`)
}

function cjs(name) {
  const requires = lines(name, (id, specifier) => `const ${id} = require('${specifier}')`)
  const text = `${requires}\nmodule.exports = import('./programs.mjs').then(({ programs }) => ${runOn(name)})\n`
  return write(name, '.cjs', text) // a rejection ends the process
}

function worker(name) {
  const text = `import { programs } from './programs.mjs'\n${imports(name)}\n`
  return write(`${name}-worker`, '.mjs', `${text}export default { test: () => ${runOn(name)} }\n`)
}

async function bundle(file, platform) {
  const out = file.replace(/\.mjs$/, `.${platform}.bundle.mjs`)
  // The programs of other packages import these, which need modules of Node.
  const args = ['--bundle', '--format=esm', `--platform=${platform}`, '--log-level=warning', `--outfile=${out}`]
  if (platform === 'browser') args.push(...['gate', 'fetcher', 'mcp'].map((name) => `--external:@politely/${name}`))
  if (platform === 'neutral') args.push('--conditions=workerd', '--main-fields=module,main', '--external:node:*')
  await runProgram(binary('esbuild'), [file, ...args], { cwd: app, timeout: TIMEOUT_MS })
  return out
}

/** The configuration of workerd for one module. */
function capnp(file) {
  const module = `(name = "main", esModule = embed "${file.slice(app.length + 1)}")`
  const worker = `(modules = [${module}], compatibilityDate = "2026-11-01", globalOutbound = "sites")`
  const sites = '(name = "sites", network = (allow = ["private", "public"]))' // the sites are on loopback
  return write(
    file.slice(app.length + 1),
    '.capnp',
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = ${worker}), ${sites}]);
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
        const error = (await errors).find((line) => ours.some((path) => line.startsWith(path)))
        return error && /\berror TS\d+/.exec(error)?.[0]
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

/** Runs all rows of all columns. */
async function fill(columns, rows) {
  const jobs = columns.flatMap((column) => rows.map((row) => ({ column, row })))
  const results = await eachInParallel(jobs, ({ column, row }) => column.run(row))
  const cells = new Map(jobs.map(({ column, row }, i) => [`${column.title} ${row}`, results[i]]))
  return { columns, rows, cell: (column, row) => cells.get(`${column.title} ${row}`) }
}

/** Compares the page with the tables, or writes it. Returns the problems. */
function compare(tables, isWriting) {
  const old = readFileSync(PAGE, 'utf8')
  let i = 0
  const page = old.replaceAll(
    /(<!-- table -->\n).*?(<!-- end -->)/gs,
    (_, begin, end) => `${begin}\n${markdown(tables[i++])}\n${end}`,
  )
  if (isWriting) writeFileSync(PAGE, page)
  if (isWriting || page === old) return []
  const before = old.split('\n')
  const changed = page.split('\n').filter((line) => !before.includes(line))
  return [`${PAGE} is not current; run \`npm run runtimes\` and read what changed:`, ...changed]
}

/**
 * A table, and the messages of the cells that say `no`. Packages whose cells are the same share a row, and so do
 * columns.
 */
function markdown({ columns, rows, cell }) {
  const failures = new Map() // from a column and a message to the packages
  const text = (column, row) => {
    const result = cell(column, row)
    if (result === undefined) return 'yes'
    if (result === '–') return '–'
    // TypeScript repeats the name of the package in its message.
    const failure = `${column.title}: \`${result.replaceAll('`', "'").replaceAll(row, '…')}\``
    failures.set(failure, [...(failures.get(failure) ?? []), row.split('/').at(-1)])
    return '**no**'
  }
  const texts = new Map(rows.map((row) => [row, columns.map((column) => text(column, row))]))
  const packagesOf = Map.groupBy(rows, (row) => texts.get(row).join())
  const columnsOf = Map.groupBy(columns.keys(), (at) => rows.map((row) => texts.get(row)[at]).join())
  const heads = Array.from(columnsOf.values(), (at) => at.map((one) => columns[one].title).join('; '))
  const named = (names) => names.map((name) => `\`${name}\``).join(', ')
  const head = [`| | ${heads.join(' | ')} |`, `|---|${heads.map(() => '---|').join('')}`]
  const body = Array.from(packagesOf.values(), (names) => {
    const cells = Array.from(columnsOf.values(), ([at]) => texts.get(names[0])[at])
    return `| ${named(names)} | ${cells.join(' | ')} |`
  })
  const messages = [...failures].map(([failure, names]) => `- ${failure} (${named(names)})`)
  return [...head, ...body, ...(messages.length > 0 ? ['', ...messages] : []), ''].join('\n')
}
