// Random files that resemble those on the web: in length, and in the number of rules, wildcards, groups and faults.
// test/site-file.test.ts checks these figures.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { CRAWLER } from '../libraries/library.ts'
import { crawlers, encodedWords, extensions, foreignWords, parameters, plainWords, sections } from './words.ts'

export interface SiteFile {
  /** What the file is called where one is named: its seed, or the host it was fetched from. */
  readonly name: string
  readonly origin: string
  readonly bytes: Buffer
}

type Roll = () => number

/** How many of something a file has: the share of files that have at most so many. Between two rows it grows evenly by factors. */
type Quantiles = readonly (readonly [share: number, atMost: number])[]

/** Files that are a web page, and files without a rule, those among them. */
const WEB_PAGES = 0.03
const WITHOUT_RULES = 0.07

const RULES: Quantiles = [
  [0, 1],
  [0.05, 1],
  [0.19, 3],
  [0.46, 12],
  [0.73, 39],
  [0.89, 81],
  [0.945, 140],
  [0.989, 472],
  [0.999, 2_000],
  [1, 5_600],
]
const COMMENTS: Quantiles = [
  [0, 1],
  [0.4, 3],
  [0.8, 15],
  [0.95, 24],
  [1, 600],
]

/** How a site's paths look. */
interface Shape {
  readonly share: number
  readonly paths: readonly string[]
  readonly starred: readonly string[]
  readonly anchored: readonly string[]
}

const SHAPES: readonly Shape[] = [
  {
    share: 0.25, // like a weblog's
    paths: [
      '/wp-admin/',
      '/wp-includes/',
      '/wp-login.php',
      '/xmlrpc.php',
      '/trackback/',
      '/comments/feed/',
      '/?s=',
      '/feed/',
    ],
    starred: [
      '/*?s=',
      '*/trackback/',
      '*/feed/',
      '/*?replytocom',
      '/author/*',
      '/wp-content/*/cache',
      '/?*',
      '/*/embed',
    ],
    anchored: ['/*.php$', '/*.inc$', '*/feed/$', '/*?$'],
  },
  {
    share: 0.2, // like a shop's
    paths: [
      '/cart',
      '/checkout/',
      '/orders',
      '/account/',
      '/customer/',
      '/wishlist/',
      '/catalogsearch/',
      '/search',
      '/compare/',
    ],
    starred: [
      '/*?sort=',
      '/*?filter',
      '/collections/*+*',
      '/collections/*sort_by*',
      '/*/checkout',
      '/*?*variant=',
      '/*&dir=',
    ],
    anchored: ['/*?limit=all$', '/cart$', '/*.js$', '/search$'],
  },
  {
    share: 0.15, // like a forum's or a wiki's
    paths: [
      '/login',
      '/register',
      '/memberlist',
      '/index.php?title=Special:',
      '/w/',
      '/posting.php',
      '/search.php',
      '/ucp.php',
    ],
    starred: ['/*?action=', '/*&sid=', '/profile/*/edit', '/threads/*/page', '/*?do=', '/members/*'],
    anchored: ['/*/print$', '/index.php$', '/*.cgi$'],
  },
  {
    share: 0.4,
    paths: ['/admin/', '/cgi-bin/', '/search', '/private/', '/tmp/'],
    starred: ['/*?', '/*.pdf'],
    anchored: ['/*.pdf$', '/$'],
  }, // unlike the three above
]

/** The robots.txt of one site; the same for the same seed. */
export function siteFile(seed: number): SiteFile {
  const roll = seededRandom(seed)
  const origin = `https://${chance(roll, 0.5) ? 'www.' : ''}${pick(roll, plainWords)}-${pick(roll, plainWords)}.example`
  return { name: `seed ${seed}`, origin, bytes: Buffer.from(textFor(roll, shareOf(seed), origin), 'latin1') }
}

