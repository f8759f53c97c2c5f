// Test cases for the meaning of robots.txt: a file, a crawler, a URL, and the expected verdict.
// Each name begins with its source. The tests of core run them, and so do the tests of packages
// that use core.
//
// A verdict is written as `allowed by line 3`, `disallowed by line 2`, or without a rule as
// `allowed: no-group`.

/** The parts of a verdict that the cases compare. */
interface VerdictParts {
  readonly allowed: boolean
  readonly because: string
  readonly rule?: { readonly line: number }
}

/** Returns a verdict as the cases write it. */
export function verdictText({ allowed, because, rule }: VerdictParts): string {
  const word = allowed ? 'allowed' : 'disallowed'
  return rule === undefined ? `${word}: ${because}` : `${word} by line ${rule.line}`
}

export interface RulesCase {
  /**
   * The source and the behaviour. The source is a section of RFC 9309, `Google` for
   * google/robotstxt, or `ours` for a choice of our own.
   */
  readonly name: string
  /** One character for each byte. */
  readonly robots: string
  readonly agent: string | readonly string[]
  readonly url: string
  /** The verdict in the default dialect. */
  readonly rfc9309: string
  /** The verdict in dialect `google`, if it differs. */
  readonly google?: string
}

const fileWithRules = (...rules: string[]) => ['User-agent: *', ...rules, ''].join('\n')

/** A case with these rules in a group for `*`. */
function rule(
  name: string,
  rules: string | readonly string[],
  url: string,
  rfc9309: string,
  google?: string,
): RulesCase {
  const robots = fileWithRules(...(typeof rules === 'string' ? [rules] : rules))
  return { name, robots, agent: 'ExampleBot', url, rfc9309, ...(google !== undefined && { google }) }
}

/** A case with a whole file, for the URL `/a`. */
function file(
  name: string,
  robots: string,
  agent: string | readonly string[],
  rfc9309: string,
  google?: string,
): RulesCase {
  return { name, robots, agent, url: '/a', rfc9309, ...(google !== undefined && { google }) }
}

const NO_RULE_MATCHED = 'allowed: no-rule-matched'

