// Whether what findings say is true. Small files are made of every combination of a few parts, and
// each finding about them is compared with what the parser and the matcher do, in every dialect.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { deepSampled } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import {
  type CrawlerRules,
  type DialectName,
  dialects,
  type Finding,
  type FindingCode,
  findingKinds,
  lintRobots,
  parseRobots,
  type Robots,
} from '../src/index.ts'
import { fieldsOf, sampleUrl } from '../src/review/index.ts'
import { robotsPreferences } from '../src/usage/robots-txt/robots-preferences.ts'

/** One finding, and the file that it is about. */
interface Case extends Finding {
  readonly text: string
  readonly dialect: DialectName
  readonly robots: Robots
  /** URLs as clients send them. */
  readonly urls: readonly string[]
}

/** Returns whether the finding is true. */
type Claim = (found: Case) => boolean

const CRAWLERS = ['a', 'b', 'a1', 'c', '*']

/** Replaces a line with a rule: matches no URL of this file. */
const NOTHING = 'Disallow: /matches-no-url'

function withLine({ text, dialect, line }: Case, ...lines: readonly string[]): Robots {
  return parseRobots(
    Buffer.from(
      text
        .split('\n')
        .toSpliced(line - 1, 1, ...lines)
        .join('\n'),
    ),
    { dialect },
  )
}

function lineOf({ text, line }: Case): string {
  return text.split('\n')[line - 1] ?? ''
}

/** The crawlers of `CRAWLERS` that the group of a line names; `q` stands for a crawler without a group. */
function namedOn({ robots, dialect, line }: Case): readonly string[] {
  const { fields, groups } = fieldsOf(robots)
  const { group = -1 } = fields.find((field) => field.line === line) ?? {}
  const namedBy = (agent: string) => (agent === '*' ? ['q'] : named(agent, dialect, CRAWLERS.slice(0, 4)))
  return groups[group]?.agents.flatMap(namedBy) ?? []
}

function rulesOf(robots: Robots): readonly CrawlerRules[] {
  return CRAWLERS.map((crawler) => robots.forCrawler(crawler))
}

/** Whether all crawlers get the same verdicts, and the same pace. */
function isSame({ urls }: Case, one: Robots, other: Robots): boolean {
  const [before, after] = [rulesOf(one), rulesOf(other)]
  return before.every((rules, i) => {
    const others = after[i] as CrawlerRules
    return (
      rules.crawlDelayMs === others.crawlDelayMs && urls.every((url) => rules.isAllowed(url) === others.isAllowed(url))
    )
  })
}

/** The line makes no difference: any other rule that matches nothing does the same. */
const isSuperfluous: Claim = (found) => isSame(found, found.robots, withLine(found, NOTHING))

/** The line makes no difference: the file without it does the same. */
const isIgnored: Claim = (found) => isSame(found, found.robots, withLine(found))

/** The URLs that the rule of a line matches, alone in a file. */
function matchedBy(line: string, { dialect, urls }: Case): readonly string[] {
  const rule = parseRobots(Buffer.from(`User-agent: *\n${line}\n`), { dialect })
  return urls.filter((url) => rule.explain(url, '*').matches.length > 0)
}

const matchesNothing: Claim = (found) => matchedBy(lineOf(found), found).length === 0

/** What to write matches the same URLs as the line. */
const isSpelling: Claim = (found) => {
  const { dialect, write = [] } = found
  // Dialects that decode less compare the spellings as different paths.
  const isPlain = ['plain', 'google'].includes(dialects[dialect].parsing.compare)
  if (isPlain) return true
  const written = new Set(write.flatMap((line) => matchedBy(line, found)))
  return (
    JSON.stringify(matchedBy(lineOf(found), found)) === JSON.stringify(found.urls.filter((url) => written.has(url)))
  )
}

