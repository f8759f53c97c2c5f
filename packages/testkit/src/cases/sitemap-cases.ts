// The thirty kinds of sitemaps that readers fail on, from public threads, in the likeness of real files.
// Each case is a small site. `/robots.txt` allows everything unless the case has another one.
import { gzipSync } from 'node:zlib'

/** A response. The status is 200, and the content type `application/xml`, unless it says otherwise. */
export interface SitemapReply {
  readonly status?: number
  /** An empty content type: the response has none. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Ends the connection after the body, which the response says is longer. */
  readonly isCut?: boolean
}

export interface SitemapCase {
  /** The number of the kind. Several cases may have one kind. */
  readonly kind: number
  readonly name: string
  /** Returns the responses by path. */
  readonly site: (origin: string, otherOrigin: string) => Readonly<Record<string, SitemapReply>>
  /** The sitemaps to read, or `robots`: the sitemaps that robots.txt names. Default: `/sitemap.xml`. */
  readonly start?: 'robots' | readonly string[]
  /** The limits of the reader, by the names of `@politely/sitemaps`. */
  readonly limits?: Readonly<Record<string, number>>
  readonly expected: SitemapExpectation
}

export interface SitemapExpectation {
  /** The URLs of pages, in order. URLs of the site are paths. */
  readonly pages: readonly string[]
  /** The outcome of each file, by path: `complete`, or such as `partial (cut-off)`. */
  readonly files: Readonly<Record<string, string>>
  /** The codes of the problems of the first file. */
  readonly problems?: readonly string[]
  /** The dates of the entries: ISO texts, and null for a date that cannot be read. */
  readonly dates?: readonly (string | null)[]
  /** Whether the dates of the first file can be trusted. */
  readonly isTrusted?: boolean
}

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** Returns a urlset with these elements. */
export const urlset = (body: string, attributes: string = NAMESPACE): string =>
  `${DECLARATION}<urlset ${attributes}>\n${body}\n</urlset>\n`
/** Returns an entry. */
export const url = (loc: string, more = ''): string => `  <url><loc>${loc}</loc>${more}</url>`
/** Returns an index of these sitemaps. */
export const index = (...locs: readonly string[]): string =>
  `${DECLARATION}<sitemapindex ${NAMESPACE}>\n${locs.map((loc) => `  <sitemap><loc>${loc}</loc></sitemap>`).join('\n')}\n</sitemapindex>\n`

const lastmod = (text: string) => `<lastmod>${text}</lastmod>`
const two = (origin: string) => urlset(`${url(`${origin}/a`)}\n${url(`${origin}/b`)}`)
const AB = ['/a', '/b']
const gzipType = 'application/x-gzip'

/** A case with one file at /sitemap.xml. */
const oneFile = (
  kind: number,
  name: string,
  body: (origin: string) => string | Uint8Array,
  expected: Omit<SitemapExpectation, 'files'> & { readonly file?: string },
  more: Partial<SitemapCase> & { readonly reply?: SitemapReply } = {},
): SitemapCase => {
  const { file = 'complete', ...rest } = expected
  const { reply, ...options } = more
  return {
    kind,
    name,
    site: (origin) => ({ '/sitemap.xml': { body: body(origin), ...reply } }),
    ...options,
    expected: { files: { '/sitemap.xml': file }, ...rest },
  }
}

