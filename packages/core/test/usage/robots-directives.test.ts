// `robotsDirectives`: X-Robots-Tag, Robots-Tag, and robots meta elements.
//
// Rows name where they come from: a document, the tests of another project (values only), or `ours`
// for our reading.
import { describe, expect, test } from 'vitest'
import { pageHeadOf, type RobotsDirectives, robotsDirectives } from '../../src/usage/index.ts'
import { MAX_TAG_LENGTH, statementsOf } from '../../src/usage/tags/robots-directives.ts'
import { robotsDocuments, robotsRules } from '../../src/usage/tags/robots-rules.ts'

/** Writes each rule as `name=value@crawler`. */
function written({ list }: RobotsDirectives): string {
  return list.map(({ name, value, token }) => name + and('=', value) + and('@', token)).join(', ')
}

function and(mark: string, text: string | undefined): string {
  return text === undefined ? '' : mark + text
}

function problems({ problems }: RobotsDirectives): string {
  return problems.map(({ reason }) => reason).join(', ')
}

const xRobotsTag = (...lines: string[]) => ({ headers: { 'x-robots-tag': lines } })
const robotsTag = (...lines: string[]) => ({ headers: { 'robots-tag': lines } })
const meta = (content: string, name = 'robots') => ({ html: `<meta name="${name}" content="${content}">` })