const isShorter: Claim = (found) => {
  const written = new Set((found.write ?? []).flatMap((line) => matchedBy(line, found)))
  const isEqual = JSON.stringify(matchedBy(lineOf(found), found)) === JSON.stringify([...written])
  return isEqual && (found.write?.[0]?.length ?? 0) < lineOf(found).length
}

/** Each URL that the line matches contains the text that the message quotes. */
const containsFound: Claim = (found) => {
  const [, text = found.message.includes('quotation') ? '"' : ''] = /contain "(.+?)"[;,]/.exec(found.message) ?? []
  return matchedBy(lineOf(found), found).every((url) =>
    decodeURIComponent(url.replace(/%(?!\w\w)/g, '%25')).includes(text),
  )
}

/** No crawler reads the group because of this line. */
const namesNoCrawler: Claim = (found) => isSame(found, found.robots, withLine(found, 'User-agent: never-sent'))

/** The crawlers that a user-agent value names. */
function named(value: string, dialect: DialectName, crawlers: readonly string[]): readonly string[] {
  const robots = parseRobots(Buffer.from(`User-agent: ${value}\nDisallow: /\n`), { dialect })
  return crawlers.filter((crawler) => !robots.isAllowed('/x', crawler))
}

function fieldValue({ robots, line }: Case): string {
  return fieldsOf(robots).fields.find((field) => field.line === line)?.value ?? ''
}

/** The rules of the group of the line also apply to a crawler that an earlier line names. */
const isMerged: Claim = ({ robots, line }) => {
  const { fields } = fieldsOf(robots)
  const group = fields.find((field) => field.line === line)?.group
  const names = fields.filter((field) => field.field === 'user-agent' && field.group === group)
  const above = names.filter((field) => field.line < line)
  const rules = fields.filter((field) => field.group === group && ['allow', 'disallow'].includes(field.field))
  return above.length > 0 && rules.some((rule) => rule.line > line)
}

/** The labels that a crawler without a group reads in a line. */
function labelsIn({ robots, urls, line }: Case): readonly string[] {
  const pages = urls.filter((url) => !url.endsWith('/robots.txt')) // no page
  return pages.flatMap((url) =>
    robotsPreferences(robots, url, 'c')
      .statements.filter(({ source }) => source.line === line)
      .map(({ label }) => label),
  )
}

/** The label that a message quotes is not read. */
const labelIsUnread: Claim = (found) => {
  const [, quoted = ''] = /"([^"]*)"/.exec(found.message) ?? []
  return !labelsIn(found).includes(quoted.toLowerCase().replace(/[\t ]/g, ''))
}

function fieldsIn({ robots, line }: Case) {
  return fieldsOf(robots).fields.filter((field) => field.line === line)
}

const FORMAT = 'about bytes or a format, which lint-cases.ts covers'
const ADVICE = 'about an operator or a standard, not about an effect'

