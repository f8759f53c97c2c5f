// Generates random files that resemble files on the web in length and in the number of rules,
// wildcards, groups and mistakes. test/site-file.test.ts checks these figures.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { CRAWLER } from '../crawler.ts'
import { crawlers, encodedWords, extensions, foreignWords, parameters, plainWords, sections } from './words.ts'

export interface SiteFile {
  /** The file's seed, or the host from which it was fetched. */
  readonly name: string
  readonly origin: string
  readonly bytes: Buffer
}

type Random = () => number

/**
 * The share of files that have at most a given number of something. Values between two rows are
 * interpolated geometrically.
 */
type Quantiles = readonly (readonly [share: number, atMost: number])[]

/** The share of files that are HTML pages, and of files without a rule, which include the pages. */
const HTML_SHARE = 0.03
const NO_RULES_SHARE = 0.07

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

/** Typical paths of one kind of site. */
interface PathStyle {
  readonly share: number
  readonly paths: readonly string[]
  readonly starred: readonly string[]
  readonly anchored: readonly string[]
}

const PATH_STYLES: readonly PathStyle[] = [
  {
    share: 0.25, // a blog
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
    share: 0.2, // a shop
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
    share: 0.15, // a forum or a wiki
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
  }, // any other site
]

/** Returns the robots.txt of one site, always the same for a seed. */
export function siteFile(seed: number): SiteFile {
  const random = seededRandom(seed)
  const origin = `https://${chance(random, 0.5) ? 'www.' : ''}${pick(random, plainWords)}-${pick(random, plainWords)}.example`
  return { name: `seed ${seed}`, origin, bytes: Buffer.from(textFor(random, shareOf(seed), origin), 'latin1') }
}

/**
 * Yields the files of the seeds 1, 2 and so on. Skips files that are longer than the limit, if
 * there is one.
 */
export function* siteFiles(count: number, maxBytes: number = Number.POSITIVE_INFINITY): Generator<SiteFile> {
  for (let seed = 1, made = 0; made < count; seed++) {
    const file = siteFile(seed)
    if (file.bytes.length > maxBytes) continue
    made++
    yield file
  }
}

/**
 * The rank of a file by its number of rules, between 0 and 1: a multiple of the golden ratio, not a
 * random number. So of any few thousand seeds in a row, one in a hundred is in the last hundredth.
 */
function shareOf(seed: number): number {
  return (seed * ((Math.sqrt(5) - 1) / 2)) % 1
}

function textFor(random: Random, share: number, origin: string): string {
  if (share < HTML_SHARE) return webPage(random)
  const isEmpty = share < NO_RULES_SHARE
  const rules = isEmpty ? 0 : interpolate((share - NO_RULES_SHARE) / (1 - NO_RULES_SHARE), RULES)
  const lines = isEmpty ? comments(random) : [...preface(random), ...groups(random, rules, origin)]
  if (chance(random, 0.51)) lines.push('', ...sitemaps(random, origin))
  if (chance(random, 0.005)) lines.push(...Array.from({ length: 1_500 }, () => `# ${phrase(random, 5, ' ')}`))
  const lineEnd = weightedChoice(random, [0.67, '\n'], [0.325, '\r\n'], [0.005, '\r'])
  return `${chance(random, 0.02) ? '\xef\xbb\xbf' : ''}${lines.join(lineEnd)}${chance(random, 0.7) ? lineEnd : ''}`
}

/** The page that some servers send with status 200 if they have no robots.txt. */
function webPage(random: Random): string {
  const bytes = 400 * 900 ** random()
  const parts = [`<!DOCTYPE html>\n<html lang="en">\n<head><title>${phrase(random, 3, ' ')}</title></head>\n<body>\n`]
  for (let length = 0; length < bytes; ) {
    const part = `<p class="${pick(random, sections)}">${phrase(random, 12, ' ')}: <a href="/${phrase(random, 2, '/')}">${pick(random, plainWords)}</a></p>\n`
    parts.push(part)
    length += part.length
  }
  return `${parts.join('')}</body>\n</html>\n`
}

function preface(random: Random): string[] {
  return chance(random, 0.19) ? comments(random) : []
}

function comments(random: Random): string[] {
  return Array.from({ length: interpolate(random(), COMMENTS) }, () =>
    chance(random, 0.1) ? '#' : `# ${phrase(random, 1 + Math.floor(random() * 9), ' ')}`,
  )
}