/** The files of the seeds from 1, without those that are longer than a bound, if there is one. */
export function* siteFiles(count: number, maxBytes: number = Number.POSITIVE_INFINITY): Generator<SiteFile> {
  for (let seed = 1, made = 0; made < count; seed++) {
    const file = siteFile(seed)
    if (file.bytes.length > maxBytes) continue
    made++
    yield file
  }
}

/**
 * The rank of a file by its number of rules, between 0 and 1: a multiple of the golden ratio, not a random number. So of any few thousand
 * seeds in a row, one in a hundred is in the last hundredth.
 */
function shareOf(seed: number): number {
  return (seed * ((Math.sqrt(5) - 1) / 2)) % 1
}

function textFor(roll: Roll, share: number, origin: string): string {
  if (share < WEB_PAGES) return webPage(roll)
  const isEmpty = share < WITHOUT_RULES
  const rules = isEmpty ? 0 : amount((share - WITHOUT_RULES) / (1 - WITHOUT_RULES), RULES)
  const lines = isEmpty ? comments(roll) : [...preface(roll), ...groups(roll, rules, origin)]
  if (chance(roll, 0.51)) lines.push('', ...sitemaps(roll, origin))
  if (chance(roll, 0.005)) lines.push(...Array.from({ length: 1_500 }, () => `# ${phrase(roll, 5, ' ')}`))
  const lineEnd = weighed(roll, [0.67, '\n'], [0.325, '\r\n'], [0.005, '\r'])
  return `${chance(roll, 0.02) ? '\xef\xbb\xbf' : ''}${lines.join(lineEnd)}${chance(roll, 0.7) ? lineEnd : ''}`
}

/** What a server sends that has no robots.txt and does not say so. */
function webPage(roll: Roll): string {
  const bytes = 400 * 900 ** roll()
  const parts = [`<!DOCTYPE html>\n<html lang="en">\n<head><title>${phrase(roll, 3, ' ')}</title></head>\n<body>\n`]
  for (let length = 0; length < bytes; ) {
    const part = `<p class="${pick(roll, sections)}">${phrase(roll, 12, ' ')}: <a href="/${phrase(roll, 2, '/')}">${pick(roll, plainWords)}</a></p>\n`
    parts.push(part)
    length += part.length
  }
  return `${parts.join('')}</body>\n</html>\n`
}

function preface(roll: Roll): string[] {
  return chance(roll, 0.19) ? comments(roll) : []
}

function comments(roll: Roll): string[] {
  return Array.from({ length: amount(roll(), COMMENTS) }, () =>
    chance(roll, 0.1) ? '#' : `# ${phrase(roll, 1 + Math.floor(roll() * 9), ' ')}`,
  )
}

function sitemaps(roll: Roll, origin: string): string[] {
  const count = weighed(roll, [0.7, 1], [0.2, 2], [0.08, 6], [0.015, 40], [0.005, 900])
  return Array.from(
    { length: count },
    (_, i) => `Sitemap: ${origin}/${i === 0 ? 'sitemap' : phrase(roll, 2, '-')}${i || ''}.xml`,
  )
}

