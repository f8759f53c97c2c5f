// Test cases for `lintRobots`: a file and all findings in it.

export interface LintCase {
  readonly name: string
  /** One character for each byte. */
  readonly robots: string
  /** All findings as code and line, such as `missing-colon 2`. Line 0 means the whole file. */
  readonly findings: readonly string[]
  /** Default `rfc9309`. */
  readonly dialect?: 'koster-1996'
}

const file = (name: string, robots: string, ...findings: string[]): LintCase => ({ name, robots, findings })

/**
 * A file with one group for all crawlers, with these lines from line 2 on. A last rule keeps the
 * group itself free of findings.
 */
const withRules = (name: string, lines: string | readonly string[], ...findings: string[]): LintCase =>
  file(
    name,
    ['User-agent: *', ...(typeof lines === 'string' ? [lines] : lines), 'Disallow: /zz', ''].join('\n'),
    ...findings,
  )

/** The same line `count` times. */
const repeated = (count: number, line: string): readonly string[] => Array.from({ length: count }, () => line)

/** A file whose user-agent line has this value. */
const withUserAgent = (name: string, value: string, ...findings: string[]): LintCase =>
  file(name, `User-agent: ${value}\nDisallow: /a\n`, ...findings)

const wholeFiles: readonly LintCase[] = [
  file('an empty file', '', 'empty-file 0'),
  file('comments only', '# nothing here\n\n', 'empty-file 0'),
  file('an HTML page', '<!DOCTYPE html>\n<html><body>Not found</body></html>\n', 'html-instead-of-robots 0'),
  file(
    'an HTML page after a byte order mark and a comment',
    '\xef\xbb\xbf <!-- served by x -->\n<html lang="en">\n',
    'html-instead-of-robots 0',
  ),
  file('an XML sitemap', '<?xml version="1.0"?>\n<urlset></urlset>\n', 'xml-instead-of-robots 0'),
  file('a JSON response of an API', '{ "error": "not found" }\n', 'json-instead-of-robots 0'),
  file('UTF-16 with a byte order mark', '\xff\xfeU\x00s\x00e\x00r\x00', 'utf-16 0'),
  file('UTF-16 without a byte order mark', '\x00U\x00s\x00e\x00r\x00-', 'utf-16 0'),
  file('a gzip file', '\x1f\x8b\b\x00\x00\x00', 'binary-instead-of-robots 0'),
  file('an image', '\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR', 'binary-instead-of-robots 0'),
  file('a byte order mark', '\xef\xbb\xbfUser-agent: *\nDisallow: /a\n', 'bom 1'),
  file('an incomplete byte order mark', '\xef\xbbUser-agent: *\nDisallow: /a\n', 'partial-bom 1'),
  file(
    'two byte order marks',
    '\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a\n',
    'bom 1',
    'misplaced-bom 1',
    'rule-before-group 2',
  ),
  file(
    'a byte order mark where two files were joined',
    'User-agent: a\nDisallow: /a\n\xef\xbb\xbfUser-agent: b\nDisallow: /b\n',
    'misplaced-bom 3',
  ),
  file(
    'more than 500 KiB',
    `User-agent: *\nDisallow: /a\n${`#${'-'.repeat(1022)}\n`.repeat(512)}Disallow: /b\n`,
    'over-500-kib 502',
  ),
]