const gzipCases: readonly SitemapCase[] = [
  {
    kind: 1,
    name: 'a .gz that is plain XML',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({ '/sitemap.xml.gz': { body: two(origin), type: gzipType } }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  {
    kind: 2,
    name: 'a gz file with a content encoding, packed once',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({
      '/sitemap.xml.gz': { body: gzipSync(two(origin)), type: gzipType, headers: { 'content-encoding': 'gzip' } },
    }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  {
    kind: 2,
    name: 'a gz file with a content encoding, packed twice',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({
      '/sitemap.xml.gz': { body: gzipSync(gzipSync(two(origin))), headers: { 'content-encoding': 'gzip' } },
    }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  oneFile(2, 'packed twice, without a content encoding', (origin) => gzipSync(gzipSync(two(origin))), { pages: AB }),
  {
    kind: 3,
    name: 'the gz of a list of URLs',
    start: ['/sitemap.txt.gz'],
    site: (origin) => ({
      '/sitemap.txt.gz': { body: gzipSync(`\uFEFF${origin}/a\r\n${origin}/b\n`), type: gzipType },
    }),
    expected: { pages: AB, files: { '/sitemap.txt.gz': 'complete' } },
  },
  oneFile(4, 'zeros after the gzip data', (origin) => Buffer.concat([gzipSync(two(origin)), Buffer.alloc(600)]), {
    pages: AB,
  }),
  oneFile(
    4,
    'text after the gzip data',
    (origin) => Buffer.concat([gzipSync(two(origin)), Buffer.from('<!-- cached -->')]),
    { pages: AB },
  ),
  oneFile(4, 'gzip data that is cut', (origin) => gzipSync(two(origin)).subarray(0, -12), {
    pages: AB,
    file: 'partial (cut-off)',
  }),
  oneFile(5, 'application/octet-stream', two, { pages: AB }, { reply: { type: 'application/octet-stream' } }),
  oneFile(5, 'no content type, gzip', (origin) => gzipSync(two(origin)), { pages: AB }, { reply: { type: '' } }),
  oneFile(5, 'text/html', two, { pages: AB }, { reply: { type: 'text/html; charset=utf-8' } }),
]

const recursionCases: readonly SitemapCase[] = [
  {
    kind: 6,
    name: 'an index that lists itself and robots.txt',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/sitemap.xml`, `${origin}/robots.txt`, `${origin}/1.xml`) },
      '/robots.txt': { body: `User-agent: *\nDisallow:\nSitemap: ${origin}/sitemap.xml\n`, type: 'text/plain' },
      '/1.xml': { body: two(origin) },
    }),
    expected: {
      pages: AB,
      files: { '/sitemap.xml': 'complete', '/robots.txt': 'failed (not-a-sitemap)', '/1.xml': 'complete' },
      problems: ['duplicate-file'],
    },
  },
  {
    kind: 7,
    name: 'a child that redirects to its parent',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/1.xml`, `${origin}/2.xml`) },
      '/1.xml': { status: 302, headers: { location: `${origin}/sitemap.xml` } },
      '/2.xml': { body: two(origin) },
    }),
    expected: {
      pages: AB,
      files: { '/sitemap.xml': 'complete', '/1.xml': 'failed (duplicate)', '/2.xml': 'complete' },
    },
  },
  {
    kind: 7,
    name: 'redirects in a circle',
    site: () => ({
      '/sitemap.xml': { status: 301, headers: { location: '/1.xml' } },
      '/1.xml': { status: 301, headers: { location: '/sitemap.xml' } },
    }),
    expected: { pages: [], files: { '/sitemap.xml': 'failed (redirects)' } },
  },
  {
    kind: 8,
    name: 'eleven levels of indexes',
    start: ['/0.xml'],
    site: (origin) => {
      const levels = Array.from({ length: 11 }, (_, n) => [`/${n}.xml`, { body: index(`${origin}/${n + 1}.xml`) }])
      return { ...Object.fromEntries(levels), '/11.xml': { body: two(origin) } }
    },
    expected: {
      pages: [],
      files: {
        ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`/${n}.xml`, 'complete'])),
        '/10.xml': 'partial (limit: maxDepth)',
      },
    },
  },
  {
    kind: 9,
    name: 'a bomb of indexes: each lists ten more',
    limits: { maxFiles: 25 },
    start: ['/i.xml'],
    site: (origin) => {
      const names = ['i', ...Array.from({ length: 100 }, (_, n) => `i${n}`)]
      const children = (n: number) => Array.from({ length: 10 }, (_, child) => `${origin}/i${10 * n + child}.xml`)
      return Object.fromEntries(names.map((name, n) => [`/${name}.xml`, { body: index(...children(n)) }]))
    },
    expected: {
      pages: [],
      files: {
        '/i.xml': 'complete',
        '/i0.xml': 'complete',
        ...Object.fromEntries(Array.from({ length: 23 }, (_, n) => [`/i${n + 1}.xml`, 'partial (limit: maxFiles)'])),
      },
    },
  },
  {
    kind: 10,
    name: 'duplicates in an index',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/1.xml`, `${origin}/1.xml#top`, `${origin}/1.xml`) },
      '/1.xml': { body: two(origin) },
    }),
    expected: { pages: AB, files: { '/sitemap.xml': 'complete', '/1.xml': 'complete' }, problems: ['duplicate-file'] },
  },
]

