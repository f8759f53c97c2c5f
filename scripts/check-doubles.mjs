// Checks that an exported name has one meaning: no two files of the published packages declare it.
// Exports within a package count too. A file that exports the name of another file again declares
// nothing.

import { globSync, readFileSync } from 'node:fs'
import { publishedPackages } from './packages.mjs'

/** Names that several files declare, with the reason. */
const ALLOWED = {
  // `@politely/core/match` is a smaller core.
  CrawlerRules: 'core, and what core/match has of it',
  ParseOptions: 'core, and what core/match has of it',
  Robots: 'core, and what core/match has of it',
  parseRobots: 'core, and what core/match has of it',
  // Public names, each told where it is imported from.
  CircuitReport: 'of any circuit in core; in gate with what its circuits open for',
  CircuitResult: 'of any circuit in core; in gate with what its circuits open for',
  Finding: 'of lint in core; of the checks of an operator in web-bot-auth',
  FindingCode: 'of lint in core; of the checks of an operator in web-bot-auth',
  PageResponse: 'for outcomeOf in core, for usage in fetcher',
  WithRobotsOptions: 'of withRobots',
  refusalOf: 'of a response in gate, of a request in crawlee',
  runCommand: 'runs the command of its package',
  usageOf: 'of texts in core, of a response in gate, of a context in crawlee',
  withRobots: 'the same for crawlers of Crawlee, pages of Playwright and pages of Puppeteer',
}

/** What stands in for another file on runtimes without sockets, and so exports the same names. */
const STAND_IN = '/src/edge/'

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

const filesOf = new Map()
for (const { folder } of publishedPackages()) {
  const files = globSync(`${folder}/src/**/*.ts`).filter((file) => !file.includes(STAND_IN))
  for (const file of files.sort()) {
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
