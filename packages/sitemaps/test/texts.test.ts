// Texts that are not quite right: URLs are read, or a problem says what is wrong.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { DECLARATION, NAMESPACE, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { describe, expect, it } from 'vitest'
import { describeResult } from '../src/file-result.ts'
import { problemMeanings, readSitemaps, type SitemapLimits } from '../src/index.ts'
import { all, politeFetch } from './reading-site.ts'

const SITE = 'https://site.example'
const IMAGES = `${NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"`
const XHTML = 'http://www.w3.org/1999/xhtml'
const feed = (loc: string) => `<feed><entry><link href="${loc}"/></entry></feed>`

const texts: Readonly<Record<string, readonly [file: string | Buffer, locs: readonly string[], ...codes: string[]]>> = {
  'an entity of HTML': [urlset(url(`${SITE}/caf&eacute;`)), ['/caf&eacute;'], 'unknown-entity'],
  'an entity that the file declares': [
    urlset(url(`${SITE}/&test;`)).replace('<urlset', '<!DOCTYPE urlset [<!ENTITY test "x">]>\n<urlset'),
    ['/&test;'],
    'unknown-entity',
  ],
  'an & that was escaped twice': [urlset(url(`${SITE}/?a=1&amp;amp;b`)), ['/?a=1&amp;b'], 'unknown-entity'],
  'an escaped & in CDATA': [urlset(url(`<![CDATA[${SITE}/?a&amp;b]]>`)), ['/?a&amp;b'], 'unknown-entity'],
  'an entity in the URL of an image': [
    urlset(url(`${SITE}/a`, `<image:image><image:loc>${SITE}/&eacute;.png</image:loc></image:image>`), IMAGES),
    ['/a'],
    'unknown-entity',
  ],
  'an entity in another text': [
    urlset(url(`${SITE}/a`, '<image:image><image:title>caf&eacute;</image:title></image:image>'), IMAGES),
    ['/a'],
    'unknown-entity',
  ],
  'an entity in a link of Atom': [feed(`${SITE}/caf&eacute;`), ['/caf&eacute;'], 'unknown-entity'],
  'a bare &': [urlset(url(`${SITE}/?a=1&b=2&copy=3;`)), ['/?a=1&b=2&copy=3;'], 'unescaped'],
  'a bare & after an escaped one': [urlset(url(`${SITE}/?a&amp;b&c`)), ['/?a&b&c'], 'unescaped'],
  'a bare & in CDATA': [urlset(url(`<![CDATA[${SITE}/?a&b]]>`)), ['/?a&b']],
  'a bare & in an attribute': [urlset(`<url a="x&y"><loc>${SITE}/a</loc></url>`), ['/a'], 'unescaped'],
  'a bare & in the text of a feed': [
    `<rss><channel><item><title>A & B</title><link>${SITE}/a</link></item></channel></rss>`,
    ['/a'],
    'unescaped',
  ],
  'a bare <': [urlset(url(`${SITE}/a?x<y`) + url(`${SITE}/b?x < y`)), ['/a?x<y', '/b?x < y'], 'unescaped'],
  'an entity after an escaped & in an attribute': [
    urlset(`<url a="&amp;caf&eacute;"><loc>${SITE}/a</loc></url>`),
    ['/a'],
  ],
  'a bare < in an attribute': [urlset(`<url a="x<y"><loc>${SITE}/a</loc></url>`), ['/a'], 'unescaped'],
  'an attribute without quotes': [urlset(url(`${SITE}/a`), `${NAMESPACE} version=1`), ['/a'], 'bad-attribute'],
  'an attribute without a value': [urlset(url(`${SITE}/a`), `${NAMESPACE} hidden`), ['/a'], 'bad-attribute'],
  'an attribute twice': [urlset(url(`${SITE}/a`), `${NAMESPACE} a="1" a="2"`), ['/a'], 'bad-attribute'],
  'an empty line before the declaration': [`\n${urlset(url(`${SITE}/a`))}`, ['/a'], 'before-xml'],
  'two byte order marks': [`\uFEFF\uFEFF${urlset(url(`${SITE}/a`))}`, ['/a'], 'before-xml'],
  'a byte order mark': [`\uFEFF${urlset(url(`${SITE}/a`))}`, ['/a']],
  'a comment before the declaration': [`<!-- -->${urlset(url(`${SITE}/a`))}`, ['/a'], 'before-xml'],
  'a notice before the declaration': [`Notice: x in y.php\n${urlset(url(`${SITE}/a`))}`, ['/a'], 'before-xml'],
  'a notice before the root': [`Notice: x<urlset ${NAMESPACE}>${url(`${SITE}/a`)}</urlset>`, ['/a'], 'before-xml'],
  'an empty line, without a declaration': [`\n<urlset ${NAMESPACE}>${url(`${SITE}/a`)}</urlset>`, ['/a']],
  'a notice after the root': [`${urlset(url(`${SITE}/a`))}Notice: x`, ['/a'], 'after-xml'],
  'loc that is not closed': [urlset(`<url><loc>${SITE}/a</url>${url(`${SITE}/b`)}`), ['/a', '/b'], 'unclosed'],
  'a link that is not closed': [
    urlset(
      url(`${SITE}/a`, '<xhtml:link rel="alternate" hreflang="de" href="/de">'),
      `${NAMESPACE} xmlns:xhtml="${XHTML}"`,
    ),
    ['/a'],
    'unclosed',
    'relative-url',
  ],
  'the last url is not closed': [urlset(`<url><loc>${SITE}/a</loc>`), ['/a'], 'unclosed'],
  'an image that is not closed': [
    urlset(url(`${SITE}/a`, `<image:image><image:loc>${SITE}/1.png</image:loc>`), IMAGES),
    ['/a'],
    'unclosed',
  ],
  'an unknown element that is not closed': [urlset(url(`${SITE}/a`, '<depth>')), ['/a'], 'unclosed'],
  'an end tag without a start tag': [urlset(`${url(`${SITE}/a`)}</url>`), ['/a'], 'unclosed'],
  'two roots': [
    urlset(url(`${SITE}/a`)) + urlset(url(`${SITE}/b`)).slice(DECLARATION.length),
    ['/a', '/b'],
    'after-xml',
  ],
  'a declaration without quotes': [
    `<?xml version=1.0 encoding=UTF-8?><urlset ${NAMESPACE}>${url(`${SITE}/a`)}</urlset>`,
    ['/a'],
    'bad-attribute',
  ],
  'a declaration with curly quotes': [
    `<?xml version=“1.0” encoding=“UTF-8”?><urlset ${NAMESPACE}>${url(`${SITE}/a`)}</urlset>`,
    ['/a'],
    'bad-attribute',
  ],
  'a declaration with other quotes and spaces': [
    `<?xml  version = '1.0' encoding='utf-8' standalone="yes" ?><?xml-stylesheet href=a?><urlset ${NAMESPACE}>${url(`${SITE}/a`)}</urlset>`,
    ['/a'],
  ],
  'attributes without a space between them': [
    urlset(`<url a="1"b="2"><loc>${SITE}/a</loc></url>`),
    ['/a'],
    'bad-attribute',
  ],
  'a control character': [urlset(url(`${SITE}/a`, '<changefreq>\x0Bdaily\x01</changefreq>')), ['/a'], 'bad-character'],
  'a file that is cut in a tag': [`<urlset ${NAMESPACE}>${url(`${SITE}/a`)}<`, ['/a']],
  'a file that is cut in an entity': [`<urlset ${NAMESPACE}>${url(`${SITE}/a`)}<url><loc>${SITE}/?a&am`, ['/a']],
  'no namespace': [`${DECLARATION}<urlset>${url(`${SITE}/a`)}</urlset>`, ['/a'], 'wrong-namespace'],
  'a namespace with https': [urlset(url(`${SITE}/a`), NAMESPACE.replace('http:', 'https:')), ['/a'], 'wrong-namespace'],
  'a prefix with a wrong namespace': [
    `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap"><s:url><s:loc>${SITE}/a</s:loc></s:url></s:urlset>`,
    ['/a'],
    'wrong-namespace',
  ],
  'an attribute whose prefix is not declared': [
    urlset(url(`${SITE}/a`), `${NAMESPACE} xsi:schemaLocation="x" xml:lang="en"`),
    ['/a'],
    'wrong-namespace',
  ],
  'a prefix of a feed that is not declared': [
    `<rss><channel><item><link>${SITE}/a</link><media:title>A</media:title></item></channel></rss>`,
    ['/a'],
    'wrong-namespace',
  ],
  'images without a namespace': [
    urlset(url(`${SITE}/a`, `<image><loc>${SITE}/1.png</loc></image>`)),
    ['/a'],
    'wrong-namespace',
  ],
  'namespaces that the elements declare': [
    urlset(
      `<url ${IMAGES}><loc>${SITE}/a</loc><image:image><image:loc>${SITE}/1.png</image:loc></image:image>` +
        `<link xmlns="${XHTML}" rel="alternate" hreflang="de" href="${SITE}/de"/></url>`,
    ),
    ['/a'],
  ],
  'other extensions of Google': [
    urlset(
      url(`${SITE}/a`, '<m:mobile/><p:product/><g:geo><g:format>kml</g:format></g:geo><c:codesearch/>'),
      `${NAMESPACE} ${['m=schemas/sitemap-mobile', 'p=schemas/sitemap-product', 'g=geo/schemas/sitemap', 'c=codesearch/schemas/sitemap'].map((text) => `xmlns:${text.replace('=', '="http://www.google.com/')}/1.0"`).join(' ')}`,
    ),
    ['/a'],
  ],
  'a byte that is not UTF-8': [Buffer.from(urlset(url(`${SITE}/caf\xe9`)), 'latin1'), ['/caf\uFFFD'], 'bad-character'],
  'a byte that is not UTF-8, in a list': [Buffer.from(`${SITE}/caf\xe9\n`, 'latin1'), ['/caf\uFFFD'], 'bad-character'],
  'half of a surrogate pair': [urlset(url(`${SITE}/&#55357;`)), ['/\uFFFD'], 'bad-character'],
  'url in loc': [urlset(url(`<url>${SITE}/a</url>`, '<priority>0.5</priority>') + url(`${SITE}/b`)), ['/a 0.5', '/b']],
  'loc in loc': [urlset(url(`<loc>${SITE}/a</loc>`)), ['/a']],
  'another element in loc': [urlset(url(`<a href="x">${SITE}/a</a>`)), ['/a']],
  'an empty loc that is not closed': [urlset(`<url><loc>\n${url(`${SITE}/a`)}`), ['/a'], 'unclosed'],
}

