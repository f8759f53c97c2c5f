// Files with very many rules, as a few large sites have them.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { chance, weighed } from './site-file.ts'
import { flat } from './site-question.ts'
import { extensions, parameters, plainWords, sections } from './words.ts'

export const LONG_RULES = 12_000

export interface LongFile {
  readonly origin: string
  readonly text: string
  /** Hitting and missing ones, mixed. */
  readonly urls: readonly string[]
}

/** A file of 12,000 different rules, of which a share has a `*` or a final `$`; shorter than the 500 KiB that are read. */
export function longFile(seed: number, starShare: number): LongFile {
  const roll = seededRandom(seed)
  const origin = 'https://www.long-file.example'
  const rules = new Set<string>()
  while (rules.size < LONG_RULES) rules.add(chance(roll, starShare) ? starred(roll) : literal(roll))
  const paths = [...rules]
  const lines = paths.map((path) => `${chance(roll, 0.1) ? 'Allow' : 'Disallow'}: ${path}`)
  const urls = Array.from({ length: 2_000 }, (_, i) => {
    const path = i % 2 === 0 ? literal(roll) + word(roll) : filled(roll, pick(roll, paths))
    return flat(`${origin}${path}`)
  })
  return { origin, text: flat(`User-agent: *\n${lines.join('\n')}\n`), urls }
}

function literal(roll: () => number): string {
  const end = weighed(roll, [0.5, '/'], [0.3, ''], [0.2, `.${pick(roll, extensions)}`])
  return `/${pick(roll, sections)}/${word(roll)}${chance(roll, 0.7) ? `-${word(roll)}` : Math.floor(roll() * 1_000)}${end}`
}

function starred(roll: () => number): string {
  return pick(roll, [
    () => `/${pick(roll, sections)}/*/${word(roll)}-${word(roll)}`,
    () => `/*/${word(roll)}/${pick(roll, sections)}`,
    () => `/*?${pick(roll, parameters)}=${word(roll)}`,
    () => `/${pick(roll, sections)}/*${word(roll)}.${pick(roll, extensions)}$`,
    () => `/${pick(roll, sections)}-${word(roll)}*&${pick(roll, parameters)}=`,
    () => `*/${word(roll)}${Math.floor(roll() * 1_000)}/`,
  ])()
}

function filled(roll: () => number, rule: string): string {
  const path = rule.replace(/\$$/, '').replaceAll('*', () => (chance(roll, 0.3) ? '' : word(roll)))
  return `${path.startsWith('/') ? '' : '/'}${path}${rule.endsWith('$') || chance(roll, 0.5) ? '' : word(roll)}`
}

function word(roll: () => number): string {
  return pick(roll, plainWords)
}