const namespaceCases: readonly SitemapCase[] = [
  oneFile(11, 'no namespace', (origin) => urlset(`${url(`${origin}/a`)}${url(`${origin}/b`)}`, 'v="1"'), { pages: AB }),
  oneFile(
    12,
    'prefixed elements',
    (origin) =>
      `${DECLARATION}<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>${origin}/a</sm:loc></sm:url>` +
      `<sm:url><sm:loc>${origin}/b</sm:loc><sm:lastmod>2026-01-02</sm:lastmod></sm:url></sm:urlset>`,
    { pages: AB },
  ),
  oneFile(
    13,
    'image:loc, before and after loc',
    (origin) =>
      urlset(
        `<url><image:image><image:loc>${origin}/1.png</image:loc></image:image><loc>${origin}/a</loc></url>` +
          `<url><loc>${origin}/b</loc><image:image><image:loc>${origin}/2.png</image:loc></image:image><image:loc>${origin}/3.png</image:loc></url>`,
        `${NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"`,
      ),
    { pages: AB },
  ),
  oneFile(
    13,
    'images whose prefix is another one, and images without a prefix',
    (origin) =>
      urlset(
        `<url><loc>${origin}/a</loc><pic:image><pic:loc>${origin}/1.png</pic:loc></pic:image></url>` +
          `<url><loc>${origin}/b</loc><image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>${origin}/2.png</loc></image></url>`,
        `${NAMESPACE} xmlns:pic="http://www.google.com/schemas/sitemap-image/1.1"`,
      ),
    { pages: AB },
  ),
  oneFile(
    14,
    'the namespace 0.84 of Google',
    (origin) =>
      urlset(`${url(`${origin}/a`)}${url(`${origin}/b`)}`, 'xmlns="http://www.google.com/schemas/sitemap/0.84"'),
    { pages: AB },
  ),
]

const malformedCases: readonly SitemapCase[] = [
  oneFile(15, 'two loc in one entry', (origin) => urlset(`<url><loc>${origin}/a</loc><loc>${origin}/b</loc></url>`), {
    pages: AB,
    problems: ['several-locs'],
  }),
  oneFile(
    16,
    'no loc, empty loc',
    (origin) =>
      urlset(`<url><priority>1</priority></url>${url('')}${url('  ')}${url(`${origin}/a`)}<url/>${url(`${origin}/b`)}`),
    { pages: AB, problems: ['no-loc'] },
  ),
  oneFile(17, 'unclosed url', (origin) => urlset(`<url><loc>${origin}/a</loc>\n<url><loc>${origin}/b</loc>\n`), {
    pages: AB,
    problems: ['unclosed'],
  }),
  oneFile(
    17,
    'a file that is cut in a URL',
    (origin) => two(origin).replace('</urlset>', url(`${origin}/cut-her`).slice(0, -12)),
    { pages: AB, file: 'partial (cut-off)' },
  ),
  oneFile(
    17,
    'a connection that ends early',
    two,
    { pages: AB, file: 'partial (cut-off)' },
    { reply: { isCut: true } },
  ),
  oneFile(18, 'an undeclared entity', (origin) => urlset(`${url(`${origin}/&Acirc;`)}${url(`${origin}/b`)}`), {
    pages: ['/&Acirc;', '/b'],
  }),
  oneFile(19, 'a bare & in loc', (origin) => urlset(`${url(`${origin}/a?x=1&y=2&copy=3`)}${url(`${origin}/b`)}`), {
    pages: ['/a?x=1&y=2&copy=3', '/b'],
  }),
  oneFile(20, 'broken surrogates', (origin) => urlset(`${url(`${origin}/a&#55357;&#56832;`)}${url(`${origin}/b`)}`), {
    pages: ['/a\uFFFD\uFFFD', '/b'],
  }),
  oneFile(
    20,
    '< in a text',
    (origin) => urlset(`${url(`${origin}/a?x<y`)}${url(`${origin}/b`)}${url(`${origin}/c?x < y`)}`),
    { pages: ['/a?x<y', '/b', '/c?x < y'] },
  ),
]

