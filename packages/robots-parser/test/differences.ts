// Where robots-parser 3.0.1 and ours answer differently, as rows: what is asked, both answers, and why ours is another.
// docs/robots-parser.md shows them; the test asks both packages.

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
  /** What it answers, or the error that it throws. */
  readonly theirs: unknown
  readonly ours: unknown
}

/** Why ours is another answer. Google is google/robotstxt, whose leniency both packages set out to have. */
export const reasons = {
  decoded: 'RFC 9309 §2.2.2: unreserved `%XX` is the character itself, in the rule and in the URL',
  special: 'RFC 9309 §2.2.3: `%2A` and `%24` name a literal `*` and `$`',
  query: 'ours: what is matched is what a client sends, and it sends the `?` of an empty query',
  apostrophe: "ours: `'` equals `%27`, which a client sends for it in a query",
  itself: 'RFC 9309 §2.2.2: `/robots.txt` is always allowed',
  last: 'RFC 9309 §2.2.1: a group may be empty, and whoever has one does not follow `*`',
  list: 'RFC 9309 §2.2.4, Google: only rules end a list of user-agent lines, no other record does',
  token: 'RFC 9309 §2.2.1, Google: a name ends at the first character that no product token has',
  header: 'ours: the product token is taken from a whole User-Agent header',
  star: 'Google: `*` and a blank is everyone whatever follows, `*` and anything else is nobody',
  colon: 'Google: the colon may be missing between two words',
  key: 'Google: a key is known by how it begins, and by its frequent misspellings',
  blank: 'RFC 9309 §2.2, Google: blanks are those of ASCII',
  bom: 'Google: one byte order mark at the beginning is dropped, a second one is not',
  nul: 'Google: the rest of a line after a NUL is ignored',
  index: 'Google: `Allow: /dir/index.html` also allows `/dir/`',
  long: 'Google: a line counts up to 16,663 bytes',
  surrogate: 'RFC 9309 §2.3: a file is UTF-8, in which half a surrogate pair is U+FFFD, as it is in a URL',
  scheme: 'RFC 9309 §2.3: http, https and ftp have a robots.txt',
  neither: 'ours: undefined where nothing can be said, not an error',
  longest: 'ours: who keeps the longest of several delays obeys every line',
  delay: 'ours: a delay is a decimal number of seconds; a line that says none is passed over',
  milliseconds: 'ours: delays are whole milliseconds',
} as const

export type Reason = keyof typeof reasons

type Answers = readonly [allowed: boolean, line: number]