const matchingCases: readonly RulesCase[] = [
  rule(
    '§2.2.2 a pattern matches from the start of the path',
    'Disallow: /fish',
    '/fish/salmon.html',
    'disallowed by line 2',
  ),
  rule('§2.2.2 a pattern does not match in the middle of a path', 'Disallow: /fish', '/catfish', NO_RULE_MATCHED),
  rule('§2.2.2 patterns are case-sensitive', 'Disallow: /fish', '/Fish', NO_RULE_MATCHED),
  rule(
    '§2.2.2 the longest match wins, in any order of rules',
    ['Disallow: /a', 'Allow: /a/b'],
    '/a/b/c',
    'allowed by line 3',
  ),
  rule(
    '§2.2.2 the longest match wins for disallow too',
    ['Allow: /a', 'Disallow: /a/b'],
    '/a/b/c',
    'disallowed by line 3',
  ),
  rule('§2.2.2 allow wins a tie', ['Disallow: /a', 'Allow: /a'], '/a', 'allowed by line 3'),
  rule(
    'Google: the first of two equal rules is reported',
    ['Disallow: /a', 'Disallow: /a'],
    '/a',
    'disallowed by line 2',
  ),
  rule('Google: wildcards count as bytes', ['Allow: /page', 'Disallow: /*.htm'], '/page.htm', 'disallowed by line 3'),
  rule(
    'Google: repeated wildcards count as bytes too',
    ['Allow: /a/b', 'Disallow: /a****'],
    '/a/b',
    'disallowed by line 3',
  ),
  rule(
    '§2.2.2 bytes are counted after encoding',
    ['Disallow: /%C3**', 'Allow: /\xc3\xa9'],
    '/%C3%A9',
    'allowed by line 3',
  ),
  rule('§2.2.2 a path that no rule matches is allowed', 'Disallow: /a', '/b', NO_RULE_MATCHED),
  rule('§2.2.2 an empty disallow forbids nothing', 'Disallow:', '/a', NO_RULE_MATCHED, 'allowed by line 2'),
  rule('§2.2.2 an empty allow decides nothing', ['Allow:', 'Disallow: /a'], '/a', 'disallowed by line 3'),
  rule('§2.2.2 the query is part of what is matched', 'Disallow: /*?id=', '/page?id=1', 'disallowed by line 2'),
  rule(
    'ours: the ? of an empty query is sent, and so matched',
    'Disallow: /search?',
    '/search?',
    'disallowed by line 2',
  ),
  rule('Google: a pattern without a leading slash matches nothing', 'Disallow: a', '/a', NO_RULE_MATCHED),
  rule('Google: a pattern may begin with *', 'Disallow: *a', '/b/a', 'disallowed by line 2'),
  rule(
    'Google: a pattern that is a whole URL matches nothing',
    'Disallow: https://example.com/a',
    '/a',
    NO_RULE_MATCHED,
  ),
  rule(
    'Google: an index page also allows its folder',
    ['Disallow: /', 'Allow: /dir/index.html'],
    '/dir/',
    'allowed by line 3',
  ),
  rule(
    'Google: an index page allows nothing else in its folder',
    ['Disallow: /', 'Allow: /dir/index.htm'],
    '/dir/x',
    'disallowed by line 2',
  ),
  rule(
    'Google: a disallowed index page does not disallow its folder',
    'Disallow: /dir/index.html',
    '/dir/',
    NO_RULE_MATCHED,
  ),

  rule('§2.2.3 * matches any run of bytes', 'Disallow: /a*z', '/a/b/c/z', 'disallowed by line 2'),
  rule('§2.2.3 * also matches no bytes', 'Disallow: /a*z', '/az', 'disallowed by line 2'),
  rule('§2.2.3 the pieces between wildcards match in order', 'Disallow: /*b*a', '/a/b', NO_RULE_MATCHED),
  rule('§2.2.3 the pieces between wildcards do not overlap', 'Disallow: /*aba*aba', '/ababa', NO_RULE_MATCHED),
  rule('§2.2.3 $ matches the end of the path', 'Disallow: /*.php$', '/x.php', 'disallowed by line 2'),
  rule('§2.2.3 a path that continues after $ does not match', 'Disallow: /*.php$', '/x.php5', NO_RULE_MATCHED),
  rule('§2.2.3 a query continues the path after $', 'Disallow: /a$', '/a?b', NO_RULE_MATCHED),
  rule('§2.2.3 the piece before $ may occur twice in the path', 'Disallow: /*a$', '/a/ba', 'disallowed by line 2'),
  rule('Google: a $ before the end is literal', 'Disallow: /a$b', '/a$b', 'disallowed by line 2'),
  rule('Google: the first $ of $$ is literal', 'Disallow: /a$$', '/a$', 'disallowed by line 2'),
  rule('Google: the $ of $* is literal', 'Disallow: /a$*', '/a', NO_RULE_MATCHED),
  rule('§2.2.3 %2A in a rule matches a literal *', 'Disallow: /a%2Ab', '/a*b', 'disallowed by line 2', NO_RULE_MATCHED),
  rule('§2.2.3 %2A in a rule is not a wildcard', 'Disallow: /a%2Ab', '/a/b', NO_RULE_MATCHED),
  rule('§2.2.3 %24 in a rule matches a literal $', 'Disallow: /a%24', '/a$', 'disallowed by line 2', NO_RULE_MATCHED),
  rule('§2.2.3 a final $ does not match a literal $', 'Disallow: /a$', '/a$', NO_RULE_MATCHED),
  rule('§2.2.3 * matches %2A', 'Disallow: /a*b', '/a%2Ab', 'disallowed by line 2'),

  rule(
    '§2.2.2 unreserved %XX in a rule is decoded',
    'Disallow: /%62%61%7A',
    '/baz',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule(
    '§2.2.2 unreserved %XX in a URL is decoded',
    'Disallow: /~joe',
    '/%7Ejoe',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule('§2.2.2 %2F in a URL is not a slash', 'Disallow: /a/b', '/a%2Fb', NO_RULE_MATCHED),
  rule('§2.2.2 %2F in a rule is not a slash', 'Disallow: /a%2Fb', '/a/b', NO_RULE_MATCHED),
  rule('§2.2.2 hex digits of a rule are compared without case', 'Disallow: /a%2fb', '/a%2Fb', 'disallowed by line 2'),
  rule(
    '§2.2.2 hex digits of a URL are compared without case',
    'Disallow: /a%2Fb',
    '/a%2fb',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule('§2.2.2 UTF-8 in a rule equals its %XX', 'Disallow: /\xe3\x83\x84', '/%E3%83%84', 'disallowed by line 2'),
  rule(
    '§2.2.2 UTF-8 in a URL equals its %XX',
    'Disallow: /%E3%83%84',
    '/\u30c4',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule('Google: bytes that are not UTF-8 equal their %XX', 'Disallow: /caf\xe9', '/caf%E9', 'disallowed by line 2'),
  rule(
    'ours: a space equals %20, as a client sends it',
    'Disallow: /a b',
    '/a%20b',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule(
    'ours: other bytes that a URI must encode equal their %XX',
    'Disallow: /%7Ba%7D',
    '/{a}',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule("ours: ' equals %27, which a client sends in a query", "Disallow: /?q='", "/?q='a", 'disallowed by line 2'),
  rule('Google: a malformed % is literal', 'Disallow: /100%', '/100%25', 'disallowed by line 2'),
  rule('Google: the % of %zz is literal', 'Disallow: /%zz', '/%zz', 'disallowed by line 2'),

  rule(
    '§2.2.2 /robots.txt is always allowed',
    'Disallow: /',
    '/robots.txt',
    'allowed: robots-txt-itself',
    'disallowed by line 2',
  ),
  rule(
    '§2.2.2 a path that only begins with /robots.txt is not always allowed',
    'Disallow: /',
    '/robots.txt.bak',
    'disallowed by line 2',
  ),
  rule('ours: the fragment is not sent', 'Disallow: /a$', '/a#b', 'disallowed by line 2'),
  rule(
    'ours: dot segments are resolved, as a client does',
    'Disallow: /b',
    '/a/../b',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule(
    'ours: a backslash is a slash, as in a client',
    'Disallow: /a/b',
    'https://example.com/a\\b',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule(
    'ours: tabs and line ends are removed, as a client does',
    'Disallow: /ab',
    '/a\n\tb',
    'disallowed by line 2',
    NO_RULE_MATCHED,
  ),
  rule(
    '§2.3 rules do not depend on host and port',
    'Disallow: /a',
    'https://other.example:8443/a',
    'disallowed by line 2',
  ),
  rule('Google: a URL without a path has the path /', 'Disallow: /$', 'https://example.com', 'disallowed by line 2'),
  rule(
    'Google: a query directly after the host has the path /',
    'Disallow: /?a',
    'https://example.com?a',
    'disallowed by line 2',
  ),
  rule(
    'ours: a URL without a scheme is invalid',
    'Disallow: /a',
    '//example.com/a',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
  rule(
    'ours: a bare host name is invalid',
    'Disallow: /a',
    'example.com/a',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
  rule('ours: an empty URL is invalid', 'Disallow: /', '', 'disallowed: invalid-url', 'disallowed by line 2'),
  rule(
    'ours: mailto: has no robots.txt',
    'Disallow: /',
    'mailto:a@example.com',
    'disallowed: invalid-url',
    'disallowed by line 2',
  ),
]

const groupCases: readonly RulesCase[] = [
  file('§2.2.1 a file without groups allows', '', 'ExampleBot', 'allowed: no-group'),
  file(
    '§2.2.1 a crawler obeys its own group',
    'User-agent: ExampleBot\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    '§2.2.1 names are compared without case',
    'User-agent: EXAMPLEBOT\nDisallow: /\n',
    'examplebot',
    'disallowed by line 2',
  ),
  file(
    '§2.2.1 a crawler ignores the group of another crawler',
    'User-agent: OtherBot\nDisallow: /\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file(
    '§2.2.1 a longer name is another name',
    'User-agent: Example\nDisallow: /\n',
    'Example-News',
    'allowed: no-group',
  ),
  file(
    '§2.2.1 a shorter name is another name',
    'User-agent: Example-News\nDisallow: /\n',
    'Example',
    'allowed: no-group',
  ),
  file(
    '§2.2.1 a crawler without a group obeys the group of *',
    'User-agent: *\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    '§2.2.1 a crawler with a group ignores the group of *',
    'User-agent: ExampleBot\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    '§2.2.1 also if its own group has no rules that match',
    'User-agent: ExampleBot\nDisallow:\n\nUser-agent: *\nDisallow: /\n',
    'ExampleBot',
    NO_RULE_MATCHED,
    'allowed by line 2',
  ),
  file(
    '§2.2.1 groups with one name are merged',
    'User-agent: ExampleBot\nDisallow: /b\n\nUser-agent: ExampleBot\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 5',
  ),
  file(
    '§2.2.1 groups of * are merged',
    'User-agent: *\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 5',
  ),
  file(
    '§2.1 one group may have several names',
    'User-agent: OtherBot\nUser-agent: ExampleBot\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file(
    '§2.2.1 rules before the first group are ignored',
    'Disallow: /\nUser-agent: ExampleBot\nAllow: /b\n',
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    '§2.1 a last group without rules allows',
    'User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\n',
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    'Google: a blank line does not end a group',
    'User-agent: ExampleBot\n\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file(
    'Google: a name without rules joins the next group',
    'User-agent: ExampleBot\n\nUser-agent: *\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: a crawl-delay does not end a list of names',
    'User-agent: ExampleBot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: a sitemap does not end a list of names',
    'User-agent: ExampleBot\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 4',
  ),
  file(
    'Google: an unknown field does not end a list of names',
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
    'Google: a star after the name is not part of it',
    'User-agent: ExampleBot*\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: a second word is not part of the name',
    'User-agent: ExampleBot crawler\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: * before another word names every crawler',
    'User-agent: * all\nDisallow: /\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('Google: *bot names no crawler', 'User-agent: *bot\nDisallow: /\n', 'bot', 'allowed: no-group'),
  file('Google: */ names no crawler', 'User-agent: */\nDisallow: /\n', 'ExampleBot', 'allowed: no-group'),
  file('Google: a digit ends a name', 'User-agent: bot1\nDisallow: /\n', 'bot', 'disallowed by line 2'),
  file(
    'ours: a product token with digits is compared with its digits',
    'User-agent: MJ12bot\nDisallow: /\n',
    'MJ12bot',
    'disallowed by line 2',
    'allowed: no-group',
  ),
  file(
    'ours: a product token may have digits only',
    'User-agent: 008\nDisallow: /\n',
    '008',
    'disallowed by line 2',
    'allowed: no-group',
  ),
  file(
    'ours: a product token with other digits is another token',
    'User-agent: MJ13bot\nDisallow: /\n',
    'MJ12bot',
    'allowed: no-group',
  ),
  file(
    'ours: the product token is taken from a User-Agent header',
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
    'Google’s page: the first of several names that has a group is used',
    'User-agent: Example\nDisallow: /a\n',
    ['Example-News', 'Example'],
    'disallowed by line 2',
  ),
  file(
    'Google’s page: other names are ignored; its parser merges their groups',
    'User-agent: Example-News\nDisallow: /b\n\nUser-agent: Example\nDisallow: /a\n',
    ['Example-News', 'Example'],
    NO_RULE_MATCHED,
    'disallowed by line 5',
  ),
]

const lineCases: readonly RulesCase[] = [
  file(
    '§2.2 LF, CR and CR LF end a line',
    'User-agent: *\rDisallow: /b\r\nDisallow: /a',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file('§2.2 empty lines are counted', 'User-agent: *\n\n\r\n\rDisallow: /a', 'ExampleBot', 'disallowed by line 5'),
  file('Google: a form feed does not end a line', 'User-agent: *\x0cDisallow: /a\n', 'ExampleBot', NO_RULE_MATCHED),
  file(
    'Google: U+2028 does not end a line',
    'User-agent: *\xe2\x80\xa8Disallow: /a\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file('Google: U+0085 does not end a line', 'User-agent: *\xc2\x85Disallow: /a\n', 'ExampleBot', 'allowed: no-group'),
  file(
    'Google: the rest of a line after a NUL is ignored',
    'User-agent: *\nDisallow: /a\x00b\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file('Google: U+00A0 is not a blank', 'User-agent: *\nDisallow:\xc2\xa0/a\n', 'ExampleBot', NO_RULE_MATCHED),
  file(
    '§2.2 blanks around key and value are removed',
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
    'Google: a byte order mark is skipped',
    '\xef\xbb\xbfUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: the first part of a byte order mark is skipped',
    '\xef\xbbUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: a second byte order mark is not skipped',
    '\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file(
    'Google: the colon between two words may be missing',
    'User-agent *\nDisallow\t/a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: the colon between three words may not be missing',
    'User-agent: *\nDisallow /a b\n',
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    'Google: frequent misspellings are known',
    'useragent: *\nDissallow: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: other misspellings are unknown fields',
    'user_agent: *\nDisallow: /a\n',
    'ExampleBot',
    'allowed: no-group',
  ),
  file(
    'Google: a key is known by its prefix',
    'User-agents: *\nDisallowed: /a\n',
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: a value may contain colons',
    'User-agent: *\nDisallow: /b:c\nDisallow: /a\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
  file(
    'Google: the first 16,663 bytes of a line are read',
    `User-agent: *\nDisallow:${' '.repeat(16_652)}/b\n`,
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    'Google: the rest of a long line is ignored',
    `User-agent: *\nDisallow:${' '.repeat(16_653)}/b\n`,
    'ExampleBot',
    'disallowed by line 2',
  ),
  file(
    'Google: a %XX that is cut off at the limit is literal',
    `User-agent: *\nDisallow:${' '.repeat(16_651)}/%61\n`,
    'ExampleBot',
    NO_RULE_MATCHED,
  ),
  file(
    '§2.3.1.5 lines of HTML are ignored like other invalid lines',
    '<html>\nUser-agent: *\nDisallow: /a\n</html>\n',
    'ExampleBot',
    'disallowed by line 3',
  ),
]

export const rulesCases: readonly RulesCase[] = [...matchingCases, ...groupCases, ...lineCases]