const encodingCases: readonly SitemapCase[] = [
  oneFile(21, 'blank lines before the declaration', (origin) => `\n\n \t\n${two(origin)}`, { pages: AB }),
  oneFile(21, 'a warning before the declaration', (origin) => `Warning: unlink() in cache.php\n${two(origin)}`, {
    pages: AB,
  }),
  oneFile(22, 'UTF-8 with a byte order mark', (origin) => `\uFEFF${two(origin)}`, { pages: AB }),
  oneFile(22, 'UTF-16 LE', (origin) => Buffer.from(`\uFEFF${two(origin).replace('UTF-8', 'UTF-16')}`, 'utf16le'), {
    pages: AB,
  }),
  oneFile(22, 'UTF-16 BE', (origin) => Buffer.from(`\uFEFF${two(origin)}`, 'utf16le').swap16(), { pages: AB }),
  oneFile(22, 'UTF-16 LE without a byte order mark', (origin) => Buffer.from(two(origin), 'utf16le'), { pages: AB }),
  oneFile(
    22,
    'windows-1252, declared',
    (origin) => Buffer.from(urlset(url(`${origin}/caf\xe9`)).replace('UTF-8', 'windows-1252'), 'latin1'),
    { pages: ['/caf\xe9'] },
  ),
  oneFile(22, 'UTF-8 that is declared as UTF-16', (origin) => two(origin).replace('UTF-8', 'UTF-16'), { pages: AB }),
]

const doctype = (declarations: string, body: string) =>
  body.replace('?>\n', `?>\n<!DOCTYPE urlset [${declarations}]>\n`)
const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('')

const hostileCases: readonly SitemapCase[] = [
  oneFile(
    23,
    'external entities',
    (origin) =>
      doctype('<!ENTITY x SYSTEM "file:///etc/passwd">', urlset(`${url(`${origin}/&x;`)}${url(`${origin}/b`)}`)),
    { pages: ['/&x;', '/b'] },
  ),
  oneFile(
    23,
    'billion laughs',
    (origin) => doctype(`<!ENTITY l0 "lol">${laughs}`, urlset(`${url(`${origin}/&l9;`)}${url(`${origin}/b`)}`)),
    { pages: ['/&l9;', '/b'] },
  ),
  oneFile(
    24,
    'a huge attribute',
    (origin) => urlset(`<url a="${'x'.repeat(1_000_000)}"><loc>${origin}/a</loc></url>${url(`${origin}/b`)}`),
    { pages: AB, file: 'partial (limit: maxAttributeLength)' },
  ),
  oneFile(24, 'a huge text', (origin) => urlset(`${url(`${origin}/${'x'.repeat(1_000_000)}`)}${url(`${origin}/b`)}`), {
    pages: ['/b'],
    file: 'partial (limit: maxTextLength)',
  }),
  oneFile(24, 'a huge name', (origin) => urlset(`<${'x'.repeat(1_000_000)}/>${url(`${origin}/b`)}`), {
    pages: ['/b'],
    file: 'partial (limit: maxTextLength)',
  }),
  oneFile(24, 'a huge comment', (origin) => urlset(`<!--${'x'.repeat(1_000_000)}-->${url(`${origin}/b`)}`), {
    pages: ['/b'],
  }),
  oneFile(
    24,
    'a gz bomb',
    (origin) => gzipSync(urlset(`${url(`${origin}/a`)}${' '.repeat(20_000_000)}`)),
    { pages: ['/a'], file: 'partial (limit: maxBytesOut)' },
    { limits: { maxBytesOut: 1_000_000 } },
  ),
  oneFile(
    24,
    'more entries than the limit',
    (origin) => urlset(Array.from({ length: 5 }, (_, n) => url(`${origin}/${n}`)).join('\n')),
    { pages: ['/0', '/1', '/2'], file: 'partial (limit: maxEntriesPerFile)' },
    { limits: { maxEntriesPerFile: 3 } },
  ),
]