/** A row about access, and one about the line that decides: a right answer may come from a wrong one. */
function access(
  reason: Reason,
  robots: string,
  path: string,
  ua: string,
  theirs: Answers,
  ours: Answers,
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

function scheme(path: string, theirs: boolean): Difference[] {
  const question = { method: 'isAllowed', url: `file://${path}` } as const
  const robots = 'User-agent: *\nDisallow: /page'
  return [{ reason: 'scheme', robotsUrl: 'file:///robots.txt', robots, question, theirs, ours: undefined }]
}

function delay(reason: Reason, values: readonly string[], theirs: number, ours: number | undefined): Difference[] {
  const robots = ['User-agent: *', ...values.map((value) => `Crawl-delay: ${value}`)].join('\n')
  return [{ reason, robots, question: { method: 'getCrawlDelay' }, theirs, ours }]
}

function beside(
  reason: Reason,
  robots: string,
  method: 'getSitemaps' | 'getPreferredHost',
  theirs: unknown,
  ours: unknown,
): Difference[] {
  return [{ reason, robots, question: { method }, theirs, ours }]
}

const none = [true, -1] as const
const forbids = (line: number) => [false, line] as const
const allows = (line: number) => [true, line] as const

/** The rows of one reason stand together; the documentation shows the first of them. */
export const differences: readonly Difference[] = [
  ...access('decoded', 'User-agent: *\nDisallow: /%7Ejoe', '/~joe', '*', none, forbids(2)),
  ...access('decoded', 'User-agent: *\nDisallow: /~joe', '/%7Ejoe', '*', none, forbids(2)),
  ...access('special', 'User-agent: *\nDisallow: /a%2Ab', '/a*b', '*', none, forbids(2)),
  ...access('special', 'User-agent: *\nDisallow: /a%24', '/a$', '*', none, forbids(2)),
  ...access('special', 'User-agent: *\nDisallow: /a$b', '/a%24b', '*', none, forbids(2)),
  ...access('query', 'User-agent: *\nDisallow: /search?', '/search?', '*', none, forbids(2)),
  ...access('apostrophe', "User-agent: *\nDisallow: /?q='", "/?q='", '*', none, forbids(2)),
  ...access('itself', 'User-agent: *\nDisallow: /', '/robots.txt', '*', forbids(2), none),
  ...access('list', 'User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /', '/', 'a', none, forbids(4)),
  ...access(
    'list',
    'User-agent: a\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /',
    '/',
    'a',
    none,
    forbids(4),
  ),
  ...access('list', 'User-agent: a\nUnknown: x\nUser-agent: b\nDisallow: /', '/', 'a', none, forbids(4)),
  ...access('last', 'User-agent: *\nDisallow: /\nUser-agent: a', '/', 'a', forbids(2), none),
  ...access('token', 'User-agent: Foo Bar\nDisallow: /', '/', 'Foo', none, forbids(2)),
  ...access('token', 'User-agent: bot1\nDisallow: /', '/', 'bot', none, forbids(2)),
  ...access('token', 'User-agent: a*\nDisallow: /', '/', 'a', none, forbids(2)),
  ...access('token', 'User-agent: example.bot\nDisallow: /', '/', 'example.bot', forbids(2), none),
  ...access('header', 'User-agent: a\nDisallow: /', '/', 'Mozilla/5.0 (compatible; a/1.0)', none, forbids(2)),
  ...access('header', 'User-agent: Mozilla\nDisallow: /', '/', 'Mozilla/5.0 (X11)', forbids(2), none),
  ...access('header', 'User-agent: Foo\nDisallow: /', '/', 'Foo Bar/1.0', none, forbids(2)),
  ...access('star', 'User-agent: * all\nDisallow: /', '/', 'a', none, forbids(2)),
  ...access('star', 'User-agent: */\nDisallow: /', '/', 'a', forbids(2), none),
  ...access('colon', 'User-agent *\nDisallow /', '/', 'a', none, forbids(2)),
  ...access('colon', 'User-agent: *\nDisallow\t/', '/', 'a', none, forbids(2)),
  ...access('key', 'useragent: *\nDissallow: /', '/', 'a', none, forbids(2)),
  ...access('key', 'User-agents: *\nDisallowed: /', '/', 'a', none, forbids(2)),
  ...access('key', 'User-agent: *\nDisallow: /\nAllowed: /a', '/a', 'a', forbids(2), allows(3)),
  ...access('blank', 'User-agent: *\nDisallow: /a\u00a0', '/a', 'a', forbids(2), none),
  ...access('blank', 'User-agent: *\n\u00a0Disallow: /', '/', 'a', forbids(2), none),
  ...access('bom', '\ufeff\ufeffUser-agent: *\nDisallow: /', '/', 'a', forbids(2), none),
  ...access('nul', 'User-agent: *\nDisallow: /a\u0000b', '/a', 'a', none, forbids(2)),
  ...access('index', 'User-agent: *\nDisallow: /\nAllow: /dir/index.html', '/dir/', 'a', forbids(2), allows(3)),
  ...access('long', `User-agent: *\nDisallow:${' '.repeat(16_652)}/ab`, '/a', 'a', none, forbids(2)),
  ...access('surrogate', 'User-agent: *\nDisallow: /\ud800', '/\ud800', 'a', none, forbids(2)),
  ...scheme('/page', false),
  ...scheme('/other', true),
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
  ...beside('key', 'Site-map: https://example.com/s', 'getSitemaps', [], ['https://example.com/s']),
  ...beside('colon', 'Host example.com', 'getPreferredHost', null, 'example.com'),
]

/** The rows of the tables that core's tests share where the two packages part, by their names there. */
export const alsoIn: Readonly<Partial<Record<Reason, readonly string[]>>> = {
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