/** All groups of a file. */
function groups(roll: Roll, rules: number, origin: string): string[] {
  const paths = pathMaker(roll, rules)
  const allowShare = chance(roll, 0.32) ? 0.3 * roll() : 0
  const list = (count: number) => Array.from({ length: count }, () => ruleLine(roll, allowShare, paths()))
  const delay = chance(roll, 0.19) ? [`Crawl-delay: ${pick(roll, ['1', '2', '5', '10', '10', '30', '0.5'])}`] : []
  const own = chance(roll, 0.04)
    ? ['', `User-agent: ${CRAWLER}`, ...list(1 + Math.floor(roll() * Math.min(8, rules)))]
    : []
  const everyone = ['User-agent: *', ...delay]
  if (rules <= 2 || chance(roll, 0.6)) return [...everyone, ...broken(roll, spaced(roll, list(rules))), ...own]

  const named = (names: readonly string[]) => names.map((name) => `User-agent: ${name}`)
  const others = Array.from(
    { length: rules },
    (_, i) => crawlers[i] ?? `${pick(roll, plainWords)}${pick(roll, ['Bot', 'bot', 'Spider', '-crawler'])}`,
  )
  const some = (most: number) => shuffled(roll, others).slice(0, Math.max(1, Math.min(most, others.length)))
  return weighed<() => string[]>(
    roll,
    // A list of crawlers that are not wanted, each with a group of its own.
    [
      0.35,
      () => {
        const unwanted = some(1 + Math.floor(rules * roll() * 0.6))
        const forbidding = unwanted.flatMap((name) => ['', `User-agent: ${name}`, 'Disallow: /'])
        const rest = list(Math.max(1, rules - unwanted.length))
        return chance(roll, 0.7)
          ? [...everyone, ...rest, ...forbidding]
          : [...forbidding.slice(1), '', ...everyone, ...rest]
      },
    ],
    // What a network that serves the site puts before the site's own rules.
    [
      0.2,
      () => [
        '# BEGIN managed content',
        'User-agent: *',
        'Content-Signal: search=yes,ai-train=no',
        'Allow: /',
        ...['GPTBot', 'ClaudeBot', 'CCBot', 'Bytespider', 'Google-Extended'].flatMap((name) => [
          '',
          `User-agent: ${name}`,
          'Disallow: /',
        ]),
        '# END managed content',
        '',
        ...everyone,
        ...list(Math.max(1, rules - 6)),
      ],
    ],
    // One list, said again to each of several crawlers.
    [
      0.2,
      () => {
        const names = some(1 + Math.floor(roll() * 4))
        const same = list(Math.max(1, Math.floor(rules / (names.length + 1))))
        return [...everyone, ...same, ...names.flatMap((name) => ['', `User-agent: ${name}`, ...same])]
      },
    ],
    // Many names above one group.
    [0.15, () => [...everyone, ...list(rules - 1), '', ...named(some(30)), 'Disallow: /']],
    // Groups for some crawlers only.
    [0.1, () => [...named(some(2)), ...list(rules)]],
  )().concat(own, chance(roll, 0.1) ? ['', `Host: ${origin}`] : [])
}

/** A blank line or a comment here and there. */
function spaced(roll: Roll, lines: string[]): string[] {
  if (chance(roll, 0.7)) return lines
  return lines.flatMap((line) =>
    chance(roll, 0.12) ? [pick(roll, ['', '', `# ${phrase(roll, 3, ' ')}`]), line] : [line],
  )
}

/** A few files have faults in them. */
function broken(roll: Roll, lines: string[]): string[] {
  if (chance(roll, 0.95)) return lines
  return lines.map((line) =>
    chance(roll, 0.5)
      ? line
      : pick(roll, [
          line.replace(':', ''),
          line.replace('Dis', 'Diss'),
          ` ${line} `,
          line.replace(': ', ':'),
          `${line}\x00`,
          line.replace('/', ''),
        ]),
  )
}

function ruleLine(roll: Roll, allowShare: number, path: string): string {
  const key = chance(roll, allowShare) ? 'Allow' : weighed(roll, [0.97, 'Disallow'], [0.03, 'disallow'])
  return `${key}: ${path}${chance(roll, 0.01) ? ` # ${pick(roll, plainWords)}` : ''}`
}

/** Paths as one site has them: with or without wildcards, in ASCII or not. */
function pathMaker(roll: Roll, rules: number): () => string {
  const shape = weighed(roll, ...SHAPES.map((one) => [one.share, one] as const))
  const isStarred = chance(roll, rules < 4 ? 0.14 : rules < 12 ? 0.45 : 0.65)
  const isAnchored = isStarred && chance(roll, 0.31)
  const starShare = isStarred ? 0.05 + 0.5 * roll() ** 2 : 0
  const isForeign = chance(roll, 0.03)
  const isEncoded = chance(roll, 0.05)
  const made = new Set<string>()
  const next = () => {
    if (isAnchored && (made.size === 1 || chance(roll, starShare / 3))) return anchoredPath(roll, shape)
    if (isStarred && (made.size === 0 || chance(roll, starShare))) return starredPath(roll, shape)
    if (rules <= 2 && chance(roll, 0.5)) return pick(roll, ['', '/', '/', '/wp-admin/'])
    if (isForeign && chance(roll, 0.3)) return `/${pick(roll, foreignWords)}/`
    if (isEncoded && chance(roll, 0.3)) return `/${pick(roll, sections)}/${pick(roll, encodedWords)}`
    return chance(roll, rules > 60 ? 0.05 : 0.3) ? pick(roll, shape.paths) : plainPath(roll)
  }
  return () => {
    let path = next()
    // Few say the same twice.
    while (made.has(path) && !chance(roll, 0.02)) path = chance(roll, 0.5) ? next() : plainPath(roll)
    made.add(path)
    return path
  }
}

