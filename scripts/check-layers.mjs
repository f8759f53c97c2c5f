// Checks that imports go in one direction only: gate imports fetcher, fetcher imports core, and
// within each package a folder imports only the folders below it. Type imports count too.
// Reads packages/*/src and prints `file:line what why` for each forbidden import and each violation
// of our rules for modules. It recognizes comments, strings and import statements only; tsc and
// Biome check everything else.
//
//   node scripts/check-layers.mjs [root]

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { blank, withoutText } from './code-text.mjs'

// For each package, the packages of ours that its src may import. Every package must be listed
// here.
const PACKAGES = {
  core: [],
  fetcher: ['core'],
  gate: ['core', 'fetcher'],
  sqlite: ['core', 'fetcher'],
  cache: ['core', 'fetcher', 'gate', 'sqlite'],
  'web-bot-auth': ['core', 'fetcher', 'gate'],
  fleet: ['core', 'fetcher', 'gate'],
  redis: ['core', 'fetcher', 'fleet', 'gate'],
  postgres: ['core', 'fetcher', 'fleet', 'gate'],
  cdp: ['core', 'fetcher', 'gate'],
  crawlee: ['core', 'cdp', 'fetcher', 'gate'],
  playwright: ['core', 'cdp', 'fetcher', 'gate'],
  puppeteer: ['core', 'cdp', 'fetcher', 'gate'],
  'robots-parser': ['core'],
  testing: ['cache', 'core', 'fetcher', 'gate'],
  timeline: ['core', 'fetcher', 'gate'],
  evidence: ['core', 'fetcher'],
  sitemaps: ['core', 'fetcher'],
  mcp: ['core', 'fetcher', 'gate'],
  otel: ['core', 'fetcher', 'gate'],
  server: ['core', 'fetcher', 'gate', 'otel', 'postgres', 'redis', 'sqlite'],
  cli: [
    'cache',
    'core',
    'evidence',
    'fetcher',
    'gate',
    'mcp',
    'server',
    'sitemaps',
    'sqlite',
    'timeline',
    'web-bot-auth',
  ],
  playground: ['core', 'sitemaps'],
  testkit: [], // core's tests use it, so it must not import core; tests pass core's functions to it
  bench: ['cache', 'core', 'fetcher', 'gate', 'postgres', 'redis', 'testkit', 'timeline'],
  site: ['core', 'gate', 'playground', 'testing', 'timeline'],
}

const BELOW_GATE_ENTRIES = [
  'pace',
  'report',
  'redirects',
  'permit',
  'options',
  'circuit',
  'robots',
  'lane',
  'gate.ts',
  'adapter',
]

// For each folder of a package's src, the folders that it may import. Every package with folders must
// be listed here, with each of its folders. A file directly in src may import all of them. A file in
// a folder may import a file directly in src if that file leads to none but the folders of the list,
// or if the list has its name.
const FOLDERS = {
  core: {
    runtime: [],
    url: [],
    http: [],
    parse: ['url'],
    match: ['parse', 'url'],
    lint: ['parse', 'url', 'match'],
    access: ['url', 'http', 'foreign-format.ts'],
    pace: ['url', 'http'],
    page: ['url', 'http', 'access', 'pace', 'runtime'],
    small: ['parse', 'match', 'url', 'robots.ts', 'index.ts'],
    crawlers: ['match', 'parse', 'robots.ts', 'index.ts'],
    review: ['lint', 'parse', 'match', 'url', 'usage'],
    revisit: ['url', 'page', 'internal.ts'],
    usage: ['url', 'http', 'parse', 'match', 'index.ts'],
  },
  fetcher: eachImportsThoseBefore('base', 'network', 'report', 'store', 'options', 'fetch', 'edge', 'cache', 'client'),
  gate: {
    ...eachImportsThoseBefore(...BELOW_GATE_ENTRIES),
    fetch: BELOW_GATE_ENTRIES,
    http: BELOW_GATE_ENTRIES,
    undici: BELOW_GATE_ENTRIES,
    edge: [],
    'outer-queue': BELOW_GATE_ENTRIES,
    'site-queue': [...BELOW_GATE_ENTRIES, 'fetch', 'outer-queue'],
  },
  cache: { sqlite: [] },
  evidence: { audit: [] },
  'web-bot-auth': { operator: [] },
  postgres: { pace: [] },
  crawlee: { usage: [], cache: ['usage'], failed: [] },
  sitemaps: eachImportsThoseBefore('bytes', 'parse', 'read'),
  testing: { cases: [] },
  server: eachImportsThoseBefore('permits', 'http'),
  cli: eachImportsThoseBefore('output', 'input', 'commands'),
  testkit: eachImportsThoseBefore('servers', 'cases', 'browser'),
  bench: { ...eachImportsThoseBefore('files', 'libraries', 'workloads'), fleet: [], revisit: [] },
  site: {
    ...eachImportsThoseBefore('docs', 'charts', 'start', 'pages'),
    ...eachImportsThoseBefore('docs', 'search', 'build'),
    ...eachImportsThoseBefore('components', 'playground'),
  },
}

