// Random robots.txt files and paths. Each is made from a seed, so that a failing test can be
// repeated.

/**
 * Returns a random number generator: numbers in [0, 1), always the same ones for a seed
 * (mulberry32, public domain).
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns a generator of pseudo-random integers from 0 to `below` - 1. The same seed gives the same
 * numbers.
 */
export function seededIntegers(seed: number): (below: number) => number {
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

const KEYS = [
  'User-agent',
  'user-agent',
  'Disallow',
  'Disallow',
  'Disallow',
  'Allow',
  'Allow',
  'Crawl-delay',
  'Sitemap',
  'Dissallow',
  'User agent',
  'Noindex',
  'allowed',
  ' Disallow ',
  '\xa0Disallow',
]
const SEPARATORS = [': ', ': ', ': ', ':', ' : ', ' ', '\t', ':\t', ' :']
const AGENTS = [
  '*',
  '*',
  'ExampleBot',
  'examplebot',
  'ExampleBot/2',
  'Other',
  'ExampleBot2',
  'a1',
  '* all',
  '*x',
  '',
  'ExampleBot other',
]
const PIECES = [
  '/',
  '/',
  '/',
  'a',
  'b',
  'ab',
  '*',
  '*',
  '$',
  '%2F',
  '%2f',
  '%61',
  '%',
  '%zz',
  '%2A',
  '%24',
  '?',
  '=',
  '.',
  '.html',
  'index.html',
  '~',
  '%7E',
  '\xc3\xa9',
  '%C3%A9',
  '%c3%a9',
  ' ',
  "'",
  '%27',
  '{',
  '%7B',
  '#',
  ';',
  '&',
  ':',
]
const LINE_ENDS = ['\n', '\n', '\n', '\r\n', '\r', '\n\n', ' \n', '#c\n', '\x00x\n', '\x0c', '\n\r']

/** Returns a random item. */
export function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** Returns 0 to `maxCount` random pieces, joined. */
function some(random: () => number, pieces: readonly string[], maxCount: number): string {
  return Array.from({ length: Math.floor(random() * (maxCount + 1)) }, () => pick(random, pieces)).join('')
}

/**
 * Returns a robots.txt of a few lines, with mistakes of every kind; one character for each byte.
 */
export function randomRobots(random: () => number): string {
  const start = pick(random, ['', '', '', '', '\xef\xbb\xbf', '\xef\xbb', '\n'])
  const lines = Array.from({ length: Math.floor(random() * 12) }, () => {
    const key = pick(random, KEYS)
    const value = /agent/i.test(key)
      ? pick(random, AGENTS)
      : `${pick(random, ['/', '/', '/', '', '*'])}${some(random, PIECES, 6)}`
    return key + pick(random, SEPARATORS) + value + pick(random, LINE_ENDS)
  })
  return `${start}User-agent: ${pick(random, AGENTS)}\n${lines.join('')}`
}

/** Returns a path to check, often made from a rule of the file. */
export function randomPath(random: () => number, robots: string): string {
  const rules = Array.from(robots.matchAll(/allow[^/\r\n]*(\/[^\r\n#\0]*)/gi), ([, path = '']) => path)
  if (rules.length === 0 || random() < 0.3) return `/${some(random, PIECES, 8)}`
  const from = pick(random, rules)
    .replace(/\*/g, () => some(random, PIECES, 2))
    .replace(/\$\s*$/, '')
  return from + some(random, PIECES, 2)
}

/** Decodes bytes, one character for each, from UTF-8. */
export function utf8TextOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