describe('X-Robots-Tag', () => {
  test.each([
    // [source, lines, crawler, rules]
    ['Google, one rule', ['noindex'], '*', 'noindex'],
    ['Google, several rules', ['noindex, nofollow'], '*', 'noindex, nofollow'],
    [
      'Google, several lines',
      ['noarchive', 'unavailable_after: 25 Jun 2010 15:00:00 PST'],
      '*',
      'noarchive, unavailable_after=25 Jun 2010 15:00:00 PST',
    ],
    [
      'Google, a scope covers its line',
      ['googlebot: nofollow', 'otherbot: noindex, nofollow'],
      'otherbot',
      'noindex@otherbot, nofollow@otherbot',
    ],
    [
      'Google, a scope ends with its line',
      ['googlebot: nofollow', 'otherbot: noindex, nofollow'],
      'googlebot',
      'nofollow@googlebot',
    ],
    [
      'Google, general and own rules add up',
      ['nofollow', 'googlebot: noindex'],
      'Googlebot',
      'nofollow, noindex@googlebot',
    ],
    [
      'MDN, two scopes in a line',
      ['BadBot: noindex, nofollow, googlebot: nofollow'],
      'googlebot',
      'nofollow@googlebot',
    ],
    [
      'MDN, two scopes in a line',
      ['BadBot: noindex, nofollow, googlebot: nofollow'],
      'badbot',
      'noindex@badbot, nofollow@badbot',
    ],
    [
      'mdn/content#37079, rules before scopes',
      ['notranslate, BadBot: noindex, googlebot: max-snippet: 44'],
      'googlebot',
      'notranslate, max-snippet=44@googlebot',
    ],
    ['spatie/robots-txt, no own rules', ['nofollow', 'google: noindex, nofollow'], 'other-bot', 'nofollow'],
    ['spatie/robots-txt, `*`', ['google: none'], '*', ''],
    ['crawler-commons, case and blanks', [' Max-Image-Preview : large ,INDEX '], '*', 'max-image-preview=large, index'],
    ['crawler-commons, empty members', [', index, , max-image-preview: large,'], '*', 'index, max-image-preview=large'],
    ['crawler-commons, nothing', ['', ',,,'], '*', ''],
    [
      'crawler-commons, unknown rule',
      ['max-image-preview: large, foo-123, noai'],
      '*',
      'max-image-preview=large, foo-123, noai',
    ],
    ['crawler-commons, an unknown name before a colon is a crawler', ['foo: bar, index'], 'MyBot', ''],
    ['crawler-commons, a crawler without rules', ['index, MyBot:'], 'MyBot', 'index'],
    ['crawler-commons, the last of two crawlers counts', ['MyBot: UnknownBot: index'], 'MyBot', ''],
    ['crawler-commons, the last of two crawlers counts', ['UnknownBot: MyBot: index'], 'MyBot', 'index@mybot'],
    [
      'crawler-commons, scopes in turn',
      [
        'UnknownBot: bar: 100, baz: 200, MyBot: max-image-preview: large, UnknownBot: foo, bar, MyBot: unavailable_after: Wed, 31 Dec 2025 23:59:59 GMT',
      ],
      'MyBot',
      'max-image-preview=large@mybot, unavailable_after=Wed, 31 Dec 2025 23:59:59 GMT@mybot',
    ],
    [
      'crawler-commons, rules after an invalid value count',
      ['max-snippet: <invalid value>, UnknownBot: follow, MyBot: index'],
      'MyBot',
      'max-snippet=<invalid value>, index@mybot',
    ],
    [
      'ours, rules after an invalid date count',
      ['unavailable_after: 24:00:00, noindex'],
      '*',
      'unavailable_after=24:00:00, noindex',
    ],
    [
      'PostHog, a date in another scope',
      ['OtherBot: unavailable_after: 25 Jun 2026 15:00:00 PST, noai'],
      'ExampleBot',
      '',
    ],
    [
      'PostHog, a rule after a date',
      ['unavailable_after: 25 Jun 2026 15:00:00 PST, noai'],
      'ExampleBot',
      'unavailable_after=25 Jun 2026 15:00:00 PST, noai',
    ],
    [
      'RFC 850, a date with a comma',
      ['unavailable_after: Wednesday, 31-Dec-25 23:59:59 GMT, noai'],
      '*',
      'unavailable_after=Wednesday, 31-Dec-25 23:59:59 GMT, noai',
    ],
    [
      'ours, no rule is taken for the rest of a date',
      ['unavailable_after: Fri, noai'],
      '*',
      'unavailable_after=Fri, noai',
    ],
    ['ours, `*` and `robots` are all crawlers', ['*: noindex', 'robots: noai'], 'ExampleBot', 'noindex, noai'],
    ['ours, the version of a crawler', ['ExampleBot/2.1: noindex'], 'ExampleBot', 'noindex@examplebot/2.1'],
    [
      'ours, quotes',
      ['"noindex, nofollow"', '“noai”', "'ExampleBot': none"],
      'ExampleBot',
      'noindex, nofollow, noai, none@examplebot',
    ],
    ['ours, semicolons', ['ExampleBot: noindex; nofollow;'], 'ExampleBot', 'noindex@examplebot, nofollow@examplebot'],
    [
      'ours, blanks in place of commas',
      ['noindex nofollow', 'max-snippet:-1 max-image-preview:large noai'],
      '*',
      'noindex, nofollow, max-snippet=-1, max-image-preview=large, noai',
    ],
    ['ours, blanks in an unknown rule', ['do not index'], '*', 'do not index'],
    ['ours, an equals sign in place of a colon', ['max-snippet=20, foo = 3'], '*', 'max-snippet=20, foo=3'],
    ['ours, a colon in place of a comma', ['noindex: nofollow'], '*', 'noindex, nofollow'],
    [
      'ours, a missing comma before a date',
      ['noindex unavailable_after: 2025-12-31'],
      '*',
      'noindex, unavailable_after=2025-12-31',
    ],
  ])('%s: %j for %s', (_, lines, crawler, rules) => {
    expect(written(robotsDirectives(xRobotsTag(...lines), crawler))).toBe(rules)
  })

  test.each([
    // [why, value, crawler, rules, uncertain, fields that count though they are uncertain]
    [
      'the second may be a line of its own',
      'googlebot: nofollow, noindex',
      'otherbot',
      '',
      'noindex',
      { noindex: true },
    ],
    [
      'both readings agree',
      'googlebot: nofollow, noindex',
      'googlebot',
      'nofollow@googlebot, noindex@googlebot',
      '',
      {},
    ],
    ['one rule has the scope', 'googlebot: nofollow', 'otherbot', '', '', {}],
    ['no comma between scope and rules', 'googlebot: nofollow; noindex', 'otherbot', '', '', {}],
    ['each scope anew', 'a: none, b: noindex, noai', 'otherbot', '', 'noai', { noai: true }],
    ['a date is no other line', 'a: unavailable_after: Wed, 31 Dec 2025 23:59:59 GMT', 'otherbot', '', '', {}],
    ['two rules in one', 'a: noai, none', 'otherbot', '', 'none', { noindex: true, nofollow: true }],
    ['limits count', 'a: noai, max-snippet: 0, max-snippet: 9', 'b', '', 'max-snippet, max-snippet', { maxSnippet: 0 }],
    [
      'a date with a comma counts',
      'a: noai, unavailable_after: Wed, 31 Dec 2025 00:00:00 GMT',
      'b',
      '',
      'unavailable_after',
      { unavailableAfter: Date.UTC(2025, 11, 31) },
    ],
    [
      'permissions do not count',
      'a: noindex, indexifembedded, all, max-snippet: -1, max-image-preview: large',
      'b',
      '',
      'indexifembedded, all, max-snippet, max-image-preview',
      {},
    ],
  ])('joined lines, %s: %s for %s', (_, value, crawler, rules, uncertain, counting) => {
    const joined = robotsDirectives({ headers: new Headers({ 'X-Robots-Tag': value }) }, crawler)
    expect(written(joined)).toBe(rules)
    expect(joined.uncertain.map(({ name }) => name).join(', ')).toBe(uncertain)
    expect(robotsDirectives({ headers: { 'X-ROBOTS-TAG': value } }, crawler)).toEqual(joined)
    // A list and pairs keep lines apart, so nothing is uncertain.
    const exact = robotsDirectives({ headers: { 'x-robots-tag': [value] } }, crawler)
    expect(joined).toEqual({ ...exact, ...counting, uncertain: joined.uncertain })
    expect(exact.uncertain).toEqual([])
    expect(robotsDirectives({ headers: [['X-Robots-Tag', value]] }, crawler)).toEqual(exact)
    expect(robotsDirectives({ headers: new Map([['X-Robots-Tag', value]]) }, crawler)).toEqual(exact)
    expect(robotsDirectives({ headers: ['A', 'b', 'X-Robots-Tag', value] }, crawler)).toEqual(exact)
    expect(robotsDirectives({ headers: [{ name: 'X-Robots-Tag', value }] }, crawler)).toEqual(exact)
  })

  test('lines that were joined with a line feed are separate', () => {
    const headers = { 'x-robots-tag': 'googlebot: nofollow\nnoindex, noai' }
    const directives = robotsDirectives({ headers }, 'otherbot')
    expect(written(directives)).toBe('noindex, noai')
    expect(directives.uncertain).toEqual([])
  })

  test('lines that node-fetch has apart are read apart', () => {
    const tagged = (...lines: string[]) => ({ get: () => lines.join(', '), raw: () => ({ 'X-Robots-Tag': lines }) })
    const two = robotsDirectives({ headers: tagged('otherbot: nofollow, noai', 'noindex') }, 'examplebot')
    expect([written(two), two.uncertain]).toEqual(['noindex', []])
    // Version 2 has joined them.
    const one = robotsDirectives({ headers: tagged('otherbot: nofollow, noindex') }, 'examplebot')
    expect(one.uncertain.map(({ name }) => name)).toEqual(['noindex'])
  })

  test('a header that the response does not have says nothing', () => {
    const headers = { 'x-robots-tag': new Headers().get('x-robots-tag') }
    expect(robotsDirectives({ headers }, '*').list).toEqual([])
  })

  test('names the header and the line as the source', () => {
    const [, second] = robotsDirectives(xRobotsTag('noindex', 'googlebot: noai'), 'googlebot').list
    expect(second).toEqual({
      name: 'noai',
      isKnown: true,
      value: undefined,
      token: 'googlebot',
      source: { channel: 'x-robots-tag', in: 'header', name: 'X-Robots-Tag', text: 'googlebot: noai', line: undefined },
    })
  })
})