const lines: readonly LintCase[] = [
  withRules('a line that is too long', `Disallow: /${'a'.repeat(17_000)}`, 'over-long-line 2'),
  withRules('a long comment, which is no mistake', `Disallow: /a # ${'a'.repeat(17_000)}`),
  withRules('a NUL byte', 'Disallow: /a\x00b', 'nul-octet 2'),
  withRules('a control character', 'Disallow: /a\x07b', 'control-character 2'),
  file('a form feed as a line end', 'User-agent: *\x0cDisallow: /a\n', 'other-line-end 1', 'group-without-rules 1'),
  withRules(
    'a vertical tab before a path, where a line end would empty the rule',
    'Disallow:\v/a',
    'control-character 2',
  ),
  withRules('U+2028 before a path', 'Disallow: \xe2\x80\xa8/a', 'non-ascii-blank 2'),
  withRules('U+2028 as a line end', 'Disallow: /a\xe2\x80\xa8# b', 'other-line-end 2'),
  withRules('a no-break space before the key', '\xc2\xa0Disallow: /a', 'non-ascii-blank 2'),
  withRules('a no-break space before the value', 'Sitemap:\xc2\xa0https://example.com/a', 'non-ascii-blank 2'),
  withRules('a zero-width space inside the key', 'Dis\xe2\x80\x8ballow: /a', 'non-ascii-blank 2'),
  withRules('a no-break space inside the key', 'User\xc2\xa0agent: a', 'non-ascii-blank 2'),
  withRules('a zero-width space inside a path', 'Disallow: /a\xe2\x80\x8bb', 'non-ascii-blank 2'),
  withRules('a zero-width joiner inside a path', 'Disallow: /a\xe2\x80\x8db', 'raw-non-ascii 2'),
  withRules('two fields with \\n between them', 'Disallow: /a\\nAllow: /b', 'escaped-line-end 2'),
  withRules('a \\n at the end of the line', 'Disallow: /a\\r\\n', 'escaped-line-end 2'),
  file('a file in one line, as JSON has it', '"User-agent: *\\nDisallow: /a\\n"\n', 'escaped-line-end 1'),
  withRules('a backslash before an n in a path', 'Disallow: /a\\news', 'backslash-in-path 2'),
  withRules('a full-width colon', 'Disallow\xef\xbc\x9a/a', 'look-alike-character 2'),
  withRules(
    'a full-width colon and a full-width blank',
    'Disallow\xef\xbc\x9a\xe3\x80\x80/a',
    'look-alike-character 2',
  ),
  withRules('a full-width slash', 'Disallow: \xef\xbc\x8fa', 'look-alike-character 2'),
  withRules('a Cyrillic letter in the key', 'D\xd1\x96sallow: /a', 'look-alike-character 2'),
  withRules('a dash in the key', 'User\xe2\x80\x93agent: a', 'look-alike-character 2'),
  withRules('a Cyrillic letter in a path', 'Disallow: /\xd0\xb0', 'raw-non-ascii 2'),
  withRules('a tag after a path', 'Disallow: /a<br />', 'html-in-line 2'),
  withRules('a field between tags', '<p class="a">Disallow: /a</p>', 'html-in-line 2'),
  withRules('a tag alone', '<pre>', 'html-in-line 2'),
  withRules('an escaped & in a query', 'Disallow: /a?b=c&amp;d=e', 'html-in-line 2'),
  withRules('a word between < and > in a path', 'Disallow: /<id>', 'raw-character-in-path 2'),
  withRules('bytes that are not UTF-8', 'Disallow: /caf\xe9', 'not-utf-8 2', 'raw-non-ascii 2'),
  withRules('two words', 'Disallow /a', 'missing-colon 2'),
  withRules('three words without a colon', 'Disallow /a b', 'three-words-without-colon 2'),
  withRules('a key alone', 'Disallow', 'key-without-value 2'),
  withRules('a key of two words without a colon', 'User agent a', 'three-words-without-colon 2'),
  withRules('a missing colon before a URL', 'Sitemap https://example.com/a', 'late-colon 2'),
  withRules('a sentence', 'Please do not crawl', 'not-a-field 2'),
  withRules('a sentence of two words', 'hello world', 'not-a-field 2'),
  withRules('a colon without a key', ': /a', 'not-a-field 2'),
  withRules('a URL without a key', 'https://example.com/sitemap.xml', 'url-without-key 2'),
  file(
    'two fields on one line',
    'User-agent: * Disallow: /\n',
    'several-fields-on-one-line 1',
    'group-without-rules 1',
  ),
  withRules('a misspelling that Google knows', 'Dissallow: /a', 'misspelt-key 2'),
  withRules('another misspelling that Google knows', 'Site-map: https://example.com/a', 'misspelt-key 2'),
  withRules('a misspelling that no crawler knows', 'Disallw: /a', 'unreadable-key 2'),
  withRules('a key with swapped letters', 'Alolw: /a', 'unreadable-key 2'),
  withRules('a key with another separator', 'Crawl_delay: 1', 'unreadable-key 2'),
  withRules('a key that begins with a known one', 'DisallowAITraining: /a', 'key-known-by-its-beginning 2'),
  withRules('a misspelling that crawler-commons knows', 'Content-Signals: ai-train=no', 'key-known-by-its-beginning 2'),
  withRules('an unknown field', 'Comment: hello', 'unknown-field 2'),
  withRules('a field that is known to be ignored', 'Noarchive: /a', 'ignored-field 2'),
]

/** Lines of templates that no program filled in, each with one finding. */
const templates: readonly LintCase[] = [
  `Sitemap: \${SITE_URL}/sitemap.xml`,
  'Sitemap: {{ site.url }}/sitemap.xml',
  'Sitemap: %SITE_URL%/sitemap.xml',
  'Sitemap: %base-url%/sitemap.xml',
  'Sitemap: <?php echo $url ?>/sitemap.xml',
  'Sitemap: <%= root_url %>/sitemap.xml',
  'Sitemap: #{root_url}/sitemap.xml',
  'Sitemap: $BASE_URL/sitemap.xml',
  'Sitemap: $(baseUrl)/sitemap.xml',
  'Sitemap: __BASE_URL__/sitemap.xml',
  'Sitemap: {domain}/sitemap.xml',
  'Sitemap: https://[your-host]/sitemap.xml',
  'Sitemap: undefined/sitemap.xml',
  'Sitemap: https://undefined/sitemap.xml',
  'Sitemap: https://example.com/null/sitemap.xml',
  'Sitemap: https://your-domain.com/sitemap.xml',
  'Sitemap: https://www.yoursite.com/sitemap.xml',
  'Sitemap: https://domain.tld/sitemap.xml',
  'Sitemap: [object Object]',
  'Disallow: null',
  'Disallow: undefined/a',
  'Disallow: {{path}}/',
  'Crawl-delay: NaN',
  '{% if staging %}',
  '<?php echo $rules; ?>',
].map((line) => withRules(`"${line}"`, line, 'unfilled-template 2'))

