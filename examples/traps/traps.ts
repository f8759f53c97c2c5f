// The traps. Each is a site on its own port, so it has its own robots.txt. A row says what the site
// answers, and how its log shows that a crawler fell into the trap. The log is all that is known about
// the crawler. For example, the row `byte-order-mark` has a robots.txt that disallows /closed, and a
// first page that links to /open and /closed. A request for /closed means that the crawler fell into
// the trap. If it requested neither, it missed a page that it may fetch.

export interface Trap {
  readonly name: string
  /** What a crawler has to do here. */
  readonly asks: string
  /** Who says so. */
  readonly source: string
  /** The answer to a request for /robots.txt. */
  readonly robots: Answer | ((visit: Visit) => Answer)
  /** What the first page links to: robots.txt allows `open`, and disallows `closed`. */
  readonly open?: readonly string[]
  readonly closed?: readonly string[]
  /** The other answers. Undefined stands for a page without links. */
  readonly pages?: (visit: Visit) => Answer | undefined
  /** Whether the crawler came as far as the trap. Default: it requested something from this site. */
  readonly reached?: (log: readonly Request[]) => boolean
  /** Finds a mistake other than a request for a `closed` path. */
  readonly fell?: (log: readonly Request[], delayMs: number) => Mistake | undefined
}

/** A request, as the log has it. Times are in milliseconds since the start. */
export interface Request {
  readonly at: number
  readonly method: string
  readonly path: string
  readonly userAgent: string
  status: number
  /** When the response ended. Infinity until then. */
  end: number
  /** Whether the response broke off. */
  isCut?: boolean
  /** When the pause ends that the response asked for with Retry-After. */
  pausedUntil?: number
}

interface Mistake {
  readonly why: string
  readonly request: Request
}

/** A body of a page or robots.txt with status 200, or a whole response. */
export type Answer =
  | string
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Buffer
      readonly afterMs?: number
      /** Ends the connection in the middle of the body. */
      readonly isCut?: boolean
    }

/** What an answer may depend on. */
interface Visit {
  readonly path: string
  /** The requests to this site before this one. */
  readonly log: readonly Request[]
  /** The crawler's product tokens, from the User-Agent headers so far. Without such a header, `*`. */
  readonly tokens: readonly string[]
  /** The delay that the site asks for. */
  readonly delayMs: number
  readonly origin: string
  /** Another site, whose robots.txt disallows /redirect-elsewhere/. */
  readonly elsewhere: string
}

const CLOSED = 'User-agent: *\nDisallow: /closed\n'
const RFC = 'RFC 9309'
const ROBOTS_LIMIT_BYTES = 500 * 1024
/** A request this soon after a response may have been sent before it, on a busy machine. */
const UNDER_WAY_MS = 500
/** The part of a delay that may be missing: on a busy machine, the log may have one request late. */
const TOLERANCE = 0.2
/** How many requests to an endless site are too many. */
const ENDLESS = { calendar: 100, login: 20, sitemap: 20 }

