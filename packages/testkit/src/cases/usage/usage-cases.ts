// Test cases of `usageOf`: what a site says, and the answers that follow.

/** The parts that a site can send. */
export interface UsageParts {
  readonly robots?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly html?: string
  readonly tdmrep?: string
}

/** A cell of the table of channels and purposes: a value that speaks of the purpose. */
export interface UsageCell {
  readonly value: string
  readonly answer: 'allowed' | 'disallowed'
  /** The document that says so, or `ours`: our reading, where no document says it. */
  readonly from: string
}

export interface UsageChannelCase {
  readonly channel: string
  /** Puts a value into the channel. */
  readonly parts: (value: string) => UsageParts
  /** By purpose. A purpose that is missing is one that the channel cannot state. */
  readonly cells: Readonly<Record<string, readonly UsageCell[]>>
}

const says = (answer: UsageCell['answer']) => (value: string, from: string) => ({ value, answer, from })
const yes = says('allowed')
const no = says('disallowed')

const AIPREF = {
  search: [yes('search=y', 'vocab-08 §4.3'), no('search=n', 'vocab-08 §4.3')],
  'train-ai': [yes('train-ai=y', 'vocab-08 §4.1'), no('train-ai=n', 'vocab-08 §4.1')],
  'ai-input': [yes('ai-use=y', 'vocab-08 §4.2'), no('ai-use=n', 'vocab-08 §4.2')],
}
const SIGNALS = {
  search: [yes('search=yes', 'contentsignals.org'), no('search=no', 'contentsignals.org')],
  'train-ai': [yes('ai-train=yes', 'contentsignals.org'), no('ai-train=no', 'contentsignals.org')],
  'ai-input': [yes('ai-input=yes', 'contentsignals.org'), no('ai-input=no', 'contentsignals.org')],
}
const TAGS = {
  index: [
    yes('index', 'HTML 4.01'),
    yes('all', 'HTML 4.01'),
    no('noindex', 'repext-03'),
    no('none', 'Google'),
    no('unavailable_after: 1 Jan 2026 00:00:00 GMT', 'Google'),
  ],
  follow: [yes('follow', 'Bing'), yes('all', 'Bing'), no('nofollow', 'HTML 4.01'), no('none', 'Google')],
  snippet: [no('nosnippet', 'repext-03'), no('max-snippet: 0', 'Google')],
  archive: [yes('archive', 'Yandex'), no('noarchive', 'Bing'), no('nocache', 'Bing')],
  search: [no('noindex', 'ours'), no('none', 'ours')],
  'train-ai': [no('noai', 'DeviantArt'), no('noml', 'noml.info')],
  'ai-input': [no('noai', 'DeviantArt')],
}
const SF_TAGS = {
  index: [yes('*;index', 'HTML 4.01'), no('*;noindex', 'repext-03')],
  follow: [yes('*;follow', 'Bing'), no('*;nofollow', 'HTML 4.01')],
  snippet: [no('*;nosnippet', 'repext-03'), no('*;max-snippet=0', 'Google')],
  archive: [no('*;noarchive', 'Bing')],
  search: [no('*;noindex', 'ours')],
  'train-ai': [no('*;noai', 'DeviantArt')],
  'ai-input': [no('*;noai', 'DeviantArt')],
}
const TDM = { 'text-and-data-mining': [yes('0', 'TDMRep'), no('1', 'TDMRep')] }

/** The channels, and a case for each purpose that they speak of. */
export const usageChannelCases: readonly UsageChannelCase[] = [
  {
    channel: 'Content-Usage in robots.txt',
    parts: (value) => ({ robots: `User-agent: *\nAllow: /\nContent-Usage: ${value}` }),
    cells: AIPREF,
  },
  { channel: 'Content-Usage, header', parts: (value) => ({ headers: { 'Content-Usage': value } }), cells: AIPREF },
  {
    channel: 'Content-Signal in robots.txt',
    parts: (value) => ({ robots: `User-agent: *\nContent-Signal: ${value}\nAllow: /` }),
    cells: SIGNALS,
  },
  { channel: 'Content-Signal, header', parts: (value) => ({ headers: { 'content-signal': value } }), cells: SIGNALS },
  { channel: 'X-Robots-Tag', parts: (value) => ({ headers: { 'X-Robots-Tag': value } }), cells: TAGS },
  { channel: 'Robots-Tag', parts: (value) => ({ headers: { 'Robots-Tag': value } }), cells: SF_TAGS },
  {
    channel: 'meta robots',
    parts: (value) => ({ html: `<!doctype html><head><title>A</title><meta name=robots content="${value}"></head>` }),
    cells: TAGS,
  },
  {
    channel: 'tdmrep.json',
    parts: (value) => ({ tdmrep: `[{ "location": "/", "tdm-reservation": ${value} }]` }),
    cells: TDM,
  },
  { channel: 'TDMRep, header', parts: (value) => ({ headers: { 'tdm-reservation': value } }), cells: TDM },
  {
    channel: 'TDMRep, meta',
    parts: (value) => ({ html: `<head><meta name="tdm-reservation" content="${value}">` }),
    cells: TDM,
  },
]

