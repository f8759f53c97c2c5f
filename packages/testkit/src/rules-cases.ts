// What robots.txt means, as rows: a file, a crawler, a URL, and the answer. Written from the standards; each row says where
// from. Run by core, and by whatever wraps it.
//
// An answer is `allowed by line 3`, `disallowed by line 2`, or a verdict without a rule: `allowed: no-group`.

/** A verdict as far as the tables speak of it. */
interface AnyVerdict {
  readonly allowed: boolean
  readonly because: string
  readonly rule?: { readonly line: number }
}

/** A verdict as the tables write it. */
export function answerOf({ allowed, because, rule }: AnyVerdict): string {
  const word = allowed ? 'allowed' : 'disallowed'
  return rule === undefined ? `${word}: ${because}` : `${word} by line ${rule.line}`
}

export interface RulesCase {
  /** The rule, and its source: a section of RFC 9309, `Google` for its reading, `ours` for a choice of our own. */
  readonly name: string
  /** One character for each byte. */
  readonly robots: string
  readonly agent: string | readonly string[]
  readonly url: string
  /** The answer of the default dialect. */
  readonly rfc9309: string
  /** The answer of dialect `google`, where it differs. */
  readonly google?: string
}

const star = (...rules: string[]) => ['User-agent: *', ...rules, ''].join('\n')

/** A row about which rule matches: a `*` group with these rules. */
function rule(
  name: string,
  rules: string | readonly string[],
  url: string,
  rfc9309: string,
  google?: string,
): RulesCase {
  const robots = star(...(typeof rules === 'string' ? [rules] : rules))
  return { name, robots, agent: 'ExampleBot', url, rfc9309, ...(google !== undefined && { google }) }
}

/** A row about the file around the rules. */
function file(
  name: string,
  robots: string,
  agent: string | readonly string[],
  rfc9309: string,
  google?: string,
): RulesCase {
  return { name, robots, agent, url: '/a', rfc9309, ...(google !== undefined && { google }) }
}

const NONE = 'allowed: no-rule-matched'