function sitemaps(random: Random, origin: string): string[] {
  const count = weightedChoice(random, [0.7, 1], [0.2, 2], [0.08, 6], [0.015, 40], [0.005, 900])
  return Array.from(
    { length: count },
    (_, i) => `Sitemap: ${origin}/${i === 0 ? 'sitemap' : phrase(random, 2, '-')}${i || ''}.xml`,
  )
}

/** Returns the lines of all groups of a file. */
function groups(random: Random, rules: number, origin: string): string[] {
  const paths = pathMaker(random, rules)
  const allowShare = chance(random, 0.32) ? 0.3 * random() : 0
  const list = (count: number) => Array.from({ length: count }, () => ruleLine(random, allowShare, paths()))
  const delay = chance(random, 0.19) ? [`Crawl-delay: ${pick(random, ['1', '2', '5', '10', '10', '30', '0.5'])}`] : []
  const own = chance(random, 0.04)
    ? ['', `User-agent: ${CRAWLER}`, ...list(1 + Math.floor(random() * Math.min(8, rules)))]
    : []
  const everyone = ['User-agent: *', ...delay]
  if (rules <= 2 || chance(random, 0.6))
    return [...everyone, ...withMistakes(random, withBlankLines(random, list(rules))), ...own]

  const named = (names: readonly string[]) => names.map((name) => `User-agent: ${name}`)
  const others = Array.from(
    { length: rules },
    (_, i) => crawlers[i] ?? `${pick(random, plainWords)}${pick(random, ['Bot', 'bot', 'Spider', '-crawler'])}`,
  )
  const some = (most: number) => shuffled(random, others).slice(0, Math.max(1, Math.min(most, others.length)))
  return weightedChoice<() => string[]>(
    random,
    // Unwanted crawlers, each with its own group.
    [
      0.35,
      () => {
        const unwanted = some(1 + Math.floor(rules * random() * 0.6))
        const forbidding = unwanted.flatMap((name) => ['', `User-agent: ${name}`, 'Disallow: /'])
        const rest = list(Math.max(1, rules - unwanted.length))
        return chance(random, 0.7)
          ? [...everyone, ...rest, ...forbidding]
          : [...forbidding.slice(1), '', ...everyone, ...rest]
      },
    ],
    // Rules that a CDN adds before the site's own rules.
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
    // One list of rules, repeated for each of several crawlers.
    [
      0.2,
      () => {
        const names = some(1 + Math.floor(random() * 4))
        const same = list(Math.max(1, Math.floor(rules / (names.length + 1))))
        return [...everyone, ...same, ...names.flatMap((name) => ['', `User-agent: ${name}`, ...same])]
      },
    ],
    // One group with many names.
    [0.15, () => [...everyone, ...list(rules - 1), '', ...named(some(30)), 'Disallow: /']],
    // Groups for some crawlers only.
    [0.1, () => [...named(some(2)), ...list(rules)]],
  )().concat(own, chance(random, 0.1) ? ['', `Host: ${origin}`] : [])
}

/** Inserts some blank lines and comments. */
function withBlankLines(random: Random, lines: string[]): string[] {
  if (chance(random, 0.7)) return lines
  return lines.flatMap((line) =>
    chance(random, 0.12) ? [pick(random, ['', '', `# ${phrase(random, 3, ' ')}`]), line] : [line],
  )
}

/** Adds mistakes to one file in twenty. */
function withMistakes(random: Random, lines: string[]): string[] {
  if (chance(random, 0.95)) return lines
  return lines.map((line) =>
    chance(random, 0.5)
      ? line
      : pick(random, [
          line.replace(':', ''),
          line.replace('Dis', 'Diss'),
          ` ${line} `,
          line.replace(': ', ':'),
          `${line}\x00`,
          line.replace('/', ''),
        ]),
  )
}

function ruleLine(random: Random, allowShare: number, path: string): string {
  const key = chance(random, allowShare) ? 'Allow' : weightedChoice(random, [0.97, 'Disallow'], [0.03, 'disallow'])
  return `${key}: ${path}${chance(random, 0.01) ? ` # ${pick(random, plainWords)}` : ''}`
}