function starredPath(roll: Roll, shape: Shape): string {
  if (chance(roll, 0.35)) return pick(roll, shape.starred)
  return pick(roll, [
    () => `/*?${pick(roll, parameters)}=`,
    () => `/*?*${pick(roll, parameters)}=`,
    () => `/*&${pick(roll, parameters)}=`,
    () => `/${pick(roll, sections)}/*`,
    () => `/${pick(roll, sections)}/*/${pick(roll, sections)}`,
    () => `/*/${pick(roll, sections)}/`,
    () => `*/${pick(roll, plainWords)}-${pick(roll, sections)}`,
    () => `/*.${pick(roll, extensions)}`,
    () => `/${pick(roll, sections)}/*?${pick(roll, parameters)}`,
  ])()
}

function anchoredPath(roll: Roll, shape: Shape): string {
  if (chance(roll, 0.4)) return pick(roll, shape.anchored)
  return pick(roll, [
    () => `/*.${pick(roll, extensions)}$`,
    () => `/${pick(roll, sections)}/$`,
    () => `/*/${pick(roll, sections)}$`,
    () => `/${pick(roll, sections)}/*.${pick(roll, extensions)}$`,
  ])()
}

function plainPath(roll: Roll): string {
  const steps = weighed(roll, [0.55, 1], [0.3, 2], [0.11, 3], [0.04, 6])
  const path = Array.from({ length: steps }, (_, i) =>
    i === 0 && chance(roll, 0.7) ? pick(roll, sections) : slug(roll),
  ).join('/')
  const end = weighed(
    roll,
    [0.5, '/'],
    [0.24, ''],
    [0.16, `.${pick(roll, extensions)}`],
    [0.1, `?${pick(roll, parameters)}=`],
  )
  return `/${path}${end}`
}

function slug(roll: Roll): string {
  return weighed(
    roll,
    [0.4, pick(roll, plainWords)],
    [0.3, phrase(roll, 2, '-')],
    [0.1, phrase(roll, 2, '_')],
    [0.12, phrase(roll, 5, '-')],
    [0.08, `${pick(roll, plainWords)}${Math.floor(roll() * 10_000)}`],
  )
}

export function phrase(roll: Roll, words: number, between: string): string {
  return Array.from({ length: words }, () => pick(roll, plainWords)).join(between)
}

export function chance(roll: Roll, share: number): boolean {
  return roll() < share
}

/** One of several, each with its share. */
export function weighed<T>(roll: Roll, ...choices: readonly (readonly [share: number, choice: T])[]): T {
  let left = roll() * choices.reduce((sum, [share]) => sum + share, 0)
  for (const [share, choice] of choices) {
    left -= share
    if (left < 0) return choice
  }
  return (choices.at(-1) as readonly [number, T])[1]
}

function shuffled<T>(roll: Roll, items: readonly T[]): T[] {
  return items
    .map((item) => [roll(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

function amount(share: number, quantiles: Quantiles): number {
  const above = quantiles.findIndex(([upTo]) => upTo >= share)
  const [toShare, to] = quantiles[Math.max(above, 1)] as readonly [number, number]
  const [fromShare, from] = quantiles[Math.max(above, 1) - 1] as readonly [number, number]
  return Math.round(from * (to / from) ** ((share - fromShare) / (toShare - fromShare)))
}
