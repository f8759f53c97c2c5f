// What is asked about a site: half of it made from the site's own rules, so that rules match and nearly match, half of it
// pages as any site has them.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { chance, phrase, type SiteFile, weighed } from './site-file.ts'
import { encodedWords, extensions, parameters, plainWords, sections } from './words.ts'

type Roll = () => number

/** How many questions a file is asked, and how many of them the libraries that take a sample. */
export const QUESTIONS = 200
export const SAMPLE = 20

/** Absolute URLs of the file's origin; the same for the same file and seed. Every second one comes out of the file's rules. */
export function questionsFor({ bytes, origin }: SiteFile, seed: number, count: number = QUESTIONS): string[] {
  const roll = seededRandom(seed)
  const rules = pathsIn(bytes.toString('utf8'))
  return Array.from({ length: count }, (_, i) => {
    const path = i % 2 === 0 && rules.length > 0 ? pathFromRule(roll, pick(roll, rules)) : pagePath(roll)
    return flat(asSent(origin, path) ?? `${origin}${pagePath(roll)}`)
  })
}

/** The paths of all rules of a file, for all crawlers. */
export function pathsIn(text: string): string[] {
  return Array.from(text.matchAll(/allow[ \t]*:?[ \t]*([/*][^\s#]*)/gi), ([, path = '']) => path)
}

function pathFromRule(roll: Roll, rule: string): string {
  const filled = rule
    .replace(/\$$/, '')
    .replaceAll('*', () => weighed(roll, [0.3, ''], [0.4, pick(roll, plainWords)], [0.3, `${phrase(roll, 2, '/')}`]))
  const path = filled.startsWith('/') ? filled : `/${filled}`
  const end = weighed(roll, [0.25, ''], [0.3, pick(roll, plainWords)], [0.35, pagePath(roll)], [0.1, `?${query(roll)}`])
  return weighed(roll, [0.85, `${path}${end}`], [0.15, path.slice(0, -1) || '/']) // the rest misses its rule by one
}

function pagePath(roll: Roll): string {
  const steps = weighed(roll, [0.03, 0], [0.13, 1], [0.42, 2], [0.3, 3], [0.12, 5])
  const path = Array.from({ length: steps }, (_, i) => {
    if (i === 0 && chance(roll, 0.6)) return pick(roll, sections)
    return weighed(
      roll,
      [0.3, pick(roll, plainWords)],
      [0.35, phrase(roll, 2 + Math.floor(roll() * 5), '-')],
      [0.2, `${Math.floor(roll() * 10_000_000)}`],
      [0.1, `${pick(roll, plainWords)}-${Math.floor(roll() * 10_000)}`],
      [0.05, pick(roll, encodedWords)],
    )
  }).join('/')
  const end = weighed(roll, [0.4, ''], [0.3, '/'], [0.3, `.${pick(roll, extensions)}`])
  return `/${path}${steps === 0 ? '' : end}${chance(roll, 0.25) ? `?${query(roll)}` : ''}`
}

function query(roll: Roll): string {
  const count = weighed(roll, [0.5, 1], [0.3, 2], [0.2, 4])
  const value = () =>
    weighed(
      roll,
      [0.4, pick(roll, plainWords)],
      [0.4, `${Math.floor(roll() * 1_000)}`],
      [0.2, pick(roll, encodedWords)],
    )
  return Array.from({ length: count }, () => `${pick(roll, parameters)}=${value()}`).join('&')
}

/** As a client would send it; nothing where the path leads off the site. */
function asSent(origin: string, path: string): string | undefined {
  if (!URL.canParse(path, origin)) return undefined
  const { href } = new URL(path, origin)
  return href.startsWith(`${origin}/`) ? href.replace(/#.*/s, '') : undefined
}

/** One run of characters, as a string is that came out of a page: not a tree of the parts it was put together from. */
export function flat(text: string): string {
  return Buffer.from(text).toString()
}