/** Returns a generator of paths for one site: with or without wildcards, in ASCII or not. */
function pathMaker(random: Random, rules: number): () => string {
  const shape = weightedChoice(random, ...PATH_STYLES.map((one) => [one.share, one] as const))
  const isStarred = chance(random, rules < 4 ? 0.14 : rules < 12 ? 0.45 : 0.65)
  const isAnchored = isStarred && chance(random, 0.31)
  const starShare = isStarred ? 0.05 + 0.5 * random() ** 2 : 0
  const isForeign = chance(random, 0.03)
  const isEncoded = chance(random, 0.05)
  const made = new Set<string>()
  const next = () => {
    if (isAnchored && (made.size === 1 || chance(random, starShare / 3))) return anchoredPath(random, shape)
    if (isStarred && (made.size === 0 || chance(random, starShare))) return starredPath(random, shape)
    if (rules <= 2 && chance(random, 0.5)) return pick(random, ['', '/', '/', '/wp-admin/'])
    if (isForeign && chance(random, 0.3)) return `/${pick(random, foreignWords)}/`
    if (isEncoded && chance(random, 0.3)) return `/${pick(random, sections)}/${pick(random, encodedWords)}`
    return chance(random, rules > 60 ? 0.05 : 0.3) ? pick(random, shape.paths) : plainPath(random)
  }
  return () => {
    let path = next()
    // Few files repeat a path.
    while (made.has(path) && !chance(random, 0.02)) path = chance(random, 0.5) ? next() : plainPath(random)
    made.add(path)
    return path
  }
}

function starredPath(random: Random, shape: PathStyle): string {
  if (chance(random, 0.35)) return pick(random, shape.starred)
  return pick(random, [
    () => `/*?${pick(random, parameters)}=`,
    () => `/*?*${pick(random, parameters)}=`,
    () => `/*&${pick(random, parameters)}=`,
    () => `/${pick(random, sections)}/*`,
    () => `/${pick(random, sections)}/*/${pick(random, sections)}`,
    () => `/*/${pick(random, sections)}/`,
    () => `*/${pick(random, plainWords)}-${pick(random, sections)}`,
    () => `/*.${pick(random, extensions)}`,
    () => `/${pick(random, sections)}/*?${pick(random, parameters)}`,
  ])()
}

function anchoredPath(random: Random, shape: PathStyle): string {
  if (chance(random, 0.4)) return pick(random, shape.anchored)
  return pick(random, [
    () => `/*.${pick(random, extensions)}$`,
    () => `/${pick(random, sections)}/$`,
    () => `/*/${pick(random, sections)}$`,
    () => `/${pick(random, sections)}/*.${pick(random, extensions)}$`,
  ])()
}

function plainPath(random: Random): string {
  const steps = weightedChoice(random, [0.55, 1], [0.3, 2], [0.11, 3], [0.04, 6])
  const path = Array.from({ length: steps }, (_, i) =>
    i === 0 && chance(random, 0.7) ? pick(random, sections) : slug(random),
  ).join('/')
  const end = weightedChoice(
    random,
    [0.5, '/'],
    [0.24, ''],
    [0.16, `.${pick(random, extensions)}`],
    [0.1, `?${pick(random, parameters)}=`],
  )
  return `/${path}${end}`
}

function slug(random: Random): string {
  return weightedChoice(
    random,
    [0.4, pick(random, plainWords)],
    [0.3, phrase(random, 2, '-')],
    [0.1, phrase(random, 2, '_')],
    [0.12, phrase(random, 5, '-')],
    [0.08, `${pick(random, plainWords)}${Math.floor(random() * 10_000)}`],
  )
}

export function phrase(random: Random, words: number, between: string): string {
  return Array.from({ length: words }, () => pick(random, plainWords)).join(between)
}

export function chance(random: Random, share: number): boolean {
  return random() < share
}

/** Chooses one of several values by their shares. */
export function weightedChoice<T>(random: Random, ...choices: readonly (readonly [share: number, choice: T])[]): T {
  let remaining = random() * choices.reduce((sum, [share]) => sum + share, 0)
  for (const [share, choice] of choices) {
    remaining -= share
    if (remaining < 0) return choice
  }
  return (choices.at(-1) as readonly [number, T])[1]
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

function interpolate(share: number, quantiles: Quantiles): number {
  const above = quantiles.findIndex(([upTo]) => upTo >= share)
  const [toShare, to] = quantiles[Math.max(above, 1)] as readonly [number, number]
  const [fromShare, from] = quantiles[Math.max(above, 1) - 1] as readonly [number, number]
  return Math.round(from * (to / from) ** ((share - fromShare) / (toShare - fromShare)))
}
