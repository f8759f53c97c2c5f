// `npm run api`: writes docs/reference/public-names.md, the list of all public names that a review
// reads. And writes docs/reference/api/, one page for each entry point of each published package, from
// the docstrings. Git ignores these pages; the site shows them.
//
//   npm run api -- --check     only compares the list, as `npm run check` does
//   npm run api -- --names     only writes the list, as `npm run update` does
//
// All of them fail if typedoc warns (for example about a type that an export mentions and no entry point
// exports), if an export has no summary, and if the docstring of something measured does not say
// its unit. TypeDoc needs TypeScript 6, so it is a dependency of docs/.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { entryPoints, publishedPackages } from './packages.mjs'

const PAGES = 'docs/reference/api'
const NAMES = 'docs/reference/public-names.md'

/** The entry points that only the other packages of Politely import. They are no API. */
const SHARED = [
  '@politely/cdp/internal',
  '@politely/core/flags',
  '@politely/core/internal',
  '@politely/core/review',
  '@politely/core/node-version',
  '@politely/fetcher/internal',
  '@politely/fetcher/shown-types',
  '@politely/fleet',
  '@politely/gate/internal',
  '@politely/gate/shown-types',
  '@politely/mcp/command',
  '@politely/mcp/flags',
  '@politely/server/command',
  '@politely/server/flags',
  '@politely/sitemaps/internal',
  '@politely/sqlite/internal',
]

/** The classes of these entry points that public classes extend. */
const SHARED_BASES = ['FleetPacer']

/**
 * Entry points for programs that build something like Politely. The guides need few of their names;
 * all others are unlisted.
 */
const UNLISTED = ['@politely/core/engine', '@politely/cdp']

/** What a name ends in, and what its docstring must then mention. */
const UNITS = [
  [/Ms$/, /\b(milli)?second|\bms\b|minute|hour|\bday/i],
  [/Bytes$/, /byte|[KMG]iB/i],
]

const sources = publishedPackages()
  .flatMap(({ folder, manifest }) => entryPoints(manifest).map((entry) => ({ ...entry, folder })))
  .map(({ specifier, file, folder }) => ({
    specifier,
    source: resolve(folder, file.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
    page: specifier.replace('@politely/', '').replaceAll('/', '-'),
  }))
const entries = sources
  .filter(({ specifier }) => !SHARED.includes(specifier))
  // An export is documented on the page of the first entry point that has it. The packages export
  // types of the packages below them.
  .sort((one, other) => layerOf(one) - layerOf(other))

/** Returns the place of an entry point in the order of imports. `politely` exports names of others only. */
function layerOf({ specifier }) {
  const layer = ['core', 'fetcher', 'gate'].findIndex((name) => specifier.startsWith(`@politely/${name}`))
  return layer === -1 ? (specifier === 'politely' ? 4 : 3) : layer
}

const typedoc = await importTypedoc()
const problems = []
const [, , mode] = process.argv
const names = await readEntries()
if (mode !== '--check') writeFileSync(NAMES, names)
else if (readFileSync(NAMES, 'utf8') !== names)
  problems.push(`${NAMES} is not current; run \`npm run update\`, which writes it, and read what changed`)
for (const problem of problems) console.error(problem)
if (problems.length === 0) console.log(`${names.match(/^- `/gm).length} names in ${NAMES} are current`)
process.exitCode = problems.length > 0 ? 1 : 0

async function importTypedoc() {
  const fromDocs = createRequire(resolve('docs/package.json'))
  return import(pathToFileURL(fromDocs.resolve('typedoc')))
}

/** Checks the docstrings, writes the pages unless the mode says otherwise, and returns the list of names. */
async function readEntries() {
  const { Application, Logger, LogLevel } = typedoc
  const app = await Application.bootstrapWithPlugins({
    options: 'docs/typedoc.json',
    entryPoints: entries.map(({ source }) => source),
    // Reads the sources of the other packages instead of their builds, so that pages link to each
    // other.
    compilerOptions: { paths: Object.fromEntries(sources.map(({ specifier, source }) => [specifier, [source]])) },
    pageTitleTemplates: {
      index: 'API reference',
      module: ({ name }) => entries.find(({ page }) => page === name).specifier,
    },
    out: resolve(PAGES),
    logLevel: 'Warn',
  })
  app.logger = Object.assign(new Logger(), {
    log: (message, level) => level >= LogLevel.Warn && problems.push(`typedoc: ${message}`),
  })

  app.converter.on('begin', inlineImported)

  const points = app.getEntryPoints() ?? []
  // The name of a module is the name of its file.
  for (const point of points)
    point.displayName = entries.find(({ source }) => source === point.sourceFile.fileName).page
  const project = app.converter.convert(points)
  for (const reflection of Object.values(project.reflections)) {
    checkTypes(reflection)
    checkUnit(reflection)
    nameDestructured(reflection)
    showThrownTypes(reflection)
  }
  for (const module of project.children) {
    for (const child of module.children ?? []) checkSummary(child)
    removeShownTypes(project, module)
  }
  app.validate(project)
  const list = namesOf(project)
  if (mode === undefined) await app.generateOutputs(project)
  return list
}

/** Lets TypeDoc look for the tag `@inline` where a type is declared, even if a file imports the type. */
function inlineImported({ constructor: { prototype } }) {
  const { shouldInline } = prototype
  prototype.shouldInline = function (symbol, name) {
    return shouldInline.call(this, this.resolveAliasedSymbol(symbol), name)
  }
}

/** Returns the list of names: a line for each name of each entry point, with its kind. */
function namesOf(project) {
  const guides = globSync(['README.md', 'docs/*.md', 'packages/*/README.md'])
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const unlisted = []
  const listed = entries.map(({ specifier, page }) => {
    const { children } = project.children.find(({ name }) => name === page)
    const lines = children.map((child) => ({ name: child.name, line: lineOf(child) })).sort(byName)
    const isListed = ({ name }) =>
      !UNLISTED.includes(specifier) || new RegExp(`\`${name}\\b|import {[^}]*\\b${name}\\b`).test(guides)
    const others = lines.filter((one) => !isListed(one))
    if (others.length > 0) unlisted.push(section(`Unlisted names of ${specifier}`, others))
    return section(specifier, lines.filter(isListed))
  })
  return `# Public names

Every name that a program can import, with its kind. This list is made from the code; a change of it is a change of the public API. Types that
an entry point only passes on from another package, because its values show them, are listed there. The site has the API reference, with
signatures and descriptions; \`npm run api\` writes it into \`docs/reference/api\`.

No guide needs the unlisted names at the end. They are for programs that build a gate, a store or a browser adapter themselves, and they are
as stable as the others.

${listed.join('\n')}
${unlisted.join('\n')}`
}