export const traps: readonly Trap[] = [
  {
    name: 'ask-first',
    asks: 'Request robots.txt before the first page, and keep it.',
    source: `${RFC} §2.3, §2.4; three requests for it are allowed here`,
    robots: CLOSED,
    open: numbered(1, 6),
    closed: ['/closed'],
    fell: (log) => {
      const [first] = log
      if (first && isPage(first)) return { why: 'requested a page before robots.txt', request: first }
      const [, , , fourth] = log.filter(isRobots)
      return fourth && { why: 'requested robots.txt four times in a run', request: fourth }
    },
  },
  {
    name: 'robots-404',
    asks: 'Without a robots.txt all pages are allowed. The text of the error page holds no rules.',
    source: `${RFC} §2.3.1.3`,
    robots: { status: 404, body: 'User-agent: *\nDisallow: /\n' },
    open: ['/open'],
  },
  {
    name: 'robots-503',
    asks: 'While robots.txt answers 503, request no page.',
    source: `${RFC} §2.3.1.4`,
    robots: ({ log }) => (log.filter(isRobots).length < 2 ? { status: 503 } : CLOSED),
    closed: ['/closed'],
    fell: pageBeforeRobots,
  },
  {
    name: 'robots-429',
    asks: 'A 429 for robots.txt is a pause, and no permission.',
    source: 'RFC 6585 §4, Google; by the letter of RFC 9309 it is a 4xx',
    robots: ({ log, delayMs }) => (log.some(({ pausedUntil = 0 }) => pausedUntil) ? CLOSED : tooMany(delayMs)),
    closed: ['/closed'],
    fell: pageBeforeRobots,
  },
  {
    name: 'robots-cut',
    asks: 'If the connection breaks before the end of robots.txt, request no page.',
    source: `${RFC} §2.3.1.4`,
    robots: { body: '# A long file\nUser-agent: *\n', isCut: true },
    closed: ['/closed'],
    fell: pageBeforeRobots,
  },
  {
    name: 'robots-redirects',
    asks: 'Follow five redirects from robots.txt.',
    source: `${RFC} §2.3.1.2`,
    robots: moved('/robots-1'),
    open: ['/open'],
    closed: ['/closed'],
    pages: ({ path }) => {
      const hop = /^\/robots-(\d)$/.exec(path)
      return hop ? (hop[1] === '5' ? CLOSED : moved(`/robots-${Number(hop[1]) + 1}`)) : undefined
    },
  },
  {
    name: 'robots-600k',
    asks: 'Read at least the first 500 KiB of robots.txt.',
    source: `${RFC} §2.5`,
    robots: () => {
      const filler = (bytes: number) => `${'#'.repeat(79)}\n`.repeat(bytes / 80)
      const last = 'Disallow: /closed\n'
      return `User-agent: *\n${filler(ROBOTS_LIMIT_BYTES - 200)}${last}${filler(100_000)}`
    },
    open: ['/open'],
    closed: ['/closed'],
  },
  {
    name: 'byte-order-mark',
    asks: 'A byte order mark is not part of the first line.',
    source: 'Google; RFC 9309 §2.3 says UTF-8',
    robots: `\uFEFF${CLOSED}`,
    open: ['/open'],
    closed: ['/closed'],
  },
  {
    name: 'line-ends',
    asks: 'A line may end with CR alone.',
    source: `${RFC} §2.2, EOL`,
    robots: CLOSED.replaceAll('\n', '\r'),
    open: ['/open'],
    closed: ['/closed'],
  },
  {
    name: 'spelling',
    asks: 'Names in any case, space around the colon, and comments are allowed.',
    source: `${RFC} §2.2`,
    robots: 'user-agent : * # all\n  DISALLOW:/closed# not for crawlers\n',
    open: ['/open'],
    closed: ['/closed'],
  },
  {
    name: 'blank-lines',
    asks: 'A blank line or an unknown record ends no group.',
    source: `${RFC} §2.2, §2.2.4`,
    robots: 'User-agent: *\n\nUnknown: 1\n\nDisallow: /closed\n',
    open: ['/open'],
    closed: ['/closed'],
  },
  {
    name: 'own-group',
    asks: 'Obey the group with your name, in any case, and not the group for *.',
    source: `${RFC} §2.2.1`,
    robots: ({ tokens }) => `User-agent: *\nDisallow: /open\n\n${group(tokens.map(otherCase))}Disallow: /closed\n`,
    open: ['/open'],
    closed: ['/closed'],
    reached: (log) => log.some(({ userAgent }) => userAgent),
  },
  {
    name: 'merged-groups',
    asks: 'Obey the rules of all groups with your name.',
    source: `${RFC} §2.2.1`,
    robots: ({ tokens }) =>
      `${group(tokens)}Disallow: /closed\n\nUser-agent: other\nDisallow: /\n\n${group(tokens)}Disallow: /shut\n`,
    open: ['/open'],
    closed: ['/closed', '/shut'],
  },
  {
    name: 'longest-match',
    asks: 'The longest matching rule decides, in any order.',
    source: `${RFC} §2.2.2`,
    robots: 'User-agent: *\nAllow: /shop/\nDisallow: /shop/cart\nDisallow: /press/\nAllow: /press/open\n',
    open: ['/shop/open', '/press/open'],
    closed: ['/shop/cart', '/press/closed'],
  },
  {
    name: 'wildcards',
    asks: '* matches any characters, and $ the end of the URL.',
    source: `${RFC} §2.2.3`,
    robots: 'User-agent: *\nDisallow: /*?sort=\nDisallow: /*.pdf$\n',
    open: ['/list', '/report.pdf.html'],
    closed: ['/list?sort=price', '/report.pdf'],
  },
  {
    name: 'percent-encoding',
    asks: '%7E is ~, é is %C3%A9, but %2F is not a slash.',
    source: `${RFC} §2.2.2`,
    robots: 'User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /caf\u00e9\nDisallow: /b%2Fc\n',
    open: ['/b/c'],
    closed: ['/~joe/notes', '/caf\u00e9'],
  },
  {
    name: 'redirect-closed',
    asks: 'Check the target of a redirect before you request it.',
    source: `${RFC} §2.2.2`,
    robots: CLOSED,
    closed: ['/closed'],
    pages: ({ path }) => (path === '/' ? links(['/moved']) : path === '/moved' ? moved('/closed') : undefined),
    reached: (log) => log.some(({ path }) => path === '/moved'),
  },
  {
    name: 'redirect-elsewhere',
    asks: 'A redirect to another origin needs the robots.txt of that origin.',
    source: `${RFC} §2.3`,
    robots: 'User-agent: *\nDisallow:\n',
    closed: ['/redirect-elsewhere/closed'],
    pages: ({ path, elsewhere }) =>
      path === '/'
        ? links(['/moved'])
        : path === '/moved'
          ? moved(`${elsewhere}/redirect-elsewhere/closed`)
          : undefined,
    reached: (log) => log.some(({ path }) => path === '/moved'),
  },
  {
    name: 'crawl-delay',
    asks: 'Leave as many seconds between two requests as Crawl-delay says.',
    source: 'not in a standard, but in many robots.txt files',
    robots: ({ delayMs }) => `User-agent: *\nCrawl-delay: ${delayMs / 1000}\n`,
    open: numbered(1, 3),
    fell: (log, delayMs) => {
      const pages = log.filter(isPage)
      const i = pages.findIndex(({ at }, i) => at - (pages[i - 1]?.at ?? -Infinity) < delayMs * (1 - TOLERANCE))
      const [before, request] = [pages[i - 1], pages[i]]
      return before && request && { why: `came ${Math.round(request.at - before.at)} ms after the last page`, request }
    },
  },
  {
    name: 'retry-after',
    asks: 'After a 429 request nothing for the seconds of Retry-After.',
    source: 'RFC 6585 §4, RFC 9110 §10.2.3',
    robots: 'User-agent: *\nDisallow:\n',
    pages: (visit) => threeGenerations(visit, tooMany(visit.delayMs)),
    reached: (log) => log.some(({ status }) => status === 429),
    fell: pageInPause,
  },
  {
    name: 'retry-after-date',
    asks: 'After a 503 request nothing until the date of Retry-After.',
    source: 'RFC 9110 §10.2.3',
    robots: 'User-agent: *\nDisallow:\n',
    pages: (visit) => {
      const until = new Date(Date.now() + visit.delayMs + 999).toUTCString()
      return threeGenerations(visit, { status: 503, headers: { 'retry-after': until } })
    },
    reached: (log) => log.some(({ status }) => status === 503),
    fell: pageInPause,
  },
  {
    name: 'at-once',
    asks: 'Have at most six requests to a site under way.',
    source: 'not in a standard; browsers have six connections to a host',
    robots: 'User-agent: *\nDisallow:\n',
    open: numbered(1, 12),
    pages: ({ path }) => (path === '/' ? undefined : { body: links([]), afterMs: 600 }),
    fell: (log) => {
      const request = log.find(({ at }, i) => log.slice(0, i).filter(({ end }) => end > at).length >= 6)
      return request && { why: 'was the seventh request under way', request }
    },
  },
  {
    name: 'endless-calendar',
    asks: `Stop at some page. This calendar has a next month on every one; ${ENDLESS.calendar} are too many.`,
    source: 'a choice of the crawler: a limit of pages or of depth',
    robots: 'User-agent: *\nDisallow:\n',
    pages: ({ path, log }) => {
      const month = Number(/^\/calendar\/(\d+)/.exec(path)?.[1] ?? 0) + 1
      return log.length > ENDLESS.calendar + 10 ? undefined : links([`/calendar/${month}`])
    },
    fell: (log) => tooMuch(log.filter(isPage), ENDLESS.calendar),
  },
  {
    name: 'endless-login',
    asks: `Stop at a login form with status 200 that links to itself; ${ENDLESS.login} of it are too many.`,
    source: 'a choice of the crawler',
    robots: 'User-agent: *\nDisallow:\n',
    pages: ({ path, log }) =>
      log.length > ENDLESS.login + 10
        ? undefined
        : `<form method="post" action="/session">Name <input name="name"> Password <input type="password"></form>
           ${links([`/login?next=${encodeURIComponent(path)}`])}`,
    fell: (log) => tooMuch(log.filter(isPage), ENDLESS.login),
  },
  {
    name: 'endless-sitemap',
    asks: `Stop at some sitemap index. Each names another; ${ENDLESS.sitemap} are too many.`,
    source: 'sitemaps.org: an index lists sitemaps, and no indexes',
    robots: ({ origin }) => `Sitemap: ${origin}/sitemap.xml\n`,
    pages: ({ path, origin, log }) => {
      if (path === '/') return links(['/sitemap.xml'])
      const n = Number(/^\/sitemap-?(\d*)\.xml/.exec(path)?.[1] ?? 0) + 1
      if (log.length > ENDLESS.sitemap + 10) return xml('<urlset xmlns="NAMESPACE"></urlset>')
      return xml(
        `<sitemapindex xmlns="NAMESPACE"><sitemap><loc>${origin}/sitemap-${n}.xml</loc></sitemap></sitemapindex>`,
      )
    },
    reached: (log) => log.filter(isSitemap).length > 1,
    fell: (log) => tooMuch(log.filter(isSitemap), ENDLESS.sitemap),
  },
  {
    name: 'sitemap-elsewhere',
    asks: "Don't take URLs of another site from a sitemap.",
    source: 'sitemaps.org: all URLs are on the host of the sitemap',
    robots: ({ origin }) => `Sitemap: ${origin}/sitemap.xml\n`,
    closed: ['/sitemap-elsewhere/closed'],
    pages: ({ path, origin, elsewhere }) => {
      if (path === '/') return links(['/sitemap.xml'])
      const urls = [`${elsewhere}/sitemap-elsewhere/closed`, `${origin}/in-sitemap`]
      return xml(`<urlset xmlns="NAMESPACE">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`)
    },
    reached: (log) => log.some(({ path }) => path === '/in-sitemap' || path.startsWith('/sitemap-elsewhere/')),
  },
]

