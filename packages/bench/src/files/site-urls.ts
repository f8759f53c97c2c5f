// Generates the URLs that are checked for a site. Half are made from the site's own rules, so that
// they match or nearly match. The other half look like pages of any site.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { chance, phrase, type SiteFile, weightedChoice } from './site-file.ts'
import { encodedWords, extensions, parameters, plainWords, sections } from './words.ts'

type Random = () => number

/** The number of URLs for each file, and the number that slow libraries check. */
export const URLS_PER_FILE = 200
export const SAMPLE_SIZE = 20

/**
 * Returns absolute URLs of the file's origin, always the same for a file and seed. Every second one
 * is made from a rule.
 */
export function urlsFor({ bytes, origin }: SiteFile, seed: number, count: number = URLS_PER_FILE): string[] {
  const random = seededRandom(seed)
  const rules = rulePathsIn(bytes.toString('utf8'))
  return Array.from({ length: count }, (_, i) => {
    const path = i % 2 === 0 && rules.length > 0 ? pathFromRule(random, pick(random, rules)) : pagePath(random)
    return flatten(normalizedUrl(origin, path) ?? `${origin}${pagePath(random)}`)
  })
}

/** Returns the paths of all rules of a file, for all crawlers. */
export function rulePathsIn(text: string): string[] {
  return Array.from(text.matchAll(/allow[ \t]*:?[ \t]*([/*][^\s#]*)/gi), ([, path = '']) => path)
}

function pathFromRule(random: Random, rule: string): string {
  const filled = rule
    .replace(/\$$/, '')
    .replaceAll('*', () =>
      weightedChoice(random, [0.3, ''], [0.4, pick(random, plainWords)], [0.3, `${phrase(random, 2, '/')}`]),
    )
  const path = filled.startsWith('/') ? filled : `/${filled}`
  const end = weightedChoice(
    random,
    [0.25, ''],
    [0.3, pick(random, plainWords)],
    [0.35, pagePath(random)],
    [0.1, `?${query(random)}`],
  )
  return weightedChoice(random, [0.85, `${path}${end}`], [0.15, path.slice(0, -1) || '/']) // the others are one character too short for their rule
}

function pagePath(random: Random): string {
  const steps = weightedChoice(random, [0.03, 0], [0.13, 1], [0.42, 2], [0.3, 3], [0.12, 5])
  const path = Array.from({ length: steps }, (_, i) => {
    if (i === 0 && chance(random, 0.6)) return pick(random, sections)
    return weightedChoice(
      random,
      [0.3, pick(random, plainWords)],
      [0.35, phrase(random, 2 + Math.floor(random() * 5), '-')],
      [0.2, `${Math.floor(random() * 10_000_000)}`],
      [0.1, `${pick(random, plainWords)}-${Math.floor(random() * 10_000)}`],
      [0.05, pick(random, encodedWords)],
    )
  }).join('/')
  const end = weightedChoice(random, [0.4, ''], [0.3, '/'], [0.3, `.${pick(random, extensions)}`])
  return `/${path}${steps === 0 ? '' : end}${chance(random, 0.25) ? `?${query(random)}` : ''}`
}

function query(random: Random): string {
  const count = weightedChoice(random, [0.5, 1], [0.3, 2], [0.2, 4])
  const value = () =>
    weightedChoice(
      random,
      [0.4, pick(random, plainWords)],
      [0.4, `${Math.floor(random() * 1_000)}`],
      [0.2, pick(random, encodedWords)],
    )
  return Array.from({ length: count }, () => `${pick(random, parameters)}=${value()}`).join('&')
}

/** Returns the URL that a client sends; undefined if the path leads to another origin. */
function normalizedUrl(origin: string, path: string): string | undefined {
  if (!URL.canParse(path, origin)) return undefined
  const { href } = new URL(path, origin)
  return href.startsWith(`${origin}/`) ? href.replace(/#.*/s, '') : undefined
}

/**
 * Returns the text as one flat string, like one that was read from a page. V8 represents a
 * concatenated string as a tree of its parts.
 */
export function flatten(text: string): string {
  return Buffer.from(text).toString()
}