function section(title, lines) {
  return `## ${title}\n\n${lines.map(({ line }) => line).join('\n')}\n`
}

function byName(one, other) {
  return one.name < other.name ? -1 : 1
}

/**
 * Whether a method is listed with a class: not if users can look up the class that it is inherited
 * from.
 */
function isOwn({ inheritedFrom }) {
  return inheritedFrom === undefined || SHARED_BASES.includes(inheritedFrom.name.split('.')[0])
}

/** Returns `- \`PoliteGate\`: class with \`close\`, \`enter\``, or where a name is from. */
function lineOf(child) {
  const target = child.isReference() ? child.getTargetReflectionDeep() : child
  const kind = typedoc.ReflectionKind.singularString(target.kind).toLowerCase()
  if (child.isReference()) {
    const { specifier } = entries.find(({ page }) => page === target.parent.name)
    return `- \`${child.name}\`: ${kind} of ${specifier}`
  }
  const methods = target.kindOf(typedoc.ReflectionKind.Class)
    ? target.children.filter((one) => one.kindOf(typedoc.ReflectionKind.Method) && isOwn(one))
    : []
  const text = methods
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('[')) // a symbol
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ')
  return `- \`${child.name}\`: ${kind}${text && ` with ${text}`}`
}

/** A type of ours that an export mentions must be exported too. */
function checkTypes(reflection) {
  const reference = (type) => {
    if (type.reflection || type.isIntentionallyBroken() || !type.symbolId?.packageName.startsWith('@politely/')) return
    const { packageName, packagePath } = type.symbolId
    const problem = `${type.name}, in ${packageName}/${packagePath}, is not exported, but ${reflection.getFriendlyFullName()} mentions it`
    if (!problems.some((other) => other.startsWith(problem.split(' is not')[0]))) problems.push(problem)
  }
  reflection.type?.visit(typedoc.makeRecursiveVisitor({ reference }))
}

/** A page does not list the types of other packages that the entry point exports by `export type *`. */
function removeShownTypes(project, module) {
  const { source, specifier } = entries.find(({ page }) => page === module.name)
  const code = readFileSync(source, 'utf8')
  const [ours] = /^@politely\/[^/]+|^politely/.exec(specifier)
  const isOurs = (child) => !child.isReference() && project.getSymbolIdFromReflection(child)?.packageName === ours
  const isListed = (child) => isOurs(child) || new RegExp(`\\b${child.name}\\b`).test(code)
  const shown = module.children.filter((child) => !isListed(child))
  module.groups = module.groups
    .map((group) => Object.assign(group, { children: group.children.filter(isListed) }))
    .filter(({ children }) => children.length > 0)
  for (const child of shown) project.removeReflection(child)
}

function checkSummary(reflection) {
  if (reflection.isReference()) return // documented where it is declared
  const comments = [reflection, ...(reflection.signatures ?? [])].map(({ comment }) => comment)
  if (!comments.some((comment) => comment?.hasVisibleComponent()))
    problems.push(`${reflection.getFriendlyFullName()} has no docstring; write what it does or means`)
}

function checkUnit(reflection) {
  if (reflection.isReference()) return // documented where it is declared
  const unit = UNITS.find(([ending]) => ending.test(reflection.name))
  if (!unit || reflection.kindOf(typedoc.ReflectionKind.SomeSignature)) return
  const comments = [reflection, reflection.getSignature, ...(reflection.signatures ?? [])].map((one) => one?.comment)
  const texts = comments.flatMap((comment) => [
    ...(comment?.summary ?? []),
    ...(comment?.blockTags ?? []).flatMap(({ content }) => content),
  ])
  if (!unit[1].test(texts.map(({ text }) => text).join('')))
    problems.push(`${reflection.getFriendlyFullName()}: the docstring does not say the unit`)
}

/**
 * TypeDoc has no name for `({ url }: CheckOptions)`. The name of the type says what it is:
 * `options`.
 */
function nameDestructured(reflection) {
  if (reflection.name !== '__namedParameters') return
  const type = reflection.type?.name ?? 'Options'
  reflection.name = type.endsWith('Options') ? 'options' : type[0].toLowerCase() + type.slice(1)
}

/** The Markdown plugin leaves out the type of `@throws {OptionError} for an invalid option`. */
function showThrownTypes({ comment }) {
  for (const { typeAnnotation, content } of comment?.blockTags ?? [])
    if (typeAnnotation)
      content.unshift({ kind: 'code', text: `\`${typeAnnotation.slice(1, -1)}\`` }, { kind: 'text', text: ' ' })
}
