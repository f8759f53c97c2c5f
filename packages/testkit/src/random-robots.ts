// Files and questions by dice, from a seed: so that a file that finds a fault can be had again.

/** A sequence of numbers in [0, 1), always the same for a seed (mulberry32, public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
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

/** One of several, by dice. */
export function pick<T>(roll: () => number, from: readonly T[]): T {
  return from[Math.floor(roll() * from.length)] as T
}

function some(roll: () => number, pieces: readonly string[], most: number): string {
  return Array.from({ length: Math.floor(roll() * (most + 1)) }, () => pick(roll, pieces)).join('')
}

/** A robots.txt of a few lines, with every sort of mistake in it; one character for each byte. */
export function randomRobots(roll: () => number): string {
  const start = pick(roll, ['', '', '', '', '\xef\xbb\xbf', '\xef\xbb', '\n'])
  const lines = Array.from({ length: Math.floor(roll() * 12) }, () => {
    const key = pick(roll, KEYS)
    const value = /agent/i.test(key)
      ? pick(roll, AGENTS)
      : `${pick(roll, ['/', '/', '/', '', '*'])}${some(roll, PIECES, 6)}`
    return key + pick(roll, SEPARATORS) + value + pick(roll, LINE_ENDS)
  })
  return `${start}User-agent: ${pick(roll, AGENTS)}\n${lines.join('')}`
}

/** A path to ask about; often one that is made of a rule of the file. */
export function randomPath(roll: () => number, robots: string): string {
  const rules = Array.from(robots.matchAll(/allow[^/\r\n]*(\/[^\r\n#\0]*)/gi), ([, path = '']) => path)
  if (rules.length === 0 || roll() < 0.3) return `/${some(roll, PIECES, 8)}`
  const from = pick(roll, rules)
    .replace(/\*/g, () => some(roll, PIECES, 2))
    .replace(/\$\s*$/, '')
  return from + some(roll, PIECES, 2)
}

/** Bytes as the text of a URL: what is UTF-8 becomes the characters it stands for. */
export function utf8TextOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
