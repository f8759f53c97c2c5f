// Test cases on which the dialects differ: a file, a URL, and the verdict in each dialect, written
// as in `rulesCases`.

export interface DialectCase {
  readonly name: string
  readonly robots: string
  readonly agent: string | readonly string[]
  readonly url: string
  readonly verdicts: Readonly<Record<DialectNames, string>>
}

type DialectNames = 'rfc9309' | 'google' | 'draft-koster-rep-00' | 'koster-1996' | 'original-1994'

/** @param verdicts In the order of `DialectNames`. */
function row(
  name: string,
  lines: readonly string[],
  url: string,
  verdicts: readonly [string, string, string, string, string],
  agent: string | readonly string[] = 'ExampleBot',
): DialectCase {
  const [rfc9309, google, draft, koster, original] = verdicts
  const byName = { rfc9309, google, 'draft-koster-rep-00': draft, 'koster-1996': koster, 'original-1994': original }
  return { name, robots: lines.join('\n'), agent, url, verdicts: byName }
}

const NO_GROUP = 'allowed: no-group'
const NO_RULE = 'allowed: no-rule-matched'
const disallowedBy = (line: number) => `disallowed by line ${line}`
const allowedBy = (line: number) => `allowed by line ${line}`

export const dialectCases: readonly DialectCase[] = [
  row('keys: a misspelling', ['User-agent: *', 'Dissallow: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
  ]),
  row('keys: a key that begins with a known one', ['User-agent: *', 'Disallows: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
  ]),
  row('keys: a missing colon', ['User-agent: *', 'Disallow /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
  ]),
  row('keys: upper and lower case are equal', ['USER-AGENT: *', 'disallow: /a'], '/a', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row(
    'keys: Sitemap does not end a list of names',
    ['User-agent: *', 'Sitemap: https://example.com/s', 'Disallow: /a'],
    '/a',
    [disallowedBy(3), disallowedBy(3), disallowedBy(3), disallowedBy(3), disallowedBy(3)],
  ),

  row('group end: a blank line inside a group', ['User-agent: *', '', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    NO_RULE,
    NO_RULE,
  ]),
  row('group end: a line of spaces and tabs is blank', ['User-agent: *', ' \t ', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    NO_RULE,
    NO_RULE,
  ]),
  row('group end: a comment line is not blank', ['User-agent: *', '# comment', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row(
    'group end: a name before a blank line does not join the next group',
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
  row('agents: another character after the token', ['User-agent: ExampleBot*', 'Disallow: /a'], '/a', [
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
  row(
    'agents: digits',
    ['User-agent: bot9', 'Disallow: /a'],
    '/a',
    [disallowedBy(2), NO_GROUP, disallowedBy(2), disallowedBy(2), disallowedBy(2)],
    'bot9',
  ),
  row(
    'agents: digits, and a crawler without digits',
    ['User-agent: bot9', 'Disallow: /a'],
    '/a',
    [disallowedBy(2), disallowedBy(2), NO_GROUP, NO_GROUP, NO_GROUP],
    'bot',
  ),

  row(
    'several tokens: a crawler with two that have groups',
    ['User-agent: b', 'Disallow: /a', '', 'User-agent: c', 'Disallow: /b'],
    '/b',
    [NO_RULE, disallowedBy(5), NO_RULE, NO_RULE, NO_RULE],
    ['a', 'b', 'c'],
  ),
  row(
    'groups: two for one name',
    ['User-agent: ExampleBot', 'Disallow: /b', '', 'User-agent: ExampleBot', 'Disallow: /a'],
    '/a',
    [disallowedBy(5), disallowedBy(5), disallowedBy(5), NO_RULE, NO_RULE],
  ),
  row('groups: two for *', ['User-agent: *', 'Disallow: /b', '', 'User-agent: *', 'Disallow: /a'], '/a', [
    disallowedBy(5),
    disallowedBy(5),
    NO_RULE,
    NO_RULE,
    NO_RULE,
  ]),
  row(
    'groups: one for * before one for the name',
    ['User-agent: *', 'Disallow: /', '', 'User-agent: ExampleBot', 'Disallow: /b'],
    '/a',
    [NO_RULE, NO_RULE, NO_RULE, NO_RULE, NO_RULE],
  ),

  row('winner: a longer rule after a shorter one', ['User-agent: *', 'Allow: /a', 'Disallow: /a/b'], '/a/b', [
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
  row('winner: two Disallows', ['User-agent: *', 'Disallow: /a', 'Disallow: /a/b'], '/a/b', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('winner: Disallow and Allow with the same path', ['User-agent: *', 'Disallow: /a', 'Allow: /a'], '/a', [
    allowedBy(3),
    allowedBy(3),
    allowedBy(3),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row(
    'winner: Allow before a shorter Disallow',
    ['User-agent: *', 'Allow: /tmp/ok.html', 'Disallow: /tmp'],
    '/tmp/ok.html',
    [allowedBy(2), allowedBy(2), allowedBy(2), allowedBy(2), disallowedBy(3)],
  ),

  row('wildcards: a star', ['User-agent: *', 'Disallow: /*.php'], '/x.php', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
  ]),
  row('wildcards: a literal star in the URL', ['User-agent: *', 'Disallow: /a*b'], '/a*bc', [
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
    disallowedBy(2),
  ]),
  row('wildcards: a final dollar sign', ['User-agent: *', 'Disallow: /a$'], '/a$b', [
    NO_RULE,
    NO_RULE,
    NO_RULE,
    disallowedBy(2),
    disallowedBy(2),
  ]),

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
  row('encoding: %252F and %2F', ['User-agent: *', 'Disallow: /a%252Fb'], '/a%2Fb', [
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
  row('encoding: a NUL in the URL', ['User-agent: *', 'Disallow: /a$'], '/a\0b', [
    NO_RULE,
    disallowedBy(2),
    NO_RULE,
    NO_RULE,
    NO_RULE,
  ]),

  row('empty rules: Disallow', ['User-agent: *', 'Disallow:'], '/a', [
    NO_RULE,
    allowedBy(2),
    NO_RULE,
    allowedBy(2),
    allowedBy(2),
  ]),
  row('empty rules: Disallow before another rule', ['User-agent: *', 'Disallow:', 'Disallow: /a'], '/a', [
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
    allowedBy(2),
    allowedBy(2),
  ]),
  row('index pages: a folder', ['User-agent: *', 'Allow: /d/index.html', 'Disallow: /'], '/d/', [
    allowedBy(2),
    allowedBy(2),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row('index pages: any folder', ['User-agent: *', 'Allow: /*d/index.html', 'Disallow: /'], '/d/', [
    allowedBy(2),
    allowedBy(2),
    disallowedBy(3),
    disallowedBy(3),
    disallowedBy(3),
  ]),
  row('/robots.txt itself', ['User-agent: *', 'Disallow: /'], '/robots.txt', [
    'allowed: robots-txt-itself',
    disallowedBy(2),
    'allowed: robots-txt-itself',
    disallowedBy(2),
    disallowedBy(2),
  ]),
]