const names: readonly LintCase[] = [
  withUserAgent('a user-agent line without a name', '', 'user-agent-without-name 1'),
  withUserAgent('a name that does not begin with a letter', '+https://example.com', 'unreadable-name 1'),
  withUserAgent('a wildcard in a name', '*bot', 'wildcard-in-name 1'),
  withUserAgent('two names on one line', 'a, b', 'several-names-on-one-line 1'),
  withUserAgent('a whole User-Agent header', 'Mozilla/5.0 (compatible; ExampleBot/1.0)', 'user-agent-header-as-name 1'),
  withUserAgent('the first word of a browser header', 'Mozilla/5.0', 'product-token-with-version 1'),
  withUserAgent('a name of two words', 'Example Bot', 'product-token-with-other-characters 1'),
  withUserAgent('a star after a name', 'Example*', 'product-token-with-other-characters 1'),
  withUserAgent('a word after a star', '* all', 'product-token-with-other-characters 1'),
  withUserAgent('a name without the name of its operator', 'CloudVertexBot', 'product-token-without-vendor 1'),
  withUserAgent('a name with a version', 'Example/1.0', 'product-token-with-version 1'),
  withUserAgent('a name with digits', 'Example12', 'product-token-with-digits 1'),
  withUserAgent('a documented name with digits', 'MJ12bot'),
  withUserAgent('a documented name with a dot', 'archive.org_bot'),
  withUserAgent('a documented name with spaces', 'Sogou web spider'),
  file(
    'a documented name, and another one with the same product token',
    'User-agent: Sogou\nUser-agent: Sogou web spider\nDisallow: /a\n\nUser-agent: Sogou Web Spider\nDisallow: /b\n',
    'duplicate-group 5',
  ),
  withUserAgent('a documented name with a version', 'archive.org_bot/1.0', 'product-token-with-version 1'),
  withUserAgent('a Cyrillic letter in a name', 'G\xd0\xbeoglebot', 'look-alike-character 1'),
  withUserAgent('a full-width star', '\xef\xbc\x8a', 'look-alike-character 1'),
  withUserAgent('a name in Cyrillic', '\xd0\xa1\xd0\xbe\xd0\xbc', 'unreadable-name 1'),
  withUserAgent('a valid product token (RFC 9309 §2.2.1)', 'Example_Bot-News'),
]

const groups: readonly LintCase[] = [
  file('a rule above all groups', 'Disallow: /a\nUser-agent: *\nDisallow: /b\n', 'rule-before-group 1'),
  file('a crawl-delay above all groups', 'Crawl-delay: 1\nUser-agent: *\nDisallow: /b\n', 'record-before-group 1'),
  file(
    'names with a blank line between them',
    'User-agent: a\n\nUser-agent: b\nDisallow: /a\n',
    'names-merged-across-blank-line 3',
  ),
  file(
    'names with a crawl-delay between them',
    'User-agent: a\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /a\n',
    'names-merged-across-record 4',
  ),
  file('names with a comment between them', 'User-agent: a\n# and\nUser-agent: b\n\nDisallow: /a\n'),
  file('a group without rules', 'User-agent: a\nDisallow: /a\n\nUser-agent: b\n', 'group-without-rules 4'),
  file('a group with only a crawl-delay', 'User-agent: a\nCrawl-delay: 1\n'),
  file(
    'two groups for one crawler',
    'User-agent: a\nDisallow: /a\n\nUser-agent: A/2\nDisallow: /b\n',
    'product-token-with-version 4',
    'duplicate-group 4',
  ),
  file('the same name twice', 'User-agent: *\nUser-agent: *\nDisallow: /a\n', 'duplicate-name 2'),
  file('a group with only an Allow', 'User-agent: *\nAllow: /\n', 'allow-without-disallow 2'),
  file(
    'everything disallowed for all crawlers',
    'User-agent: *\nDisallow: /*\n',
    'trailing-star 2',
    'blocks-everything 2',
  ),
  file('everything disallowed for one crawler', 'User-agent: a\nDisallow: /\n'),
  file('everything disallowed except one page', 'User-agent: *\nDisallow: /\nAllow: /a\n'),
]

/** A file with rules for all crawlers, and a second group with these lines from line 5 on. */
const withNamedGroup = (name: string, lines: readonly string[], ...findings: string[]): LintCase =>
  file(name, ['User-agent: *', 'Disallow: /a/', 'Disallow: /*?b', '', ...lines, ''].join('\n'), ...findings)

