// Checks that an exported name has one meaning: no two files of the published packages declare it.
// Exports within a package count too. A file that exports the name of another file again declares
// nothing.

import { globSync, readFileSync } from 'node:fs'
import { publishedPackages } from './packages.mjs'

/** Names that several files declare, with the reason. */
const ALLOWED = {}

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

const filesOf = new Map()
for (const { folder } of publishedPackages()) {
  for (const file of globSync(`${folder}/src/**/*.ts`).sort()) {
    const text = readFileSync(file, 'utf8')
    const names = new Set(Array.from(text.matchAll(DECLARATION), ([, name]) => name))
    for (const name of names) filesOf.set(name, [...(filesOf.get(name) ?? []), file])
  }
}

const doubles = [...filesOf].filter(([, files]) => files.length > 1)
const problems = [
  ...doubles
    .filter(([name]) => !Object.hasOwn(ALLOWED, name))
    .map(([name, files]) => `${name} is declared in ${files.join(' and ')}: rename one by what it is`),
  ...Object.keys(ALLOWED)
    .filter((name) => !doubles.some(([double]) => double === name))
    .map((name) => `${name} is declared once: remove it from ALLOWED in scripts/check-doubles.mjs`),
]
for (const problem of problems) console.error(problem)
if (problems.length === 0) console.log(`${filesOf.size} exported names, each with one meaning`)
process.exitCode = problems.length > 0 ? 1 : 0
