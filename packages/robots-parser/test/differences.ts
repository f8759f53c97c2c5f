// Calls whose results differ between robots-parser 3.0.1 and our package, with both results and the
// reason. differences.test.ts checks them, and docs/robots-parser.md lists them.

export type Question =
  | {
      readonly method: 'isAllowed' | 'getMatchingLineNumber'
      readonly url: string
      readonly ua?: string
    }
  | { readonly method: 'getCrawlDelay'; readonly ua?: string }
  | { readonly method: 'getSitemaps' | 'getPreferredHost' }

export interface Difference {
  readonly reason: Reason
  /** Default `https://example.com/robots.txt`. */
  readonly robotsUrl?: string
  readonly robots: string
  readonly question: Question
  /** The result of robots-parser, or the error that it throws. */
  readonly theirs: unknown
  readonly ours: unknown
}

/**
 * Why our result differs. "Google" means google/robotstxt, whose tolerance of mistakes both
 * packages aim to match.
 */
export const reasons = {
  decoded: 'RFC 9309 §2.2.2: unreserved `%XX` is the character itself, in the rule and in the URL',
  special: 'RFC 9309 §2.2.3: `%2A` and `%24` name a literal `*` and `$`',
  query: 'ours: rules match the URL that a client sends, which includes the `?` of an empty query',
  apostrophe: "ours: `'` equals `%27`, because a client sends `%27` for it in a query",
  itself: 'RFC 9309 §2.2.2: `/robots.txt` is always allowed',
  last: 'RFC 9309 §2.2.1: a group may be empty; its crawler does not follow the group for `*`',
  list: 'RFC 9309 §2.2.4, Google: only rules end a list of user-agent lines; other records do not',
  token: 'RFC 9309 §2.2.1, Google: a name ends at the first character that a product token cannot contain',
  header: 'ours: the product token is taken from a whole User-Agent header',
  star: 'Google: `*` followed by a space names every crawler, whatever comes next; `*` followed by another character names none',
  colon: 'Google: the colon may be missing between two words',
  key: 'Google: a key matches by its prefix, and common misspellings match too',
  blank: 'RFC 9309 §2.2, Google: only ASCII whitespace is trimmed',
  bom: 'Google: one byte order mark at the start is removed, but not a second one',
  nul: 'Google: a NUL ends the line',
  index: 'Google: `Allow: /dir/index.html` also allows `/dir/`',
  long: 'Google: a line is cut after 16,663 bytes',
  surrogate: 'RFC 9309 §2.3: a file is UTF-8, which encodes a lone surrogate as U+FFFD, as in a URL',
  scheme: 'RFC 9309 §2.3: only http, https and ftp URLs have a robots.txt',
  neither: 'ours: returns undefined for an invalid URL instead of throwing',
  longest: 'ours: the longest of several delays obeys every line',
  delay: 'ours: a delay is a decimal number of seconds; other values are ignored',
  milliseconds: 'ours: delays are whole milliseconds',
} as const

export type Reason = keyof typeof reasons

type Expected = readonly [allowed: boolean, line: number]

/**
 * Makes a row about access and one about the deciding line: the wrong line may give the right
 * access.
 */
function access(
  reason: Reason,
  robots: string,
  path: string,
  ua: string,
  theirs: Expected,
  ours: Expected,
): Difference[] {
  const url = `https://example.com${path}`
  return (['isAllowed', 'getMatchingLineNumber'] as const).map((method, i) => ({
    reason,
    robots,
    question: { method, url, ua },
    theirs: theirs[i],
    ours: ours[i],
  }))
}

function fileUrl(path: string, theirs: boolean): Difference[] {
  const question = { method: 'isAllowed', url: `file://${path}` } as const
  const robots = 'User-agent: *\nDisallow: /page'
  return [{ reason: 'scheme', robotsUrl: 'file:///robots.txt', robots, question, theirs, ours: undefined }]
}

function delay(reason: Reason, values: readonly string[], theirs: number, ours: number | undefined): Difference[] {
  const robots = ['User-agent: *', ...values.map((value) => `Crawl-delay: ${value}`)].join('\n')
  return [{ reason, robots, question: { method: 'getCrawlDelay' }, theirs, ours }]
}

function record(
  reason: Reason,
  robots: string,
  method: 'getSitemaps' | 'getPreferredHost',
  theirs: unknown,
  ours: unknown,
): Difference[] {
  return [{ reason, robots, question: { method }, theirs, ours }]
}