it.each(Object.keys(texts))('%s', async (name) => {
  const [file, locs, ...codes] = texts[name] as (typeof texts)[string]
  const reading = readSitemaps(Buffer.from(file), { base: `${SITE}/s.xml` })
  const found = (await all(reading)).map(
    ({ loc, priority }) => `${loc.slice(SITE.length)}${priority ? ` ${priority}` : ''}`,
  )
  expect(found).toEqual(locs)
  expect(reading.files.list[0]?.problems.map(({ code }) => code)).toEqual(codes)
})

it('quotes an attribute, without the text of the element before', async () => {
  const feed = `<rss><channel><title>T</title><item a="a?x&y"><link>${SITE}/a</link></item>A & B</channel></rss>`
  const reading = readSitemaps(Buffer.from(feed), { base: `${SITE}/s.xml` })
  await all(reading)
  expect(reading.files.list[0]?.problems).toEqual([{ code: 'unescaped', count: 2, example: 'a?x&y' }])
  const text = readSitemaps(Buffer.from(feed.replace('x&y', '')), { base: `${SITE}/s.xml` })
  await all(text)
  expect(text.files.list[0]?.problems).toEqual([{ code: 'unescaped', count: 1, example: 'A & B' }])
})

describe('alternates', () => {
  const read = async (links: readonly string[], xhtml = XHTML) => {
    const entry = (link: string) => `<url><loc>${SITE}/en/a</loc>${link}</url>`
    const body = urlset(links.map(entry).join(''), `${NAMESPACE} xmlns:xhtml="${xhtml}"`)
    const reading = readSitemaps(Buffer.from(body), { base: `${SITE}/s.xml` })
    const alternates = (await all(reading)).map((entry) => entry.alternates?.map(({ href }) => href))
    const problems = reading.files.list[0]?.problems.map(({ code, count, example }) => [code, count, example])
    return { alternates, problems }
  }
  const link = (hreflang: string, href: string, rel = 'alternate') =>
    `<xhtml:link rel="${rel}" hreflang="${hreflang}" href="${href}"/>`

  it('have URLs that are resolved against the page', async () => {
    const links = ['/de', 'de?x', '//fr.example/'].map((href) => link('de', href))
    expect(await read([...links, link('de', 'android-app://x/y')])).toEqual({
      alternates: [[`${SITE}/de`], [`${SITE}/en/de?x`], ['https://fr.example/'], ['android-app://x/y']],
      problems: [['relative-url', 3, '/de']],
    })
    expect(await read([link('de', 'http://') + link('fr', 'www.site.example/fr')])).toEqual({
      alternates: [undefined],
      problems: [['invalid-url', 2, 'http://']],
    })
  })

  it('have languages that exist', async () => {
    const right = ['en', 'en-GB', 'EN-us', 'zh-Hant', 'zh-hant-TW', 'es-419', 'fil', 'de-1996', 'sl-rozaj', 'x-default']
    right.push('iw', 'he', 'in', 'ji', 'sr-Latn', 'en-001', 'ca-valencia', 'be-tarask', 'de-AT-1901', 'pt-ao1990')
    const wrong = ['en_GB', 'en-UK', 'jp', 'en-XX', 'english', 'de-', 'en-GB ', 'x-foo', 'en-ZZ']
    wrong.push('es-LATAM', 'en-global', 'en-world', 'en-EMEA', 'en-APAC', 'en-ASIA', 'en-ROTW', 'ar-MENA')
    const { problems, alternates } = await read([...wrong, ...right].map((code) => link(code, `${SITE}/`)))
    expect(problems).toEqual([['bad-hreflang', wrong.length, 'en_GB']])
    expect(alternates).toEqual([...wrong, ...right].map(() => [`${SITE}/`]))
    expect((await read([link('', `${SITE}/`)])).problems).toEqual([['bad-hreflang', 1, `${SITE}/`]])
    const media = `<xhtml:link rel="alternate" media="print" href="${SITE}/"/>`
    expect((await read([media])).problems).toEqual([])
  })

  it('name one page for a language', async () => {
    const twice = link('de-AT', `${SITE}/1`) + link('DE-at', `${SITE}/2`)
    expect((await read([twice, link('de', `${SITE}/1`).repeat(2), link('de', `${SITE}/3`)])).problems).toEqual([
      ['duplicate-hreflang', 1, `DE-at: ${SITE}/1 and ${SITE}/2`],
    ])
  })

  it('are left out with a scheme that is no page and no app', async () => {
    const links = ['javascript:x', 'data:,x', 'FILE:///x', 'ios-app://1/x'].map((href) => link('de', href))
    expect(await read(links)).toEqual({
      alternates: [undefined, undefined, undefined, ['ios-app://1/x']],
      problems: [['bad-link', 3, 'javascript:x']],
    })
  })

  it('are left out without a URL, and with another rel', async () => {
    expect(await read([link('de', `${SITE}/`, 'alernate') + link('fr', '')])).toEqual({
      alternates: [undefined],
      problems: [['bad-link', 2, `rel="alernate" href="${SITE}/"`]],
    })
  })

  it('need the namespace of XHTML', async () => {
    const wrong = 'http://www.w3.org/TR/xhtml11/xhtml11_schema.html'
    const read2 = await read([link('de', `${SITE}/`), link('fr', `${SITE}/`)], wrong)
    expect(read2.problems).toEqual([['wrong-namespace', 1, `xmlns:xhtml="${wrong}"`]])
    expect((await read([''], wrong)).problems).toEqual([]) // nothing uses it
    const without = `<link rel="alternate" hreflang="de" href="${SITE}/"/>`
    expect(await read([without])).toEqual({ alternates: [[`${SITE}/`]], problems: [['wrong-namespace', 1, '<link>']] })
    expect((await read([link('de', `${SITE}/`).replace('xhtml:', 'x:')])).problems).toEqual([
      ['wrong-namespace', 1, 'x:link'],
    ])
  })
})

