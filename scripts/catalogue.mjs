// Makes modules of packages/core/src from the tables of packages/core/data: the catalogue of crawlers,
// and the messages and fixes of findings. So core runs without a file to read, in browsers too.
//
//   node scripts/catalogue.mjs    writes them, as `npm run update` does

import { readFileSync, writeFileSync } from 'node:fs'

export const SOURCE = 'packages/core/data/crawlers.json'
export const TARGET = 'packages/core/src/crawlers/catalogue.ts'
const FINDINGS = 'packages/core/data/findings.json'

/** The text of each module, by its path. */
export const MADE = {
  [TARGET]: catalogueText,
  'packages/core/src/lint/crawler-names.ts': crawlerNames,
  'packages/core/src/lint/finding-messages.ts': findingMessages,
  'packages/core/src/review/finding-fixes.ts': findingFixes,
}

/** Returns the text of the module. Neighbours of the same operator, source and date share a line. */
function catalogueText() {
  const { date, crawlers } = JSON.parse(readFileSync(SOURCE, 'utf8'))
  const pages = []
  for (const { operator, source, readOn, retired, short: _, ...crawler } of crawlers) {
    const page = { operator, source, readOn }
    const key = JSON.stringify(page)
    if (pages.at(-1)?.key !== key) pages.push({ key, page, crawlers: [] })
    pages.at(-1).crawlers.push({ ...crawler, ...(retired && { retired: { since: undefined, ...retired } }) })
  }
  const lines = pages.map((each) => `  ${literal({ ...each.page, crawlers: each.crawlers })},\n`)
  return `// Made from ${SOURCE} by scripts/catalogue.mjs: change the JSON and run \`npm run update\`.
// biome-ignore-all format: one page of an operator on one line
import type { OperatorPage } from './known-crawler.ts'

export const catalogueDate = '${date}'

export const operatorPages: readonly OperatorPage[] = [
${lines.join('')}]
`
}

/** Returns what the linter needs to know of the names of crawlers. It does not load the catalogue. */
function crawlerNames() {
  const { crawlers } = JSON.parse(readFileSync(SOURCE, 'utf8'))
  const names = crawlers.map(({ token, name = token }) => name.toLowerCase())
  const shortened = Object.fromEntries(
    crawlers.flatMap(({ token, short }) => (short === undefined ? [] : [[short, token]])),
  )
  return `// Made from ${SOURCE} by scripts/catalogue.mjs: change the JSON and run \`npm run update\`.
// biome-ignore-all format: one table on one line

/** Documented names with a dot, a space or a digit, which a product token cannot have. In lower case. */
export const documentedNames: ReadonlySet<string> = new Set(${literal([...new Set(names)].filter((name) => /[^a-z_-]/.test(name)).sort())})

/** Product tokens that files shorten to what follows or precedes the name of the operator, by that part. */
export const shortenedTokens: Readonly<Record<string, string>> = ${literal(shortened)}
`
}

/** Returns the messages by severity and code. TypeScript derives `FindingCode` from them. */
function findingMessages() {
  const bySeverity = Object.entries(Object.groupBy(findings(), ({ severity }) => severity))
  const tables = bySeverity.map(([severity, rows]) => {
    const lines = rows.map(({ code, message }) => `    '${code}': ${literal(message)},\n`)
    return `  ${severity}: {\n${lines.join('')}  },\n`
  })
  return table('findingMessages', tables)
}

/** Returns the kinds of fixes by code. */
function findingFixes() {
  const rows = findings().filter(({ fix }) => fix !== undefined)
  return table(
    'findingFixes',
    rows.map(({ code, fix }) => `  '${code}': '${fix}',\n`),
  )
}

function findings() {
  return JSON.parse(readFileSync(FINDINGS, 'utf8'))
}

function table(name, lines) {
  return `// Made from ${FINDINGS} by scripts/catalogue.mjs: change the JSON and run \`npm run update\`.
// biome-ignore-all format: one finding on one line
export const ${name} = {
${lines.join('')}} as const
`
}

/** Returns a value as JavaScript. An undefined `since` is written: its type has it. */
function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'string') return `'${value.replace(/['\\]/g, '\\$&')}'`
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).filter(([key, one]) => one !== undefined || key === 'since')
  return `{ ${members.map(([key, one]) => `${key}: ${literal(one)}`).join(', ')} }`
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(MADE)) writeFileSync(path, text())
}