const noRule = [true, -1] as const
const disallowedBy = (line: number) => [false, line] as const
const allowedBy = (line: number) => [true, line] as const

/** Rows with the same reason are next to each other. The documentation shows the first of each. */
export const differences: readonly Difference[] = [
  ...access('decoded', 'User-agent: *\nDisallow: /%7Ejoe', '/~joe', '*', noRule, disallowedBy(2)),
  ...access('decoded', 'User-agent: *\nDisallow: /~joe', '/%7Ejoe', '*', noRule, disallowedBy(2)),
  ...access('special', 'User-agent: *\nDisallow: /a%2Ab', '/a*b', '*', noRule, disallowedBy(2)),
  ...access('special', 'User-agent: *\nDisallow: /a%24', '/a$', '*', noRule, disallowedBy(2)),
  ...access('special', 'User-agent: *\nDisallow: /a$b', '/a%24b', '*', noRule, disallowedBy(2)),
  ...access('query', 'User-agent: *\nDisallow: /search?', '/search?', '*', noRule, disallowedBy(2)),
  ...access('apostrophe', "User-agent: *\nDisallow: /?q='", "/?q='", '*', noRule, disallowedBy(2)),
  ...access('itself', 'User-agent: *\nDisallow: /', '/robots.txt', '*', disallowedBy(2), noRule),
  ...access('list', 'User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /', '/', 'a', noRule, disallowedBy(4)),
  ...access(
    'list',
    'User-agent: a\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /',
    '/',
    'a',
    noRule,
    disallowedBy(4),
  ),
  ...access('list', 'User-agent: a\nUnknown: x\nUser-agent: b\nDisallow: /', '/', 'a', noRule, disallowedBy(4)),
  ...access('last', 'User-agent: *\nDisallow: /\nUser-agent: a', '/', 'a', disallowedBy(2), noRule),
  ...access('token', 'User-agent: Foo Bar\nDisallow: /', '/', 'Foo', noRule, disallowedBy(2)),
  ...access('token', 'User-agent: bot1\nDisallow: /', '/', 'bot', noRule, disallowedBy(2)),
  ...access('token', 'User-agent: a*\nDisallow: /', '/', 'a', noRule, disallowedBy(2)),
  ...access('token', 'User-agent: example.bot\nDisallow: /', '/', 'example.bot', disallowedBy(2), noRule),
  ...access('header', 'User-agent: a\nDisallow: /', '/', 'Mozilla/5.0 (compatible; a/1.0)', noRule, disallowedBy(2)),
  ...access('header', 'User-agent: Mozilla\nDisallow: /', '/', 'Mozilla/5.0 (X11)', disallowedBy(2), noRule),
  ...access('star', 'User-agent: * all\nDisallow: /', '/', 'a', noRule, disallowedBy(2)),
  ...access('star', 'User-agent: */\nDisallow: /', '/', 'a', disallowedBy(2), noRule),
  ...access('colon', 'User-agent *\nDisallow /', '/', 'a', noRule, disallowedBy(2)),
  ...access('colon', 'User-agent: *\nDisallow\t/', '/', 'a', noRule, disallowedBy(2)),
  ...access('key', 'useragent: *\nDissallow: /', '/', 'a', noRule, disallowedBy(2)),
  ...access('key', 'User-agents: *\nDisallowed: /', '/', 'a', noRule, disallowedBy(2)),
  ...access('key', 'User-agent: *\nDisallow: /\nAllowed: /a', '/a', 'a', disallowedBy(2), allowedBy(3)),
  ...access('blank', 'User-agent: *\nDisallow: /a\u00a0', '/a', 'a', disallowedBy(2), noRule),
  ...access('blank', 'User-agent: *\n\u00a0Disallow: /', '/', 'a', disallowedBy(2), noRule),
  ...access('bom', '\ufeff\ufeffUser-agent: *\nDisallow: /', '/', 'a', disallowedBy(2), noRule),
  ...access('nul', 'User-agent: *\nDisallow: /a\u0000b', '/a', 'a', noRule, disallowedBy(2)),
  ...access('index', 'User-agent: *\nDisallow: /\nAllow: /dir/index.html', '/dir/', 'a', disallowedBy(2), allowedBy(3)),
  ...access('long', `User-agent: *\nDisallow:${' '.repeat(16_652)}/ab`, '/a', 'a', noRule, disallowedBy(2)),
  ...access('surrogate', 'User-agent: *\nDisallow: /\ud800', '/\ud800', 'a', noRule, disallowedBy(2)),
  ...fileUrl('/page', false),
  ...fileUrl('/other', true),
  {
    reason: 'neither',
    robotsUrl: 'http://no host/robots.txt',
    robots: 'User-agent: *\nDisallow: /',
    question: { method: 'isAllowed', url: 'http://no host/' },
    theirs: new TypeError('path.replace is not a function'),
    ours: undefined,
  },
  ...delay('longest', ['10', '1'], 1, 10),
  ...delay('delay', [''], 0, undefined),
  ...delay('delay', ['-1'], -1, undefined),
  ...delay('delay', ['1e3'], 1000, undefined),
  ...delay('delay', ['Infinity'], Number.POSITIVE_INFINITY, undefined),
  ...delay('milliseconds', ['0.0125'], 0.0125, 0.013),
  ...record('key', 'Site-map: https://example.com/s', 'getSitemaps', [], ['https://example.com/s']),
  ...record('colon', 'Host example.com', 'getPreferredHost', null, 'example.com'),
]

