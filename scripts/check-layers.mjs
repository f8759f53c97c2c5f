// Core decides, fetcher knows, gate waits: dependencies run one way. This reads packages/*/src and reports, as
// `file:line  what  why`, each import that goes another way and each breach of our rules on how a module is written.
// Of TypeScript it knows comments, strings and import statements; tsc and biome know the rest.
//
//   node scripts/check-layers.mjs [root]

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

// Which of our packages the src of each package may import. A package that is not named here may not exist.
const PACKAGES = {
  core: [],
  fetcher: ['core'],
  gate: ['core', 'fetcher'],
  'store-sqlite': ['core', 'fetcher'],
  devtools: ['core', 'fetcher', 'gate'],
  crawlee: ['core', 'devtools', 'fetcher', 'gate'],
  playwright: ['core', 'devtools', 'fetcher', 'gate'],
  puppeteer: ['core', 'devtools', 'fetcher', 'gate'],
  'robots-parser': ['core'],
  cli: ['core', 'fetcher', 'gate'],
  testkit: [], // the tests of core use it too: to import core would be a cycle, so it is handed what it tests
  bench: ['core', 'fetcher', 'gate', 'testkit'],
}

// Which folders of packages/core/src each of them may import. The files beside the folders may import everything.
const CORE_FOLDERS = {
  url: [],
  http: [],
  parse: ['url'],
  match: ['parse', 'url'],
  lint: ['parse', 'url'],
  access: ['url', 'http'],
  pace: ['url', 'http'],
  usage: ['url', 'http'],
}

// What core is given as an argument, or leaves to the other packages. tsc, told of no platform, misses most of these
// too; what it cannot know is that the clock and the dice of the language itself are out of bounds.
const GLOBALS = 'Buffer process setTimeout setInterval setImmediate performance fetch console require'
const IMPURE = [
  ['Date.now', /\bDate\s*\.\s*now\b/g],
  ['new Date()', /\bnew\s+Date\b(?!\s*\(\s*[^\s)])/g],
  ['Math.random', /\bMath\s*\.\s*random\b/g],
  // The name on its own: not a property (`plan.fetch`), not a key (`fetch: …`).
  ...GLOBALS.split(' ').map((name) => [name, new RegExp(`(?<![\\w$.#])${name}(?![\\w$]|\\s*\\??:)`, 'g')]),
]

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//.source
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/.source
// A slash begins a regular expression where no operand stands before it, else it divides. Good enough for formatted code.
const REGULAR_EXPRESSION = /(?<=(?:^|[=(,:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//.source

const root = resolve(process.argv[2] ?? '.')
const packages = readdirSync(join(root, 'packages')).map(readPackage)
const files = packages.flatMap(readFiles)
const violations = []

for (const file of files) {
  for (const imported of file.imports) checkImport(file, imported)
  checkForm(file)
  if (file.owner.dir === 'core') checkCore(file)
}
for (const line of violations.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))) console.log(line)
process.exitCode = violations.length === 0 ? 0 : 1
if (violations.length === 0) {
  const imports = files.reduce((sum, file) => sum + file.imports.length, 0)
  console.log(`${imports} imports in ${files.length} files of ${packages.length} packages go the right way`)
}

function readPackage(dir) {
  const path = join(root, 'packages', dir)
  const manifest = join(path, 'package.json')
  const content = existsSync(manifest) ? readFileSync(manifest, 'utf8') : '{}'
  const { name, private: isPrivate, dependencies, peerDependencies, devDependencies } = JSON.parse(content)
  // Nobody installs a private package: what is there for its development is there.
  const declared = { ...dependencies, ...peerDependencies, ...(isPrivate ? devDependencies : {}) }
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
      const end = index + statement.length - 1 // of the specifier, which `bare` has as blanks
      return { index, specifier: code.slice(end - length, end) }
    })
    return { owner, path, bare, imports }
  })
}

function checkImport(file, { specifier, index }) {
  const refuse = (why) => report(file, index, `imports ${specifier}`, why)
  const { owner } = file
  if (specifier.startsWith('.')) {
    const target = resolve(dirname(file.path), specifier)
    if (!target.startsWith(owner.path + sep)) refuse('a relative import stays inside its package')
    else if (owner.dir === 'core' && !seesInCore(file, target)) refuse('see CORE_FOLDERS in scripts/check-layers.mjs')
    return
  }
  if (owner.dir === 'core') return refuse('core depends on nothing, not on Node either')
  if (specifier.startsWith('node:')) return
  const [name] = specifier.match(/^(@[^/]+\/)?[^/]+/)
  const ours = packages.find((one) => one.name === name)
  const allowed = PACKAGES[owner.dir] ?? []
  if (ours && !allowed.includes(ours.dir)) refuse(`${owner.dir} may import ${allowed.join(', ') || 'none of ours'}`)
  else if (!Object.hasOwn(owner.declared, name)) refuse('not in `dependencies` of its package.json')
}