/** The packages whose bundle contains libraries: see scripts/bundle-package.mjs. */
const BUNDLED = new Set(['cli', 'core', 'fetcher'])

/** The folder of core, behind an entry of its own, that may use libraries. */
const WITH_DEPENDENCIES = 'usage'

/**
 * A list of types that several packages export again, so that a user of each can name them.
 * `export type * from` is for such a list only.
 */
const SHOWN_TYPES = /\/shown-types(\.ts)?$/

/** More files beside each other teach nothing. */
const MAX_FILES_IN_FOLDER = 20

// Globals that core must not use. It gets such values as arguments, or leaves the work to other
// packages. tsc rejects most of these names, because core is compiled without types of a platform,
// but not the language's own clock and random numbers.
const GLOBALS = 'Buffer process setTimeout setInterval setImmediate performance fetch console require'
const IMPURE = [
  ['Date.now', /\bDate\s*\.\s*now\b/g],
  ['new Date()', /\bnew\s+Date\b(?!\s*\(\s*[^\s)])/g],
  ['Math.random', /\bMath\s*\.\s*random\b/g],
  // Matches the name alone, not a property (`plan.fetch`) or a key (`fetch: …`).
  ...GLOBALS.split(' ').map((name) => [name, new RegExp(`(?<![\\w$.#])${name}(?![\\w$]|\\s*\\??:)`, 'g')]),
]

const root = resolve(process.argv[2] ?? '.')
const packages = readdirSync(join(root, 'packages')).map(readPackage)
const files = packages.flatMap(readFiles)
const violations = []

for (const file of files) {
  for (const imported of file.imports) checkImport(file, imported)
  checkForm(file)
  if (file.owner.dir === 'core') checkCore(file)
}
checkCircles()
packages.forEach(checkFolders)
for (const line of violations.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))) console.log(line)
process.exitCode = violations.length === 0 ? 0 : 1
if (violations.length === 0) {
  const imports = files.reduce((sum, file) => sum + file.imports.length, 0)
  console.log(`${imports} imports in ${files.length} files of ${packages.length} packages are allowed`)
}

function readPackage(dir) {
  const path = join(root, 'packages', dir)
  const manifest = join(path, 'package.json')
  const content = existsSync(manifest) ? readFileSync(manifest, 'utf8') : '{}'
  const { name, private: isPrivate, dependencies, peerDependencies, devDependencies } = JSON.parse(content)
  // A private package is never published, so its devDependencies are always installed. The bundles of
  // the others have the libraries in them that are devDependencies.
  const hasDevDependencies = isPrivate || BUNDLED.has(dir)
  const declared = { ...dependencies, ...peerDependencies, ...(hasDevDependencies ? devDependencies : {}) }
  return { dir, path, src: join(path, 'src'), name, declared }
}

