// Files that a site could write to slow down a crawler, or that a bug could produce, each with its
// worst URL. They have at most the 500 KiB that a crawler reads (RFC 9309 §2.5).
import { pick, seededRandom } from '@politely/testkit/random-robots'

export const MAX_FILE_BYTES: number = 500 * 1024
export const ORIGIN = 'https://www.hostile.example'

export interface HostileFile {
  readonly name: string
  readonly bytes: Buffer
  readonly url: string
}

/** About the longest path that Politely checks, and longer than any that a crawler requests. */
const LONG_URL_LENGTH = 60_000
/** The length of a long but realistic URL. */
const USUAL_URL_LENGTH = 2_000

const EVERYONE = 'User-agent: *\n'

interface Template {
  readonly name: string
  /** The file, with one character for each byte. It is truncated to the limit. */
  readonly text: string
  /** The URL after its origin. Default: a path that no rule matches. */
  readonly path?: string
}

/** Repeats lines until the file has its maximum size. */
function linesToLimit(line: (i: number) => string, start: string = EVERYONE): string {
  const parts = [start]
  let bytes = start.length
  for (let i = 0; bytes < MAX_FILE_BYTES; i++) {
    const next = `${line(i)}\n`
    parts.push(next)
    bytes += next.length
  }
  return parts.join('')
}

/** Returns the given number of lines, or fewer if the file would be too long. */
function someLines(count: number, line: (i: number) => string): string {
  return EVERYONE + Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')
}

function repeatToLimit(piece: string, start: string = ''): string {
  return start + piece.repeat(Math.ceil((MAX_FILE_BYTES - start.length) / piece.length))
}

const a = (count: number) => 'a'.repeat(count)
/** Random letters a and b. */
const letters = (seed: number, count: number) => {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => pick(random, ['a', 'b'])).join('')
}
const base36 = (i: number) => i.toString(36).padStart(4, '0')