describe('Robots-Tag', () => {
  test.each([
    // [source, value, crawler, rules, problems]
    [
      'draft-illyes-repext-03 §3.1.1',
      '*;nosnippet, ExampleBot;noindex',
      'ExampleBot',
      'nosnippet, noindex@examplebot',
      '',
    ],
    ['draft-illyes-repext-03 §3.1.1', '*;nosnippet, ExampleBot;noindex', 'OtherBot', 'nosnippet', ''],
    ['draft-illyes-repext-03 §3.1.1, a token twice', 'a;noindex, a;nosnippet', 'a', 'noindex@a, nosnippet@a', ''],
    ['RFC 9651 §3.1.2, several parameters', '*; noindex ;nosnippet', '*', '', 'unreadable'],
    ['RFC 9651 §3.1.2, several parameters', '*;noindex; nosnippet', '*', 'noindex, nosnippet', ''],
    [
      'RFC 9651 §3.1.2, a value',
      '*;max-snippet=20;unavailable_after=@1767225599, a;noai',
      'a',
      'max-snippet=20, unavailable_after=1767225599, noai@a',
      '',
    ],
    [
      'RFC 9651 §3.1.2, values of other types',
      '*;max-image-preview=large;unavailable_after="31 Dec 2025";max-video-preview=-1',
      '*',
      'max-image-preview=large, unavailable_after=31 Dec 2025, max-video-preview=-1',
      '',
    ],
    ['RFC 9651 §3.1.2, keys are lower case', '*;NoIndex', '*', '', 'unreadable'],
    ['RFC 9651 §4.2, a trailing comma', '*;noindex,', '*', '', 'unreadable'],
    ['RFC 9651 §4.2, an empty field', '', '*', '', ''],
    ['RFC 9651 §3.3.7, an invalid date', '*;noindex;unavailable_after=@1.5', '*', '', 'unreadable'],
    ['ours, false is no rule', '*;noindex=?0;nosnippet=?1', '*', 'nosnippet', ''],
    ['ours, a String is a token too', '"360Spider";noindex, "*";noai', '360Spider', 'noindex@360spider, noai', ''],
    [
      'ours, other types are no tokens',
      '1;noindex, ?1;noindex, (a b);noindex, *;noai',
      '*',
      'noai',
      'not-a-token, not-a-token, not-a-token',
    ],
    ['ours, the syntax of X-Robots-Tag', 'noindex, nofollow', '*', '', 'no-rules, no-rules'],
    ['ours, the syntax of X-Robots-Tag', 'googlebot: noindex', '*', '', 'unreadable'],
    ['ours, unknown rules', '*;foo;bar=1', '*', 'foo, bar=1', ''],
  ])('%s: %s for %s', (_, value, crawler, rules, expected) => {
    const directives = robotsDirectives(robotsTag(value), crawler)
    expect(written(directives)).toBe(rules)
    expect(problems(directives)).toBe(expected)
  })

  test('joins its lines (RFC 9110 §5.3)', () => {
    expect(written(robotsDirectives(robotsTag('*;noindex', 'a;noai'), 'a'))).toBe('noindex, noai@a')
  })
})

