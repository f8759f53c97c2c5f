// @module-tag nodes
// readSitemaps from call to end: sources, entries, since, conditional requests, resuming.
import { RobotsClient } from '@politely/fetcher'
import { index, lastmod, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { type SitemapSite, startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeFile, readSitemaps, type SitemapEntry } from '../src/index.ts'
import { all, days, outcomes, paths, politeFetch } from './reading-site.ts'

let site: SitemapSite
let origin = ''
beforeAll(async () => {
  site = await startSitemapSite()
  origin = site.origin
})
afterAll(() => site[Symbol.asyncDispose]())

describe('entries', () => {
  it('have all fields of the extensions', async () => {
    const body = urlset(
      `<url><loc>${origin}/a</loc><lastmod> 2026-01-02 </lastmod><changefreq>daily</changefreq><priority>0.8</priority>
      <xhtml:link rel="alternate" hreflang="de" href="${origin}/de?x=1&amp;y=2"/>
      <image:image><image:loc>${origin}/1.png</image:loc><image:title><![CDATA[A & B]]></image:title></image:image>
      <news:news><news:publication><news:name>Example</news:name><news:language>en</news:language></news:publication>
      <news:publication_date>2026-01-01</news:publication_date><news:title>News</news:title></news:news>
      <video:video><video:title>Film</video:title><video:duration>600</video:duration><video:thumbnail_loc>${origin}/t.jpg</video:thumbnail_loc></video:video></url>`,
    )
    const entries = await all(readSitemaps(Buffer.from(body), { base: `${origin}/s.xml` }))
    expect(entries).toEqual([
      {
        loc: `${origin}/a`,
        lastmod: Date.UTC(2026, 0, 2),
        lastmodText: '2026-01-02',
        changefreq: 'daily',
        priority: 0.8,
        alternates: [{ href: `${origin}/de?x=1&y=2`, hreflang: 'de' }],
        images: [{ loc: `${origin}/1.png`, title: 'A & B' }],
        news: { name: 'Example', language: 'en', publicationDate: '2026-01-01', title: 'News' },
        video: [{ title: 'Film', duration: 600, thumbnailLoc: `${origin}/t.jpg` }],
        file: `${origin}/s.xml`,
        foreign: false,
      },
    ])
  })

  it('come from RSS and Atom', async () => {
    const rss = `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>${origin}/</link><atom:link href="${origin}/feed" rel="self"/>
      <item><title>A</title><link>${origin}/a</link><guid isPermaLink="false">7</guid><pubDate>Wed, 04 Mar 2026 05:06:07 GMT</pubDate></item>
      <item><guid>${origin}/b</guid></item></channel></rss>`
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="${origin}/"/><entry><link rel="self" href="${origin}/x"/><link href="${origin}/c"/><updated>2026-03-04T05:06:07Z</updated></entry></feed>`
    const read = (text: string) => all(readSitemaps(Buffer.from(text), { base: `${origin}/feed` }))
    expect((await read(rss)).map(({ loc, lastmod: ms }) => [loc, ms])).toEqual([
      [`${origin}/a`, Date.UTC(2026, 2, 4, 5, 6, 7)],
      [`${origin}/b`, undefined],
    ])
    expect((await read(atom)).map(({ loc, lastmod: ms }) => [loc, ms])).toEqual([
      [`${origin}/c`, Date.UTC(2026, 2, 4, 5, 6, 7)],
    ])
  })

  it('of another host are marked, with the proof', async () => {
    const other = site.otherOrigin
    const read = async (robots: string) => {
      site.respond({
        '/robots.txt': { body: robots },
        '/s.xml': { body: urlset(`${url(`${origin}/a`)}${url(`${other}/b`)}${url('https://third.invalid/')}`) },
      })
      const entries = await all(
        readSitemaps([`${origin}/s.xml`], { fetch: politeFetch(), limits: { maxForeignHosts: 1 } }),
      )
      return entries.map(({ foreign }) => foreign)
    }
    const unchecked = { origin: 'https://third.invalid', proof: 'unchecked' }
    expect(await read(`Sitemap: ${origin}/s.xml`)).toEqual([false, { origin: other, proof: 'robots.txt' }, unchecked])
    expect(await read('')).toEqual([false, { origin: other, proof: 'none' }, unchecked])
  })
})

describe('sources', () => {
  it('guesses /sitemap.xml only if asked', async () => {
    site.respond({ '/sitemap.xml': { body: urlset(url(`${origin}/a`)) } })
    const fetch = politeFetch()
    const asked = readSitemaps(origin, { fetch, guess: true })
    expect(paths(await all(asked))).toEqual(['/a'])
    const notAsked = readSitemaps(origin, { fetch })
    expect(await all(notAsked)).toEqual([])
    expect(outcomes(notAsked)).toEqual(['/robots.txt failed: robots.txt names no sitemap'])
  })

  it('says that robots.txt is unreachable', async () => {
    site.respond({ '/robots.txt': { status: 503 } })
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', retries: 0 })
    onTestFinished(() => robots.close())
    const reading = readSitemaps(origin, { fetch: globalThis.fetch, robots })
    expect(await all(reading)).toEqual([])
    expect(reading.files.list[0]?.reason).toBe('robots-unreachable')
  })

  it('checks each request with `robots` if the fetch is not polite', async () => {
    site.respond({
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private' },
      '/s.xml': { status: 302, headers: { location: '/private/s.xml' } },
    })
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', retries: 0 })
    onTestFinished(() => robots.close())
    const reading = readSitemaps([`${origin}/s.xml`], { fetch: globalThis.fetch, robots })
    expect(await all(reading)).toEqual([])
    const [file] = reading.files.list
    expect(file).toMatchObject({ outcome: 'failed', reason: 'disallowed', verdict: { because: 'rule' } })
    expect(file?.hops).toEqual([{ url: `${origin}/s.xml`, status: 302 }])
    expect(site.requests.map(({ path }) => path)).not.toContain('/private/s.xml')
  })

  it('reads a stream of bytes, and lists the sitemaps of an index that it cannot fetch', async () => {
    const text = index(`${origin}/1.xml`)
    const stream = new Blob([text]).stream()
    const reading = readSitemaps(stream, { base: `${origin}/i.xml` })
    expect(await all(reading)).toEqual([])
    expect(outcomes(reading)).toEqual([
      '/i.xml complete: 0 entries, 1 sitemap',
      '/1.xml failed: the file is listed by bytes that were read without a fetch',
    ])
  })

  it('reads the files if only the results are iterated', async () => {
    site.respond({ '/s.xml': { body: urlset(url(`${origin}/a`)) } })
    const seen: string[] = []
    for await (const file of readSitemaps([`${origin}/s.xml`], { fetch: politeFetch() }).files)
      seen.push(describeFile(file))
    expect(seen).toEqual([`${origin}/s.xml: complete: 1 entry`])
  })
})

describe('since', () => {
  it('leaves out old entries of a file whose dates can be trusted', async () => {
    const dates = [...days(1, 28), ...days(3, 28)]
    const body = urlset(
      dates.map((date, n) => url(`${origin}/${n}`, lastmod(date))).join('') + url(`${origin}/undated`),
    )
    const reading = readSitemaps(Buffer.from(body), { base: `${origin}/s.xml`, since: new Date('2026-03-01') })
    const entries = await all(reading)
    expect(entries.length).toBe(29)
    expect(entries.at(-1)?.loc).toBe(`${origin}/undated`)
    expect(reading.files.list[0]).toMatchObject({ entries: 57, skippedEntries: 28, dates: { isTrusted: true } })
  })

  it('leaves out nothing if all dates are equal', async () => {
    const body = urlset(
      days(1, 20)
        .map((_, n) => url(`${origin}/${n}`, lastmod('2020-01-01')))
        .join(''),
    )
    const reading = readSitemaps(Buffer.from(body), { base: `${origin}/s.xml`, since: Date.UTC(2026, 0) })
    expect((await all(reading)).length).toBe(20)
    expect(reading.files.list[0]).toMatchObject({ skippedEntries: 0, dates: { equalShare: 1, isTrusted: false } })
  })

  it('skips old files of an index, and says so', async () => {
    const child = (n: number, date: string) => `<sitemap><loc>${origin}/${n}.xml</loc>${lastmod(date)}</sitemap>`
    site.respond({
      '/i.xml': { body: `<sitemapindex>${child(1, '2026-01-01')}${child(2, '2026-03-02')}</sitemapindex>` },
      '/2.xml': { body: urlset(url(`${origin}/b`)) },
    })
    const reading = readSitemaps([`${origin}/i.xml`], { fetch: politeFetch(), since: Date.UTC(2026, 2, 1) })
    expect(paths(await all(reading))).toEqual(['/b'])
    expect(outcomes(reading)).toEqual([
      '/1.xml skipped: the index says that the file did not change since the given time',
      '/i.xml complete: 0 entries, 1 sitemap',
      '/2.xml complete: 1 entry',
    ])
  })
})

describe('later readings', () => {
  it('request unchanged files conditionally, and the sitemaps of an unchanged index', async () => {
    const etag = { headers: { etag: '"1"' } }
    site.respond({
      '/i.xml': { body: index(`${origin}/1.xml`), ...etag },
      '/1.xml': { body: urlset(url(`${origin}/a`)), ...etag },
    })
    const fetch = politeFetch()
    const first = readSitemaps([`${origin}/i.xml`], { fetch })
    await all(first)
    site.respond({ '/i.xml': { status: 304 }, '/1.xml': { status: 304 } })
    const second = readSitemaps([`${origin}/i.xml`], { fetch, earlier: JSON.parse(JSON.stringify(first.files.list)) })
    expect(await all(second)).toEqual([])
    expect(outcomes(second)).toEqual(['/i.xml unchanged', '/1.xml unchanged'])
    expect(site.requests.map(({ headers }) => headers['if-none-match'])).toEqual(['"1"', '"1"'])
    expect(second.files.list.map((file) => file.etag)).toEqual(['"1"', '"1"'])
  })

  it('continue where an interrupted one was, with each entry once', async () => {
    const file = (name: string) => ({ body: urlset(['0', '1', '2'].map((n) => url(`${origin}/${name}${n}`)).join('')) })
    site.respond({
      '/i.xml': { body: index(`${origin}/a.xml`, `${origin}/b.xml`) },
      '/a.xml': file('a'),
      '/b.xml': file('b'),
    })
    const fetch = politeFetch()
    const everything = ['/a0', '/a1', '/a2', '/b0', '/b1', '/b2']
    for (let taken = 1; taken < everything.length; taken++) {
      const first = readSitemaps([`${origin}/i.xml`], { fetch })
      const before: SitemapEntry[] = []
      for await (const entry of first) if (before.push(entry) === taken) break
      const token = JSON.parse(JSON.stringify(first.token()))
      const second = readSitemaps([`${origin}/i.xml`], { fetch, resume: token })
      expect([...paths(before), ...paths(await all(second))]).toEqual(everything)
    }
  })
})