const TEMPLATES: readonly Template[] = [
  // Stars.
  {
    name: 'one rule, 250,000 times *a',
    text: `${repeatToLimit('*a', `${EVERYONE}Disallow: /`).slice(0, MAX_FILE_BYTES - 3)}*b`,
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'one rule, nothing but *',
    text: repeatToLimit('*', `${EVERYONE}Disallow: /`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'one rule, 60 times *a, then b; URL of 60 KB',
    text: `${EVERYONE}Disallow: /${'*a'.repeat(60)}*b`,
    path: `/${a(LONG_URL_LENGTH)}`,
  },
  {
    name: 'rules of 8 stars that nearly match',
    text: linesToLimit((i) => `Disallow: /*a*a*a*a*a*a*a*${base36(i)}b`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'rules of 200 stars that nearly match',
    text: linesToLimit((i) => `Disallow: /${'*a'.repeat(200)}*${base36(i)}b`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'rules of one star and one letter',
    text: linesToLimit((i) => `Disallow: /*${base36(i)}`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'rules of one star and one letter; URL of 60 KB',
    text: linesToLimit((i) => `Disallow: /*${base36(i)}`),
    path: `/${a(LONG_URL_LENGTH)}`,
  },
  {
    name: 'stars before the same word',
    text: linesToLimit((i) => `Disallow: /*abcd${base36(i)}`),
    path: `/${'abcd'.repeat(USUAL_URL_LENGTH / 4)}`,
  },
  {
    name: 'stars before the same word; URL of 60 KB',
    text: linesToLimit((i) => `Disallow: /*abcd${base36(i)}`),
    path: `/${'abcd'.repeat(LONG_URL_LENGTH / 4)}`,
  },
  {
    name: 'a run of 900 a after a star, b at its end',
    text: linesToLimit((i) => `Disallow: /*${a(900 + (i % 50))}b`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'a run of 900 a after a star, b before it',
    text: linesToLimit((i) => `Disallow: /*b${a(900 + (i % 50))}`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'a run of 30,000 a after a star, b before it; URL of 60 KB',
    text: linesToLimit((i) => `Disallow: /*b${a(30_000 + i)}`),
    path: `/${a(LONG_URL_LENGTH)}`,
  },
  {
    name: 'a run of 30,000 a after a star, b at its end; URL of 60 KB',
    text: linesToLimit((i) => `Disallow: /*${a(30_000 + i)}b`),
    path: `/${a(LONG_URL_LENGTH)}`,
  },
  {
    name: 'a letter at the end of the URL, and one that only comes before it',
    text: linesToLimit(() => 'Disallow: /*b*c'),
    path: `/c${a(USUAL_URL_LENGTH)}b`,
  },
  {
    name: 'a letter in the middle of the URL, and runs of a that occur before and after it',
    text: linesToLimit((i) => `Disallow: /*b*${a(1 + (i % 700))}*bb`),
    path: `/${a(USUAL_URL_LENGTH / 2)}b${a(USUAL_URL_LENGTH / 2)}`,
  },
  {
    name: 'a run of 1,000 a and b, which nearly occurs everywhere; URL of 60 KB',
    text: linesToLimit(() => `Disallow: /*${a(1_000)}b`),
    path: `/ab${a(LONG_URL_LENGTH)}`,
  },
  {
    name: 'a star and a word that nearly occurs in many places',
    text: linesToLimit(() => 'Disallow:/*abc'),
    path: `/${'abxbc'.repeat(USUAL_URL_LENGTH / 5)}`,
  },
  {
    name: 'a star and words of 16 letters a and b',
    text: linesToLimit((i) => `Disallow:/*${letters(i, 16)}`),
    path: `/${letters(7, USUAL_URL_LENGTH)}`,
  },
  {
    name: 'two stars and two words of letters a and b',
    text: linesToLimit((i) => `Disallow:/*${letters(i, 6)}*${letters(i, 12)}`),
    path: `/${letters(7, USUAL_URL_LENGTH)}`,
  },
  {
    name: 'stars and words, of which the second occurs at the start and at the end of the URL',
    text: linesToLimit((i) => `Disallow:/*z*abc*${base36(i)}`),
    path: `/abcz${'abx'.repeat(650)}abc`,
  },
  {
    name: 'a run of 900 a after a star, b at its end, as at the end of the URL',
    text: linesToLimit((i) => `Disallow: /*${a(900 + (i % 50))}b`),
    path: `/${`${a(950)}c`.repeat(2)}ab`,
  },
  {
    name: 'stars and ends',
    text: linesToLimit((i) => `Disallow: /*a*a*${base36(i)}$`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'stars in front of everything',
    text: linesToLimit((i) => `Disallow: *${base36(i)}*a`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'a star after each letter',
    text: linesToLimit((i) => `Disallow: /${[...base36(i)].join('*')}*`),
    path: `/${'0123456789abcdefghijklmnopqrstuvwxyz'.repeat(55)}`,
  },
  {
    name: 'stars in twos and threes',
    text: linesToLimit((i) => `Disallow: /**a***${base36(i)}**`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  {
    name: '$ in the middle',
    text: linesToLimit((i) => `Disallow: /$a$${base36(i)}$b`),
    path: `/$a$${'$'.repeat(USUAL_URL_LENGTH)}`,
  },

  // Literal rules.
  {
    name: 'nested prefixes, /a /aa /aaa and so on',
    text: linesToLimit((i) => `Disallow: /${a(i + 1)}`),
    path: `/${a(900)}b`,
  },
  {
    name: 'long rules that differ in the last bytes',
    text: linesToLimit((i) => `Disallow: /${a(1_000)}${base36(i)}`),
    path: `/${a(1_000)}zzzzz`,
  },
  {
    name: 'short rules that differ in the last bytes',
    text: linesToLimit((i) => `Disallow: /same/${base36(i)}`),
    path: '/same/zzzzz',
  },
  { name: 'the same rule again and again', text: linesToLimit(() => 'Disallow: /same'), path: '/same' },
  { name: 'the shortest rules', text: linesToLimit(() => 'allow:/'), path: '/' },
  {
    name: 'rules one character longer than the path',
    text: linesToLimit((i) => `allow:/${(i % 36).toString(36)}`),
    path: '/',
  },
  { name: 'rules without a path', text: linesToLimit(() => 'allow:') },
  {
    name: 'index pages, each of which is a folder too',
    text: linesToLimit((i) => `Allow: /${base36(i)}/index.html`),
    path: '/0000/',
  },
  {
    name: 'rules that are percent-encoded',
    text: linesToLimit(
      (i) => `Disallow: /%61%62%63${[...base36(i)].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`,
    ),
    path: '/abc%7a%7a%7a%7a',
  },
  {
    name: 'rules of broken percent signs',
    text: linesToLimit((i) => `Disallow: /%${base36(i)}%%%2%`),
    path: `/${'%'.repeat(USUAL_URL_LENGTH)}`,
  },
  {
    name: 'rules that are not UTF-8',
    text: linesToLimit((i) => `Disallow: /\xff\xc3\xe9\x80${base36(i)}`),
    path: '/%FF%C3%E9%80zzzz',
  },
  {
    name: 'rules of three-byte characters',
    text: linesToLimit((i) => `Disallow: /\xe6\x96\xb0\xe9\x97\xbb${base36(i)}`),
    path: `/${'\u65b0'.repeat(200)}`,
  },

  // Lines.
  {
    name: 'one line of 500 KiB, a rule',
    text: repeatToLimit('a', `${EVERYONE}Disallow: /`),
    path: `/${a(USUAL_URL_LENGTH)}`,
  },
  { name: 'one line of 500 KiB, no colon', text: repeatToLimit('a ') },
  {
    name: 'one line of spaces between two letters',
    text: `${EVERYONE}Disallow: /x${' '.repeat(MAX_FILE_BYTES - 30)}y`,
    path: '/x',
  },
  {
    name: 'rules that end with 1,000 spaces and a letter',
    text: linesToLimit(() => `Disallow: /x${' '.repeat(1_000)}y`),
    path: '/x',
  },
  { name: 'lines of one byte', text: repeatToLimit('a\n') },
  { name: 'nothing but line feeds', text: repeatToLimit('\n') },
  { name: 'nothing but carriage returns', text: repeatToLimit('\r') },
  { name: 'nothing but CR LF', text: repeatToLimit('\r\n') },
  { name: 'nothing but NUL', text: repeatToLimit('\0') },
  { name: 'NUL in every line', text: linesToLimit((i) => `Disallow: /\0${i}`), path: '/' },
  { name: 'nothing but byte order marks', text: repeatToLimit('\xef\xbb\xbf') },
  { name: 'nothing but colons', text: repeatToLimit(':') },
  { name: 'lines of a colon', text: repeatToLimit(':\n') },
  { name: 'nothing but #', text: repeatToLimit('#') },
  { name: 'lines of a comment', text: repeatToLimit('#\n') },
  { name: 'nothing but spaces and tabs', text: repeatToLimit(' \t') },
  { name: 'nothing but 0xff', text: repeatToLimit('\xff') },
  { name: 'keys without a colon', text: linesToLimit((i) => `Disallow /${i}`), path: '/1' },
  { name: 'misspelled keys', text: linesToLimit((i) => `dissalow: /${i}`), path: '/1' },

  // Groups and other records.
  {
    name: 'groups of other crawlers, each followed by short lines',
    text: linesToLimit((i) => ['user-agent: other', 'disallow: /'][i % 12] ?? ''),
  },
  {
    name: 'groups of other crawlers, followed by letters that contain CR in UTF-16',
    text: repeatToLimit(
      '\xc4\x8d',
      Array.from({ length: 8_000 }, () => `user-agent: other\ndisallow: /\n${'\n'.repeat(10)}`).join(''),
    ),
  },
  { name: 'groups with the same name', text: linesToLimit(() => 'user-agent:*\nallow:/'), path: '/' },
  {
    name: 'user-agent lines with the same name',
    text: `${repeatToLimit('user-agent:*\n').slice(0, MAX_FILE_BYTES - 13)}\ndisallow:/`,
    path: '/',
  },
  {
    name: 'user-agent lines with different names',
    text: linesToLimit((i) => `user-agent: bot-${base36(i)}`, ''),
    path: '/',
  },
  {
    name: 'groups with different names',
    text: linesToLimit((i) => `user-agent: ${base36(i)}\ndisallow: /`, ''),
    path: '/',
  },
  {
    name: '9,000 groups for our crawler',
    text: someLines(9_000, (i) => `User-agent: ExampleBot\nDisallow: /${base36(i)}`),
    path: '/zzzz',
  },
  {
    name: '500 agents above each of 500 rules',
    text: linesToLimit((i) => (i % 2 === 0 ? 'user-agent:*\n'.repeat(500) : `disallow:/${base36(i)}\n`.repeat(500))),
    path: '/zzzz',
  },
  { name: 'a name of 500 KiB', text: repeatToLimit('a', 'User-agent: ') },
  { name: 'crawl-delays', text: linesToLimit((i) => `Crawl-delay: ${i}.${'9'.repeat(20)}`) },
  { name: 'a crawl-delay of 500 KiB', text: repeatToLimit('9', `${EVERYONE}Crawl-delay: `) },
  { name: 'sitemaps', text: linesToLimit((i) => `Sitemap: ${ORIGIN}/${i}.xml`) },
  { name: 'unknown records', text: linesToLimit((i) => `${base36(i)}: ${i}`) },
]

export const hostileFiles: readonly HostileFile[] = TEMPLATES.map(({ name, text, path = '/nothing/matches/this' }) => ({
  name,
  bytes: Buffer.from(text.slice(0, MAX_FILE_BYTES), 'latin1'),
  url: `${ORIGIN}${path}`,
}))