describe('meta elements', () => {
  test.each([
    // [source, html, crawler, rules]
    [
      'draft-illyes-repext-03 §3.1.2',
      '<meta name="robots" content="noindex"><meta name="examplebot" content="nosnippet">',
      'ExampleBot',
      'noindex, nosnippet@examplebot',
    ],
    [
      'draft-illyes-repext-03 §3.1.2',
      '<meta name="robots" content="noindex"><meta name="examplebot" content="nosnippet">',
      'OtherBot',
      'noindex',
    ],
    [
      'Google, an own element lifts nothing',
      '<meta name=robots content=noindex><meta name=googlebot content=all>',
      'Googlebot',
      'noindex, all@googlebot',
    ],
    ['crawler-commons#566', "<meta name='robots'content='index,follow'/>", '*', 'index, follow'],
    ['crawler-commons, no value', "<meta name='robots' content=''><meta name=robots><meta>", '*', ''],
    [
      'crawler-commons, no scopes in an element',
      "<meta name='robots' content='foo: bar, noindex'>",
      '*',
      'foo=bar, noindex',
    ],
    [
      'Norconex, blanks in the name, lines in the value',
      '<meta content="  noindex,\n\n  nofollow" name="ROBOTS  ">',
      '*',
      'noindex, nofollow',
    ],
    [
      'nuxt-modules/robots, an attribute with a similar name',
      '<meta name="robots" data-production-content="noindex" content="index, follow">',
      '*',
      'index, follow',
    ],
    ['simplecrawler#400, `value` in place of `content`', "<meta name='robots' value='nofollow'>", '*', ''],
    [
      'Nutch',
      '<html><head><title>a</title><MeTa NaMe="RoBoTs" CoNtEnT="nOnE"></head><body>b</body></html>',
      '*',
      'none',
    ],
    [
      'ours, http-equiv and property are no names',
      '<meta http-equiv=robots content=noindex><meta property=robots content=noindex>',
      '*',
      '',
    ],
    [
      'ours, TDMRep and description are no crawlers',
      '<meta name=tdm-reservation content=1><meta name=description content=noindex>',
      '*',
      '',
    ],
  ])('%s: %j for %s', (_, html, crawler, rules) => {
    expect(written(robotsDirectives({ html }, crawler))).toBe(rules)
  })

  test('reads text, bytes, and a head that was read before', () => {
    const { html } = meta('noindex')
    const directives = robotsDirectives({ html }, '*')
    expect(directives.noindex).toBe(true)
    expect(robotsDirectives({ html: new TextEncoder().encode(html) }, '*')).toEqual(directives)
    expect(robotsDirectives({ html: pageHeadOf(html) }, '*')).toEqual(directives)
  })
})

