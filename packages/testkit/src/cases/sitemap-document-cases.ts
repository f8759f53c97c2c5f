// Cases of sitemaps about documents: namespaces, malformed XML, encodings, hostile files, dates.
import { gzipSync } from 'node:zlib'
import { AB, DECLARATION, lastmod, NAMESPACE, oneFile, type SitemapCase, two, url, urlset } from './sitemap-case.ts'

export const namespaceCases: readonly SitemapCase[] = [
  oneFile(11, 'no namespace', (origin) => urlset(`${url(`${origin}/a`)}${url(`${origin}/b`)}`, 'v="1"'), {
    pages: AB,
    problems: ['wrong-namespace'],
  }),
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

export const malformedCases: readonly SitemapCase[] = [
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
    { pages: AB, file: 'partial (cut-off)', breaksOff: true },
    { reply: { isCut: true } },
  ),
  oneFile(18, 'an undeclared entity', (origin) => urlset(`${url(`${origin}/&Acirc;`)}${url(`${origin}/b`)}`), {
    pages: ['/&Acirc;', '/b'],
    problems: ['unknown-entity'],
  }),
  oneFile(19, 'a bare & in loc', (origin) => urlset(`${url(`${origin}/a?x=1&y=2&copy=3`)}${url(`${origin}/b`)}`), {
    pages: ['/a?x=1&y=2&copy=3', '/b'],
    problems: ['unescaped'],
  }),
  oneFile(20, 'broken surrogates', (origin) => urlset(`${url(`${origin}/a&#55357;&#56832;`)}${url(`${origin}/b`)}`), {
    pages: ['/a\uFFFD\uFFFD', '/b'],
    problems: ['bad-character'],
  }),
  oneFile(
    20,
    '< in a text',
    (origin) => urlset(`${url(`${origin}/a?x<y`)}${url(`${origin}/b`)}${url(`${origin}/c?x < y`)}`),
    { pages: ['/a?x<y', '/b', '/c?x < y'], problems: ['unescaped'] },
  ),
]

export const encodingCases: readonly SitemapCase[] = [
  oneFile(21, 'blank lines before the declaration', (origin) => `\n\n \t\n${two(origin)}`, {
    pages: AB,
    problems: ['before-xml'],
  }),
  oneFile(21, 'a warning before the declaration', (origin) => `Warning: unlink() in cache.php\n${two(origin)}`, {
    pages: AB,
    problems: ['before-xml'],
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

export const hostileCases: readonly SitemapCase[] = [
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
    (origin) => gzipSync(urlset(`${url(`${origin}/a`)}${' '.repeat(20_000_000)}`), { level: 1 }),
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
  '20260306': '2026-03-06T00:00:00.000Z',
  '20260306T102030Z': '2026-03-06T10:20:30.000Z',
  '20260306T1020+0200': '2026-03-06T08:20:00.000Z',
  '20260306102030': '2026-03-06T10:20:30.000Z',
  '2026-W10-6': '2026-03-07T00:00:00.000Z',
  '2026W107': '2026-03-08T00:00:00.000Z',
  '2020-W53': '2020-12-28T00:00:00.000Z',
  '2026-068': '2026-03-09T00:00:00.000Z',
  '2026069T10:20Z': '2026-03-10T10:20:00.000Z',
  '1773187200': '2026-03-11T00:00:00.000Z',
  '1773273600000': '2026-03-12T00:00:00.000Z',
  '2026-03-13T10Z': '2026-03-13T10:00:00.000Z',
  '2026-03-14+02:00': '2026-03-13T22:00:00.000Z',
  '2026-03-15T05:06:07+01:00[Europe/Berlin]': '2026-03-15T04:06:07.000Z',
  '2026-03-16 05:06:07 +0100 CET': '2026-03-16T04:06:07.000Z',
  '2026-03-17T24:00:00Z': '2026-03-18T00:00:00.000Z',
  'Wed, 18 Mar 2026 05:06:07 EST': '2026-03-18T10:06:07.000Z',
  'Wed, 18 Mar 2026 05:06:08 PDT': '2026-03-18T12:06:08.000Z',
  'Wed, 18 Mar 26 05:06:09 UT': '2026-03-18T05:06:09.000Z',
  '18 Mar 98 05:06 Z': '1998-03-18T05:06:00.000Z',
  '18 Mar 2026 05:06:10 A (military)': '2026-03-18T05:06:10.000Z',
  'Wed, 18 Mar 2026 05:06:07 CET': null,
  '2026-02-30': null,
  '2026-366': null,
  '2026-000': null,
  '2026-W54': null,
  '2025-W53-1': null,
  '202603': null,
  '2026-0304': null,
  '2026-03-041': null,
  '20260230': null,
  '20260304T2530': null,
  '177318720': null,
  '2026-03-04 05:06 PM': null,
  '2026-03-04T05:06:07+25:00': null,
  '2026-03-04T24:00:01Z': null,
  '2026-03-04 and more': null,
  '2026-03-04T05:06:07 XYZ': null,
  '0000-00-00 00:00:00': null,
  '03/04/2026': null,
  yesterday: null,
}

const dated = (origin: string, dates: readonly string[]) =>
  urlset(dates.map((date, n) => url(`${origin}/${n}`, lastmod(date))).join('\n'))
const paths = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

export const dateCases: readonly SitemapCase[] = [
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