const namedGroups: readonly LintCase[] = [
  withNamedGroup(
    'a named group that lacks the rules of *',
    ['User-agent: a', 'Disallow: /c'],
    'named-group-lacks-rules 5',
  ),
  withNamedGroup(
    'a named group that lacks one rule of *',
    ['User-agent: a', 'User-agent: b', 'Disallow: /c', 'Disallow: /*?'],
    'named-group-lacks-rules 5',
  ),
  withNamedGroup(
    'a named group with only a crawl-delay',
    ['User-agent: a', 'Crawl-delay: 1'],
    'named-group-lacks-rules 5',
  ),
  withNamedGroup(
    'a named group that repeats the rules of *',
    ['User-agent: a', 'Disallow: /a', 'Disallow: /*?b*'],
    'trailing-star 7',
  ),
  withNamedGroup('a named group that allows what * disallows', [
    'User-agent: a',
    'Allow: /a/',
    'Disallow: /a/c',
    'Disallow: /*?b',
  ]),
  withNamedGroup('a named group that allows everything', ['User-agent: a', 'Disallow:']),
  withNamedGroup('a named group that disallows everything', ['User-agent: a', 'Disallow: /']),
  withNamedGroup('a group without a name', ['User-agent:', 'Disallow: /c'], 'user-agent-without-name 5'),
  withNamedGroup('a group of a crawler that never reads *', ['User-agent: AdsBot-Google', 'Disallow: /c']),
  withNamedGroup(
    'two groups for one crawler, which are read together',
    ['User-agent: a', 'Disallow: /c', '', 'User-agent: a', 'Disallow: /a/'],
    'duplicate-group 8',
  ),
  file(
    'exceptions from a file that disallows everything',
    'User-agent: *\nDisallow: /\n\nUser-agent: a\nDisallow: /a\n',
    'blocks-everything 2',
  ),
  file(
    'a named group that lacks rules of the second group for *',
    'User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: c\nDisallow: /a\n',
    'duplicate-group 4',
    'named-group-lacks-rules 7',
  ),
  file(
    'a named group that lacks the preferences of *',
    'User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=n\nDisallow:\n\nUser-agent: a\nDisallow:\n',
    'named-group-lacks-preferences 6',
  ),
  file(
    'a named group with preferences of its own',
    'User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n\nUser-agent: a\nContent-Signal: ai-train=yes\nDisallow:\n',
  ),
  file(
    'a named group that disallows everything, so that no preference applies',
    'User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n\nUser-agent: a\nDisallow: /\n',
  ),
  file(
    'a named group that has one of two preferences of *',
    'User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=n\nDisallow:\n\nUser-agent: a\nContent-Usage: train-ai=y\nDisallow:\n',
    'named-group-lacks-preferences 6',
  ),
  file(
    'a named group that lacks the License of *',
    'User-agent: *\nLicense: https://example.com/a\nDisallow:\n\nUser-agent: a\nDisallow:\n',
    'named-group-lacks-preferences 5',
  ),
  file(
    'a License of * beside one above all groups, which holds for a named group',
    'License: https://example.com/a\nUser-agent: *\nLicense: https://example.com/b\nDisallow:\n\nUser-agent: a\nDisallow:\n',
  ),
]

const licenses: readonly LintCase[] = [
  file(
    'a License at the end, after a blank line, which may be for all crawlers or for the last group',
    'User-agent: *\nDisallow:\n\nUser-agent: a\nDisallow: /b\n\nLicense: https://example.com/a\n',
    'license-in-group 7',
  ),
  file(
    'two Licenses after a Sitemap, of which the first is reported',
    'User-agent: a\nDisallow: /b\nSitemap: https://example.com/s\nLicense: https://example.com/a\nLicense: https://example.com/b\n',
    'license-in-group 4',
  ),
  file(
    'a License at the end, for the group of *, which other crawlers do not read',
    'User-agent: a\nDisallow: /b\n\nUser-agent: *\nDisallow:\n\nLicense: https://example.com/a\n',
    'license-in-group 7',
  ),
  file(
    'a License at the end, for the group of *, if all other groups disallow everything',
    'User-agent: a\nDisallow: /\n\nUser-agent: *\nDisallow:\n\nLicense: https://example.com/a\n',
  ),
  file(
    'a License at the end, if the only group is for all',
    'User-agent: *\nDisallow:\n\nLicense: https://example.com/a\n',
  ),
  file(
    'a License in a named group, and none for other crawlers',
    'User-agent: a\nLicense: https://example.com/a\nDisallow: /b\n',
    'license-in-group 2',
  ),
  file(
    'a License in a named group, and one for other crawlers',
    'User-agent: a\nLicense: https://example.com/a\nDisallow: /b\n\nUser-agent: *\nDisallow:\nLicense: https://example.com/b\n',
  ),
  file(
    'a License in a named group, and one above all groups',
    'License: https://example.com/b\nUser-agent: a\nDisallow: /b\nLicense: https://example.com/a\n',
  ),
  file(
    'a License at the end that is no URL',
    'User-agent: a\nDisallow: /b\n\nLicense: none\n',
    'license-not-absolute 4',
  ),
]

