// Compiles the declarations of a user of each entry point, as pnpm installs the packages: the
// user's project has only its own dependencies. So TypeScript can name a type in a declaration only
// if the package of the value exports that type (otherwise TS2742 or TS2883).
//
// The program of a user reads every property and calls every method of what the exported values
// show: of what functions return, of the properties of that, and so on. It does not show the types
// of parameters.

import { execFile } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { eachInParallel, entryPoints, peersOf } from './packages.mjs'

const run = promisify(execFile)

/** Returns the errors of the compiler about all users, each with the value that it is about. */
export async function declarationErrors(tarballs, app, folder) {
  const users = createUsers(tarballs, app, folder)
  writePrograms(users)
  return (await eachInParallel(users, errorsOf)).flat()
}

/** Entry points with values for undici. Their users have undici. */
const WITH_UNDICI = ['@politely/fetcher', '@politely/gate/undici', '@politely/testing']

/**
 * Creates a folder for each entry point, with the modules that a user of it has: the package, which is
 * installed in the project `app`, and its peers. Pnpm links modules in the same way.
 */
function createUsers(tarballs, app, folder) {
  return tarballs.flatMap(({ manifest }) =>
    entryPoints(manifest)
      .filter(({ specifier }) => !/\/(internal|review|shown-types|command|flags)$/.test(specifier))
      .map(({ specifier, file }) => {
        const home = join(folder, specifier.replaceAll(/\W+/g, '-'))
        const modules = [manifest.name, '@types/node', ...Object.keys(peersOf([{ manifest }]))]
        if (WITH_UNDICI.includes(specifier)) modules.push('undici')
        for (const name of modules) {
          const link = join(home, 'node_modules', name)
          mkdirSync(dirname(link), { recursive: true })
          symlinkSync(realpathSync(join(app, 'node_modules', name)), link)
        }
        writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }')
        return { manifest, specifier, file, folder: home }
      }),
  )
}

function writePrograms(users) {
  const ts = createRequire(resolve('docs/package.json'))('typescript') // version 7 has no API
  for (const user of users)
    user.entry = realpathSync(join(user.folder, 'node_modules', user.manifest.name, user.file.replace(/js$/, 'd.ts')))
  const options = { noLib: true, types: [], module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ESNext }
  const program = ts.createProgram(
    users.map(({ entry }) => entry),
    options,
  )
  for (const user of users) {
    user.lines = linesOf(user, program, ts)
    writeFileSync(join(user.folder, 'program.ts'), user.lines.join('\n'))
  }
}

const HELPERS = [
  'declare function read<T, K extends PropertyKey>(): T extends unknown ? (K extends keyof T ? T[K] : never) : never',
  'declare function call<R>(called: ((...args: any[]) => R) | null | undefined): R',
]

function linesOf({ specifier, entry }, program, ts) {
  const checker = program.getTypeChecker()
  const targetOf = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry))
  const names = new Map(checker.getExportsOfModule(module).map((symbol) => [targetOf(symbol), symbol.name]))
  const lines = [`import * as m from '${specifier}'`, ...HELPERS]
  if (WITH_UNDICI.includes(specifier)) lines.push("import 'undici'")
  const seen = new Set()
  const isHidden = (node) => ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)
  const isOurs = (node) => /[\\/]@?politely[\\/+@]/.test(node.getSourceFile().fileName) && !isHidden(node)
  const show = (expression, what) => lines.push(`export const a${lines.length} = ${expression} // ${what}`)

  /** Adds a line for each property of a type. */
  function showProperties(type, text, name) {
    const parts = type.isUnion() ? type.types : [type]
    const properties = new Map(parts.flatMap((part) => checker.getPropertiesOfType(part)).map((one) => [one.name, one]))
    for (const [key, property] of properties) {
      if (!/^\w/.test(key) || key === 'prototype' || !property.declarations?.some(isOurs)) continue
      const value = `read<${text}, ${JSON.stringify(key)}>()`
      const isMethod = checker.getTypeOfSymbol(property).getNonNullableType().getCallSignatures().length > 0
      show(isMethod ? `call(${value})` : value, `${name}.${key}`)
    }
  }

  /** Adds lines for a symbol whose type a value shows, and for what this type shows. */
  function showSymbol(symbol) {
    const { declarations = [], flags } = symbol
    if (seen.has(symbol) || !declarations.some(isOurs)) return
    seen.add(symbol)
    const name = names.get(symbol)
    // Without a name, the symbol is an error where it is shown; or it is a part of a type with a name.
    if (name !== undefined) {
      if (flags & ts.SymbolFlags.Function) show(`call(m.${name})`, name)
      if (flags & ts.SymbolFlags.Variable) show(`read<{ v: typeof m.${name} }, 'v'>()`, name)
      if (flags & ts.SymbolFlags.Value) showProperties(checker.getTypeOfSymbol(symbol), `typeof m.${name}`, name)
      if (flags & ts.SymbolFlags.Type) {
        const { typeParameters = [] } = declarations.find((one) => one.typeParameters) ?? {}
        const anys = typeParameters.length === 0 ? '' : `<${typeParameters.map(() => 'any').join(', ')}>`
        showProperties(checker.getDeclaredTypeOfSymbol(symbol), `m.${name}${anys}`, name)
      }
    }
    for (const declaration of declarations) declaration.forEachChild(follow)
  }

  /** Looks for the names of types, but not in parameters. */
  function follow(node) {
    if (ts.isParameter(node) || ts.isConstructorDeclaration(node) || isHidden(node)) return
    if (ts.isIdentifier(node)) {
      const symbol = checker.getSymbolAtLocation(node)
      if (symbol) showSymbol(targetOf(symbol))
    }
    node.forEachChild(follow)
  }

  for (const [symbol] of names) if (symbol.flags & ts.SymbolFlags.Value) showSymbol(symbol)
  return lines
}

const OPTIONS =
  '--declaration --emitDeclarationOnly --outDir out --strict --module nodenext --target es2024 --skipLibCheck --types node --pretty false'

async function errorsOf({ specifier, folder, lines }) {
  const args = [resolve('node_modules/typescript/bin/tsc'), ...OPTIONS.split(' '), 'program.ts']
  const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 }).catch((error) => error)
  return stdout.split('\n').flatMap((text) => {
    const [, line, error] = /^program\.ts\((\d+),\d+\): error (.*)/.exec(text) ?? []
    return line === undefined ? [] : [`${specifier}, ${lines[line - 1].split(' // ').at(-1)}: ${error}`]
  })
}