/** The names of core's test cases on which the two packages differ, by reason. */
export const namesInCoreTables: Readonly<Partial<Record<Reason, readonly string[]>>> = {
  decoded: [
    'rule %62%61%7A vs URL baz',
    'rule baz vs URL %62%61%7A',
    'rule %7Ejoe vs URL ~joe',
    'rule ~joe vs URL %7Ejoe',
    '§2.2.2 unreserved %XX in a rule is decoded',
    '§2.2.2 unreserved %XX in a URL is decoded',
  ],
  special: [
    'rule %2A vs URL literal *',
    'rule %24 at the end vs URL literal $',
    '$ in the middle vs URL %24',
    '§2.2.3 %2A in a rule matches a literal *',
    '§2.2.3 %24 in a rule matches a literal $',
  ],
  list: [
    'a group with only a crawl-delay joins the next group',
    'crawl-delay between user-agent lines does not end the group',
    'sitemap between user-agent lines does not end the group',
    'unknown line (Noindex) between user-agent lines',
    'Google: a crawl-delay does not end a list of names',
    'Google: a sitemap does not end a list of names',
    'Google: an unknown field does not end a list of names',
  ],
  token: [
    "group 'Foo Bar', crawler Foo",
    "group 'bot1', crawler bot (digits end the token)",
    "group 'x*', crawler x",
    'Google: a star after the name is not part of it',
    'Google: a second word is not part of the name',
    'Google: a digit ends a name',
  ],
  star: [
    "group '* foo' is global",
    "group '*/' is not global",
    'Google: * before another word names every crawler',
    'Google: */ names no crawler',
  ],
  colon: ['missing colon', 'missing colon with tab', 'Google: the colon between two words may be missing'],
  key: [
    'typo Dissallow',
    'typo Disalow',
    "typo 'Disallows' (prefix match)",
    "'DisallowAITraining: /' (prefix match!)",
    "'Allowed: /' (prefix match)",
    "'user agent'",
    "'useragent'",
    "'User-agents' (prefix match)",
    'Google: frequent misspellings are known',
    'Google: a key is known by its prefix',
  ],
  bom: ['BOM twice', 'Google: a second byte order mark is not skipped'],
  blank: [
    'U+00A0 is not whitespace (leading)',
    'U+00A0 is not whitespace (rule value)',
    'U+00A0 after a rule stays',
    'Google: U+00A0 is not a blank',
  ],
  nul: ['NUL ends the line', 'Google: the rest of a line after a NUL is ignored'],
  index: [
    'Allow /dir/index.html also allows /dir/',
    'Allow /dir/index.htm also allows /dir/',
    'Google: an index page also allows its folder',
  ],
  long: ['line over 16,663 bytes is cut', 'Google: the rest of a long line is ignored'],
  itself: ['/robots.txt is never disallowed (RFC 2.2.2), Google: not special', '§2.2.2 /robots.txt is always allowed'],
  query: ['ours: the ? of an empty query is sent, and so matched'],
  apostrophe: ["ours: ' equals %27, which a client sends in a query"],
  last: ['§2.1 a last group without rules allows'],
}