/** Lines of preferences on the use of content, and the finding about each. */
const preferences: readonly LintCase[] = (
  [
    ['Content-Usage: train-ai=n'],
    ['Content-Usage: /a/*.pdf$ train-ai=n;x=1,\tsearch=y'],
    ['Content-Usage: ai-use=y, train-ai=n # none'],
    ['Content-Usage: Train-AI=n', 'unreadable-content-usage'],
    ['Content-Usage: train-ai=n,', 'unreadable-content-usage'],
    ['Content-Usage: train-ai =n', 'unreadable-content-usage'],
    ['Content-Usage: train-ai= n', 'unreadable-content-usage'],
    ['Content-Usage: train-ai=n ;x=1', 'unreadable-content-usage'],
    ['Content-Usage: train-ai=n search=y', 'unreadable-content-usage'],
    ['Content-Usage: train-ai=n\xc3\xa9', 'unreadable-content-usage'],
    ['Content-Usage: *.pdf train-ai=n', 'unreadable-content-usage'],
    ['Content-Usage: train-ai', 'unreadable-preference'],
    ['Content-Usage: train-ai=(n y)', 'unreadable-preference'],
    ['Content-Usage: train-ai=n; search=y', 'unreadable-preference'],
    ['Content-Usage: /a', 'unreadable-preference'],
    ['Content-Usage:', 'unreadable-preference'],
    ['Content-Usage: ai-train=n', 'preference-of-other-field'],
    ['Content-Usage: train-ai=no, search=yes', 'preference-of-other-field'],
    ['Content-Usage: genai=n', 'expired-label'],
    ['Content-Usage: constructor=n', 'unknown-label'],
    ['Content-Usage: train-ai=n, a="b, c"', 'unknown-label'],
    ['Content-Usage: train-ai=n, train-ai=y', 'several-preferences'],
    ['Content-Usage: train-ai=n, train-ai=n'],
    ['Content-Signal: search=yes,ai-train=no,use=reference'],
    ['Content-signal: /a/ search=yes, ai-input=no'],
    ['Content-Signal: search=yes ,  ai-train=no'],
    ['Content-Signal: AI-Train=NO', 'content-signal-spelling'],
    ['Content-Signal: search=yes; ai-train=no', 'content-signal-spelling'],
    ['Content-Signal: train-ai=n', 'preference-of-other-field'],
    ['Content-Signal: ai-train=n', 'preference-of-other-field'],
    ['Content-Signal: ai-train', 'unreadable-preference'],
    ['Content-Signal: use=training', 'unreadable-preference'],
    ['Content-Signal: images=no', 'unknown-label'],
    ['Content-Signal: ai-train=no, ai-train=yes', 'several-preferences'],
  ] as const
).map(([line, code]) => withRules(`"${line}"`, line, ...(code === undefined ? [] : [`${code} 2`])))

const preferencePaths: readonly LintCase[] = [
  withRules(
    'a preference for the paths of a shorter one',
    [
      'Content-Usage: train-ai=n',
      'Content-Usage: / search=y',
      'Content-Usage: /a search=n',
      'Content-Usage: /a* search=y',
    ],
    'shadowed-preference 2',
    'shadowed-preference 4',
  ),
  withRules('two preferences for the same path, which are combined', [
    'Content-Usage: /a search=n',
    'Content-Usage: /a train-ai=n',
  ]),
  withRules(
    'preferences for disallowed paths',
    ['Content-Usage: /zz train-ai=n', 'Content-Usage: /zz/*.pdf$ train-ai=n', 'Content-Usage: /z train-ai=n'],
    'preference-for-disallowed-path 2',
    'preference-for-disallowed-path 3',
  ),
  withRules('a preference for paths of which an Allow may open some', [
    'Content-Usage: /zz train-ai=n',
    'Allow: /zz/a',
  ]),
  withRules('a preference for an index page whose folder is allowed', [
    'Disallow: /z/index.html',
    'Content-Usage: /z/index.html train-ai=n',
  ]),
  withRules(
    'a preference for an index page whose folder is disallowed too',
    ['Disallow: /z/', 'Content-Usage: /z/index.html train-ai=n'],
    'preference-for-disallowed-path 3',
  ),
  file(
    'a preference of a group that disallows everything',
    'User-agent: a\nContent-Usage: train-ai=n\nDisallow: /\n',
    'preference-for-disallowed-path 2',
  ),
  file(
    'a preference for a path that another group disallows',
    'User-agent: a\nDisallow: /a\n\nUser-agent: b\nContent-Usage: /a train-ai=n\nDisallow: /b\n',
  ),
  file(
    'a Content-Usage line in a list of names',
    'User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /a\n',
    'content-usage-between-names 3',
  ),
]