/** Dates as sites write them, and what they mean. */
export const lastmodTexts: Readonly<Record<string, string | null>> = {
  '2026-03-04': '2026-03-04T00:00:00.000Z',
  '2026-03-04T05:06:07+00:00': '2026-03-04T05:06:07.000Z',
  '2026-03-04T05:06:07': '2026-03-04T05:06:07.000Z',
  '2026-03-04T05:06:07.123456Z': '2026-03-04T05:06:07.123Z',
  '2026-03-04T05:06:07-0400-04:00': '2026-03-04T09:06:07.000Z',
  '2026-03-04T05:06:07+0200': '2026-03-04T03:06:07.000Z',
  '2026-03-04T05:06:07-00:14400': '2026-03-04T09:06:07.000Z',
  '2026-03-04T05:06+01:00': '2026-03-04T04:06:00.000Z',
  '2026-03-04 05:06:07': '2026-03-04T05:06:07.000Z',
  '2026-03-04 05:06:07 +0100': '2026-03-04T04:06:07.000Z',
  '2026-03-04 2026-03-05': '2026-03-05T00:00:00.000Z',
  '2026-03-04T05:06:07Z2026-03-01T00:00:00Z': '2026-03-04T05:06:07.000Z',
  '1969-07-20T20:17:40Z': '1969-07-20T20:17:40.000Z',
  '0001-01-01T00:00:00': '0001-01-01T00:00:00.000Z',
  '2026': '2026-01-01T00:00:00.000Z',
  '2026-03': '2026-03-01T00:00:00.000Z',
  '2026/3/4': '2026-03-04T00:00:00.000Z',
  'Wed, 04 Mar 2026 05:06:07 +0200': '2026-03-04T03:06:07.000Z',
  'Wed, 04 Mar 2026 05:06:07 GMT': '2026-03-04T05:06:07.000Z',
  '2026-02-30': null,
  '0000-00-00 00:00:00': null,
  '03/04/2026': null,
  yesterday: null,
}

const dated = (origin: string, dates: readonly string[]) =>
  urlset(dates.map((date, n) => url(`${origin}/${n}`, lastmod(date))).join('\n'))
const paths = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

const dateCases: readonly SitemapCase[] = [
  oneFile(25, 'dates in all forms', (origin) => dated(origin, Object.keys(lastmodTexts)), {
    pages: paths(Object.keys(lastmodTexts).length),
    dates: Object.values(lastmodTexts),
    problems: ['bad-date'],
    isTrusted: true,
  }),
  oneFile(26, 'always now', (origin) => dated(origin, Array(10).fill(new Date().toISOString())), {
    pages: paths(10),
    isTrusted: false,
  }),
  oneFile(26, 'always old', (origin) => dated(origin, Array(10).fill('2012-01-01')), {
    pages: paths(10),
    isTrusted: false,
  }),
  oneFile(26, 'in the future', (origin) => dated(origin, ['2098-01-01', '2098-01-02', '2026-01-01']), {
    pages: paths(3),
    isTrusted: false,
  }),
]

const page = '<!DOCTYPE html>\n<html><head><title>Access denied</title></head><body><a href="/a">a</a></body></html>'

