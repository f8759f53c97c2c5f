// Makes modules of packages/core/src from the tables of packages/core/data: the catalogue of crawlers,
// and the messages of findings. So core runs without a file to read, in browsers too.
//
//   node scripts/catalogue.mjs    writes them, as `npm run update` does

import { readFileSync, writeFileSync } from 'node:fs'

export const SOURCE = 'packages/core/data/crawlers.json'
export const TARGET = 'packages/core/src/crawlers/catalogue.ts'
const FINDINGS = 'packages/core/data/findings.json'

/** The text of each module, by its path. */
export const MADE = {
  [TARGET]: catalogueText,
  'packages/core/src/lint/finding-messages.ts': findingsText,
}

/** Returns the text of the module. Neighbours of the same operator, source and date share a line. */
function catalogueText() {
  const { date, crawlers } = JSON.parse(readFileSync(SOURCE, 'utf8'))
  const pages = []
  for (const { operator, source, readOn, retired, ...crawler } of crawlers) {
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

/** Returns the text of the module. Literal types: TypeScript derives `FindingCode` from them. */
function findingsText() {
  const tables = Object.entries(JSON.parse(readFileSync(FINDINGS, 'utf8'))).map(([severity, messages]) => {
    const rows = Object.entries(messages).map(([code, message]) => `    '${code}': ${literal(message)},\n`)
    return `  ${severity}: {\n${rows.join('')}  },\n`
  })
  return `// Made from ${FINDINGS} by scripts/catalogue.mjs: change the JSON and run \`npm run update\`.
// biome-ignore-all format: one message on one line
export const findingMessages = {
${tables.join('')}} as const
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