const ruleSets: readonly LintCase[] = [
  withRules('the same rule twice', ['Disallow: /a', 'Disallow: /a'], 'duplicate-rule 3'),
  withRules(
    'the same rule in two spellings',
    ['Disallow: /%7Ea', 'Disallow: /~a*'],
    'encoded-unreserved 2',
    'duplicate-rule 2',
    'trailing-star 3',
  ),
  withRules('the same path allowed and disallowed', ['Allow: /a', 'Disallow: /a'], 'conflicting-rules 3'),
  withRules('a longer rule for the same paths', ['Allow: /a', 'Disallow: /a*'], 'shadowed-rule 2', 'trailing-star 3'),
  withRules(
    'folders inside a disallowed folder',
    ['Disallow: /a/', 'Disallow: /a/b', 'Disallow: /a/*c'],
    'redundant-rule 3',
    'redundant-rule 4',
  ),
  withRules('a folder inside a disallowed folder, below an exception', [
    'Disallow: /a/',
    'Allow: /a/b',
    'Disallow: /a/b/c',
  ]),
  file(
    'a folder inside a disallowed folder, which another group may allow',
    'User-agent: a\nDisallow: /a\nDisallow: /a/b\n\nUser-agent: a\nAllow: /a/\n',
    'duplicate-group 5',
  ),
  withRules('an empty Disallow and another rule', 'Disallow:', 'empty-disallow-beside-rules 2'),
  withRules('an empty Allow', 'Allow:', 'empty-allow 2'),
]