/** A whole case: what a site sends, and what follows for one crawler and one URL. */
export interface UsageCase extends UsageParts {
  readonly name: string
  /** The document that the case comes from, or `ours`. */
  readonly from: string
  /** Default: `ExampleBot`. */
  readonly token?: string
  /** Default: `/page`. */
  readonly path?: string
  /** The answers by purpose. A purpose that is missing is unstated. */
  readonly answers: Readonly<Record<string, 'allowed' | 'disallowed'>>
  /** The conflicts as `kind purpose`; those for licenses as `kind`. Not checked if undefined. */
  readonly conflicts?: readonly string[]
  /** The URLs of the licenses that apply. Default: none. */
  readonly licenses?: readonly string[]
}

const ATTACH = `User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
`
const group = (...lines: readonly string[]) => ['User-agent: *', 'Allow: /', ...lines].join('\n')

/** Cases from the examples of the drafts, from other projects' tests, and ours. */
export const usageCases: readonly UsageCase[] = [
  // Content-Usage
  {
    name: 'a line without a path is for every path',
    from: 'attach-05 §3.4',
    robots: ATTACH,
    token: 'OtherBot',
    path: '/test',
    answers: { 'train-ai': 'disallowed' },
    conflicts: [],
  },
  {
    name: 'Content-Usage does not apply to a disallowed page',
    from: 'attach-05 §3.4',
    robots: ATTACH,
    token: 'OtherBot',
    path: '/never/test',
    answers: {},
    conflicts: ['page-disallowed train-ai'],
  },
  {
    name: 'the longest path counts',
    from: 'attach-05 §3.4',
    robots: ATTACH,
    token: 'OtherBot',
    path: '/ai-ok/test',
    answers: { 'train-ai': 'allowed' },
    conflicts: ['longer-path train-ai'],
  },
  {
    name: 'a crawler with a group of its own does not read the group for *',
    from: 'attach-05 §3.4',
    robots: ATTACH,
    path: '/never/test',
    answers: { 'train-ai': 'allowed' },
    conflicts: ['own-group train-ai'],
  },
  {
    name: 'equal paths are combined, and a refusal counts',
    from: 'attach-05 §3.3',
    robots: group('Content-Usage: /a train-ai=y, search=y', 'Content-Usage: /a train-ai=n'),
    path: '/a/b',
    answers: { 'train-ai': 'disallowed', search: 'allowed' },
  },
  {
    name: 'two patterns of one length are combined',
    from: 'ours',
    robots: group('Content-Usage: /a*c train-ai=y', 'Content-Usage: /abc train-ai=n'),
    path: '/abc',
    answers: { 'train-ai': 'disallowed' },
  },
  {
    name: 'a longer path replaces all labels of a shorter one',
    from: 'attach-05 §3.1',
    robots: group('Content-Usage: train-ai=n', 'Content-Usage: /x/ search=y'),
    path: '/x/1',
    answers: { search: 'allowed' },
    conflicts: ['longer-path train-ai'],
  },
  {
    name: 'paths have * and $, and are compared in normal form',
    from: 'RFC 9309 §2.2.3',
    robots: group('Content-Usage: /*.pdf$ train-ai=n', 'Content-Usage: /%7Ejoe/ ai-use=n'),
    path: '/~joe/a.pdf',
    answers: { 'train-ai': 'disallowed' },
    conflicts: ['longer-path ai-input'],
  },
  {
    name: 'a pattern without a slash makes the line unreadable',
    from: 'attach-05 §3.2',
    robots: group('Content-Usage: *.pdf train-ai=n'),
    path: '/a.pdf',
    answers: {},
  },
  {
    name: 'the line ends a list of user-agent lines for itself, not for rules',
    from: 'attach-05 §3; RFC 9309 §2.2.1',
    robots: 'User-agent: ExampleBot\nContent-Usage: train-ai=n\nUser-agent: *\nAllow: /\n',
    token: 'OtherBot',
    answers: {},
  },
  {
    name: 'a line above all groups is for no crawler',
    from: 'RFC 9309 §2.2',
    robots: 'Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\n',
    answers: {},
  },
  {
    name: 'groups for one name are merged',
    from: 'RFC 9309 §2.2.1',
    robots: 'User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n\nUser-agent: *\nContent-Usage: search=y\nAllow: /a\n',
    answers: { 'train-ai': 'disallowed', search: 'allowed' },
  },
  {
    name: 'the last of several equal labels counts',
    from: 'vocab-08 §6.5.1',
    headers: { 'content-usage': 'train-ai=y, train-ai, search=n, search="n"' },
    answers: {},
  },
  {
    name: 'parameters are ignored',
    from: 'vocab-08 §6.5.2',
    headers: { 'content-usage': 'train-ai;allow=n, train-ai=y' },
    answers: { 'train-ai': 'allowed' },
  },
  {
    name: 'the example of the draft ends with a semicolon, so it is no dictionary',
    from: 'RFC 9651 §4.2.3.2',
    headers: { 'content-usage': 'search=n, train-ai;has;parameters="?";' },
    answers: {},
  },
  ...['Train-AI=n', 'train-ai=n,', 'train-ai =n', 'train-ai= n', 'train-ai=n,,search=y', 'train-ai=n ;x=1'].map(
    (value): UsageCase => ({
      name: `one mistake makes all unknown: ${value}`,
      from: 'vocab-08 §6.5.1',
      headers: { 'content-usage': value },
      answers: {},
    }),
  ),
  {
    name: 'several lines of the header are one dictionary',
    from: 'RFC 9651 §4.2',
    headers: { 'Content-Usage': ['train-ai=n', 'search=y'] },
    answers: { 'train-ai': 'disallowed', search: 'allowed' },
    conflicts: ['search-overrides train-ai'],
  },
  {
    name: 'labels of older drafts are ignored',
    from: 'vocab-08 §6.4',
    robots: group('Content-Usage: genai=n, bots=n'),
    answers: {},
    conflicts: ['older-label train-ai', 'older-label text-and-data-mining'],
  },
  {
    name: 'robots.txt and the header are combined, and a refusal counts',
    from: 'vocab-08 §5.1',
    robots: group('Content-Usage: train-ai=y'),
    headers: { 'content-usage': 'train-ai=n' },
    answers: { 'train-ai': 'disallowed' },
    conflicts: ['channels-disagree train-ai'],
  },
  {
    name: 'labels of Content Signals are none of AIPREF',
    from: 'vocab-08 §6.4',
    robots: group('Content-Usage: ai-train=no, ai-input=no'),
    answers: {},
  },
  // Content-Signal
  {
    name: 'the managed block of Cloudflare',
    from: 'developers.cloudflare.com, 2026-07',
    robots:
      'User-agent: *\nContent-Signal: search=yes,ai-train=no,use=reference\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\nUser-agent: *\nDisallow: /wp-admin/\n',
    answers: { search: 'allowed', 'train-ai': 'disallowed' },
    conflicts: ['wider-reading text-and-data-mining'],
  },
  {
    name: 'use=reference, which Cloudflare reads as a refusal of training',
    from: 'developers.cloudflare.com, 2026-08-31',
    robots: group('Content-Signal: search=yes, use=reference'),
    answers: { search: 'allowed' },
    conflicts: ['wider-reading train-ai'],
  },
  {
    name: 'a blocked crawler does not read the signals of *',
    from: 'RFC 9309 §2.2.1',
    robots: 'User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\nUser-agent: ExampleBot\nDisallow: /x\n',
    answers: {},
    conflicts: ['signal-scope train-ai'],
  },
  {
    name: 'case and blanks make no difference',
    from: 'ours',
    robots: group('Content-signal: Search = YES , AI-Train=No'),
    answers: { search: 'allowed', 'train-ai': 'disallowed' },
  },
  {
    name: 'a value that cannot be read does not affect the others',
    from: 'ours',
    robots: group('Content-Signal: search=maybe, foo=no, ai-input=no,'),
    answers: { 'ai-input': 'disallowed' },
  },
  {
    name: 'a semicolon separates signals as a comma does',
    from: 'ours',
    robots: group('Content-Signal: search=yes; ai-train=no'),
    answers: { search: 'allowed', 'train-ai': 'disallowed' },
  },
  {
    name: 'a path before the signals',
    from: 'contentsignals.org',
    robots: group('Content-Signal: /blog/ ai-train=no, search=yes'),
    path: '/blog/post',
    answers: { 'train-ai': 'disallowed', search: 'allowed' },
    conflicts: ['signal-path search', 'signal-path train-ai', 'wider-reading text-and-data-mining'],
  },
  {
    name: 'a path that does not match',
    from: 'contentsignals.org',
    robots: group('Content-Signal: /blog/ ai-train=no, search=yes'),
    path: '/about',
    answers: {},
    conflicts: [],
  },
  {
    name: 'signals of other groups',
    from: 'crawler-commons 1.7',
    robots:
      'Content-Signal: ai-train=maybe\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: ExampleBot\nContent-Signal: ai-train=yes\nAllow: /\n',
    answers: { 'train-ai': 'allowed' },
    conflicts: ['signal-scope train-ai'],
  },
  {
    name: 'the two vocabularies disagree',
    from: 'ours',
    robots: group('Content-Signal: ai-train=yes', 'Content-Usage: train-ai=n'),
    answers: { 'train-ai': 'disallowed' },
    conflicts: ['channels-disagree train-ai'],
  },
  // License
  ...(
    [
      [
        'above the groups, it is for the site',
        'License: https://l.example/g.xml\nUser-agent: *\nAllow: /\n',
        'OtherBot',
        ['g'],
      ],
      [
        'in the group of the crawler, it replaces that of the site',
        'License: https://l.example/g.xml\nUser-agent: GPTBot\nLicense: https://l.example/p.xml\nDisallow: /x\n',
        'GPTBot',
        ['p'],
      ],
      [
        'in the group of another crawler',
        'License: https://l.example/g.xml\nUser-agent: GPTBot\nLicense: https://l.example/p.xml\nDisallow: /x\n',
        'OtherBot',
        ['g'],
      ],
      [
        'two in one group',
        'User-agent: *\nLicense: https://l.example/a.xml\nLicense: https://l.example/b.xml\nAllow: /\n',
        'OtherBot',
        ['a', 'b'],
      ],
      ['a relative one is ignored', 'License: /l.xml\nUser-agent: *\nAllow: /\n', 'OtherBot', []],
    ] as const
  ).map(
    ([name, robots, token, licenses]): UsageCase => ({
      name: `License: ${name}`,
      from: 'RSL 1.0 §4.4',
      robots,
      token,
      answers: {},
      licenses: licenses.map((one) => `https://l.example/${one}.xml`),
    }),
  ),
  {
    name: 'License: at the end of the file, below a blank line',
    from: 'RSL 1.0 §4.4',
    robots:
      'User-agent: *\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n\nSitemap: https://site.example/s.xml\nLicense: https://l.example/g.xml\n',
    answers: {},
    conflicts: ['license-scope'],
  },
  {
    name: 'License: the page comes before robots.txt',
    from: 'RSL 1.0 §4.5',
    robots: 'License: https://l.example/g.xml\nUser-agent: *\nAllow: /\n',
    headers: {
      Link: '<https://l.example/page.xml>; rel="license"; type="application/rsl+xml", </style.css>; rel=preload',
    },
    answers: {},
    licenses: ['https://l.example/page.xml'],
  },
  {
    name: 'License: a link of another type is none of RSL',
    from: 'RSL 1.0 §4.5',
    headers: { link: '<https://creativecommons.example/by/4.0/>; rel="license"' },
    answers: {},
  },
  {
    name: 'License: only the parameters of a link count, not the text in their quotes',
    from: 'RFC 8288 §3',
    headers: {
      link: [
        '<https://l.example/a.xml>; title="; rel=license; type=application/rsl+xml"',
        '<https://l.example/b.xml>; rel=next; rel=license; type="application/rsl+xml"',
        '<https://l.example/c.xml>; type="application/rsl+xml; charset=utf-8"; rel="license help"',
      ],
    },
    answers: {},
    licenses: ['https://l.example/c.xml'],
  },
  {
    name: 'License: the base of the page',
    from: 'HTML',
    html: '<head><base href="https://l.example/x/"><link rel="license" type="application/rsl+xml" href="license.xml"></head>',
    answers: {},
    licenses: ['https://l.example/x/license.xml'],
  },
  {
    name: 'License: an element of the page',
    from: 'RSL 1.0 §4.6',
    html: '<head><link rel="license" type="application/rsl+xml" href="/license.xml"></head>',
    answers: {},
    licenses: ['https://site.example/license.xml'],
  },
  // Robots tags
  {
    name: 'general and specific tags add up',
    from: 'Google',
    html: '<head><meta name="robots" content="nofollow"><meta name="examplebot" content="noindex"></head>',
    answers: { follow: 'disallowed', index: 'disallowed', search: 'disallowed' },
  },
  {
    name: 'the tags of another crawler',
    from: 'Google',
    headers: { 'x-robots-tag': ['otherbot: noindex, nofollow'] },
    answers: {},
    conflicts: [],
  },
  {
    name: 'lines that were joined',
    from: 'ours',
    headers: { 'x-robots-tag': 'otherbot: nofollow, noindex' },
    answers: { index: 'disallowed', search: 'disallowed' },
    conflicts: ['unclear-scope index', 'unclear-scope search', 'wider-reading train-ai'],
  },
  {
    name: 'lines that were joined: an unclear permission does not count',
    from: 'ours',
    headers: { 'x-robots-tag': 'otherbot: noindex, all, nofollow' },
    answers: { follow: 'disallowed' },
    conflicts: ['unclear-scope index', 'unclear-scope follow'],
  },
  {
    name: 'noimageai is about images, and img2dataset fetches images',
    from: 'img2dataset',
    html: '<head><meta name="robots" content="noimageai"></head>',
    answers: {},
    conflicts: ['wider-reading train-ai'],
  },
  {
    name: 'a misspelt rule states nothing',
    from: 'Google',
    html: '<head><meta name="robots" content="no-index, nofollow"></head>',
    answers: { follow: 'disallowed' },
    conflicts: [],
  },
  {
    name: 'a tag behind an element that ends the head',
    from: 'HTML',
    html: '<head><div></div><meta name="robots" content="noindex"></head>',
    answers: {},
    conflicts: [],
  },
  {
    name: 'index in one tag, noindex in another',
    from: 'repext-03',
    headers: { 'x-robots-tag': 'noindex' },
    html: '<meta name="robots" content="index, follow">',
    answers: { index: 'disallowed', follow: 'allowed', search: 'disallowed' },
  },
  {
    name: 'noindex beside a permission to search',
    from: 'ours',
    robots: group('Content-Signal: search=yes'),
    headers: { 'x-robots-tag': 'noindex' },
    answers: { index: 'disallowed', search: 'disallowed' },
  },
  {
    name: 'tags of a page that robots.txt disallows',
    from: 'Google',
    robots: 'User-agent: *\nDisallow: /\n',
    headers: { 'x-robots-tag': 'nofollow' },
    answers: { follow: 'disallowed' },
    conflicts: ['page-disallowed follow'],
  },
  {
    name: 'nosnippet, which Google also reads for its AI answers',
    from: 'Google',
    headers: { 'x-robots-tag': 'nosnippet' },
    answers: { snippet: 'disallowed' },
    conflicts: ['wider-reading ai-input'],
  },
  // TDMRep
  {
    name: 'the first rule that matches counts, not the longest',
    from: 'TDMRep',
    tdmrep: '[{"location":"/page","tdm-reservation":0},{"location":"/page/x","tdm-reservation":1}]',
    path: '/page/x',
    answers: { 'text-and-data-mining': 'allowed' },
  },
  {
    name: 'the header replaces the file',
    from: 'TDMRep',
    tdmrep: '[{"location":"/","tdm-reservation":1}]',
    headers: { 'tdm-reservation': '0' },
    answers: { 'text-and-data-mining': 'allowed' },
    conflicts: ['later-carrier text-and-data-mining'],
  },
  {
    name: 'the page replaces the header, and other values replace nothing',
    from: 'TDMRep',
    headers: { 'tdm-reservation': '0' },
    html: '<head><meta name="tdm-reservation" content="1"><meta name="tdm-reservation" content="yes">',
    answers: { 'text-and-data-mining': 'disallowed' },
  },
  {
    name: 'a reservation, which a law reads as about training too',
    from: 'TDMRep',
    headers: { 'tdm-reservation': '1', 'tdm-policy': 'https://site.example/policy.json' },
    answers: { 'text-and-data-mining': 'disallowed' },
    conflicts: ['wider-reading train-ai'],
  },
]
