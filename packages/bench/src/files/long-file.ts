// Files with very many rules, like the files of a few large sites.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { chance, weightedChoice } from './site-file.ts'
import { flatten } from './site-urls.ts'
import { extensions, parameters, plainWords, sections } from './words.ts'

export const LONG_RULES = 12_000

export interface LongFile {
  readonly origin: string
  readonly text: string
  /** URLs that match a rule and URLs that do not, mixed. */
  readonly urls: readonly string[]
}

/**
 * Returns a file of 12,000 different rules, of which a share has a `*` or a final `$`. It is
 * shorter than the 500 KiB limit.
 */
export function longFile(seed: number, starShare: number): LongFile {
  const random = seededRandom(seed)
  const origin = 'https://www.long-file.example'
  const rules = new Set<string>()
  while (rules.size < LONG_RULES) rules.add(chance(random, starShare) ? starred(random) : literal(random))
  const paths = [...rules]
  const lines = paths.map((path) => `${chance(random, 0.1) ? 'Allow' : 'Disallow'}: ${path}`)
  const urls = Array.from({ length: 2_000 }, (_, i) => {
    const path = i % 2 === 0 ? literal(random) + word(random) : filled(random, pick(random, paths))
    return flatten(`${origin}${path}`)
  })
  return { origin, text: flatten(`User-agent: *\n${lines.join('\n')}\n`), urls }
}

function literal(random: () => number): string {
  const end = weightedChoice(random, [0.5, '/'], [0.3, ''], [0.2, `.${pick(random, extensions)}`])
  return `/${pick(random, sections)}/${word(random)}${chance(random, 0.7) ? `-${word(random)}` : Math.floor(random() * 1_000)}${end}`
}

function starred(random: () => number): string {
  return pick(random, [
    () => `/${pick(random, sections)}/*/${word(random)}-${word(random)}`,
    () => `/*/${word(random)}/${pick(random, sections)}`,
    () => `/*?${pick(random, parameters)}=${word(random)}`,
    () => `/${pick(random, sections)}/*${word(random)}.${pick(random, extensions)}$`,
    () => `/${pick(random, sections)}-${word(random)}*&${pick(random, parameters)}=`,
    () => `*/${word(random)}${Math.floor(random() * 1_000)}/`,
  ])()
}

function filled(random: () => number, rule: string): string {
  const path = rule.replace(/\$$/, '').replaceAll('*', () => (chance(random, 0.3) ? '' : word(random)))
  return `${path.startsWith('/') ? '' : '/'}${path}${rule.endsWith('$') || chance(random, 0.5) ? '' : word(random)}`
}

function word(random: () => number): string {
  return pick(random, plainWords)
}