const paths: readonly LintCase[] = [
  withRules(
    'style sheets and scripts that search engines may not fetch',
    ['Disallow: /*.css$', 'Disallow: */*.js', 'Disallow: /js/', 'Disallow: /blog/wp-includes'],
    'closes-page-resources 2',
    'path-begins-with-star 3',
    'closes-page-resources 3',
    'closes-page-resources 4',
    'closes-page-resources 5',
  ),
  withRules('a single script, files with data, and scripts that an Allow opens', [
    'Disallow: /js/ads.js',
    'Disallow: /*a.js',
    'Disallow: /*.json$',
    'Disallow: /js/',
    'Allow: /js/*.js',
    'Disallow: /wp-includes/',
    'Allow: /wp-includes/js/',
    'Allow: /wp-includes/css/',
  ]),
  file('style sheets and scripts that another crawler may not fetch', 'User-agent: a\nDisallow: /*.js$\n'),
  file(
    'a group of bingbot without a Crawl-delay, which * has',
    'User-agent: *\nCrawl-delay: 5\nDisallow: /a\n\nUser-agent: bingbot\nDisallow: /a\n',
    'bing-obeys-shared-delay 5',
  ),
  file(
    'a group of bingbot without a Crawl-delay, of which * has an empty one',
    'User-agent: *\nCrawl-delay: 0\nDisallow: /a\n\nUser-agent: bingbot\nDisallow: /a\n',
  ),
  file(
    'a group of bingbot without a Crawl-delay, which * has unreadably',
    'User-agent: *\nCrawl-delay: abc\nDisallow: /a\n\nUser-agent: bingbot\nDisallow: /a\n',
    'crawl-delay-unreadable 2',
  ),
  file(
    'a group of bingbot with a Crawl-delay, and one of another crawler without',
    'User-agent: *\nCrawl-delay: 5\nDisallow: /a\n\nUser-agent: bingbot\nCrawl-delay: 1\nDisallow: /a\n\nUser-agent: a\nDisallow: /a\n',
  ),
  withRules('a path without a slash', 'Disallow: a', 'path-without-slash 2'),
  withRules('a path that begins with a star', 'Disallow: *a', 'path-begins-with-star 2'),
  withRules(
    'templates in paths, which keep crawlers from links that no program filled in',
    [`Disallow: /*\${`, 'Disallow: *{{ url }}*', 'Disallow: /a/undefined/'],
    ...[2, 3, 4].map((line) => `literal-text-in-path ${line}`),
  ),
  withRules(
    'quotation marks and entities in paths',
    ['Disallow: /"a"', 'Disallow: /%22/b%22', 'Disallow: /c"', 'Disallow: /d&amp;e'],
    ...[2, 3, 4, 5].map((line) => `literal-text-in-path ${line}`),
  ),
  withRules(
    'hosts at the beginning of paths',
    ['Disallow: /example.com/a', 'Disallow: //www.shop.example/b', 'Disallow: *.example.com/c'],
    'literal-text-in-path 2',
    'literal-text-in-path 3',
    'literal-text-in-path 4',
    'path-begins-with-star 4',
  ),
  withRules('names with dots that are no hosts, or whose path is not meant', [
    'Disallow: /a.min.js/b',
    'Disallow: /App.NET/c',
    'Disallow: /www.example.com/',
    'Disallow: //d',
  ]),
  {
    ...withRules('wildcards in a dialect without them', ['Disallow: /a*b', 'Disallow: /a.pdf$', 'Disallow: /[&]']),
    dialect: 'koster-1996',
    findings: [2, 3, 4].map((line) => `literal-wildcard ${line}`),
  },
  withRules(
    'hosts as paths',
    ['Disallow: www.example.com/a', 'Disallow: shop.example/b'],
    'absolute-url-in-rule 2',
    'absolute-url-in-rule 3',
  ),
  withRules('a field as a path', 'Allow: Sitemap: https://example.com/a', 'several-fields-on-one-line 2'),
  withRules('a URL as a path', 'Disallow: https://example.com/a', 'absolute-url-in-rule 2'),
  withRules('two paths on one line', 'Disallow: /a /b', 'two-paths-on-one-line 2'),
  withRules(
    'two paths with a comma or a semicolon',
    ['Disallow: /a,/b', 'Disallow: /c; /d'],
    'two-paths-on-one-line 2',
    'two-paths-on-one-line 3',
  ),
  withRules('commas inside a path, and a path in a query', ['Disallow: /*,de,*a', 'Disallow: /?a=/b,/c']),
  withRules('a URL below the root', 'Disallow: /https://example.com/a', 'url-as-path 2'),
  withRules('the beginning of a URL below the root', ['Disallow: /http://', 'Disallow: /https://example.com/']),
  withRules(
    'regular expressions',
    [
      'Disallow: ^/a',
      'Disallow: /.*\\.pdf$',
      'Disallow: /(b|c)/',
      'Disallow: /d/[0-9]+',
      'Disallow: /e/\\d',
      'Disallow: .*f',
      'Disallow: /*[&%]g',
    ],
    ...[2, 3, 4, 5, 6, 7, 8].map((line) => `regular-expression-in-path ${line}`),
  ),
  withRules(
    'characters of regular expressions that URLs have',
    [
      'Disallow: /index.*.html',
      'Disallow: /a/(b)/c+d',
      'Disallow: /?e[0]=f',
      'Disallow: /(a',
      'Disallow: /?g=h|i',
      'Disallow: /.*',
    ],
    'trailing-star 7',
  ),
  withRules('a space in a path', 'Disallow: /a b', 'raw-space-in-path 2'),
  withRules('a fragment in a path', 'Disallow: /a#b', 'fragment-in-rule 2'),
  withRules('comments after a path', ['Disallow: /a #b', 'Disallow: /b# c', 'Disallow: /c ## d']),
  withRules('a $ inside a path', 'Disallow: /a$b', 'dollar-inside 2'),
  withRules('a $ at the end of a path', 'Disallow: /*.a$'),
  withRules('a star at the end of a path', 'Disallow: /a*', 'trailing-star 2'),
  withRules('two stars in a row', 'Disallow: /a**b', 'double-star 2'),
  withRules('paths that only look like templates', [
    'Disallow: /undefined-values/',
    'Disallow: /%D1%82%D0%B5%D1%81%D1%82%20A',
    'Disallow: /%C3%A9TUDE%20B',
    'Disallow: /*.PDF$',
    'Sitemap: https://mystore.example/nullable.xml',
  ]),
  withRules('UTF-8 in a path', 'Disallow: /caf\xc3\xa9', 'raw-non-ascii 2'),
  withRules('a brace in a path', 'Disallow: /{a}', 'raw-character-in-path 2'),
  withRules('a brace in a query', 'Disallow: /?{a}'),
  withRules('a backslash in a path', 'Disallow: /a\\b', 'backslash-in-path 2'),
  withRules('a % without hex digits', 'Disallow: /100%', 'malformed-percent 2'),
  withRules('a percent-encoded letter', 'Disallow: /%61', 'encoded-unreserved 2'),
  withRules('bytes that need percent-encoding', 'Disallow: /%2F%C3%A9'),
  withRules('a dot segment', 'Disallow: /a/../b', 'dot-segments 2'),
  withRules('hidden files, and a dot segment in a query', ['Disallow: /.', 'Disallow: /b?/../']),
  withRules('robots.txt itself', 'Disallow: /robots.txt$', 'robots-txt-disallowed 2'),
  withRules('an index page', 'Allow: /a/index.html', 'index-page-also-allows-folder 2'),
]

