// Checks the weight of the project: what a reader of its code, its interface and its documentation
// has to read. The budgets are slightly above the current numbers. Raise them only in the change that
// needs it.

import { globSync, readFileSync } from 'node:fs'
import { codeLines } from './code-text.mjs'
import { publishedPackages } from './packages.mjs'

/** The first line of a file that a script has made from data. The data isn't code. */
const MADE = /^\/\/ Made from /

const weights = [
  // `npm run check:names` compares this list with the code.
  { what: 'public names', max: 645, count: rowsOf(readFileSync('docs/reference/public-names.md', 'utf8')) },
  { what: 'lines of published code', max: 60_000, count: sum(sourceTexts().map(codeLines)) },
  { what: 'words in docs/*.md', max: 86_500, count: sum(texts('docs/*.md').map(wordsOf)) },
]

console.log(weights.map(({ what, max, count }) => `${count} ${what}, at most ${max}`).join('; '))
process.exitCode = weights.some(({ max, count }) => count > max) ? 1 : 0

function sourceTexts() {
  return publishedPackages()
    .flatMap(({ folder }) => texts(`${folder}/src/**/*.{ts,tsx}`))
    .filter((text) => !MADE.test(text))
}

function texts(pattern) {
  return globSync(pattern).map((file) => readFileSync(file, 'utf8'))
}

function rowsOf(list) {
  return list.match(/^- `/gm).length
}

function wordsOf(text) {
  return text.match(/\S+/g).length
}

function sum(counts) {
  return counts.reduce((total, count) => total + count, 0)
}
