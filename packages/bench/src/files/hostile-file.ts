// Files that a site could write to make a crawler work, or that a fault on it could bring about, each with the URL that is
// worst for it. Each is at most as long as what is read of a file. RFC 9309 §2.5.

import { pick, seededRandom } from '@politely/testkit/random-robots'

export const MAX_FILE_BYTES: number = 500 * 1024
export const ORIGIN = 'https://www.hostile.example'

export interface HostileFile {
  readonly name: string
  readonly bytes: Buffer
  readonly url: string
}

/** Longer URLs are not what a crawler asks about; they are here to see what would be if it did. */
const LONG = 64 * 1024
/** As long as URLs may well be. */
const USUAL = 2_000

const EVERYONE = 'User-agent: *\n'

interface Draft {
  readonly name: string
  /** All of the file, in bytes, a character each; what is too long is cut off. */
  readonly text: string
  /** What follows the origin in the URL. Left out: a path that nothing matches. */
  readonly path?: string
}

/** As many lines as there is room for. */
function lines(line: (i: number) => string, start: string = EVERYONE): string {
  const made = [start]
  let bytes = start.length
  for (let i = 0; bytes < MAX_FILE_BYTES; i++) {
    const next = `${line(i)}\n`
    made.push(next)
    bytes += next.length
  }
  return made.join('')
}

/** The given number of lines, or fewer if the file would be too long. */
function someLines(count: number, line: (i: number) => string): string {
  return EVERYONE + Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')
}

function full(piece: string, start: string = ''): string {
  return start + piece.repeat(Math.ceil((MAX_FILE_BYTES - start.length) / piece.length))
}

const a = (count: number) => 'a'.repeat(count)
/** Random letters a and b. */
const letters = (seed: number, count: number) => {
  const roll = seededRandom(seed)
  return Array.from({ length: count }, () => pick(roll, ['a', 'b'])).join('')
}
const base36 = (i: number) => i.toString(36).padStart(4, '0')