/** May this file of core import that one? */
function seesInCore(file, target) {
  const from = coreFolder(file.path)
  const to = coreFolder(target)
  if (!from || from === to) return true
  if (to) return CORE_FOLDERS[from]?.includes(to)
  // From a folder to a file beside the folders: only if it imports nothing, or it would be a way round.
  return files.find(({ path }) => path === target)?.imports.length === 0
}

/** The folder of core's src that a file is in; none for the files beside the folders. */
function coreFolder(path) {
  const parts = relative(join(root, 'packages', 'core', 'src'), path).split(sep)
  return parts.length > 1 ? parts[0] : undefined
}

function checkForm(file) {
  const each = (pattern, what, why) => {
    for (const { index } of file.bare.matchAll(pattern)) report(file, index, what, why)
  }
  const name = basename(file.path)
  if (!PACKAGES[file.owner.dir]) report(file, 0, `packages/${file.owner.dir}`, 'no layer: add it to PACKAGES')
  if (/^(utils?|types?|helpers?)\.ts$/.test(name)) report(file, 0, name, 'name a file by the noun of its one concept')
  each(/\bexport\s+(type\s+)?\*/g, 'export *', 'a public name is listed where it becomes public')
  const ours = !name.endsWith('.d.ts') // a .d.ts describes a module that is not
  // robots-parser's callers import its default export, so what takes its place has one.
  const standsIn = file.owner.dir === 'robots-parser' && name === 'index.ts'
  if (ours && !standsIn) each(/\bexport\s+default\b|\bas\s+default\b/g, 'default export', 'one thing has one name')
  each(
    /(?<!\.|\basync )\bimport\s*\(\s*(?!['"])/g,
    'computed import',
    'no reader, and no check, can tell where it goes',
  )
  if (name === 'index.ts') {
    const rest = file.bare.replace(/\bexport\s+(type\s+)?\{[^}]*\}(\s*from\s*(['"]) *\3)?;?/g, (all) => blank(all))
    if (/\S/.test(rest)) report(file, rest.search(/\S/), 'code', 'an index.ts only lists: export { … } from …')
  }
}

function checkCore(file) {
  const folder = coreFolder(file.path)
  if (folder && !CORE_FOLDERS[folder]) report(file, 0, `core/src/${folder}`, 'no layer: add it to CORE_FOLDERS')
  for (const [what, pattern] of IMPURE) {
    for (const { index } of file.bare.matchAll(pattern)) report(file, index, what, 'core has no I/O, clock or chance')
  }
}

function report(file, index, what, why) {
  const line = file.bare.slice(0, index).split('\n').length
  violations.push(`${relative(root, file.path)}:${line}  ${what}  ${why}`)
}

/** The code with blanks for comments, regular expressions and the insides of strings; every offset stays what it was. */
function withoutText(code) {
  const token = new RegExp(`(?<hidden>${COMMENT}|${REGULAR_EXPRESSION})|(?<string>${STRING})|[\`{}]`, 'g')
  const templateText = /(?:\\[\s\S]|\$(?!\{)|[^\\$`])*(?:`|\$\{)?/y
  const braces = [] // for each open brace, whether it is the `${` of a template
  let bare = ''
  for (let match = token.exec(code); match; match = token.exec(code)) {
    const [text] = match
    bare += code.slice(bare.length, match.index)
    if (match.groups.hidden) bare += blank(text)
    else if (match.groups.string) bare += text[0] + blank(text.slice(1, -1)) + text[0]
    else if (text === '{') {
      braces.push(false)
      bare += text
    } else if (text === '}' && !braces.pop()) bare += text
    else {
      // A template begins, or goes on after the `}` of an expression in it.
      templateText.lastIndex = token.lastIndex
      const [inside] = templateText.exec(code)
      if (inside.endsWith('${')) braces.push(true)
      bare += text + blank(inside)
      token.lastIndex = bare.length
    }
  }
  return bare + code.slice(bare.length)
}

function blank(text) {
  return text.replace(/[^\n]/g, ' ')
}