it.each([
  ['<br />\n<b>Notice</b>: Undefined index: HTTP_HOST in <b>/a.php</b> on line <b>3</b>', 'not-a-sitemap'],
  ['Fatal error: Allowed memory size of 134217728 bytes exhausted in /a.php', 'not-a-sitemap'],
  [' <!DOCTYPE html><html lang="en"><head><title>Just a moment...</title></head></html>', 'html-instead'],
  ['<?xml version="1.0"?>', 'xml'],
  [`<${'x'.repeat(57)}>\u{1F600}`, 'not-a-sitemap'],
])('quotes the beginning of %j', async (body, reason) => {
  const reading = readSitemaps(Buffer.from(body), { base: `${SITE}/s.xml` })
  await all(reading)
  const [file] = reading.files.list
  const quote = JSON.stringify(Array.from(body.trim().replaceAll(/\s+/g, ' ')).slice(0, 60).join(''))
  expect(file).toMatchObject({ outcome: 'failed', reason })
  expect(file?.detail).toContain(`; it begins with ${quote}`)
})

it('reads the last line of a list without a line break, unless it is cut', async () => {
  const list = Buffer.from(`${SITE}/a\r\n${SITE}/b`)
  const read = async (limits: SitemapLimits) => {
    const reading = readSitemaps(list, { base: `${SITE}/s.txt`, limits })
    return { locs: (await all(reading)).map(({ loc }) => loc), file: reading.files.list[0] }
  }
  expect(await read({})).toMatchObject({ locs: [`${SITE}/a`, `${SITE}/b`], file: { outcome: 'complete' } })
  const cut = await read({ maxBytesIn: list.length - 1 })
  expect(cut).toMatchObject({ locs: [`${SITE}/a`], file: { outcome: 'partial', reason: 'limit: maxBytesIn' } })
})

