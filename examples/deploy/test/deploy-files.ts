// Reads the files of this example.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

export const DEPLOY: string = join(import.meta.dirname, '..')

/** The content of a YAML file. */
// biome-ignore lint/suspicious/noExplicitAny: the tests compare it with what they expect
export type Content = any

export const readText = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8')
export const readYaml = (file: string): Content => parse(readText(file), { merge: true })
export const readManifests = (): Content[] =>
  parseAllDocuments(readText('kubernetes.yaml')).map((document) => document.toJS())

/** An instruction of the Dockerfile, such as `EXPOSE` and `7420`. */
export interface Instruction {
  readonly name: string
  readonly args: string
}

export const readDockerfile = (): Instruction[] =>
  readText('Dockerfile')
    .split('\n')
    .filter((line) => /^\w/.test(line))
    .map((line) => ({ name: line.replace(/ .*/, ''), args: line.replace(/^\w+ /, '') }))

/** Returns the words of an instruction in the exec form: of its JSON list. */
export function execForm(name: string): readonly string[] {
  const { args = '' } = readDockerfile().findLast((instruction) => instruction.name === name) ?? {}
  return JSON.parse(args.replace(/^[^[]*/, ''))
}

/** Returns the settings of a section of the unit. Of several with the same name, the last. */
export function readUnit(section: string): ReadonlyMap<string, string> {
  const [, text = ''] = readText('politely.service').split(`[${section}]\n`)
  const lines = text
    .replace(/^\[.*/ms, '')
    .split('\n')
    .filter((line) => /^\w/.test(line))
  return new Map(lines.map((line) => line.split(/=(.*)/) as [string, string]))
}