const whichRule: readonly RulesCase[] = [
  rule('§2.2.2 a path matches from its start', 'Disallow: /fish', '/fish/salmon.html', 'disallowed by line 2'),
  rule('§2.2.2 a path does not match further in', 'Disallow: /fish', '/catfish', NONE),
  rule('§2.2.2 paths are case-sensitive', 'Disallow: /fish', '/Fish', NONE),
  rule('§2.2.2 most octets win, whatever the order', ['Disallow: /a', 'Allow: /a/b'], '/a/b/c', 'allowed by line 3'),
  rule('§2.2.2 most octets win also for disallow', ['Allow: /a', 'Disallow: /a/b'], '/a/b/c', 'disallowed by line 3'),
  rule('§2.2.2 allow wins a tie', ['Disallow: /a', 'Allow: /a'], '/a', 'allowed by line 3'),
  rule(
    'Google: of equal rules the first line is reported',
    ['Disallow: /a', 'Disallow: /a'],
    '/a',
    'disallowed by line 2',
  ),
  rule('Google: wildcards count as bytes', ['Allow: /page', 'Disallow: /*.htm'], '/page.htm', 'disallowed by line 3'),
  rule('Google: also repeated ones', ['Allow: /a/b', 'Disallow: /a****'], '/a/b', 'disallowed by line 3'),
  rule(
    '§2.2.2 bytes are counted after encoding',
    ['Disallow: /%C3**', 'Allow: /\xc3\xa9'],
    '/%C3%A9',
    'allowed by line 3',
  ),
  rule('§2.2.2 no match allows', 'Disallow: /a', '/b', NONE),
  rule('§2.2.2 an empty disallow forbids nothing', 'Disallow:', '/a', NONE, 'allowed by line 2'),
  rule('§2.2.2 an empty allow decides nothing', ['Allow:', 'Disallow: /a'], '/a', 'disallowed by line 3'),
  rule('§2.2.2 the query is part of what is matched', 'Disallow: /*?id=', '/page?id=1', 'disallowed by line 2'),
  rule(
    'ours: the ? of an empty query is sent, and so matched',
    'Disallow: /search?',
    '/search?',
    'disallowed by line 2',
  ),
  rule('Google: a rule without a leading slash matches nothing', 'Disallow: a', '/a', NONE),
  rule('Google: a rule may begin with *', 'Disallow: *a', '/b/a', 'disallowed by line 2'),
  rule('Google: a rule that is a whole URL matches nothing', 'Disallow: https://example.com/a', '/a', NONE),
  rule(
    'Google: an index page also allows its folder',
    ['Disallow: /', 'Allow: /dir/index.html'],
    '/dir/',
    'allowed by line 3',
  ),
  rule('Google: and nothing else in it', ['Disallow: /', 'Allow: /dir/index.htm'], '/dir/x', 'disallowed by line 2'),
  rule('Google: a disallowed index page leaves its folder alone', 'Disallow: /dir/index.html', '/dir/', NONE),

  rule('§2.2.3 * is any run of bytes', 'Disallow: /a*z', '/a/b/c/z', 'disallowed by line 2'),
  rule('§2.2.3 * is also no byte at all', 'Disallow: /a*z', '/az', 'disallowed by line 2'),
  rule('§2.2.3 pieces stand in their order', 'Disallow: /*b*a', '/a/b', NONE),
  rule('§2.2.3 pieces do not share bytes', 'Disallow: /*aba*aba', '/ababa', NONE),
  rule('§2.2.3 $ is the end', 'Disallow: /*.php$', '/x.php', 'disallowed by line 2'),
  rule('§2.2.3 what goes on after $ does not match', 'Disallow: /*.php$', '/x.php5', NONE),
  rule('§2.2.3 a query goes on after $', 'Disallow: /a$', '/a?b', NONE),
  rule('§2.2.3 the last piece before $ may stand twice', 'Disallow: /*a$', '/a/ba', 'disallowed by line 2'),
  rule('Google: a $ inside is itself', 'Disallow: /a$b', '/a$b', 'disallowed by line 2'),
  rule('Google: of $$ the first is itself', 'Disallow: /a$$', '/a$', 'disallowed by line 2'),
  rule('Google: $* is no end', 'Disallow: /a$*', '/a', NONE),
  rule('§2.2.3 a literal * is named %2A', 'Disallow: /a%2Ab', '/a*b', 'disallowed by line 2', NONE),
  rule('§2.2.3 and %2A names nothing else', 'Disallow: /a%2Ab', '/a/b', NONE),
  rule('§2.2.3 a literal $ is named %24', 'Disallow: /a%24', '/a$', 'disallowed by line 2', NONE),
  rule('§2.2.3 a final $ is not a literal one', 'Disallow: /a$', '/a$', NONE),
  rule('§2.2.3 * covers %2A', 'Disallow: /a*b', '/a%2Ab', 'disallowed by line 2'),

  rule('§2.2.2 unreserved %XX in a rule is decoded', 'Disallow: /%62%61%7A', '/baz', 'disallowed by line 2', NONE),
  rule('§2.2.2 unreserved %XX in a URL is decoded', 'Disallow: /~joe', '/%7Ejoe', 'disallowed by line 2', NONE),
  rule('§2.2.2 reserved %2F is not a slash', 'Disallow: /a/b', '/a%2Fb', NONE),
  rule('§2.2.2 nor the other way round', 'Disallow: /a%2Fb', '/a/b', NONE),
  rule('§2.2.2 hex is compared without case', 'Disallow: /a%2fb', '/a%2Fb', 'disallowed by line 2'),
  rule('§2.2.2 also that of the URL', 'Disallow: /a%2Fb', '/a%2fb', 'disallowed by line 2', NONE),
  rule('§2.2.2 UTF-8 in a rule equals its %XX', 'Disallow: /\xe3\x83\x84', '/%E3%83%84', 'disallowed by line 2'),
  rule('§2.2.2 UTF-8 in a URL equals its %XX', 'Disallow: /%E3%83%84', '/\u30c4', 'disallowed by line 2', NONE),
  rule('Google: bytes that are no UTF-8 are kept', 'Disallow: /caf\xe9', '/caf%E9', 'disallowed by line 2'),
  rule('ours: a space equals %20, as a client sends it', 'Disallow: /a b', '/a%20b', 'disallowed by line 2', NONE),
  rule('ours: so do the others that no URI holds raw', 'Disallow: /%7Ba%7D', '/{a}', 'disallowed by line 2', NONE),
  rule("ours: ' equals %27, which a client sends in a query", "Disallow: /?q='", "/?q='a", 'disallowed by line 2'),
  rule('Google: a malformed % stays', 'Disallow: /100%', '/100%25', 'disallowed by line 2'),
  rule('Google: %zz stays', 'Disallow: /%zz', '/%zz', 'disallowed by line 2'),

  rule(
    '§2.2.2 /robots.txt is always allowed',
    'Disallow: /',
    '/robots.txt',
    'allowed: robots-txt-itself',
    'disallowed by line 2',
  ),
  rule('§2.2.2 what only begins like it is not', 'Disallow: /', '/robots.txt.bak', 'disallowed by line 2'),
  rule('ours: the fragment is not sent', 'Disallow: /a$', '/a#b', 'disallowed by line 2'),
  rule('ours: dot segments are resolved, as a client does', 'Disallow: /b', '/a/../b', 'disallowed by line 2', NONE),
  rule(
    'ours: a backslash is a slash, as for a client',
    'Disallow: /a/b',
    'https://example.com/a\\b',
    'disallowed by line 2',
    NONE,
  ),
  rule('ours: tabs and line ends go, as for a client', 'Disallow: /ab', '/a\n\tb', 'disallowed by line 2', NONE),
  rule(
    '§2.3 host and port are not the rules’ concern',
    'Disallow: /a',
    'https://other.example:8443/a',
    'disallowed by line 2',
  ),
  rule('Google: a URL without a path is /', 'Disallow: /$', 'https://example.com', 'disallowed by line 2'),
  rule('Google: a query right after the host', 'Disallow: /?a', 'https://example.com?a', 'disallowed by line 2'),
  rule(
    'ours: no scheme, no answer',
    'Disallow: /a',
    '//example.com/a',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
  rule(
    'ours: a bare name is no URL',
    'Disallow: /a',
    'example.com/a',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
  rule('ours: nothing is no URL', 'Disallow: /', '', 'disallowed: invalid-url', 'disallowed by line 2'),
  rule(
    'ours: mailto: has no robots.txt',
    'Disallow: /',
    'mailto:a@example.com',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
]

const whoseGroup: readonly RulesCase[] = [
  file('§2.2.1 no group at all', '', 'ExampleBot', 'allowed: no-group'),
  file('§2.2.1 the crawler’s own group', 'User-agent: ExampleBot\nDisallow: /\n', 'ExampleBot', 'disallowed by line 2'),
  file(
    '§2.2.1 names are compared without case',
    'User-agent: EXAMPLEBOT\nDisallow: /\n',
    'examplebot',
    'disallowed by line 2',
  ),
  file('§2.2.1 another crawler’s group', 'User-agent: OtherBot\nDisallow: /\n', 'ExampleBot', 'allowed: no-group'),
  file(
    '§2.2.1 a longer name is another name',
    'User-agent: Example\nDisallow: /\n',
    'Example-News',
    'allowed: no-group',
  ),
  file('§2.2.1 a shorter one too', 'User-agent: Example-News\nDisallow: /\n', 'Example', 'allowed: no-group'),
  file('§2.2.1 else the group of *', 'User-agent: *\nDisallow: /\n', 'ExampleBot', 'disallowed by line 2'),
  file(
    '§2.2.1 never both',
    'User-agent: ExampleBot\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    NONE,
  ),
  file(
    '§2.2.1 an own group that allows all',
    'User-agent: ExampleBot\nDisallow:\n\nUser-agent: *\nDisallow: /\n',
    'ExampleBot',
    NONE,
    'allowed by line 2',
  ),
  file(
    '§2.2.1 groups of one name are one',
    'User-agent: ExampleBot\nDisallow: /b\n\nUser-agent: ExampleBot\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 5',
  ),
  file(
    '§2.2.1 also those of *',
    'User-agent: *\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 5',
  ),
  file(
    '§2.1 several names, one group',
    'User-agent: OtherBot\nUser-agent: ExampleBot\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file(
    '§2.2.1 rules before any group are nobody’s',
    'Disallow: /\nUser-agent: ExampleBot\nAllow: /b\n',
    'ExampleBot',
    NONE,
  ),
  file(
    '§2.1 a last group without rules allows',
    'User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\n',
    'ExampleBot',
    NONE,
  ),
  file(
    'Google: a blank line ends no group',
    'User-agent: ExampleBot\n\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file(
    'Google: a name without rules joins the next',
    'User-agent: ExampleBot\n\nUser-agent: *\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: a crawl-delay ends no list of names',
    'User-agent: ExampleBot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: nor does a sitemap',
    'User-agent: ExampleBot\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: nor an unknown field',
    'User-agent: ExampleBot\nNoindex: /\nUser-agent: b\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: a version is not part of the name',
    'User-agent: ExampleBot/2.1\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: nor is a star behind it',
    'User-agent: ExampleBot*\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: nor a second word',
    'User-agent: ExampleBot crawler\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: * with a word behind it is everyone',
    'User-agent: * all\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('Google: *bot is nobody', 'User-agent: *bot\nDisallow: /\n', 'bot', 'allowed: no-group'),
  file('Google: */ is nobody', 'User-agent: */\nDisallow: /\n', 'ExampleBot', 'allowed: no-group'),
  file('Google: digits end a name', 'User-agent: bot1\nDisallow: /\n', 'bot', 'disallowed by line 2'),
  file(
    'ours: a crawler with digits finds its name',
    'User-agent: MJ12bot\nDisallow: /\n',
    'MJ12bot',
    'disallowed by line 2',
    'allowed: no-group',
  ),
  file(
    'ours: also one of digits only',
    'User-agent: 008\nDisallow: /\n',
    '008',
    'disallowed by line 2',
    'allowed: no-group',
  ),
  file('ours: and no other digits', 'User-agent: MJ13bot\nDisallow: /\n', 'MJ12bot', 'allowed: no-group'),
  file(
    'ours: the name is taken from a whole header',
    'User-agent: ExampleBot\nDisallow: /\n',
    'ExampleBot/1.0 (+https://example.com)',
    'disallowed by line 2',
    'allowed: no-group',
  ),
  file(
    'ours: a crawler without a name obeys *',
    'User-agent: 123\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n',
    '',
    'disallowed by line 5',
    'disallowed by line 2',
  ),
  file(
    'Google’s page: of several names the first with a group',
    'User-agent: Example\nDisallow: /a\n',
    ['Example-News', 'Example'],
    'disallowed by line 2',
  ),
  file(
    'Google’s page: and no other; its parser merges them',
    'User-agent: Example-News\nDisallow: /b\n\nUser-agent: Example\nDisallow: /a\n',
    ['Example-News', 'Example'],
    NONE,
    'disallowed by line 5',
  ),
]

const readingLines: readonly RulesCase[] = [
  file(
    '§2.2 LF, CR and CR LF end a line',
    'User-agent: *\rDisallow: /b\r\nDisallow: /a',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file('§2.2 an empty line counts', 'User-agent: *\n\n\r\n\rDisallow: /a', 'ExampleBot', 'disallowed by line 5'),
  file('Google: a form feed ends no line', 'User-agent: *\x0cDisallow: /a\n', 'ExampleBot', NONE),
  file('Google: nor does U+2028', 'User-agent: *\xe2\x80\xa8Disallow: /a\n', 'ExampleBot', 'allowed: no-group'),
  file('Google: nor U+0085', 'User-agent: *\xc2\x85Disallow: /a\n', 'ExampleBot', 'allowed: no-group'),
  file(
    'Google: NUL ends what counts of a line',
    'User-agent: *\nDisallow: /a\x00b\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('Google: U+00A0 is no blank', 'User-agent: *\nDisallow:\xc2\xa0/a\n', 'ExampleBot', NONE),
  file(
    '§2.2 blanks around key and value',
    ' \tUser-agent \t:\t * \t\n\tDisallow\t:\t/a \n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    '§2.2.3 # begins a comment',
    'User-agent: * # all\nDisallow: /a#b\n# Allow: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('§2.2 keys are compared without case', 'USER-AGENT: *\ndisALLOW: /a\n', 'ExampleBot', 'disallowed by line 2'),
  file(
    'Google: a BOM is passed over',
    '\xef\xbb\xbfUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('Google: also the start of one', '\xef\xbbUser-agent: *\nDisallow: /a\n', 'ExampleBot', 'disallowed by line 2'),
  file(
    'Google: a second one is not',
    '\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file('Google: a colon may be missing', 'User-agent *\nDisallow\t/a\n', 'ExampleBot', 'disallowed by line 2'),
  file('Google: not between three words', 'User-agent: *\nDisallow /a b\n', 'ExampleBot', NONE),
  file('Google: known misspellings', 'useragent: *\nDissallow: /a\n', 'ExampleBot', 'disallowed by line 2'),
  file(
    'Google: other misspellings are unknown fields',
    'user_agent: *\nDisallow: /a\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file(
    'Google: a key is known by its beginning',
    'User-agents: *\nDisallowed: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: a value may hold colons',
    'User-agent: *\nDisallow: /b:c\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file('Google: a line keeps 16,663 bytes', `User-agent: *\nDisallow:${' '.repeat(16_652)}/b\n`, 'ExampleBot', NONE),
  file(
    'Google: and no more',
    `User-agent: *\nDisallow:${' '.repeat(16_653)}/b\n`,
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: an encoding that is cut there is none',
    `User-agent: *\nDisallow:${' '.repeat(16_651)}/%61\n`,
    'ExampleBot',
    NONE,
  ),
  file(
    '§2.3.1.5 HTML is read like any text',
    '<html>\nUser-agent: *\nDisallow: /a\n</html>\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
]

export const rulesCases: readonly RulesCase[] = [...whichRule, ...whoseGroup, ...readingLines]