it('reads priorities from 0 to 1, and reports others', async () => {
  const given = { '0': 0, '1.0': 1, '0,8': 0.8, '-0.1': undefined, '1.1': undefined, high: undefined }
  const entries = Object.keys(given).map((text) => url(`${SITE}/a`, `<priority>${text}</priority>`))
  const reading = readSitemaps(Buffer.from(urlset(entries.join(''))), { base: `${SITE}/s.xml` })
  expect((await all(reading)).map(({ priority }) => priority)).toEqual(Object.values(given))
  expect(reading.files.list[0]?.problems).toEqual([{ code: 'bad-priority', count: 3, example: '-0.1' }])
})

describe('a gzip header', () => {
  const packed = gzipSync(urlset(url(`${SITE}/a`)))
  /** Returns a header of this size, by the length of its file name. RFC 1952 §2.3. */
  const header = (size: number) =>
    Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(size - 11, 'x'), Buffer.alloc(1)])
  async function* chunks(...list: readonly Buffer[]) {
    yield* list
  }

  it.each([11, 4_096])('of %d bytes may end with a chunk, or be the last that arrives', async (size) => {
    const whole = readSitemaps(chunks(header(size), packed.subarray(10)), { base: `${SITE}/s.xml` })
    expect((await all(whole)).map(({ loc }) => loc)).toEqual([`${SITE}/a`])
    expect(whole.files.list[0]).toMatchObject({ outcome: 'complete', gzipLayers: 1 })
    const cut = readSitemaps(chunks(header(size)), { base: `${SITE}/s.xml` })
    await all(cut)
    expect(cut.files.list[0]).toMatchObject({ outcome: 'failed', reason: 'cut-off' })
  })
})