describe('a slip states nothing, and is a problem', () => {
  const ofMeta = (html: string) => ({ html: `<head>${html}</head>` })
  const described = (response: object, token = 'ExampleBot') =>
    robotsDirectives(response, token).problems.map(({ reason, source, found, meant }) =>
      [reason, source.name, found, meant].filter((part) => part !== undefined).join(' | '),
    )

  test.each([
    ['no-index', 'no-index | noindex'],
    ['no index', 'no index | noindex'],
    ['no_index', 'no_index | noindex'],
    ['noindex.', 'noindex. | noindex'],
    ['noidex', 'noidex | noindex'],
    ['nonidex', 'nonidex | noindex'],
    ['nofolow', 'nofolow | nofollow'],
    ['no-image-ai', 'no-image-ai | noimageai'],
    ['unavailable-after: 2020-01-01', 'unavailable-after | unavailable_after'],
    ['max-snipet: 0', 'max-snipet | max-snippet'],
    ['noindex nofolow', 'noindex nofolow | noindex, nofollow'],
    ['do not index', 'do not index'],
    ['index: no', 'index: no'],
  ])('a misspelt rule: %s', (content, expected) => {
    for (const [response, name] of [
      [meta(content), 'robots'],
      [xRobotsTag(content), 'X-Robots-Tag'],
    ] as const) {
      expect(described(response)).toEqual([`unknown-rule | ${name} | ${expected}`])
      expect(statementsOf(robotsDirectives(response, 'ExampleBot').list, Date.UTC(2026))).toEqual([])
    }
  })

  test.each(['foo', 'dofollow', 'noimageclick', 'nopreview', 'no-transform', 'noodp', 'notes', 'indexed'])(
    'another rule is no slip: %s',
    (content) => expect(described(meta(content))).toEqual([]),
  )

  test('a misspelt rule before a colon is not a crawler, so the rules behind it count', () => {
    for (const name of ['max-snipet', 'unavailable-after', 'no-index']) {
      const directives = robotsDirectives(xRobotsTag(`${name}: 50, noai`), 'ExampleBot')
      expect([directives.noai, problems(directives)]).toEqual([true, 'unknown-rule'])
    }
    expect(robotsDirectives(xRobotsTag('archiver: none, noai'), 'ExampleBot').list).toEqual([])
  })

  test.each<[string, object, string | undefined]>([
    // [what, response, reason | name of the source | found | meant]
    ['value', ofMeta('<meta name="robots" value="noindex">'), 'wrong-attribute | robots | value | content'],
    ['property', ofMeta('<meta property="robots" content="noindex">'), 'wrong-attribute | robots | property | name'],
    [
      'http-equiv',
      ofMeta('<meta http-equiv="X-Robots-Tag" content="noindex">'),
      'wrong-attribute | X-Robots-Tag | http-equiv | name',
    ],
    [
      'its own attribute',
      ofMeta('<meta robots="noindex">'),
      'wrong-attribute | robots | robots | name="robots" content="noindex"',
    ],
    [
      'rules outside of the value',
      ofMeta('<meta name=robots content=noai, nofollow, noarchive>'),
      'wrong-attribute | robots | nofollow, noarchive | content="noai, nofollow, noarchive"',
    ],
    ['another name for content', ofMeta('<meta name="robots" contents="noindex">'), 'no-content | robots'],
    ['another name for name', ofMeta('<meta names="robots" content="noindex">'), 'no-name | meta'],
    ['robot', ofMeta('<meta name="robot" content="noindex">'), 'unknown-name | robot | robot | robots'],
    [
      'robots.txt',
      ofMeta('<meta name="robots.txt" content="noindex">'),
      'unknown-name | robots.txt | robots.txt | robots',
    ],
    ['curly quotes', ofMeta('<meta name=“robots” content=“noindex”>'), 'unknown-name | “robots” | “robots” | robots'],
    ['the rule as the name', ofMeta('<meta name="noindex" content>'), 'unknown-name | noindex | noindex | robots'],
    [
      'its own name with a slip',
      ofMeta('<meta name="example-bot" content="noindex">'),
      'unknown-name | example-bot | example-bot | examplebot',
    ],
    [
      'its own element',
      ofMeta('<meta property="ExampleBot" content="noindex">'),
      'wrong-attribute | ExampleBot | property | name',
    ],
    ['after a div', ofMeta('<div></div><meta name="robots" content="noindex">'), 'not-in-head | robots'],
    ['after text', ofMeta('a<meta name="examplebot" content="noindex">'), 'not-in-head | examplebot'],
    ['in the body', ofMeta('</head><body><p><meta name="robots" content="noindex">'), 'not-in-head | robots'],
    ['in a template', ofMeta('<template><meta name="robots" content="noindex"></template>'), 'not-in-head | robots'],
    ['a name in the content', meta('robots: noindex'), 'unknown-rule | robots | robots | noindex'],
    ['a name before the rules', xRobotsTag('robot: noindex, noai'), 'unknown-name | X-Robots-Tag | robot | robots'],
    ['no colon after a name', xRobotsTag('ExampleBot noindex'), 'unknown-rule | X-Robots-Tag | examplebot noindex'],
    ['a name in Robots-Tag', robotsTag('robot;noindex'), 'unknown-name | Robots-Tag | robot | robots'],
    ['a rule in Robots-Tag', robotsTag('*;no-index'), 'unknown-rule | Robots-Tag | no-index | noindex'],
    ['a similar header', { headers: { 'X-Robots': 'noindex' } }, 'unknown-name | x-robots | x-robots | X-Robots-Tag'],
    [
      'another crawler',
      ofMeta('<meta property="otherbot" content="noindex"><div><meta name=otherbot content=none>'),
      undefined,
    ],
    ['another crawler', ofMeta('<meta name="AhrefsRobot" content="noindex">'), undefined],
    [
      'other elements',
      ofMeta('<meta name=description value="All, or none"><meta charset=utf-8><meta itemprop=a content=b>'),
      undefined,
    ],
    [
      'other elements in the body',
      ofMeta('<div><meta itemprop="name" content="index"><meta name=viewport content=a>'),
      undefined,
    ],
    ['another header', { headers: { 'x-robots': '1' } }, undefined],
  ])('%s: %j', (_, response, expected) => {
    expect(described(response)).toEqual(expected === undefined ? [] : [expected])
    expect(robotsDirectives(response, 'ExampleBot')).toMatchObject({ noindex: false, nofollow: false })
  })

  test('keeps what was found short', () => {
    const { problems } = robotsDirectives(meta(`noindex ${'no '.repeat(1000)}`), '*')
    expect(problems.map(({ reason, found }) => [reason, found?.length])).toEqual([['unknown-rule', 200]])
  })
})

