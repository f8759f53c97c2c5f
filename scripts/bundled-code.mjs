// What both bundlers do with the files that rolldown has made.

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Removes white space only: names stay, for stack traces. */
export const WITH_NAMES = { compress: false, mangle: false, codegen: { removeWhitespace: true } }

const BETWEEN = `\n${'-'.repeat(80)}\n\n`

/**
 * Writes other characters than ASCII as escapes. V8 reads a file of ASCII in half the time. None of
 * these characters stands in `String.raw`, where an escape would mean something else.
 */
export function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Returns the licences of the other projects whose code is in a bundle, as each of them asks. Empty
 * if there are none.
 * @param output The chunks of rolldown.
 */
export function licensesOf(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds)
  const folders = new Set(modules.map((id) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? ''))
  const texts = [...folders].filter(existsSync).map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} is in the bundle, and has no licence file`)
    return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`
  })
  for (const id of modules) {
    // A package of ours that is a bundle itself names the licences of its libraries.
    const bundled = /^(.*\/dist\/)chunks\/libraries\.js$/.exec(id)?.[1]
    if (bundled !== undefined) texts.push(...readFileSync(`${bundled}LICENSES.txt`, 'utf8').split(BETWEEN))
  }
  return sharingBodies(texts.sort()).join(BETWEEN)
}

/** Writes the words that several MIT licences share once, below the names and copyrights of all of them. */
function sharingBodies(texts) {
  const groups = new Map()
  for (const text of texts) {
    const start = text.indexOf('Permission is hereby granted')
    const body = start === -1 ? text : text.slice(start)
    const key = body.replace(/\s+/g, ' ')
    const group = groups.get(key) ?? { heads: [], body }
    if (start !== -1) group.heads.push(text.slice(0, start).trimEnd())
    groups.set(key, group)
  }
  return Array.from(groups.values(), ({ heads, body }) => [...heads, body].join('\n\n'))
}