it('has each problem in the table of docs/sitemaps.md', () => {
  const page = readFileSync(new URL('../../../docs/sitemaps.md', import.meta.url), 'utf8')
  const table = page.slice(page.indexOf('| code |'), page.indexOf('## Limits'))
  const named = [...table.matchAll(/`([a-z\d-]+)`(?=[^|]* \|[^|]*\|[^|]*\|$)/gm)].map(([, code]) => code)
  expect(named.toSorted()).toEqual(Object.keys(problemMeanings).toSorted())
})

it('sitemap in loc, in an index', async () => {
  const index = `<sitemapindex><sitemap><loc><sitemap>${SITE}/1.xml</sitemap></loc></sitemap></sitemapindex>`
  const reading = readSitemaps(Buffer.from(index), { base: `${SITE}/i.xml` })
  await all(reading)
  expect(reading.files.list.map((result) => result.url)).toEqual([`${SITE}/i.xml`, `${SITE}/1.xml`])
})

it('a wrong Content-Encoding is not called an early end', async () => {
  await using site = await startSitemapSite()
  const whole = urlset(url(`${site.origin}/a`))
  const packed = gzipSync(
    Buffer.from(urlset(Array.from({ length: 9_000 }, (_, n) => url(`${site.origin}/${n}`)).join(''))),
  )
  packed.fill(0xff, packed.length - 200, packed.length - 100)
  const replies = Object.entries({ gzip: whole, br: whole, deflate: whole, damaged: packed }).map(([coding, body]) => [
    `/${coding}`,
    { body, headers: { 'content-encoding': coding === 'damaged' ? 'gzip' : coding } },
  ])
  site.respond(Object.fromEntries(replies))
  const fetch = politeFetch()
  const described: string[] = []
  for (const coding of ['gzip', 'br', 'damaged']) {
    const reading = readSitemaps([`${site.origin}/${coding}`], { fetch })
    await all(reading)
    described.push(reading.files.list.map((file) => `${file.reason}, ${describeResult(file)}`).join())
  }
  expect(described).toEqual([
    expect.stringMatching(/^not-gzip, failed: the body cannot be unpacked as its Content-Encoding says: incorrect/),
    expect.stringMatching(/^not-gzip, failed: the body cannot be unpacked as its Content-Encoding says: Decompression/),
    expect.stringMatching(/^gzip-damaged, partial \(the body cannot be unpacked as its Content-Encoding says: /),
  ])
})