const statusCases: readonly SitemapCase[] = [
  oneFile(
    27,
    'a 503 with an empty urlset',
    () => urlset(''),
    { pages: [], file: 'failed (status)' },
    {
      reply: { status: 503 },
    },
  ),
  oneFile(
    27,
    'a 403 page',
    () => page,
    { pages: [], file: 'failed (status)' },
    {
      reply: { status: 403, type: 'text/html' },
    },
  ),
  oneFile(27, 'a 200 without a body', () => '', { pages: [], file: 'failed (empty)' }),
  {
    kind: 28,
    name: 'broken children beside whole ones',
    site: (origin) => ({
      '/sitemap.xml': { body: index(...['1', '2', '3', '4', '5'].map((n) => `${origin}/${n}.xml`)) },
      '/1.xml': { status: 404, body: page, type: 'text/html' },
      '/2.xml': { body: urlset(url(`${origin}/a`)) },
      '/3.xml': { body: Buffer.from([0x1f, 0x8b, 0x08, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) },
      '/4.xml': { status: 301 },
      '/5.xml': { body: urlset(url(`${origin}/b`)) },
    }),
    expected: {
      pages: AB,
      files: {
        '/sitemap.xml': 'complete',
        '/1.xml': 'failed (status)',
        '/2.xml': 'complete',
        '/3.xml': 'failed (not-gzip)',
        '/4.xml': 'failed (redirects)',
        '/5.xml': 'complete',
      },
    },
  },
  oneFile(
    29,
    'HTML at /sitemap.xml',
    () => page,
    { pages: [], file: 'failed (html-instead)' },
    {
      reply: { type: 'text/html' },
    },
  ),
  oneFile(
    29,
    'XHTML as the content type of a sitemap',
    two,
    { pages: AB },
    { reply: { type: 'application/xhtml+xml' } },
  ),
  oneFile(29, 'JSON', () => '{"error":"not found"}', { pages: [], file: 'failed (not-a-sitemap)' }),
]

const robotsCases: readonly SitemapCase[] = [
  {
    kind: 30,
    name: 'relative, several on a line, outside of groups',
    start: 'robots',
    site: (origin) => ({
      '/robots.txt': {
        body: `Sitemap: /1.xml\nUser-agent: *\nDisallow: /private\nSitemap: ${origin}/2.xml ${origin}/3.xml\n\nsitemap:${origin}/1.xml\n`,
        type: 'text/plain',
      },
      '/1.xml': { body: urlset(url(`${origin}/a`)) },
      '/2.xml': { body: urlset(url(`${origin}/b`)) },
      '/3.xml': { body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="${origin}/c"/></entry></feed>` },
    }),
    expected: {
      pages: ['/a', '/b', '/c'],
      files: { '/1.xml': 'complete', '/2.xml': 'complete', '/3.xml': 'complete' },
    },
  },
  {
    kind: 30,
    name: 'the sitemap itself disallowed',
    start: 'robots',
    site: (origin) => ({
      '/robots.txt': {
        body: `User-agent: *\nDisallow: /sitemaps/\nSitemap: ${origin}/sitemaps/1.xml\nSitemap: ${origin}/2.xml\n`,
        type: 'text/plain',
      },
      '/sitemaps/1.xml': { body: urlset(url(`${origin}/hidden`)) },
      '/2.xml': { body: two(origin) },
    }),
    expected: { pages: AB, files: { '/sitemaps/1.xml': 'failed (disallowed)', '/2.xml': 'complete' } },
  },
  {
    kind: 30,
    name: 'no Sitemap line',
    start: 'robots',
    site: () => ({ '/robots.txt': { body: 'User-agent: *\nDisallow:\n', type: 'text/plain' } }),
    expected: { pages: [], files: { '/robots.txt': 'failed (no-sitemaps)' } },
  },
]

/** All cases, in the order of their kinds. */
export const sitemapCases: readonly SitemapCase[] = [
  ...gzipCases,
  ...recursionCases,
  ...namespaceCases,
  ...malformedCases,
  ...encodingCases,
  ...hostileCases,
  ...dateCases,
  ...statusCases,
  ...robotsCases,
]