describe('fields', () => {
  const NONE = {
    noindex: false,
    nofollow: false,
    noarchive: false,
    nocache: false,
    nosnippet: false,
    noimageindex: false,
    notranslate: false,
    indexifembedded: false,
    noai: false,
    noimageai: false,
    noml: false,
    maxSnippet: undefined,
    maxImagePreview: undefined,
    maxVideoPreview: undefined,
    unavailableAfter: undefined,
    unknown: [],
    uncertain: [],
    problems: [],
  }

  test.each<[string, Partial<RobotsDirectives>]>([
    ['', {}],
    ['all, index, follow, archive, noodp, noydir, noyaca, nositelinkssearchbox', {}],
    ['noindex', { noindex: true }],
    ['nofollow', { nofollow: true }],
    ['none', { noindex: true, nofollow: true }],
    ['index, noindex', { noindex: true }],
    ['noarchive', { noarchive: true }],
    ['nocache', { noarchive: true, nocache: true }],
    ['nosnippet, noimageindex, notranslate', { nosnippet: true, noimageindex: true, notranslate: true }],
    ['noindex, indexifembedded', { noindex: true, indexifembedded: true }],
    ['noai, noimageai, noml', { noai: true, noimageai: true, noml: true }],
    ['max-snippet: 20', { maxSnippet: 20 }],
    ['max-snippet:50, max-snippet:0, max-snippet:-1', { maxSnippet: 0 }],
    ['max-snippet:-1, max-video-preview:-1', { maxSnippet: -1, maxVideoPreview: -1 }],
    ['max-video-preview:30, max-video-preview:5', { maxVideoPreview: 5 }],
    ['max-image-preview:large, max-image-preview:Standard', { maxImagePreview: 'standard' }],
    ['max-image-preview:none, max-image-preview:large', { maxImagePreview: 'none' }],
    ['unavailable_after: 2026-01-01, unavailable_after: 2025-12-31', { unavailableAfter: Date.UTC(2025, 11, 31) }],
    ['foo, bar, FOO', { unknown: ['foo', 'bar'] }],
  ])('of %s', (value, expected) => {
    const { list, ...fields } = robotsDirectives(xRobotsTag(value), '*')
    expect(fields).toEqual({ ...NONE, ...expected })
    expect(list.length).toBe(value === '' ? 0 : value.split(',').length)
  })

  test.each([
    'max-snippet: -2',
    'max-snippet: many',
    'max-snippet',
    'max-snippet: 9999999999999999',
    'max-image-preview: huge',
    'max-video-preview: 1.5',
    'unavailable_after',
    'unavailable_after: soon',
  ])('of %s has no effect, and is a problem', (value) => {
    const { list, ...fields } = robotsDirectives(xRobotsTag(value), '*')
    expect(list).toMatchObject([{ isKnown: true }])
    expect(fields).toMatchObject({ ...NONE, problems: [{ reason: 'invalid-value', source: { text: value } }] })
  })

  test('add up over all channels, and survive JSON', () => {
    const headers = { 'X-Robots-Tag': 'noindex, x: noai, noml', 'robots-tag': '*;nosnippet' }
    const directives = robotsDirectives({ headers, html: meta('nofollow, foo').html }, '*')
    expect(directives).toMatchObject({ noindex: true, nosnippet: true, nofollow: true, noai: false, unknown: ['foo'] })
    expect(JSON.parse(JSON.stringify(directives)).list.length).toBe(4)
  })
})

describe('unavailable_after', () => {
  const END_OF_2025 = Date.UTC(2025, 11, 31, 23, 59, 59)
  test.each([
    ['Google, RFC 822 with a zone', '25 Jun 2010 15:00:00 PST', Date.UTC(2010, 5, 25, 23)],
    ['RFC 822, other zones', '25 Jun 2010 15:00:00 EDT', Date.UTC(2010, 5, 25, 19)],
    ['RFC 822, other zones', '25-Aug-2007 15:00:00 MST', Date.UTC(2007, 7, 25, 22)],
    ['RFC 822', 'Wed, 31 Dec 2025 23:59:59 -0630', Date.UTC(2026, 0, 1, 6, 29, 59)],
    ['RFC 822, a year of two digits', 'Wed, 31 Dec 25 23:59:59 GMT', END_OF_2025],
    ['RFC 850', 'Wednesday, 31-Dec-25 23:59:59 GMT', END_OF_2025],
    ['RFC 850, another zone', 'Saturday, 25-Aug-07 15:00:00 EST', Date.UTC(2007, 7, 25, 20)],
    ['RFC 850, before 1971', 'Thursday, 31-Dec-71 23:59:59 GMT', Date.UTC(1971, 11, 31, 23, 59, 59)],
    ['ISO 8601, a day', '2025-12-31', Date.UTC(2025, 11, 31)],
    ['ISO 8601, a day in UTC', '2025-12-31Z', Date.UTC(2025, 11, 31)],
    ['ISO 8601, basic format', '20251231', Date.UTC(2025, 11, 31)],
    ['ISO 8601, UTC without a zone', '2025-12-31T23:59:59', END_OF_2025],
    ['ISO 8601, UTC', '2025-12-31T23:59:59Z', END_OF_2025],
    ['ISO 8601, an offset', '2025-12-31T23:59:59-01:02', Date.UTC(2026, 0, 1, 1, 1, 59)],
    ['ISO 8601, an offset in hours', '2025-12-31T23:59:59+01', Date.UTC(2025, 11, 31, 22, 59, 59)],
    [
      'RFC 9557, a named zone after the offset',
      '2025-12-31T23:59:59+01:00[Europe/Berlin]',
      Date.UTC(2025, 11, 31, 22, 59, 59),
    ],
    ['crawler-commons, without seconds', '1 Jan 2026 04:00 GMT', Date.UTC(2026, 0, 1, 4)],
    ['ours, a comma after the day', 'Dec 31, 2025 23:59:59 GMT', END_OF_2025],
    ['ours, a blank in place of T', '2025-12-31 23:59:59', END_OF_2025],
    ['ours, seconds since 1970', '1767225599', END_OF_2025],
    ['invalid: a time', '24:00:00', undefined],
    ['invalid: ISO 8601, a day of the year', '2025-365', undefined],
    ['invalid: ISO 8601, a week', '2026-W01-3', undefined],
    ['invalid: an unknown zone', '25 Jun 2010 15:00:00 XYZ', undefined],
  ])('%s: %s', (_, value, expected) => {
    expect(robotsDirectives(xRobotsTag(`unavailable_after: ${value}`), '*').unavailableAfter).toBe(expected)
    expect(robotsDirectives(meta(`noindex, unavailable_after:${value}, noai`), '*')).toMatchObject({
      unavailableAfter: expected,
      noindex: true,
      noai: true,
    })
  })

  test('takes a year of two digits to be at most 50 years after the time that the caller passes', () => {
    const response = xRobotsTag('unavailable_after: Wednesday, 31-Dec-71 00:00:00 GMT')
    expect(robotsDirectives({ ...response, now: Date.UTC(2026) }, '*').unavailableAfter).toBe(Date.UTC(2071, 11, 31))
  })
})