export interface Judgement {
  /** `missed`: it requested nothing wrong, but not all pages that it may fetch. */
  readonly result: 'passed' | 'fell' | 'missed' | 'not reached'
  readonly why?: string
  readonly request?: Request
}

/** Judges a crawler by the requests to the site of a trap. */
export function judge(trap: Trap, log: readonly Request[], delayMs: number): Judgement {
  const { open = [], closed = [], reached = (log) => log.length > 0 } = trap
  if (!reached(log)) return { result: 'not reached' }
  const isOneOf = (paths: readonly string[], path: string) => paths.includes(decoded(path))
  const request = log.find(({ path }) => isOneOf(closed, path))
  const mistake = trap.fell?.(log, delayMs) ?? (request && { why: 'requested a disallowed page', request })
  if (mistake) return { result: 'fell', ...mistake }
  const lost = open.filter((path) => !log.some((request) => isOneOf([path], request.path)))
  return lost.length > 0 ? { result: 'missed', why: `never requested ${lost.join(' ')}` } : { result: 'passed' }
}

/** A page with links. */
export function links(hrefs: readonly string[]): string {
  return hrefs.map((href) => `<p><a href="${href}">${href}</a></p>`).join('\n')
}

function numbered(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => `/page-${first + i}`)
}

function moved(location: string): Answer {
  return { status: 302, headers: { location } }
}