/** A text is the reason why nothing here can tell. */
const claims: Readonly<Record<FindingCode, Claim | string>> = {
  'html-instead-of-robots': FORMAT,
  'xml-instead-of-robots': FORMAT,
  'json-instead-of-robots': FORMAT,
  'binary-instead-of-robots': FORMAT,
  'utf-16': FORMAT,
  'over-500-kib': FORMAT,
  'misplaced-bom': FORMAT,
  'over-long-line': FORMAT,
  'nul-octet': (found) => fieldsIn(found).every(({ value }) => !value.includes('\0')),
  'other-line-end': (found) => fieldsIn(found).length <= 1,
  'escaped-line-end': (found) => fieldsIn(found).length <= 1,
  'html-in-line': (found) => fieldsIn(found).every(({ key, value }) => /[<&]/.test(key + value)),
  'unfilled-template': FORMAT,
  'look-alike-character': FORMAT,
  'non-ascii-blank': FORMAT,
  'key-without-value': isIgnored,
  'three-words-without-colon': isIgnored,
  'late-colon': (found) => fieldsIn(found).some(({ key }) => /[\t ]/.test(key)),
  'several-fields-on-one-line': (found) => fieldsIn(found).length === 1,
  'url-without-key': isIgnored,
  'unreadable-key': isIgnored,
  'user-agent-without-name': namesNoCrawler,
  'unreadable-name': namesNoCrawler,
  'wildcard-in-name': namesNoCrawler,
  'several-names-on-one-line': (found) => {
    const names = fieldValue(found)
      .split(/[\t ,;|]+/)
      .map((name) => name.replace(/\/.*/, ''))
    const distinct = [...new Set(names)]
    return distinct.length === 1 || named(fieldValue(found), found.dialect, distinct).length < distinct.length
  },
  'user-agent-header-as-name': (found) => named(fieldValue(found), found.dialect, ['a', 'b']).length === 0,
  'rule-before-group': isIgnored,
  'path-without-slash': matchesNothing,
  'absolute-url-in-rule': matchesNothing,
  'two-paths-on-one-line': (found) => {
    const paths = (found.write ?? []).map((line) => line.replace(/^\w+: /, ''))
    return paths.length === 0 || fieldsIn(found).every(({ value }) => !paths.includes(value))
  },
  'sitemap-not-absolute': ({ robots }) => robots.sitemaps.length < robots.records.length,
  'sitemap-on-private-host': ADVICE,
  'several-sitemaps-on-one-line': ADVICE,
  'license-not-absolute': ADVICE,
  'unreadable-content-usage': (found) => labelsIn(found).length === 0,
  'unreadable-preference': labelIsUnread,
  'preference-of-other-field': labelIsUnread,
  'partial-bom': FORMAT,
  'control-character': FORMAT,
  'not-utf-8': FORMAT,
  'missing-colon': (found) => {
    const exact = parseRobots(found.text, { dialect: 'koster-1996' })
    return fieldsIn({ ...found, robots: exact }).length === 0 && isSame(found, found.robots, written(found))
  },
  'not-a-field': isIgnored,
  'misspelt-key': (found) => {
    const google = { ...found, robots: parseRobots(found.text, { dialect: 'google' }), dialect: 'google' as const }
    return isSame(google, google.robots, written(google))
  },
  'key-known-by-its-beginning': (found) =>
    fieldsIn({ ...found, robots: parseRobots(found.text) }).every(({ field }) => field !== 'unknown'),
  'product-token-with-other-characters': (found) => {
    const names = [found.write?.[0] ?? '', fieldValue(found)]
    const inDialects = Object.keys(dialects).map((each) => named(fieldValue(found), each as DialectName, names).join())
    return found.write?.[0] === '*' || new Set(inDialects).size > 1
  },
  'names-merged-across-blank-line': isMerged,
  'names-merged-across-record': isMerged,
  'group-without-rules': (found) =>
    namedOn(found).every((name) => found.urls.every((url) => found.robots.isAllowed(url, name))),
  'record-before-group': isIgnored,
  'empty-allow': isSuperfluous,
  'conflicting-rules': (found) => {
    const [crawler = '*'] = namedOn(found)
    return matchedBy(lineOf(found), found).every((url) => {
      const { matches } = found.robots.explain(url, crawler)
      const own = matches.find(({ line }) => line === found.line)
      return own === undefined || matches.find(({ bytes }) => bytes === own.bytes)?.directive === 'allow'
    })
  },
  'shadowed-rule': isSuperfluous,
  'fragment-in-rule': (found) => fieldsIn(found).every(({ value }) => !value.includes('#')),
  'dollar-inside': (found) => matchedBy(lineOf(found), found).every((url) => /\$|%24/.test(url)),
  'raw-space-in-path': (found) => fieldsIn(found).some(({ value }) => value.includes(' ')) && isSpelling(found),
  'backslash-in-path': (found) => {
    const asWritten = fieldsIn(found).map(({ value }) => value.replace(/[*$]/g, ''))
    const sent = asWritten.map((path) => new URL(sampleUrl(path)).href)
    return matchedBy(lineOf(found), { ...found, urls: sent }).length === 0
  },
  'url-as-path': (found) => matchedBy(lineOf(found), found).every((url) => url.includes('http:/', 8)),
  'regular-expression-in-path': (found) => (found.write ?? []).every((line) => !/[\\()|^[\]]/.test(line)),
  'literal-wildcard': containsFound,
  'malformed-percent': (found) => fieldsIn(found).every(({ value }) => /%(?![\dA-Fa-f]{2})/.test(value)),
  'dot-segments': matchesNothing,
  'crawl-delay-unreadable': (found) => isSame(found, found.robots, withLine(found, 'Noindex: /')),
  'crawl-delay-very-long': (found) => Number(fieldValue(found)) > 60,
  'several-crawl-delays': (found) => {
    const isMerged = dialects[found.dialect].parsing.groups === 'merged'
    const others = rulesOf(withLine(found)).some(({ crawlDelayMs }) => crawlDelayMs !== undefined)
    const agents = found.robots.records.find(({ line }) => line === found.line)?.agents ?? []
    return !isMerged || agents.every((agent) => agent === '') || others
  },
  'request-rate-unreadable': ({ robots }) => rulesOf(robots).every(({ requestRates }) => requestRates.length === 0),
  'too-many-request-rates': ADVICE,
  'visit-time-unreadable': ({ robots }) => rulesOf(robots).every(({ visitTimes }) => visitTimes.length === 0),
  'too-many-visit-times': ADVICE,
  'content-signal-spelling': ADVICE,
  'expired-label': labelIsUnread,
  'several-preferences': (found) => {
    const [, label = ''] = /"([^"]*)"/.exec(found.message) ?? []
    return fieldValue(found).toLowerCase().split(label).length > 2
  },
  'shadowed-preference': (found) => labelsIn(found).length === 0,
  'content-usage-between-names': isMerged,
  'noindex-not-supported': ADVICE,
  'empty-file': ({ robots, urls }) => urls.every((url) => robots.isAllowed(url, 'a')),
  bom: FORMAT,
  'unknown-field': isIgnored,
  'ignored-field': (found) => !found.message.includes('has no Allow') || isIgnored(found),
  'product-token-with-version': (found) => {
    const name = found.write?.[0] ?? ''
    return named(`${name}`, 'rfc9309', [name]).join() === named(fieldValue(found), 'rfc9309', [name]).join()
  },
  'product-token-without-vendor': ADVICE,
  'product-token-with-digits': (found) => {
    const letters = fieldValue(found).replace(/[^A-Za-z_-].*/s, '')
    return named(fieldValue(found), 'google', [letters]).length === 1
  },
  'named-group-lacks-rules': (found) => {
    const { robots, write = [] } = found
    return write.every((rule) => {
      const pattern = rule.replace('Disallow: ', '')
      const isLiteral = dialects[found.dialect].parsing.wildcards === 'literal'
      const own = sampleUrl(isLiteral ? pattern : pattern.replace(/\$$/, '').replaceAll('*', 'x'))
      const urls = [new URL(own).href, ...found.urls]
      const closed = matchedBy(rule, { ...found, urls }).filter((url) => !robots.isAllowed(url, '*'))
      return namedOn(found).every((name) => closed.some((url) => robots.isAllowed(url, name)))
    })
  },
  'named-group-lacks-preferences': (found) => {
    const at = (found.write ?? []).map((line) => found.text.split('\n').indexOf(line) + 1)
    return namedOn(found).every((name) =>
      robotsPreferences(found.robots, sampleUrl('/'), name).lines.every(
        ({ line, audience }) => !at.includes(line) || audience !== 'own',
      ),
    )
  },
  'duplicate-group': ({ robots, line }) => {
    const { fields } = fieldsOf(robots)
    const own = fields.find((field) => field.line === line)
    return fields.some(
      (other) => other.line < line && other.group !== own?.group && isSameName(other.value, own?.value),
    )
  },
  'duplicate-name': ({ robots, line }) => {
    const { fields } = fieldsOf(robots)
    const own = fields.find((field) => field.line === line)
    return fields.some(
      (other) => other.line < line && other.group === own?.group && isSameName(other.value, own?.value),
    )
  },
  'duplicate-rule': isSuperfluous,
  'redundant-rule': isSuperfluous,
  'empty-disallow-beside-rules': isSuperfluous,
  'allow-without-disallow': isSuperfluous,
  'blocks-everything': ({ robots, urls }) =>
    urls.every((url) => /\/robots\.txt$/.test(url) || !robots.isAllowed(url, 'q')),
  'closes-page-resources': (found) =>
    (found.write ?? []).every((allow) => {
      const path = sampleUrl(allow.replace('Allow: ', '').replaceAll('*', 'x'))
      const crawlers = namedOn(found)
      return crawlers.every(
        (name) => !found.robots.isAllowed(path, name) && withLine(found, lineOf(found), allow).isAllowed(path, name),
      )
    }),
  'bing-obeys-shared-delay': ADVICE,
  'path-begins-with-star': isSpelling,
  'trailing-star': isShorter,
  'double-star': isShorter,
  'raw-non-ascii': isSpelling,
  'raw-character-in-path': isSpelling,
  'encoded-unreserved': isSpelling,
  'literal-text-in-path': containsFound,
  'robots-txt-disallowed': ({ robots, dialect }) =>
    dialects[dialect].parsing.robotsTxtItself === 'by-rules' || robots.isAllowed('/robots.txt', '*'),
  'index-page-also-allows-folder': (found) => {
    const google = { ...found, dialect: 'google' as const, urls: [...found.urls, ...INDEX_PAGES.map(sampleUrl)] }
    const [before, after] = [matchedBy(lineOf(found), google), matchedBy(found.write?.[0] ?? '', google)]
    const gained = after.filter((url) => !before.includes(url))
    return before.every((url) => after.includes(url) || url.endsWith('/')) && gained.every((url) => /i.+ndex/.test(url))
  },
  'unknown-label': labelIsUnread,
  'preference-for-disallowed-path': (found) => labelsIn(found).length === 0,
  'license-in-group': ADVICE,
  'duplicate-sitemap': (found) => JSON.stringify(withLine(found).sitemaps) === JSON.stringify(found.robots.sitemaps),
  'host-deprecated': ADVICE,
}

