// Where the dialects part: a file, a URL, and what each answers. The answers are written as in `rulesCases`.

export interface DialectCase {
  readonly name: string
  readonly robots: string
  readonly agent: string | readonly string[]
  readonly url: string
  readonly verdicts: Readonly<Record<DialectNames, string>>
}

type DialectNames = 'rfc9309' | 'google' | 'draft-koster-rep-00' | 'koster-1996' | 'original-1994'

/** @param answers In the order of `DialectNames`. */
function row(
  name: string,
  lines: readonly string[],
  url: string,
  answers: readonly [string, string, string, string, string],
  agent: string | readonly string[] = 'ExampleBot',
): DialectCase {
  const [rfc9309, google, draft, koster, original] = answers
  const byName = { rfc9309, google, 'draft-koster-rep-00': draft, 'koster-1996': koster, 'original-1994': original }
  return { name, robots: lines.join('\n'), agent, url, verdicts: byName }
}

const NO_GROUP = 'allowed: no-group'
const NO_RULE = 'allowed: no-rule-matched'
const disallowedBy = (line: number) => `disallowed by line ${line}`
const allowedBy = (line: number) => `allowed by line ${line}`

export const dialectCases: readonly DialectCase[] = [
  row('keys: a misspelling', ['User-agent: *', 'Dissallow: /a'], '/a', [disallowedBy(2), disallowedBy(2), disallowedBy(2), NO_RULE, NO_RULE]),
  row('keys: a key that only begins so', ['User-agent: *', 'Disallows: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
  ]),
  row('keys: a missing colon', ['User-agent: *', 'Disallow /a'], '/a', [disallowedBy(2), disallowedBy(2), disallowedBy(2), NO_RULE, NO_RULE]),
  row('keys: another case is no mistake', ['USER-AGENT: *', 'disallow: /a'], '/a', [disallowedBy(2), disallowedBy(2), disallowedBy(2), disallowedBy(2), disallowedBy(2)]),
  row('keys: Sitemap is no name', ['User-agent: *', 'Sitemap: https://example.com/s', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),

  row('a blank line inside a group', ['User-agent: *', '', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    NO_RULE,
    NO_RULE,
  ]),
  row('a line of blanks is blank', ['User-agent: *', ' \t ', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    NO_RULE,
    NO_RULE,
  ]),
  row('a comment is not', ['User-agent: *', '# here it comes', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row(
    'a name before a blank line joins no other group',
    ['User-agent: ExampleBot', '', 'User-agent: Other', 'Disallow: /a'],
    '/a',
    [disallowedBy(4), disallowedBy(4), disallowedBy(4), NO_RULE, NO_RULE],
  ),

  row('agents: a version', ['User-agent: ExampleBot/2.1', 'Disallow: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    NO_GROUP,
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('agents: a second word', ['User-agent: ExampleBot crawler', 'Disallow: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    NO_GROUP,
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('agents: another character behind', ['User-agent: ExampleBot*', 'Disallow: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    NO_GROUP,
    NO_GROUP,
    NO_GROUP,
  ]),
  row('agents: a part of the name', ['User-agent: example', 'Disallow: /a'], '/a', [
    NO_GROUP,
    NO_GROUP,
    NO_GROUP,
    NO_GROUP,
    disallowedBy(2),
  ]),
  row('agents: digits', ['User-agent: bot9', 'Disallow: /a'], '/a', [disallowedBy(2), NO_GROUP, disallowedBy(2), disallowedBy(2), disallowedBy(2)], 'bot9'),
  row(
    'agents: digits that the crawler has not',
    ['User-agent: bot9', 'Disallow: /a'],
    '/a',
    [disallowedBy(2), disallowedBy(2), NO_GROUP, NO_GROUP, NO_GROUP],
    'bot',
  ),

  row(
    'two names of one crawler',
    ['User-agent: b', 'Disallow: /a', '', 'User-agent: c', 'Disallow: /b'],
    '/b',
    [NO_RULE, disallowedBy(5), NO_RULE, NO_RULE, NO_RULE],
    ['a', 'b', 'c'],
  ),
  row(
    'two groups of one name',
    ['User-agent: ExampleBot', 'Disallow: /b', '', 'User-agent: ExampleBot', 'Disallow: /a'],
    '/a',
    [disallowedBy(5), disallowedBy(5), disallowedBy(5), NO_RULE, NO_RULE],
  ),
  row('two groups for everyone', ['User-agent: *', 'Disallow: /b', '', 'User-agent: *', 'Disallow: /a'], '/a', [
    disallowedBy(5),
    disallowedBy(5),
    NO_RULE,
    NO_RULE,
    NO_RULE,
  ]),
  row(
    'everyone first, a name after',
    ['User-agent: *', 'Disallow: /', '', 'User-agent: ExampleBot', 'Disallow: /b'],
    '/a',
    [NO_RULE, NO_RULE, NO_RULE, NO_RULE, NO_RULE],
  ),

  row('a longer rule after a shorter one', ['User-agent: *', 'Allow: /a', 'Disallow: /a/b'], '/a/b', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    allowedBy(2),
    disallowedBy(3),
  ]),
  row('encoding: lower-case hex on both sides', ['User-agent: *', 'Disallow: /a%3bb'], '/a%3bb', [
    disallowedBy(2),
    NO_RULE,
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('two rules that forbid', ['User-agent: *', 'Disallow: /a', 'Disallow: /a/b'], '/a/b', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('allow and disallow alike', ['User-agent: *', 'Disallow: /a', 'Allow: /a'], '/a', [
    allowedBy(3),
    allowedBy(3),
    allowedBy(3),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('an exception before its rule', ['User-agent: *', 'Allow: /tmp/ok.html', 'Disallow: /tmp'], '/tmp/ok.html', [
    allowedBy(2),
    allowedBy(2),
    allowedBy(2),
    allowedBy(2),
    disallowedBy(3),
  ]),

  row('a star in a path', ['User-agent: *', 'Disallow: /*.php'], '/x.php', [disallowedBy(2), disallowedBy(2), disallowedBy(2), NO_RULE, NO_RULE]),
  row('a star that is meant', ['User-agent: *', 'Disallow: /a*b'], '/a*bc', [disallowedBy(2), disallowedBy(2), disallowedBy(2), disallowedBy(2), disallowedBy(2)]),
  row('a dollar at the end', ['User-agent: *', 'Disallow: /a$'], '/a$b', [NO_RULE, NO_RULE, NO_RULE, disallowedBy(2), disallowedBy(2)]),

  row('encoding: %7E and ~', ['User-agent: *', 'Disallow: /%7ejoe/index.html'], '/~joe/index.html', [
    disallowedBy(2),
    NO_RULE,
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
  ]),
  row('encoding: %2F and /', ['User-agent: *', 'Disallow: /a%2fb.html'], '/a/b.html', [
    NO_RULE,
    NO_RULE,
    NO_RULE,
    NO_RULE,
    NO_RULE,
  ]),
  row('encoding: %2f and %2F', ['User-agent: *', 'Disallow: /a%2fb.html'], '/a%2Fb.html', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('encoding: a reserved character', ['User-agent: *', 'Disallow: /a%3Bb'], '/a;b', [
    NO_RULE,
    NO_RULE,
    NO_RULE,
    disallowedBy(2),
    NO_RULE,
  ]),
  row('encoding: %252F is no slash', ['User-agent: *', 'Disallow: /a%252Fb'], '/a%2Fb', [
    NO_RULE,
    NO_RULE,
    NO_RULE,
    NO_RULE,
    NO_RULE,
  ]),
  row('encoding: < and %3c', ['User-agent: *', 'Disallow: /a%3cd.html'], '/a<d.html', [
    disallowedBy(2),
    NO_RULE,
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
  ]),

  row('an empty disallow', ['User-agent: *', 'Disallow:'], '/a', [
    NO_RULE,
    allowedBy(2),
    NO_RULE,
    allowedBy(2),
    allowedBy(2),
  ]),
  row('an empty disallow before another', ['User-agent: *', 'Disallow:', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    allowedBy(2),
    allowedBy(2),
  ]),
  row('an index page', ['User-agent: *', 'Allow: /d/index.html', 'Disallow: /'], '/d/', [
    allowedBy(2),
    allowedBy(2),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row('an index page of any folder', ['User-agent: *', 'Allow: /*d/index.html', 'Disallow: /'], '/d/', [
    allowedBy(2),
    allowedBy(2),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row('robots.txt itself', ['User-agent: *', 'Disallow: /'], '/robots.txt', [
    'allowed: robots-txt-itself',
    disallowedBy(2),
    'allowed: robots-txt-itself',
    disallowedBy(2),
    disallowedBy(2),
  ]),
]