function readFiles(owner) {
  if (!existsSync(owner.src)) return []
  const names = readdirSync(owner.src, { recursive: true }).filter((name) => name.endsWith('.ts'))
  return names.map((name) => {
    const path = join(owner.src, name)
    const code = readFileSync(path, 'utf8')
    const bare = withoutText(code)
    const found = bare.matchAll(/(?<!\.)\b(?:from|import)\s*(?:\(\s*)?(['"])( *)\1/g)
    const imports = [...found].map(({ index, 0: statement, 2: { length } }) => {
      const end = index + statement.length - 1 // the end of the specifier, which is blank in `bare`
      return { index, specifier: code.slice(end - length, end) }
    })
    return { owner, path, bare, imports }
  })
}

function checkImport(file, { specifier, index }) {
  const forbid = (why) => report(file, index, `imports ${specifier}`, why)
  const { owner } = file
  if (specifier.startsWith('.')) {
    const target = resolve(dirname(file.path), specifier)
    if (!target.startsWith(owner.path + sep)) forbid('a relative import stays inside its package')
    else if (!mayImportInPackage(file, target)) forbid('see FOLDERS in scripts/check-layers.mjs')
    return
  }
  const mayUseLibraries = folderOf(owner, file.path) === WITH_DEPENDENCIES && !specifier.startsWith('node:')
  if (owner.dir === 'core' && !mayUseLibraries) return forbid('core depends on nothing, not even on Node')
  if (/^(node|astro):/.test(specifier)) return // Astro makes the modules astro:… itself
  const [name] = specifier.match(/^(@[^/]+\/)?[^/]+/)
  const ours = packages.find((one) => one.name === name)
  const allowed = PACKAGES[owner.dir] ?? []
  if (ours && !allowed.includes(ours.dir))
    forbid(`${owner.dir} may import ${allowed.join(', ') || 'none of our packages'}`)
  else if (!Object.hasOwn(owner.declared, name)) forbid('not in `dependencies` of its package.json')
}

/** Returns whether a file may import another file of its package. */
function mayImportInPackage({ owner, path }, target) {
  const from = folderOf(owner, path)
  const to = folderOf(owner, target)
  if (!from || from === to) return true
  const allowed = FOLDERS[owner.dir]?.[from] ?? []
  if (to) return allowed.includes(to)
  if (allowed.includes(basename(target))) return true
  const folders = foldersBehind(target)
  return folders !== undefined && [...folders].every((folder) => allowed.includes(folder))
}

/**
 * Returns the folders that a file directly in src imports, itself or through others such as it.
 * Undefined for a file that doesn't exist.
 */
function foldersBehind(path, found = new Set(), seen = new Set()) {
  const file = files.find((one) => one.path === path)
  if (!file) return undefined
  seen.add(path)
  for (const { specifier } of file.imports) {
    const target = specifier.startsWith('.') && resolve(dirname(path), specifier)
    if (!target || seen.has(target)) continue
    const folder = folderOf(file.owner, target)
    if (folder) found.add(folder)
    else foldersBehind(target, found, seen)
  }
  return found
}

/**
 * Returns the folder of the package's src that contains a file; undefined for files directly in
 * src.
 */
function folderOf(owner, path) {
  const parts = relative(owner.src, path).split(sep)
  return parts.length > 1 ? parts[0] : undefined
}

function eachImportsThoseBefore(...names) {
  return Object.fromEntries(names.map((name, i) => [name, names.slice(0, i)]))
}

/**
 * Reports each circle of imports once, at the first of its files. Tarjan's algorithm for strongly
 * connected components.
 */
function checkCircles() {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const order = new Map()
  const lowest = new Map()
  const open = []
  const visit = (file) => {
    order.set(file, order.size)
    lowest.set(file, order.get(file))
    open.push(file)
    for (const { specifier } of file.imports) {
      const next = specifier.startsWith('.') && byPath.get(resolve(dirname(file.path), specifier))
      if (!next) continue
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)))
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = open.splice(open.indexOf(file))
    const names = circle.map(({ path }) => relative(file.owner.src, path)).join(', ')
    if (circle.length > 1) report(file, 0, `circle of imports: ${names}`, 'move what they share into a file of its own')
  }
  for (const file of files) if (!order.has(file)) visit(file)
}

function checkFolders(owner) {
  const sizes = Map.groupBy(
    files.filter((file) => file.owner === owner),
    ({ path }) => dirname(path),
  )
  for (const [folder, [first, ...others]] of sizes) {
    if (others.length >= MAX_FILES_IN_FOLDER)
      report(first, 0, `${others.length + 1} files in ${relative(owner.src, folder) || 'src'}`, 'make folders')
    const name = relative(owner.src, folder).split(sep)[0]
    if (name && !FOLDERS[owner.dir]?.[name])
      report(first, 0, `${owner.dir}/src/${name}`, 'unknown folder: add it to FOLDERS')
  }
}

function checkForm(file) {
  const bare = file.imports
    .filter(({ specifier }) => SHOWN_TYPES.test(specifier))
    .reduce(
      (text, { index }) =>
        text.slice(0, index).replace(/\bexport type \*\s*$/, blank) + text.slice(index).replace(/^from\s*' *'/, blank),
      file.bare,
    )
  const each = (pattern, what, why) => {
    for (const { index } of bare.matchAll(pattern)) report(file, index, what, why)
  }
  const name = basename(file.path)
  if (!PACKAGES[file.owner.dir]) report(file, 0, `packages/${file.owner.dir}`, 'unknown package: add it to PACKAGES')
  if (/^(utils?|types?|helpers?)\.ts$/.test(name)) report(file, 0, name, 'name a file after its one concept')
  each(/\bexport\s+(type\s+)?\*/g, 'export *', 'list every exported name')
  const isOurModule = !name.endsWith('.d.ts') // a .d.ts file describes another module
  // Users of robots-parser import its default export, so our replacement has one.
  const replacesRobotsParser = file.owner.dir === 'robots-parser' && name === 'index.ts'
  if (isOurModule && !replacesRobotsParser)
    each(
      /\bexport\s+default\b|\bas\s+default\b/g,
      'default export',
      'use named exports, so that everything has one name',
    )
  each(/(?<!\.|\basync )\bimport\s*\(\s*(?!['"])/g, 'computed import', 'readers and checks cannot see what it imports')
  if (name === 'index.ts') {
    const rest = bare.replace(/\bexport\s+(type\s+)?\{[^}]*\}(\s*from\s*(['"]) *\3)?;?/g, (all) => blank(all))
    if (/\S/.test(rest)) report(file, rest.search(/\S/), 'code', 'an index.ts contains only: export { … } from …')
  }
}

function checkCore(file) {
  for (const [what, pattern] of IMPURE) {
    for (const { index } of file.bare.matchAll(pattern))
      report(file, index, what, 'core has no I/O, clock or random numbers')
  }
}

function report(file, index, what, why) {
  const line = file.bare.slice(0, index).split('\n').length
  violations.push(`${relative(root, file.path)}:${line}  ${what}  ${why}`)
}