function written(found: Case): Robots {
  return withLine(found, ...(found.write ?? []))
}

function isSameName(one: string, other = ''): boolean {
  const nameOf = (value: string) => value.replace(/[^\w*-].*/s, '').toLowerCase()
  return nameOf(one) === nameOf(other)
}

/** Files, and URLs that show their effects. */
interface Family {
  readonly name: string
  readonly count: number
  readonly texts: (random: () => number) => string
  readonly paths: readonly string[]
}

/** Up to `most` random parts, joined. */
function joined(random: () => number, parts: readonly string[], most: number, separator = ''): string {
  const count = 1 + Math.floor(random() * most)
  return Array.from({ length: count }, () => pick(random, parts)).join(separator)
}

/** Every text of up to three parts. */
function every(parts: readonly string[]): readonly string[] {
  const two = parts.flatMap((one) => parts.map((other) => one + other))
  return [...parts, ...two, ...two.flatMap((one) => parts.map((other) => one + other))]
}

const INDEX_PAGES = ['/', '/index.html', '/a/', '/a/index.html', '/a/index.htm', '/a/b', '/index', '/a/b/']

const FEW_PATHS = ['/', '/a', '/a/', '/ab', '/b', '/index.html', '/robots.txt', '/~', '/%7E']

const families: readonly Family[] = [
  {
    name: 'one rule',
    count: 6_000,
    texts: (random) => {
      const path = joined(
        random,
        ['/', '/', 'a', '*', '$', '.', '..', '\\', '?', 'é', ' ', '{', '%7E', '%', '#b', 'b', '[0-9]', '.*'],
        5,
      )
      return `User-agent: *\n${pick(random, ['Disallow', 'Allow'])}: ${pick(random, ['/', '/', '*', ''])}${path}\nDisallow: /zz\n`
    },
    paths: every(['/', 'a', 'b', '.', '?', '\\', '%5C', '%7E', '~', 'é', ' ', '%7B', '$', '..', '%25']).map(
      (path) => `/${path}`,
    ),
  },
  {
    name: 'one rule with a long part',
    count: 2_000,
    texts: (random) => {
      const path = joined(
        random,
        [
          '/',
          '/',
          'a',
          '*',
          '$',
          'index.html',
          'index.htm',
          'robots.txt',
          'http://a.b/',
          'https://a.b',
          'www.a.com/',
          '"',
          'null',
          ', /',
          ' /',
          '<br>',
        ],
        4,
      )
      return `User-agent: *\n${pick(random, ['Disallow', 'Allow'])}: ${pick(random, ['/', '/', '*', ''])}${path}\nDisallow: /zz\n`
    },
    paths: every([
      '/',
      'a',
      'index.html',
      'index.htm',
      'robots.txt',
      'http://a.b/',
      'www.a.com/',
      '%22',
      'null',
      'i-ndex.html',
      '?',
      ',',
      '%20',
    ]).map((path) => `/${path}`),
  },
  {
    name: 'several rules',
    count: 4_000,
    texts: (random) => {
      const rules = [
        '/',
        '/a',
        '/a*',
        '/a/',
        '/*',
        '/a$',
        '/*$',
        '/index.html',
        '/index.html*',
        '/*/index.html',
        '/a**b',
        '/%7E',
        '/~',
        '',
        '/a/../',
        '/robots.txt$',
        '/ab',
        '*a',
        '*/',
        '/a*b',
        '/*b',
        '/js/',
        '/a/css',
        '/_next/*',
        '/*.js$',
      ]
      const lines = () =>
        Array.from(
          { length: 1 + Math.floor(random() * 4) },
          () => `${pick(random, ['Disallow', 'Disallow', 'Allow'])}: ${pick(random, rules)}`,
        )
      const group = () => [`User-agent: ${pick(random, ['*', '*', 'a', 'b'])}`, ...lines()]
      return [...group(), ...(random() < 0.5 ? group() : []), ''].join('\n')
    },
    paths: every(['/', 'a', 'b', '~', '%7E', 'index.html', '?', 'x'])
      .map((path) => `/${path}`)
      .concat('/', '/robots.txt'),
  },
  {
    name: 'groups',
    count: 8_000,
    texts: (random) =>
      joined(
        random,
        [
          'User-agent: a',
          'User-agent: b',
          'User-agent: *',
          'User-agent: a1',
          'User-agent:',
          'User-agent: a/1',
          '',
          'Disallow: /a',
          'Disallow:',
          'Disallow: /',
          'Allow: /a',
          'Allow:',
          'Crawl-delay: 1',
          'Crawl-delay: 2',
          'Crawl-delay: 99',
          'Crawl-delay: x',
          'Sitemap: https://e.example/',
          'Sitemap: /e',
          'Content-Usage: train-ai=n',
          'Content-Signal: ai-train=no',
          'Noindex: /a',
          'Foo: b',
          '# c',
        ],
        8,
        '\n',
      ),
    paths: FEW_PATHS,
  },
  {
    name: 'names',
    count: 3_000,
    texts: (random) =>
      `User-agent: ${joined(random, ['a', 'b', '*', '1', '/', '.', ' ', ',', ', ', 'é', '+', 'Mozilla/5.0 (', ')', '/1'], 4)}\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n`,
    paths: FEW_PATHS,
  },
  {
    name: 'keys and colons',
    count: 6_000,
    texts: (random) =>
      `User-agent: *\n${joined(random, ['Disallow', 'Dissallow', 'Disallows', 'User agent', 'User-agent', 'allow', 'Allow', 'Foo', 'Sitemap', 'disalow', 'Disallw', 'Crawl_delay', ' Allow: ', ':', ': ', ' ', ' ', '/a', '/b', 'https://a.b/', 'a', '\\n', '<p>', '&amp;b=', '\x0c', '\0'], 6)}\nDisallow: /zz\n`,
    paths: FEW_PATHS,
  },
  {
    name: 'preferences',
    count: 6_000,
    texts: (random) => {
      const value = () =>
        `${pick(random, ['', '', '/a ', '/a* ', '/ ', '/index.html ', '/b$ ', '*.a '])}${joined(random, ['train-ai=n', 'train-ai=y', 'search=y', ', ', ', ', ' ', 'genai=n', 'ai-train=no', 'foo=y', ';x', 'Train-ai=n', '=', 'ai-use', 'use=full', 'ai-input=yes', '"', '(a)'], 4)}`
      const lines = Array.from(
        { length: 1 + Math.floor(random() * 3) },
        () => `${pick(random, ['Content-Usage', 'Content-Usage', 'Content-Signal'])}: ${value()}`,
      )
      const other = random() < 0.3 ? ['User-agent: a', 'Disallow: /b'] : []
      return [
        'User-agent: *',
        ...lines,
        pick(random, ['Disallow: /a', 'Disallow: /zz', 'Allow: /', 'Disallow:']),
        ...other,
        '',
      ].join('\n')
    },
    paths: FEW_PATHS,
  },
  {
    name: 'numbers',
    count: 2_000,
    texts: (random) =>
      `User-agent: *\n${pick(random, ['Crawl-delay', 'Request-rate', 'Visit-time'])}: ${joined(random, ['1', '0', '.', '-', 's', '61', ' ', '/', '0600', ':', 'UTC', '30'], 5)}\nDisallow: /zz\n`,
    paths: FEW_PATHS,
  },
]