describe('the crawler', () => {
  const response = xRobotsTag('ExampleBot: noindex', 'ExampleBot-News: noai', 'OtherBot: none')
  test.each([
    ['ExampleBot', 'noindex'],
    ['examplebot', 'noindex'],
    ['ExampleBot/1.0 (+https://example.com/bot)', 'noindex'],
    [['ExampleBot-News', 'ExampleBot'], 'noindex, noai'],
    ['*', ''],
    ['Mozilla/5.0 (X11; Linux)', ''],
  ])('%j', (crawler, rules) => {
    expect(
      robotsDirectives(response, crawler)
        .list.map(({ name }) => name)
        .join(', '),
    ).toBe(rules)
  })
})

describe('the bound of 8 KiB', () => {
  const filler = (length: number) => `${'a'.repeat(99)},`.repeat(Math.ceil(length / 100)).slice(0, length)

  test.each([
    // [what, response, whether the last rule counts]
    ['X-Robots-Tag of 8 KiB', xRobotsTag(`${filler(MAX_TAG_LENGTH - 8)},noindex`), true],
    ['X-Robots-Tag of more', xRobotsTag(`${filler(MAX_TAG_LENGTH - 7)},noindex`), false],
    ['X-Robots-Tag, a member that ends at the bound', xRobotsTag(`${filler(MAX_TAG_LENGTH - 9)},noindex,a`), true],
    ['X-Robots-Tag, over several lines', xRobotsTag(filler(MAX_TAG_LENGTH), 'noindex', 'noindex'), false],
    ['Robots-Tag of 8 KiB', robotsTag(`${'a,'.repeat(MAX_TAG_LENGTH / 2 - 5)}*;noindex`), true],
    ['Robots-Tag of more', robotsTag(`${'a,'.repeat(MAX_TAG_LENGTH / 2 - 4)}*;noindex`), false],
    ['Robots-Tag, complete members', robotsTag(`*;noindex, *;x="${'a,'.repeat(MAX_TAG_LENGTH / 2)}"`), true],
    ['meta of 8 KiB', meta(`${filler(MAX_TAG_LENGTH - 8)},noindex`), true],
    ['meta of more', meta(`${filler(MAX_TAG_LENGTH - 7)},noindex`), false],
    ['meta of much more', meta(`noindex,${filler(2 * MAX_TAG_LENGTH)}`), true],
    ['meta, a rule that the bound cuts', meta(`${filler(MAX_TAG_LENGTH - 7)}noindexifembedded`), false],
    ['meta, over several elements', { html: meta(filler(MAX_TAG_LENGTH)).html + meta('noindex').html }, false],
  ])('%s', (what, response, counts) => {
    const directives = robotsDirectives(response, '*')
    expect(directives.noindex).toBe(counts)
    expect(problems(directives)).toBe(/of 8 KiB/.test(what) ? '' : 'too-long')
  })

  test('keeps sources, names and values short', () => {
    const long = 'x'.repeat(4_000)
    const { list } = robotsDirectives(xRobotsTag(`${long}, max-snippet: ${long}`), '*')
    expect(list.map(({ name, value, source }) => [name.length, value?.length, source.text.length])).toEqual([
      [200, undefined, 200],
      [11, 200, 200],
    ])
  })

  test('of the head is reported', () => {
    const html = `<title>${'a'.repeat(2 ** 20)}</title>${meta('noindex').html}`
    expect(robotsDirectives({ html }, '*')).toMatchObject({
      noindex: false,
      problems: [{ reason: 'head-too-long', source: { channel: 'meta-robots' } }],
    })
  })
})