const records: readonly LintCase[] = [
  withRules('a relative sitemap', 'Sitemap: /sitemap.xml', 'sitemap-not-absolute 2'),
  withRules(
    'sitemaps on hosts that no crawler can reach',
    [
      'Sitemap: http://localhost:3000/a',
      'Sitemap: http://10.0.0.1/a',
      'Sitemap: https://shop.local/a',
      'Sitemap: http://[::1]/a',
    ],
    ...[2, 3, 4, 5].map((line) => `sitemap-on-private-host ${line}`),
  ),
  withRules('sitemaps on hosts with similar names', [
    'Sitemap: https://10.example.com/a',
    'Sitemap: https://local.example.com/a',
  ]),
  withRules(
    'two sitemaps on one line',
    'Sitemap: https://example.com/1.xml https://example.com/2.xml',
    'several-sitemaps-on-one-line 2',
  ),
  withRules('a relative license', 'License: license.xml', 'license-not-absolute 2'),
  withRules('a crawl-delay with a unit', 'Crawl-delay: 10s', 'crawl-delay-unreadable 2'),
  withRules('a crawl-delay of over a minute', ['Crawl-delay: 61', 'Disallow: /a'], 'crawl-delay-very-long 2'),
  withRules('two crawl-delays', ['Crawl-delay: 1', 'Crawl-delay: 2'], 'several-crawl-delays 3'),
  file(
    'two crawl-delays in two groups',
    'User-agent: a\nUser-agent: b\nCrawl-delay: 1\nDisallow: /a\n\nUser-agent: b\nCrawl-delay: 2\nDisallow: /a\n',
    'duplicate-group 6',
    'several-crawl-delays 7',
  ),
  withRules('the same crawl-delay twice', ['Crawl-delay: 1', 'Crawl-delay: 1.0']),
  withRules('a number as a rate', 'Request-rate: 5', 'request-rate-unreadable 2'),
  withRules('24 rates', repeated(24, 'Request-rate: 1/10 00:00-01:00')),
  withRules('a 25th rate', repeated(25, 'Request-rate: 1/10 00:00-01:00'), 'too-many-request-rates 26'),
  withRules('99 rates', repeated(99, 'Request-rate: 1/10'), 'too-many-request-rates 26'),
  file(
    'a 25th rate for one crawler, in its second group',
    [
      ...['User-agent: a', 'User-agent: b', ...repeated(20, 'Request-rate: 1/10'), 'Disallow: /a'],
      ...['User-agent: b', ...repeated(5, 'Request-rate: 1/10'), 'Disallow: /b', ''],
    ].join('\n'),
    'duplicate-group 24',
    'too-many-request-rates 29',
  ),
  withRules('24 visit-times and a rate', [...repeated(24, 'Visit-time: 0000-0100'), 'Request-rate: 1/10']),
  withRules('a 25th visit-time', repeated(25, 'Visit-time: 0000-0100'), 'too-many-visit-times 26'),
  withRules('a visit-time without minutes', 'Visit-time: 6-8', 'visit-time-unreadable 2'),
  withRules(
    'a sitemap that an earlier line names',
    ['Sitemap: https://example.com/a', 'Sitemap: https://EXAMPLE.com/a', 'Sitemap: https://example.com/b'],
    'duplicate-sitemap 3',
  ),
  withRules('noindex', 'Noindex: /a', 'noindex-not-supported 2'),
  withRules('host', 'Host: example.com', 'host-deprecated 2'),
]

/** Correct files, which have no findings but notes. */
export const goodFiles: readonly LintCase[] = [
  file(
    'the lines that Cloudflare adds above a file of the site',
    [
      '# BEGIN Cloudflare Managed content',
      '',
      'User-agent: *',
      'Content-Signal: search=yes,ai-train=no,use=reference',
      'Allow: /',
      '',
      'User-agent: GPTBot',
      'Disallow: /',
      '',
      '# END Cloudflare Managed Content',
      'User-agent: *',
      'Disallow: /admin/',
      '',
    ].join('\n'),
    'duplicate-group 11',
  ),
  file('everything is allowed', 'User-agent: *\nDisallow:\n'),
  file('everything is disallowed', '# Not open yet\nUser-agent: *\nDisallow: /\n', 'blocks-everything 3'),
  file(
    'a shop',
    [
      '# Questions: webmaster@example.com',
      'User-agent: *',
      'Disallow: /cart',
      'Disallow: /checkout/ # and all its steps',
      'Disallow: /*?sort=',
      'Disallow: /*.pdf$',
      'Allow: /cart/help',
      'Crawl-delay: 2',
      '',
      'User-agent: ExampleBot',
      'User-agent: OtherBot',
      'Disallow: /',
      '',
      'Sitemap: https://example.com/sitemap.xml',
      'Sitemap: https://cdn.example.net/news.xml',
      '',
    ].join('\r\n'),
  ),
  file(
    'a blog with preferences on the use of content',
    [
      'Sitemap: https://example.com/sitemap.xml',
      'License: https://example.com/license.xml',
      '',
      'User-agent: *',
      'Content-Signal: search=yes, ai-train=no',
      'Content-Usage: train-ai=n',
      'Disallow: /admin/',
      'Allow: /admin/public.php',
      '',
      'User-agent: SlowBot',
      'Request-rate: 1/10s 0600-2200',
      'Visit-time: 0600-2200',
      'Clean-param: ref /articles/',
      'Disallow: /search',
      '',
    ].join('\n'),
    'named-group-lacks-rules 10',
    'named-group-lacks-preferences 10',
  ),
  file(
    'an old file with CR as its line end',
    'User-agent: *\rDisallow: /cgi-bin/\rDisallow: /tmp/\rDisallow: /~joe/\r',
  ),
]

export const lintCases: readonly LintCase[] = [
  ...wholeFiles,
  ...lines,
  ...templates,
  ...names,
  ...groups,
  ...namedGroups,
  ...licenses,
  ...preferences,
  ...preferencePaths,
  ...ruleSets,
  ...paths,
  ...records,
  ...goodFiles,
]