const DRAFTS: readonly Draft[] = [
  // Stars.
  {
    name: 'one rule, 250,000 times *a',
    text: `${full('*a', `${EVERYONE}Disallow: /`).slice(0, MAX_FILE_BYTES - 3)}*b`,
    path: `/${a(USUAL)}`,
  },
  { name: 'one rule, nothing but *', text: full('*', `${EVERYONE}Disallow: /`), path: `/${a(USUAL)}` },
  {
    name: 'one rule, 60 times *a, then b; URL of 64 KiB',
    text: `${EVERYONE}Disallow: /${'*a'.repeat(60)}*b`,
    path: `/${a(LONG)}`,
  },
  {
    name: 'rules of 8 stars that nearly match',
    text: lines((i) => `Disallow: /*a*a*a*a*a*a*a*${base36(i)}b`),
    path: `/${a(USUAL)}`,
  },
  {
    name: 'rules of 200 stars that nearly match',
    text: lines((i) => `Disallow: /${'*a'.repeat(200)}*${base36(i)}b`),
    path: `/${a(USUAL)}`,
  },
  { name: 'rules of one star and one letter', text: lines((i) => `Disallow: /*${base36(i)}`), path: `/${a(USUAL)}` },
  {
    name: 'rules of one star and one letter; URL of 64 KiB',
    text: lines((i) => `Disallow: /*${base36(i)}`),
    path: `/${a(LONG)}`,
  },
  {
    name: 'stars before one and the same word',
    text: lines((i) => `Disallow: /*abcd${base36(i)}`),
    path: `/${'abcd'.repeat(USUAL / 4)}`,
  },
  {
    name: 'stars before one and the same word; URL of 64 KiB',
    text: lines((i) => `Disallow: /*abcd${base36(i)}`),
    path: `/${'abcd'.repeat(LONG / 4)}`,
  },
  {
    name: 'a run of 900 a after a star, b at its end',
    text: lines((i) => `Disallow: /*${a(900 + (i % 50))}b`),
    path: `/${a(USUAL)}`,
  },
  {
    name: 'a run of 900 a after a star, b before it',
    text: lines((i) => `Disallow: /*b${a(900 + (i % 50))}`),
    path: `/${a(USUAL)}`,
  },
  {
    name: 'a run of 30,000 a after a star, b before it; URL of 64 KiB',
    text: lines((i) => `Disallow: /*b${a(30_000 + i)}`),
    path: `/${a(LONG)}`,
  },
  {
    name: 'a run of 30,000 a after a star, b at its end; URL of 64 KiB',
    text: lines((i) => `Disallow: /*${a(30_000 + i)}b`),
    path: `/${a(LONG)}`,
  },
  {
    name: 'a star and a piece that nearly stands in many places',
    text: lines(() => 'Disallow:/*abc'),
    path: `/${'abxbc'.repeat(USUAL / 5)}`,
  },
  {
    name: 'a star and pieces of 16 a and b',
    text: lines((i) => `Disallow:/*${letters(i, 16)}`),
    path: `/${letters(7, USUAL)}`,
  },
  {
    name: 'the same, two of them',
    text: lines((i) => `Disallow:/*${letters(i, 6)}*${letters(i, 12)}`),
    path: `/${letters(7, USUAL)}`,
  },
  {
    name: 'stars and pieces, the second of which stands at the beginning and at the end of the URL',
    text: lines((i) => `Disallow:/*z*abc*${base36(i)}`),
    path: `/abcz${'abx'.repeat(650)}abc`,
  },
  {
    name: 'a run of 900 a after a star, b at its end, as at the end of the URL',
    text: lines((i) => `Disallow: /*${a(900 + (i % 50))}b`),
    path: `/${`${a(950)}c`.repeat(2)}ab`,
  },
  { name: 'stars and ends', text: lines((i) => `Disallow: /*a*a*${base36(i)}$`), path: `/${a(USUAL)}` },
  { name: 'stars in front of everything', text: lines((i) => `Disallow: *${base36(i)}*a`), path: `/${a(USUAL)}` },
  {
    name: 'a star after each letter',
    text: lines((i) => `Disallow: /${[...base36(i)].join('*')}*`),
    path: `/${'0123456789abcdefghijklmnopqrstuvwxyz'.repeat(55)}`,
  },
  { name: 'stars in twos and threes', text: lines((i) => `Disallow: /**a***${base36(i)}**`), path: `/${a(USUAL)}` },
  { name: '$ in the middle', text: lines((i) => `Disallow: /$a$${base36(i)}$b`), path: `/$a$${'$'.repeat(USUAL)}` },

  // Literal rules.
  { name: 'nested prefixes, /a /aa /aaa and so on', text: lines((i) => `Disallow: /${a(i + 1)}`), path: `/${a(900)}b` },
  {
    name: 'long rules that differ in the last bytes',
    text: lines((i) => `Disallow: /${a(1_000)}${base36(i)}`),
    path: `/${a(1_000)}zzzzz`,
  },
  {
    name: 'short rules that differ in the last bytes',
    text: lines((i) => `Disallow: /same/${base36(i)}`),
    path: '/same/zzzzz',
  },
  { name: 'one and the same rule', text: lines(() => 'Disallow: /same'), path: '/same' },
  { name: 'the shortest rules', text: lines(() => 'allow:/'), path: '/' },
  { name: 'rules that go on where the path ends', text: lines((i) => `allow:/${(i % 36).toString(36)}`), path: '/' },
  { name: 'rules without a path', text: lines(() => 'allow:') },
  {
    name: 'index pages, each of which is a folder too',
    text: lines((i) => `Allow: /${base36(i)}/index.html`),
    path: '/0000/',
  },
  {
    name: 'rules that are percent-encoded',
    text: lines((i) => `Disallow: /%61%62%63${[...base36(i)].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`),
    path: '/abc%7a%7a%7a%7a',
  },
  {
    name: 'rules of broken percent signs',
    text: lines((i) => `Disallow: /%${base36(i)}%%%2%`),
    path: `/${'%'.repeat(USUAL)}`,
  },
  {
    name: 'rules that are not UTF-8',
    text: lines((i) => `Disallow: /\xff\xc3\xe9\x80${base36(i)}`),
    path: '/%FF%C3%E9%80zzzz',
  },
  {
    name: 'rules of three-octet characters',
    text: lines((i) => `Disallow: /\xe6\x96\xb0\xe9\x97\xbb${base36(i)}`),
    path: `/${'\u65b0'.repeat(200)}`,
  },

  // Lines.
  { name: 'one line of 500 KiB, a rule', text: full('a', `${EVERYONE}Disallow: /`), path: `/${a(USUAL)}` },
  { name: 'one line of 500 KiB, no colon', text: full('a ') },
  {
    name: 'one line of blanks between two letters',
    text: `${EVERYONE}Disallow: /x${' '.repeat(MAX_FILE_BYTES - 30)}y`,
    path: '/x',
  },
  {
    name: 'rules that end in 1,000 blanks and a letter',
    text: lines(() => `Disallow: /x${' '.repeat(1_000)}y`),
    path: '/x',
  },
  { name: 'lines of one byte', text: full('a\n') },
  { name: 'nothing but line feeds', text: full('\n') },
  { name: 'nothing but carriage returns', text: full('\r') },
  { name: 'nothing but CR LF', text: full('\r\n') },
  { name: 'nothing but NUL', text: full('\0') },
  { name: 'NUL in every line', text: lines((i) => `Disallow: /\0${i}`), path: '/' },
  { name: 'nothing but byte order marks', text: full('\xef\xbb\xbf') },
  { name: 'nothing but colons', text: full(':') },
  { name: 'lines of a colon', text: full(':\n') },
  { name: 'nothing but #', text: full('#') },
  { name: 'lines of a comment', text: full('#\n') },
  { name: 'nothing but blanks and tabs', text: full(' \t') },
  { name: 'nothing but 0xff', text: full('\xff') },
  { name: 'keys without a colon', text: lines((i) => `Disallow /${i}`), path: '/1' },
  { name: 'keys that are written wrong', text: lines((i) => `dissalow: /${i}`), path: '/1' },

  // Groups and other records.
  {
    name: 'groups of others with short lines behind each',
    text: lines((i) => ['user-agent: other', 'disallow: /'][i % 12] ?? ''),
  },
  {
    name: 'the same, and behind them letters that look like CR in UTF-16',
    text: full(
      '\xc4\x8d',
      Array.from({ length: 8_000 }, () => `user-agent: other\ndisallow: /\n${'\n'.repeat(10)}`).join(''),
    ),
  },
  { name: 'groups of one and the same name', text: lines(() => 'user-agent:*\nallow:/'), path: '/' },
  {
    name: 'user-agent lines of one and the same name',
    text: `${full('user-agent:*\n').slice(0, MAX_FILE_BYTES - 13)}\ndisallow:/`,
    path: '/',
  },
  { name: 'user-agent lines, each of another name', text: lines((i) => `user-agent: bot-${base36(i)}`, ''), path: '/' },
  { name: 'groups, each of another name', text: lines((i) => `user-agent: ${base36(i)}\ndisallow: /`, ''), path: '/' },
  {
    name: 'groups that name us, 9,000 of them',
    text: someLines(9_000, (i) => `User-agent: ExampleBot\nDisallow: /${base36(i)}`),
    path: '/zzzz',
  },
  {
    name: '500 agents above each of 500 rules',
    text: lines((i) => (i % 2 === 0 ? 'user-agent:*\n'.repeat(500) : `disallow:/${base36(i)}\n`.repeat(500))),
    path: '/zzzz',
  },
  { name: 'a name of 500 KiB', text: full('a', 'User-agent: ') },
  { name: 'crawl-delays', text: lines((i) => `Crawl-delay: ${i}.${'9'.repeat(20)}`) },
  { name: 'a crawl-delay of 500 KiB', text: full('9', `${EVERYONE}Crawl-delay: `) },
  { name: 'sitemaps', text: lines((i) => `Sitemap: ${ORIGIN}/${i}.xml`) },
  { name: 'unknown records', text: lines((i) => `${base36(i)}: ${i}`) },
]

export const hostileFiles: readonly HostileFile[] = DRAFTS.map(({ name, text, path = '/nothing/matches/this' }) => ({
  name,
  bytes: Buffer.from(text.slice(0, MAX_FILE_BYTES), 'latin1'),
  url: `${ORIGIN}${path}`,
}))