describe('statements', () => {
  const say = (value: string, now?: number) =>
    statementsOf(robotsDirectives(xRobotsTag(value), '*').list, now).map(
      ({ purpose, answer, label, vocabulary, reading }) => `${label}: ${purpose} ${answer} (${vocabulary}, ${reading})`,
    )

  test.each([
    [
      'noindex',
      [
        'index disallowed (repext-03, document)',
        'search disallowed (repext-03, ours)',
        'train-ai disallowed (img2dataset, operator)',
      ],
    ],
    ['nofollow', ['follow disallowed (html-4.01, document)']],
    ['nosnippet', ['snippet disallowed (repext-03, document)', 'ai-input disallowed (google-robots-meta, operator)']],
    [
      'max-snippet: 0',
      ['snippet disallowed (google-robots-meta, document)', 'ai-input disallowed (google-robots-meta, operator)'],
    ],
    ['max-snippet: 1', []],
    ['max-snippet: -1', []],
    [
      'nocache',
      [
        'archive disallowed (bing-robots-meta, document)',
        'train-ai disallowed (bing-chat, operator)',
        'ai-input disallowed (bing-chat, operator)',
      ],
    ],
    ['noai', ['train-ai disallowed (deviantart-noai, document)', 'ai-input disallowed (deviantart-noai, document)']],
    ['noml', ['train-ai disallowed (noml, document)']],
    ['all', ['index allowed (html-4.01, document)', 'follow allowed (bing-robots-meta, document)']],
    ['notranslate', []],
    ['foo', []],
  ])('of %s', (value, expected) => {
    expect(say(value)).toEqual(expected.map((statement) => `${value}: ${statement}`))
  })

  test('of unavailable_after begin at its time', () => {
    const value = 'unavailable_after: 2026-01-01'
    expect(say(value)).toEqual([])
    expect(say(value, Date.UTC(2026) - 1)).toEqual([])
    expect(say(value, Date.UTC(2026))).toEqual([
      `${value}: index disallowed (google-robots-meta, document)`,
      `${value}: search disallowed (google-robots-meta, ours)`,
    ])
  })

  test('name documents that exist', () => {
    for (const { means } of robotsRules.values()) {
      for (const { vocabulary, reading } of means) {
        expect(robotsDocuments[vocabulary].url).toMatch(/^https:/)
        if (reading === 'operator') expect(robotsDocuments[vocabulary].operator).toBeTypeOf('string')
      }
    }
  })
})

describe('invalid arguments', () => {
  test.each<[string, unknown, unknown, string]>([
    ['no response', undefined, '*', 'options: undefined is not an object; expected one such as { headers, html }'],
    ['a Response', { header: {} }, '*', 'header: is an unknown option; did you mean `headers`?'],
    [
      'headers as text',
      { headers: 'noindex' },
      '*',
      'headers: "noindex" is not known; expected the headers of a response: a Headers object',
    ],
    [
      'a line that is no pair',
      { headers: [['X-Robots-Tag', 'noindex'], 'noai'] },
      '*',
      'headers: the entry "noai" is not a pair',
    ],
    ['a name without a value', { headers: ['X-Robots-Tag'] }, '*', 'headers: undefined is not a value of x-robots-tag'],
    [
      'a value that is no string',
      { headers: { 'x-robots-tag': 1 } },
      '*',
      'headers: 1 is not a value of x-robots-tag; expected a string',
    ],
    [
      'a value that is no string',
      { headers: [['x-robots-tag', null]] },
      '*',
      'headers: null is not a value of x-robots-tag; expected a string',
    ],
    [
      'a value that is no string',
      { headers: { 'robots-tag': [1] } },
      '*',
      'headers: 1 is not a value of robots-tag; expected a string',
    ],
    ['a Response as headers', { headers: new Response() }, '*', 'is not known; write response.headers'],
    ['an iterator', { headers: new Headers().entries() }, '*', 'an iterator is read only once; write [...headers]'],
    [
      'a promise of HTML',
      { html: Promise.resolve('') },
      '*',
      'html: an object of type Promise is not a page; expected its text, its bytes as a Uint8Array, or a PageHead',
    ],
    ['a time that is no number', { now: '2026' }, '*', 'now: "2026" is not a time; expected milliseconds since 1970'],
    [
      'no crawler',
      {},
      undefined,
      'productTokens: is missing; expected the name of a crawler in robots.txt, such as "ExampleBot"',
    ],
    ['an empty list of crawlers', {}, [], 'productTokens: is an empty list; expected'],
  ])('%s', (_, response, crawler, message) => {
    const call = () => robotsDirectives(response as object, crawler as string)
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION' }))
    expect(call).toThrow(message)
  })
})