function tooMany(delayMs: number): Answer {
  return { status: 429, headers: { 'retry-after': String(Math.ceil(delayMs / 1000)) } }
}

function xml(body: string): Answer {
  const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'
  return { headers: { 'content-type': 'application/xml' }, body: body.replace('NAMESPACE', namespace) }
}

function group(tokens: readonly string[]): string {
  return tokens.map((token) => `User-agent: ${token}\n`).join('')
}

function otherCase(token: string): string {
  return token === token.toUpperCase() ? token.toLowerCase() : token.toUpperCase()
}

/**
 * Five pages, which lead to five more, and these to the last five. The second one that is requested
 * answers `refusal` at once, and the others take a moment. So a crawler that doesn't pause still
 * requests some when it has seen the refusal, whether it requests one at a time or all at once.
 */
function threeGenerations({ path, log }: Visit, refusal: Answer): Answer {
  if (path === '/') return links(numbered(1, 5))
  if (log.filter(isPage).length === 2) return refusal
  const n = Number(path.slice(6))
  return { body: links(n <= 10 ? [`/page-${n + 5}`] : []), afterMs: 400 }
}

function pageInPause(log: readonly Request[], delayMs: number): Mistake | undefined {
  for (const { end, pausedUntil } of log) {
    if (pausedUntil === undefined) continue
    const early = ({ at }: Request) => at > end + UNDER_WAY_MS && at < pausedUntil - delayMs * TOLERANCE
    const request = log.filter(isPage).find(early)
    if (request) return { why: `came ${Math.round(pausedUntil - request.at)} ms before the end of the pause`, request }
  }
  return undefined
}

function pageBeforeRobots(log: readonly Request[]): Mistake | undefined {
  const [request] = log.filter((request, i) => isPage(request) && !log.slice(0, i).some(isAnsweredRobots))
  return request && { why: 'requested a page, and had no robots.txt yet', request }
}

function tooMuch(requests: readonly Request[], limit: number): Mistake | undefined {
  const request = requests[limit]
  return request && { why: `requested more than ${limit}`, request }
}

function isRobots({ path }: Request): boolean {
  return /^\/robots[-.]/.test(path)
}

function isAnsweredRobots(request: Request): boolean {
  return isRobots(request) && request.status === 200 && !request.isCut
}

/** Files under /.well-known/, such as tdmrep.json, are about the whole site, as robots.txt is. */
function isPage(request: Request): boolean {
  return !isRobots(request) && !request.path.startsWith('/.well-known/')
}

function isSitemap({ path }: Request): boolean {
  return path.startsWith('/sitemap') && path.endsWith('.xml')
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