/** How many URLs are tried for each file, besides the first ones of its family. */
const URLS = 25

describe('what a finding says is true', () => {
  const seen = new Set<FindingCode>()

  it.each(families)('in files of the family "$name"', ({ texts, paths, count }) => {
    const all = [...new Set(paths.map((path) => new URL(sampleUrl(path)).href))]
    const wrong = new Map<string, string>()
    for (let seed = 1; seed <= deepSampled(count, count / 100); seed++) {
      const random = seededRandom(seed)
      const text = texts(random)
      const bytes = Buffer.from(text)
      const urls = all.length <= URLS ? all : [...new Set(Array.from({ length: URLS }, () => pick(random, all)))]
      for (const dialect of Object.keys(dialects) as DialectName[]) {
        const robots = parseRobots(bytes, { dialect })
        for (const finding of lintRobots(bytes, { dialect })) {
          const claim = claims[finding.code]
          seen.add(finding.code)
          if (typeof claim === 'string' || claim({ ...finding, text, dialect, robots, urls })) continue
          const key = `${finding.code}, ${dialect}`
          if (!wrong.has(key)) wrong.set(key, `line ${finding.line} of ${JSON.stringify(text)}: ${finding.message}`)
        }
      }
    }
    expect(Object.fromEntries(wrong)).toEqual({})
  })

  it('and every kind that can be judged occurs in these files', { tags: 'full' }, () => {
    const codes = Object.keys(findingKinds) as FindingCode[]
    expect(codes.filter((code) => typeof claims[code] !== 'string' && !seen.has(code))).toEqual([])
  })
})
